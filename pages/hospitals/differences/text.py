"""What the page on hospitals that differ says: sentences and a table from the numbers. No Streamlit here."""

from __future__ import annotations

import math

import pandas as pd

from dppca_core.accounting import gaussian
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from dppca_core.methods.dps_pca import UNDONE
from dppca_core.populations import clinical, heart_disease
from dppca_core.populations.standardisation import PAID
from pages.hospitals.differences import view
from pages.hospitals.differences.settings import KIND_TITLES
from pages.hospitals.differences.view import SiteMeasure
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.settings.catalogue import CHOICES, Settings
from pages.shared.text.numbers import listed

MEASURING = "Measuring …"


def headline(results: SiteResults, settings: Settings) -> str:
    """The joint answer, the best way of standardising, and who gains and who loses."""
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    at, kind = view.strength(recipe, settings), view.kind(recipe, settings)
    measured = {other: measure.common(results, at, other) for other in recipe.kinds}
    here = measured[kind]
    if here is None:
        return waiting(results, settings)
    middle, guess = float(here[0][1]), f"guessing {text.short(measure.guess)}"
    truth = "the directions common to all hospitals"
    beside = f"without privacy {text.error(here[1])}, {guess}"
    if not recipe.synthetic:
        truth, beside = "what the same analysis finds without privacy", guess
    sentence = (
        f"Standardised by {KIND_TITLES[kind]}, the joint answer of {METHODS[recipe.method].title} is off by "
        f"{text.error(middle)} from {truth} ({beside})."
    )
    best, way = min((float(errors[0][1]), other) for other, errors in measured.items() if errors is not None)
    if best < 0.9 * middle:
        price = f"take {_share(recipe)} of the privacy budget" if way in PAID else "cost no privacy"
        price = price.replace("cost ", "costs ") if way == "public" else price
        sentence += f" The least error, {text.error(best)}, comes with {KIND_TITLES[way]}, which {price}."
    return f"{sentence} {who(results, settings)}".strip()


def waiting(results: SiteResults, settings: Settings) -> str:
    """Say that runs are coming or, where all have failed, that none has an answer."""
    at, kind = view.strength(results.of, settings), view.kind(results.of, settings)
    return MEASURING if results.next_missing(at, kind) is not None else failed_runs.NO_ANSWER


def who(results: SiteResults, settings: Settings) -> str:
    """Who gains and who loses by joining, hospital by hospital, of medians."""
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    at, kind = view.strength(recipe, settings), view.kind(recipe, settings)
    alone, joined = (measure.spread(results, what, at, kind) for what in ("alone", "joined"))
    plain = measure.without_privacy(results, at, kind)
    if alone is None or joined is None or plain is None:
        return ""
    outcomes = view.outcomes(measure, alone, joined)
    parts = []
    for outcome, verb in (("gains", "helps"), ("loses", "harms")):
        members = [i for i, other in enumerate(outcomes) if other == outcome]
        if not members:
            continue
        most = max(members, key=lambda i: abs(math.log(max(joined[1, i], 1e-9) / max(alone[1, i], 1e-9))))
        was, now, best = (measure.format(float(v)) for v in (alone[1, most], joined[1, most], plain[most]))
        beside = "" if view.plain_is_truth(recipe, settings) else f"; joined without privacy {best}"
        change = f"({was} alone, {now} joined{beside})"
        names = listed([recipe.hospitals[i] for i in members])
        if recipe.synthetic:
            names = f"{'hospital' if len(members) == 1 else 'hospitals'} {names}"
        parts.append(
            f"{verb} {names}{f', {recipe.hospitals[most]} most' if len(members) > 1 else ''} {change}"
        )
    if parts:
        known = (
            " All of this is protected: unprotected in-house, a hospital may do better alone."
            if "gains" in outcomes
            else ""
        )
        return f"Joining {', and '.join(parts)}.{known}"
    if set(outcomes) == {"nothing"}:
        return "No hospital does better than guessing, alone or joined."
    return "Joining makes little difference to any hospital."


def _share(recipe: SiteRecipe) -> str:
    return f"{100 * recipe.share:g} %"


