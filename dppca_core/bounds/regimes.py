"""Classify a setting by its dominant error: the four regions of the map over patients and epsilon.

    "privacy is free here"   the privacy term is at most the sampling term
    "privacy costs"          it is larger
    "hopeless"               the error is near a guess, or the bound above it
    "nothing follows"        an assumption fails

A closed form is hopeless where only its first order fails: the predicted error is beyond a third of a guess.
A theorem is silent as soon as any assumption fails, void or not, and hopeless where it applies but promises
no more than guessing. Works for every rule whose terms name privacy and sampling.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.rule import BoundRule
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

FREE = "privacy is free here"
COSTS = "privacy costs"
HOPELESS = "hopeless"
SILENT = "nothing follows"
REGIONS = (FREE, COSTS, HOPELESS, SILENT)

_PRIVACY = ("privacy", "priv")
_SAMPLING = ("sampling", "stat")


def regime(rule: BoundRule, setting: Setting, **constants: float) -> str:
    """Return the region of `setting`, one of REGIONS, by this rule.

    constants: the rule's free constants and options.
    Raises ValueError for a rule that is a lower bound, or whose terms do not tell privacy from sampling.
    """
    if rule.kind == "lower":
        raise ValueError(f"rule must be an upper bound or a prediction, got {rule.name}, a lower bound")
    bound = rule(setting, **constants)
    if not bound.terms:
        return SILENT
    # A closed form that lacks nothing but a small error says that the error is large: that is an answer.
    if not bound.applies:
        return HOPELESS if rule.kind == "prediction" and bound.applies_but_for_size else SILENT
    if bound.final >= random_guess(setting.d, setting.k):
        return HOPELESS
    private, sampled = (_term(rule, bound, names) for names in (_PRIVACY, _SAMPLING))
    return FREE if private <= sampled else COSTS


def _term(rule: BoundRule, bound: Bound, names: tuple[str, ...]) -> float:
    """Return the bound's term by the first of `names` that it has, at the output; ValueError if it has none.

    Closed forms and theorems call the same terms by different names.
    """
    for name in names:
        if name in bound.terms:
            return float(np.asarray(bound.terms[name]).flat[-1])
    raise ValueError(f"rule must have one of the terms {', '.join(names)}, got {rule.name}")


def regions(
    rule: BoundRule,
    base: Setting,
    patients: Sequence[int],
    epsilons: Sequence[float],
    scaled: Callable[[int], Array],
    **constants: float,
) -> list[list[str]]:
    """Return the region of `base` at each number of patients (outer list) and each epsilon (inner lists).

    More patients and a larger epsilon lower both the error and privacy's part in it, and each region is where
    these two lie between limits. So a rectangle whose four corners agree is of one region. Any other is
    halved: about 300 points of 1,600 are evaluated.

    Args:
        rule: As for `regime`.
        base: The setting whose patients, eigenvalues and epsilon are replaced.
        patients: Numbers of patients, n, rising.
        epsilons: Values of epsilon, rising.
        scaled: Returns the eigenvalues of the scaled rows, (d,), at n patients: the public row bound of a
            population, by whose square they are divided, grows with n.
        constants: The rule's free constants and options.
    """
    names = np.empty((len(patients), len(epsilons)), dtype=object)

    @cache
    def at(i: int) -> Setting:
        return replace(base, n=patients[i], eigenvalues=scaled(patients[i]))

    @cache
    def region(i: int, j: int) -> str:
        return regime(rule, replace(at(i), budget=replace(base.budget, epsilon=epsilons[j])), **constants)

    def fill(i: int, last_i: int, j: int, last_j: int) -> None:
        corners = {region(*corner) for corner in product((i, last_i), (j, last_j))}
        if len(corners) == 1:
            names[i : last_i + 1, j : last_j + 1] = corners.pop()
        elif max(last_i - i, last_j - j) <= 1:
            for corner in product((i, last_i), (j, last_j)):
                names[corner] = region(*corner)
        elif last_i - i >= last_j - j:
            middle = (i + last_i) // 2
            fill(i, middle, j, last_j)
            fill(middle, last_i, j, last_j)
        else:
            middle = (j + last_j) // 2
            fill(i, last_i, j, middle)
            fill(i, last_i, middle, last_j)

    fill(0, len(patients) - 1, 0, len(epsilons) - 1)
    rows: list[list[str]] = names.tolist()
    return rows
