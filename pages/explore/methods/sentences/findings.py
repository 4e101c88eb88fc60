"""The sentences that answer the page's question, for each panel.

Errors are ranked only among methods of one trust and one guarantee.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import random_guess
from pages.explore.methods.model import packages
from pages.explore.methods.model.frontier import Corner
from pages.explore.methods.model.measure import COSTS, ComparisonMeasure
from pages.explore.methods.model.packages import BEST_PACKAGE, NO_PRIVACY, OURS
from pages.shared import text
from pages.shared.charts.explorer_text import other_epsilon

_WHERE = {  # by trust: the words that open its finding
    "central": "where all trust one place",
    "untrusted server": "where nobody is trusted",
    "secure aggregation": "with sealed sums",
    "local": "where not even the hospital is trusted",
    "none": "no privacy",
}
_GIVEN_UP = {  # what ours do better, each with the recipe that gives up this one and all before it
    "sparsity": "without sparsity",
    "noise that is alike in all directions": "without sparsity, mirrored noise",
    "exact accounting": BEST_PACKAGE,
}


def compared(measure: ComparisonMeasure, values: Mapping[str, Array], key: str, here: Value) -> str:
    if not values:
        return text.MEASURING
    where = f"At {text.symbols(key)} = {text.number(here)}"
    where += ", of the methods chosen" if measure.errs and len(values) > 1 else ""
    finding = _least_error(measure, values, key, here) if measure.errs else _least_cost(measure, values)
    finding = f"{where}{finding}"
    if len(values) > 1:
        return finding
    ((name, spread),) = values.items()
    low, middle, high = (measure.text(float(value)) for value in spread)
    return f"{finding} {METHODS[name].title}: {measure.quantity} {middle} ({low} to {high} in 8 of 10 runs)."


def _least_error(measure: ComparisonMeasure, errors: Mapping[str, Array], key: str, here: Value) -> str:
    experiment = measure.results.experiment
    # Only methods of one kind can be ranked: the same trust, and the same guarantee.
    kinds: dict[tuple[str, str], dict[str, Array]] = {}
    for name, error in errors.items():
        kind = METHODS[name].trust, METHODS[name].guarantee_at(experiment.k)
        kinds.setdefault(kind, {})[name] = error
    guess, trusts = measure.guess(key, here), [trust for trust, _ in kinds]
    parts = []
    for trust, guarantee in sorted(kinds, key=lambda kind: list(_WHERE).index(kind[0])):
        equals = kinds[trust, guarantee]
        # The guarantee is named only where methods of this trust have several.
        promise = f" and are {text.GUARANTEES[guarantee]}" if trusts.count(trust) > 1 else ""
        if len(equals) > 1:
            parts.append(f"{_WHERE[trust]}{promise}, {_winner(equals, guess, measure)}")
    if not parts:
        return ", no two of these methods have the same trust and guarantee, so they cannot be ranked."
    later = [f"{part[0].upper()}{part[1:]}" for part in parts[1:]]
    sentence = f": {'. '.join([parts[0], *later])}. A random guess has {measure.text(guess)}."
    epsilon = float(here if key == "epsilon" else measure.settings["epsilon"])
    if any(other_epsilon(experiment, name, epsilon) for name in errors):
        sentence += " Calibrated as printed, some do not keep the ε that is set: see below."
    return sentence


_BEST = {"energy": "captures most", "share": "recovers most", "degrees": "comes closest"}


def _winner(errors: Mapping[str, Array], guess: float, measure: ComparisonMeasure) -> str:
    ranked = sorted(errors, key=lambda name: float(errors[name][1]), reverse=measure.more_is_better)
    (best, first), (second, runner_up) = ((METHODS[name].title, errors[name]) for name in ranked[:2])
    if not measure.beats(float(first[1]), guess):
        return "none is a tenth better than a random guess"
    values = f"({measure.text(first[1])}, next {second} {measure.text(runner_up[1])})"
    # They overlap unless even the worse end of the better one's interval beats the other's better end.
    if not (first[0] > runner_up[2] if measure.more_is_better else first[2] < runner_up[0]):
        return f"{best} leads within the spread of the runs {values}"
    return f"{best} {_BEST.get(measure.metric, 'errs least')} {values}"


def _least_cost(measure: ComparisonMeasure, costs: Mapping[str, Array]) -> str:
    if len(costs) < 2:
        return ": one method, nothing to compare."
    ranked = sorted(costs, key=lambda name: float(costs[name][1]))
    verb = COSTS[measure.panel].verb
    least, most = (
        (f"{METHODS[name].title} {verb}", measure.text(float(costs[name][1])))
        for name in (ranked[0], ranked[-1])
    )
    each = "a fit" if measure.panel == "time" else "a hospital, in all rounds"
    return f", {least[0]} least ({least[1]} {each}) and {most[0]} most ({most[1]})."


def needed(estimates: pd.DataFrame, wanted: str) -> str:
    if not len(estimates):
        return text.MEASURING
    reached = estimates[np.isfinite(estimates["patients"])].sort_values("patients")
    parts = []
    for trust, words in _WHERE.items():
        # They are sorted, so the first needs the fewest patients.
        equals = [row for row in reached.itertuples() if METHODS[row.method].trust == trust]
        if equals:
            most = "at most " if equals[0].state == "at most" else ""
            title = METHODS[equals[0].method].title.removesuffix(", no privacy")
            parts.append(f"{words}, {title} needs {most}{text.patients(equals[0].patients)}")
    if not parts:
        return f"No method reaches {wanted} with the most patients measured."
    sentence = f"For {wanted}: {'; '.join(parts)}."
    never = [METHODS[str(row.method)].title for row in estimates.itertuples() if row.state == "never"]
    if never:
        sentence += f" Not reached by the most patients measured: {', '.join(never)}."
    return sentence


def frontier(corners: Sequence[Corner]) -> str:
    if not corners:
        return "None of these methods beats a random guess by a tenth, so there is no frontier."
    parts, held = [], list(corners[:1])
    # A method that stays as good as the best keeps its place in the sentence: else the name would change with
    # every chance difference. The corner's own method is then among those that are level with it.
    for corner in corners[1:]:
        before = held[-1].method
        if before in corner.level:
            others = corner.level - {before} | {corner.method}
            corner = corner._replace(method=before, level=others)
        held.append(corner)
    for name, group in groupby(held, key=lambda corner: corner.method):
        run = list(group)
        low, high = (text.number(corner.epsilon) for corner in (run[0], run[-1]))
        level = frozenset.intersection(*(corner.level for corner in run))
        titles = " and ".join(METHODS[other].title for other in sorted(level))
        beside = f", with {titles} level within the spread of the runs" if titles else ""
        trust = text.trust_heading(METHODS[name].trust).lower()
        at = low if low == high else f"{low} to {high}"
        parts.append(f"{METHODS[name].title} at ε = {at} ({trust}){beside}")
    return f"Least error for its privacy, as far as drawn: {'; '.join(parts)}."


def against_packages(neighbours: str) -> str:
    """Return who errs least at the largest d, by how much, and which part of our method that is due to.

    The factor between a package's error and ours is a product: each of `_GIVEN_UP` is given up in turn.
    """
    measured = packages.rows("sparse population", neighbours)
    d = int(measured["d"].max())
    error = measured[measured["d"] == d].set_index("recipe")["error"]
    ours = min(OURS, key=lambda name: error[name])
    rival, sparse = error.get(BEST_PACKAGE, float("nan")), next(iter(OURS))
    start = (
        f"At {d} features **{ours}** errs {text.error(error[ours])}, "
        f"PCA without privacy {text.error(error[NO_PRIVACY])}"
    )
    if rival != rival:  # NaN: no answer within the time limit
        return f"{start}; {BEST_PACKAGE} had no answer in {packages.stored().record['limit_seconds']:.0f} s."
    # From ours, `sparse`, to the package: each next recipe gives up one more part.
    steps = [error[sparse], *(error[recipe] for recipe in _GIVEN_UP.values())]
    parts = {part: after / before for part, before, after in zip(_GIVEN_UP, steps, steps[1:], strict=False)}
    factors = ", ".join(f"{part} {factor:.2f}" for part, factor in parts.items())
    return (
        f"{start} and the best that a package gives, {BEST_PACKAGE}, {text.error(rival)}. That is "
        f"{rival / error[sparse]:.2f} times as much. Three factors multiply to this: {factors}. Most is due "
        f"to {max(parts, key=lambda part: parts[part])}. {_on_table(neighbours)}"
    )


def _on_table(neighbours: str) -> str:
    measured = packages.rows("breast_cancer", neighbours)
    error = measured[measured["neighbours"] == neighbours].set_index("recipe")["error"]
    d, n = int(measured["d"].iloc[0]), int(measured["n"].iloc[0])
    shown = {name: error[name] for name in (next(iter(OURS)), "without sparsity", BEST_PACKAGE)}
    # An error that does not equal itself is NaN: no answer, so it is left out.
    errors = ", ".join(f"{name} {text.error(value)}" for name, value in shown.items() if value == value)
    guess = text.error(random_guess(d, packages.stored().record["settings"]["k"]))
    return f"On the breast cancer table, {n} patients: {errors}, a random guess {guess}."
