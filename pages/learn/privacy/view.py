"""Measure the privacy page's attack and audit, and its comparison of accountings. No Streamlit here.

Releases are drawn from two data sets that differ in one patient. The attacker reads one number off each, in
units of the noise: N(0, 1) without the patient, N(mu, 1) with. `with_patient` are the numbers with the
patient, `without_patient` those without. Draws come in portions, and are of a kind: "true" as programmed,
"silent" without noise, or with a planted bug.
"""

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
    """Return the privacy budget that the sliders are set to."""
    return Budget(**{name: settings[name] for name in ("epsilon", "delta", "neighbours", "accounting")})


def attack_setting(settings: Settings) -> AttackSetting:
    """Return what is attacked: a method, its budget, at most two directions, its rounds, and the seed.

    Settings that make no difference to the attack give the same value, so that its draws are used again: the
    rounds are those set for DPS-PCA, and else those of two stages' first stage, which other methods ignore.
    """
    method = settings["attack.method"]
    steps = {"dps_pca": settings["iterations"]}.get(method, two_stage.ROUNDS)
    return AttackSetting(method, budget(settings), min(settings["k"], 2), steps, settings["seed"])


def bug(settings: Settings) -> tuple[str | None, str]:
    """Return the bug to plant, or None, and the reason why the bug asked for would change nothing here.

    The reason is empty where a bug is planted, and where none is asked for.
    """
    asked, attacked = settings["audit.bug"], attack_setting(settings)
    if asked == NO_BUG:
        return None, ""
    reason = planted.why_no_bug(asked, attacked.method, attacked.budget, attacked.k)
    return (asked, "") if reason is None else (None, reason)


class Attack(NamedTuple):
    """Hold a test that says "with the patient" above `limit`, and its error rates.

    Attributes:
        mu: How far the patient moves what is read, in standard deviations of the noise.
        alarms: The test's share of false alarms, by the noise's law.
        limit: The number read above which it says "with".
        misses: The share of misses of the best test with so many false alarms, by the law.
        with_patient, without_patient: What is read from either data set.
        measured: The shares of false alarms and misses among these.
        silent: The same of releases without noise, tested half-way between their two values 0 and mu.
    """

    mu: float
    alarms: float
    limit: float
    misses: float
    with_patient: Array
    without_patient: Array
    measured: membership.Rates
    silent: membership.Rates


def _complete(draws: AttackDraws, kind: str, count: int) -> tuple[Array, Array]:
    """Draw releases of a kind until there are `count` of each data set; return what is read with and without.

    They are fewer where some have failed.
    """
    while (cell := draws.next_missing(kind, count)) is not None:
        draws.try_cell(*cell)
    return draws.readings(kind, count)


def attack(draws: AttackDraws, alarms: float, count: int) -> Attack | None:
    """Attack releases that are drawn now unless they were before, and count the attacker's errors.

    alarms: the share of false alarms of the test. count: how many releases of each data set.

    Returns:
        None where all draws have failed.
    """
    with_patient, without_patient = _complete(draws, "true", count)
    noiseless = _complete(draws, "silent", PORTION)  # one portion; with the patient, and without
    if not (len(with_patient) and len(noiseless[0])):
        return None
    mu, limit = draws.case.mu, membership.threshold(alarms)
    misses = float(tradeoff_curves.gaussian(mu, alarms))
    measured = membership.measured(with_patient, without_patient, limit, LEVEL)
    silent = membership.measured(*noiseless, mu / 2, LEVEL)  # half-way between what is read without noise
    return Attack(mu, alarms, limit, misses, with_patient, without_patient, measured, silent)


def audit(draws: AttackDraws, kind: str, count: int) -> lower_bound.LowerBound | None:
    """Return the lower bound on epsilon that an audit shows; None where all draws have failed.

    kind: "true" for the release as programmed, or a planted bug. count: how many releases of each data set.
    """
    with_patient, without_patient = _complete(draws, kind, count)
    if not len(with_patient):
        return None
    return lower_bound.gaussian_tradeoff(
        with_patient, without_patient, delta=draws.attacked.budget.delta, alpha=1 - LEVEL
    )


class Accounted(NamedTuple):
    """Hold what T rounds cost by each accounting: in both tables rows are T (ROUNDS), columns accountings.

    Attributes:
        sensitivity: How far one patient moves a round's message.
        steps: The page's own number of rounds.
        std: The noise per round that exact accounting asks of so many rounds.
        noise: The noise per round with which T rounds spend the whole budget.
        charged: The epsilon of T rounds whose noise is `std`.
    """

    sensitivity: float
    steps: int
    std: float
    noise: pd.DataFrame
    charged: pd.DataFrame

    def ratio(self, name: str) -> float:
        """Return an accounting's noise over that of exact accounting, at the page's number of rounds."""
        return float(self.noise[name][self.steps] / self.std)


@lru_cache(maxsize=64)
def accounted(budget: Budget, sensitivity: float, steps: int) -> Accounted:
    """Return what rounds cost by every accounting; cached, since this takes about 50 ms.

    budget: of all rounds together. sensitivity: how far one patient moves a round's message. steps: the
    page's own number of rounds.
    """
    std = compare.noise("exact", budget, sensitivity, steps)
    costs = (accounting(budget, sensitivity, steps, ROUNDS, quantity) for quantity in ("noise", "charged"))
    return Accounted(sensitivity, steps, std, *costs)


def sensitivity(settings: Settings) -> float:
    """Return how far a patient moves a message of k columns: its l2 sensitivity, on the scale of sums."""
    return matrix_product.sensitivity(budget(settings), settings["k"])