def costs(results: SiteResults, settings: Settings) -> pd.DataFrame:
    """What each way of standardising gives, and what it costs: few columns, so that a telephone shows all."""
    recipe, measure = results.of, SiteMeasure(results.of, settings)
    at = view.strength(recipe, settings)
    whole = gaussian.noise_multiplier(recipe.budget)
    rows = []
    for kind in recipe.kinds:
        seen, left = measure.common(results, at, kind), recipe.left(kind)
        spread, plain = seen if seen is not None else ([math.nan] * 3, math.nan)
        low, middle, high = (text.error(float(value)) for value in spread)
        row = {"standardised by": KIND_TITLES[kind], "error (8 of 10 runs)": f"{middle} ({low} to {high})"}
        if recipe.synthetic:
            row["no privacy"] = text.error(plain)
        cost = _share(recipe) if kind in PAID else "nothing"
        if not measure.plain and kind in PAID:
            lowered = f", δ = {left.delta:.3g}" if left.delta != recipe.delta else ""
            noise = gaussian.noise_multiplier(left) / whole
            cost += f"; left ε = {left.epsilon:.3g}{lowered}, noise × {noise:.3g}"
        rows.append(row | {"cost of the budget": cost})
    return pd.DataFrame(rows)


def below_costs(recipe: SiteRecipe) -> str:
    """What the chart and the table mean."""
    against = (
        "Errors of the joint answer, against the directions that hospitals would share if none differed."
        if recipe.synthetic
        else "Errors of the joint answer, against PCA without privacy of the pooled rows, standardised in "
        "the same way without noise: *not private*, only who holds all rows can compute it."
    )
    return (
        f"{against} Every hospital adds the noise of its own means and spreads itself, so nobody need be "
        "trusted with them; very noisy ones are drawn towards the public range."
    )


def about_joining(recipe: SiteRecipe, settings: Settings) -> str:
    """What alone and joined are, and what they are measured against."""
    measure, against_own = SiteMeasure(recipe, settings), settings["sites.against"] == "own"
    if measure.energy:
        against = "Share of what the best directions would capture of the hospital's own patients."
    elif not against_own and recipe.synthetic:
        against = "Error against the directions common to all hospitals."
    elif not against_own:
        against = "Error against PCA without privacy of all hospitals' rows together."
    elif recipe.synthetic:
        against = "Error against the hospital's own true directions, in the columns that it measures."
    else:
        against = "Error against PCA without privacy of the hospital's own rows."
    if not recipe.synthetic:
        against += " *Not private*: only who holds the rows can compute this."
    bar = (
        " The grey bar is the joint answer without privacy: what it lacks is because hospitals differ, or "
        "their patients are few, and no budget can mend it."
    )
    return (
        f"{against} Alone: its own private answer, with the same method and budget. Joined: the one private "
        f"answer of all.{'' if view.plain_is_truth(recipe, settings) else bar}"
    )


def missing() -> str:
    """What is absent from the real table, counted from it."""
    absent = heart_disease.absent()
    zeros = {hospital: counts["chol"].zero for hospital, counts in absent.items() if counts["chol"].zero > 0}
    parts = [f"{text.percent(share)} of the patients of {hospital}" for hospital, share in zeros.items()]
    rare = [
        title.lower() if title[1:2].islower() else title
        for key, title in heart_disease.MEASUREMENTS.items()
        if sum(counts[key].share > 0.5 for counts in absent.values()) >= 2
    ]
    return (
        f"Cholesterol is recorded as 0, that is absent, for {listed(parts)}. Most patients of two hospitals "
        f"or more lack {listed(rare)}. What is absent takes the public centre, so it says nothing; "
        "a hospital without a column cannot have a direction in it. Counted from the rows: *not private*."
    )


