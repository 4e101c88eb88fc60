"""Measure what the privacy page attacks, audits and adds up. No Streamlit here."""

from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from dppca_core.accounting import compare
from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound, membership, tradeoff_curves
from dppca_core.auditing.cases import planted
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackSetting
from dppca_core.experiments.figure_tables.privacy import accounting
from dppca_core.mechanisms import matrix_product, two_stage
from dppca_core.privacy import Budget
from pages.learn.privacy.settings import NO_BUG
from pages.shared.settings.catalogue import CHOICES, Settings

LEVEL = 0.95  # of the intervals of an attack, and of audits
ROUNDS = CHOICES["iterations"].options


def budget(settings: Settings) -> Budget:
    """Return the promise that the sliders are set to."""
    return Budget(**{name: settings[name] for name in ("epsilon", "delta", "neighbours", "accounting")})


def attack_setting(settings: Settings) -> AttackSetting:
    """Return what is attacked: the same for settings that make no difference to it."""
    method = settings["attack.method"]
    steps = {"dps_pca": settings["iterations"]}.get(method, two_stage.ROUNDS)
    return AttackSetting(method, budget(settings), min(settings["k"], 2), steps, settings["seed"])


def bug(settings: Settings) -> tuple[str | None, str]:
    """Return the bug that is planted, or None and why the one asked for would be none here."""
    asked, attacked = settings["audit.bug"], attack_setting(settings)
    if asked == NO_BUG:
        return None, ""
    reason = planted.why_no_bug(asked, attacked.method, attacked.budget, attacked.k)
    return (asked, "") if reason is None else (None, reason)


class Attack(NamedTuple):
    """Hold a test with this share of false alarms, its draws, and its rates with and without noise."""

    mu: float
    alarms: float
    limit: float
    misses: float
    here: Array
    there: Array
    measured: membership.Rates
    silent: membership.Rates


def _complete(draws: AttackDraws, kind: str, count: int) -> tuple[Array, Array]:
    while (cell := draws.next_missing(kind, count)) is not None:
        draws.try_cell(*cell)
    return draws.readings(kind, count)


def attack(draws: AttackDraws, alarms: float, count: int) -> Attack | None:
    """Attack releases that are drawn now unless they were before, and count the attacker's errors.

    here, there: readings of releases of the two neighbouring data sets. Without noise they are 0 and mu, and
    the threshold stands half-way.

    Returns:
        None where all draws have failed.
    """
    here, there = _complete(draws, "true", count)
    noiseless = _complete(draws, "silent", PORTION)
    if not (len(here) and len(noiseless[0])):
        return None
    mu, limit = draws.case.mu, membership.threshold(alarms)
    misses = float(tradeoff_curves.gaussian(mu, alarms))
    measured = membership.measured(here, there, limit, LEVEL)
    silent = membership.measured(*noiseless, mu / 2, LEVEL)
    return Attack(mu, alarms, limit, misses, here, there, measured, silent)


def audit(draws: AttackDraws, kind: str, count: int) -> lower_bound.LowerBound | None:
    """Audit the release as programmed ("true") or with a bug; return None where all draws have failed."""
    here, there = _complete(draws, kind, count)
    if not len(here):
        return None
    return lower_bound.gaussian_tradeoff(here, there, delta=draws.attacked.budget.delta, alpha=1 - LEVEL)


class Accounted(NamedTuple):
    """Hold noise and epsilon of T rounds: rows are ROUNDS (index), columns the accountings.

    `noise` spends the whole budget. `charged` is what each accounting charges for rounds whose noise is
    `std`, which exact accounting asks of `steps` rounds.
    """

    sensitivity: float
    steps: int
    std: float
    noise: pd.DataFrame
    charged: pd.DataFrame

    def ratio(self, name: str) -> float:
        """Return the noise at the chosen T over that of exact accounting."""
        return float(self.noise[name][self.steps] / self.std)


@lru_cache(maxsize=64)
def accounted(budget: Budget, sensitivity: float, steps: int) -> Accounted:
    """Return what rounds cost by every accounting, in about 50 ms, once for all visitors."""
    std = compare.noise("exact", budget, sensitivity, steps)
    costs = (accounting(budget, sensitivity, steps, ROUNDS, quantity) for quantity in ("noise", "charged"))
    return Accounted(sensitivity, steps, std, *costs)


def sensitivity(settings: Settings) -> float:
    """Return how far a patient moves a message of k columns."""
    return matrix_product.sensitivity(budget(settings), settings["k"])
