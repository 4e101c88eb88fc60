"""Settings -> what the privacy page attacks, audits and adds up. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from dppca_core.accounting import compare
from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound, membership, tradeoff_curves
from dppca_core.auditing.cases import planted
from dppca_core.auditing.lower_bound import LowerBound
from dppca_core.auditing.membership import Rates
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackSetting
from dppca_core.mechanisms import matrix_product
from dppca_core.privacy import Budget
from pages.learn.privacy.settings import NO_BUG

LEVEL = 0.95  # intervals of an attack, and audits
ROUNDS = (*range(1, 21), 25, 30, 40, 50)  # as the control has them


def budget(settings: Mapping[str, Any]) -> Budget:
    """The promise of the sliders."""
    names = {"neighbours": settings["neighbours"], "accounting": settings["accounting"]}
    return Budget(settings["epsilon"], settings["delta"], **names)


def attacked(settings: Mapping[str, Any]) -> AttackSetting:
    """What is drawn over and over: alike for settings that make no difference to it."""
    steps = settings["iterations"] if settings["attack.method"] == "dps_pca" else 1
    return AttackSetting(
        settings["attack.method"], budget(settings), min(settings["k"], 2), steps, settings["seed"]
    )


def bug(settings: Mapping[str, Any]) -> tuple[str | None, str]:
    """The bug that is planted, or None; and why it is none here, where it is asked for."""
    asked, of = settings["audit.bug"], attacked(settings)
    if asked == NO_BUG:
        return None, ""
    reason = planted.why_no_bug(asked, of.method, of.budget, of.k)
    return (asked, "") if reason is None else (None, reason)


class Attack(NamedTuple):
    """A test with this share of false alarms, its draws, and what was measured; the same without noise."""

    mu: float
    alarms: float
    limit: float
    misses: float
    here: Array
    there: Array
    measured: Rates
    silent: Rates


def _complete(found: AttackDraws, kind: str, draws: int) -> tuple[Array, Array]:
    while (cell := found.next_missing(kind, draws)) is not None:
        found.try_cell(*cell)
    return found.readings(kind, draws)


def attack_of(found: AttackDraws, alarms: float, draws: int) -> Attack | None:
    """Draw what is missing and count. Without noise the attacker draws the line half-way instead.

    Returns:
        None where all draws have failed.
    """
    here, there = _complete(found, "true", draws)
    noiseless = _complete(found, "silent", PORTION)
    if not (len(here) and len(noiseless[0])):
        return None
    mu, limit = found.case.mu, membership.threshold(alarms)
    silent = membership.measured(*noiseless, mu / 2, LEVEL)
    misses = float(tradeoff_curves.gaussian(mu, alarms))
    return Attack(
        mu, alarms, limit, misses, here, there, membership.measured(here, there, limit, LEVEL), silent
    )


def audit_of(found: AttackDraws, kind: str, draws: int) -> LowerBound | None:
    """Audit the release as programmed ("true") or with a bug; return None where all draws have failed."""
    here, there = _complete(found, kind, draws)
    if not len(here):
        return None
    return lower_bound.gaussian_tradeoff(here, there, delta=found.attacked.budget.delta, alpha=1 - LEVEL)


class Accounted(NamedTuple):
    """Noise and epsilon of T rounds. noise, charged: rows of ROUNDS (index), a column for each accounting.

    `noise` spends the whole budget; `charged` is what rounds are said to cost that all have `std`, the noise
    that exact accounting asks of `steps` rounds.
    """

    sensitivity: float
    steps: int
    std: float
    noise: pd.DataFrame
    charged: pd.DataFrame

    def ratio(self, name: str) -> float:
        """Noise at the chosen T against exact accounting's."""
        return float(self.noise[name][self.steps] / self.std)


def accounted(of: Budget, sensitivity: float, steps: int) -> Accounted:
    """All of it, in about 50 ms."""
    names = list(compare.ACCOUNTINGS)
    std = compare.noise("exact", of, sensitivity, steps)
    noise = {name: [compare.noise(name, of, sensitivity, t) for t in ROUNDS] for name in names}
    charged = {name: [compare.cost(name, std, of.delta, sensitivity, t) for t in ROUNDS] for name in names}
    index = pd.Index(ROUNDS, name="T")
    return Accounted(sensitivity, steps, std, pd.DataFrame(noise, index), pd.DataFrame(charged, index))


def sensitivity(settings: Mapping[str, Any]) -> float:
    """How far a patient moves a message of k columns."""
    return matrix_product.sensitivity(budget(settings), settings["k"])