def notes(recipe: SiteRecipe, settings: Settings) -> list[str]:
    """What of the settings does not count, or gave way, here, and what of the guarantee is special."""
    plain, method = settings["view"] == "board", METHODS[recipe.method]
    guarantee = method.guarantee_at(recipe.k)
    sentences = []
    if view.kind(recipe, settings) != settings["sites.kind"]:
        way = KIND_TITLES[view.kind(recipe, settings)]
        sentences.append(f"No laboratory's printed ranges are known for this table: shown by {way} instead.")
    if "s_hat" in recipe.options and recipe.s_hat != settings["s_hat"]:
        name = CHOICES["s_hat"].name(plain)
        sentences.append(
            f"{name}: {recipe.s_hat}, as there are {recipe.d} columns and {recipe.k} directions here."
        )
    if settings["metric"] == "energy":
        sentences.append("Captured energy is shown hospital by hospital; the first chart keeps the error.")
    if recipe.options.get("provider_noise") == "shared":
        sentences.append(f"{UNDONE[0].upper()}{UNDONE[1:]}.")
    if method.trust == "central":
        sentences.append(f"{method.title} needs a curator whom all hospitals trust with their rows.")
    if guarantee in text.GUARANTEE_MARKS:
        words = text.PLAIN_GUARANTEES if plain else text.GUARANTEES
        sentences.append(f"{method.title}: {words[guarantee]}.")
    return sentences


def try_this(recipe: SiteRecipe, settings: Settings) -> str:
    """What to do next."""
    if not recipe.synthetic:
        return (
            "move the privacy slider to the right: noise fades, and what is left is that a hospital's "
            "patients, and what it records, differ from the others'."
        )
    if view.kind(recipe, settings) == "public":
        return (
            "set *Standardised by* to each laboratory's printed ranges: they are as public, and undo most of "
            "what devices and laboratories add."
        )
    name = CHOICES["sites.differ"].name(settings["view"] == "board")
    return (
        f"choose *shift only*, then *support only* under *{name}*: what devices shift, printed ranges mostly "
        "undo; a column that a hospital does not measure nobody gives back."
    )


def about(recipe: SiteRecipe) -> str:
    """Where the numbers come from."""
    if recipe.synthetic:
        factors = listed([name for name, _, _ in clinical.FACTORS])
        return (
            f"**Simulation, synthetic patients**: {recipe.repeats} runs, each with its own patients and noise. "
            f"Hospitals of {listed([f'{size:,}' for size in recipe.sizes])} patients, {recipe.d} columns; "
            f"{len(clinical.FACTORS)} clinical factors ({factors}) with invented loadings. At 1 a column's "
            "shift has a standard deviation of half a public scale, spreads are off by a fifth, one column "
            "in ten is missing at a hospital, and factors' variances lie between 0.55 and 1.8; printed "
            f"ranges carry {clinical.PRINTED:.0%} of a laboratory's shift and (log) scale. Means and Wishart "
            "matrices are drawn from their exact law. Rows are divided by a length that all respect with "
            "probability 0.99, chosen with the population known; a real release chooses it beforehand, and "
            "clips."
        )
    table = heart_disease.TABLE
    return (
        f"**Simulation on a real table**: {recipe.repeats} runs, each with its own noise. {table.title}: "
        f"{table.source}; licence {table.licence}. {table.provenance} The bound clips "
        f"{text.percent(heart_disease.clipped_share())} of the rows (*not private*). The diagnosis is left "
        f"out; {len(heart_disease.MEASUREMENTS)} measurements give {table.d} columns."
    )


FORMULAS = r"""
Each hospital releases, $u$ a row in public units clipped to the public bound $B$ and divided by it,

$$
\tilde m=\tfrac1n\sum u+N\big(0,(\tfrac{\Delta_1z'}{n})^2I\big),\quad
\tilde q=\tfrac1n\sum u\circ u+N\big(0,(\tfrac{\Delta_2z'}{n})^2I\big).
$$

$\Delta_1=2$, $\Delta_2=\sqrt2$ for replace one, since $\Vert u-v\Vert\le2$ and $u\circ u$ has no negative
entry and a length of at most 1; both are 1 for add or remove one. With $z(\varepsilon,\delta)$ of one
Gaussian release (Balle & Wang 2018) and the share $f$, $z'=z\sqrt{2/f}$ and the PCA has $z/\sqrt{1-f}$ left:
$1/z^2=2/z'^2+(1-f)/z^2$, exactly (Dong, Roth & Su 2022, Corollary 3.3).
"""
