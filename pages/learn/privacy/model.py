"""Measure the privacy page's attack and audit, and its comparison of accountings.

Releases are drawn from two data sets that differ in one patient. The attacker reads one number off each, in
units of the noise: N(0, 1) without the patient, N(mu, 1) with. `with_patient` are the numbers with the
patient, `without_patient` those without. Draws come in portions, and are of a kind: "true" as programmed,
"silent" without noise, or with a planted bug.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import pandas as pd

from dppca_core.accounting import compare
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound, membership
from dppca_core.auditing.cases import planted
from dppca_core.experiments.demonstrations import neighbours
from dppca_core.experiments.demonstrations.attacks import PORTION, AttackDraws, AttackExperiment
from dppca_core.experiments.figure_tables.privacy import accounting
from dppca_core.mechanisms import matrix_product, two_stage
from dppca_core.privacy import Budget
from pages.learn.privacy.settings import NO_BUG
from pages.shared.background import cache
from pages.shared.settings.catalogue import CHOICES, Settings, sizes

LEVEL = 0.95  # of the intervals of an attack, and of audits
ROUNDS = tuple(map(int, CHOICES["iterations"].options))


class Attack(NamedTuple):
    """Hold a test that says "with the patient" above `limit`, and its error rates."""

    mu: float  # how far the patient moves what is read, in standard deviations of the noise
    alarms: float  # the share of false alarms, by the noise's law
    limit: float
    misses: float  # of the best test with so many false alarms, by the law
    with_patient: Array  # what is read from either data set
    without_patient: Array
    measured: membership.Rates  # the shares of false alarms and misses among these
    silent: membership.Rates  # without noise, tested half-way between their two values 0 and mu

    @property
    def best(self) -> TradeOff:
        return TradeOff.gaussian(self.mu)

    @property
    def drawn(self) -> int:
        """Return how many releases of each data set there are: fewer than asked for where some failed."""
        return len(self.with_patient)

    def readings(self) -> pd.DataFrame:
        return pd.DataFrame({"with": self.with_patient, "without": self.without_patient})


class Accounted(NamedTuple):
    """Hold what T rounds cost by each accounting: in both tables rows are T (ROUNDS), columns accountings."""

    sensitivity: float  # how far one patient moves a round's message
    steps: int  # the page's own number of rounds
    std: float  # the noise per round that exact accounting asks of so many rounds
    noise: pd.DataFrame  # per round, with which T rounds spend the whole budget
    charged: pd.DataFrame  # the epsilon of T rounds whose noise is `std`

    def ratio(self, name: str) -> float:
        return float(self.noise[name][self.steps] / self.std)


@lru_cache(maxsize=64)
def accounted(budget: Budget, sensitivity: float, steps: int) -> Accounted:
    """Return what rounds cost by every accounting; cached, since this takes about 50 ms."""
    std = compare.noise("exact", budget, sensitivity, steps)
    costs = (accounting(budget, sensitivity, steps, ROUNDS, quantity) for quantity in ("noise", "charged"))
    return Accounted(sensitivity, steps, std, *costs)


class Privacy:
    """Hold the page at these settings; releases are drawn once they are asked for.

    Attributes:
        draws: The releases drawn so far, which all visitors share.
        bug: The bug to plant; None where none is asked for, or it would change nothing.
        why_no_bug: Why the bug asked for would change nothing here, or empty.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        names = ("epsilon", "delta", "neighbours", "accounting")
        self.budget = Budget(**{name: settings[name] for name in names})
        self.draws: AttackDraws = cache.attack_draws(self.attacked)
        asked, reason = settings["audit.bug"], None
        if asked != NO_BUG:
            reason = planted.why_no_bug(asked, self.attacked.method, self.budget, self.attacked.k)
        self.bug: str | None = None if asked == NO_BUG or reason else asked
        self.why_no_bug = reason or ""

    @property
    def attacked(self) -> AttackExperiment:
        """Return what is attacked; what makes no difference is left out, so that its draws are used again."""
        # Rounds are those set for DPS-PCA, or else of two stages' first stage, which other methods ignore.
        method, k = self.settings["attack.method"], min(self.settings["k"], 2)
        steps = self.settings["iterations"] if method == "dps_pca" else two_stage.ROUNDS
        return AttackExperiment(method, self.budget, k, steps, self.settings["seed"])

    @property
    def patients(self) -> int:
        return sizes(self.settings)[0]

    @cached_property
    def picture(self) -> neighbours.Picture:
        return neighbours.picture(self.budget, seed=self.settings["seed"])

    @cached_property
    def attack(self) -> Attack | None:
        """Return the attack and its errors; None where all draws have failed."""
        with_patient, without_patient = self._complete("true", self.settings["attack.draws"])
        noiseless = self._complete("silent", PORTION)  # one portion; with the patient, and without
        if not (len(with_patient) and len(noiseless[0])):
            return None
        mu, alarms = self.draws.case.mu, self.settings["attack.alarms"]
        limit = membership.threshold(alarms)
        return Attack(
            mu=mu,
            alarms=alarms,
            limit=limit,
            misses=float(TradeOff.gaussian(mu).misses(alarms)),
            with_patient=with_patient,
            without_patient=without_patient,
            measured=membership.measured(with_patient, without_patient, limit, LEVEL),
            silent=membership.measured(*noiseless, mu / 2, LEVEL),  # half-way between what is read
        )

    @cached_property
    def honest(self) -> lower_bound.LowerBound | None:
        """Return what an audit shows of the release as it is programmed."""
        return self._audit("true")

    @cached_property
    def broken(self) -> lower_bound.LowerBound | None:
        return self._audit(self.bug) if self.bug else None

    @property
    def costs(self) -> Accounted:
        """Return what rounds cost, for messages of k columns on the scale of sums."""
        sensitivity = matrix_product.sensitivity(self.budget, self.settings["k"])
        return accounted(self.budget, sensitivity, self.settings["iterations"])

    def _audit(self, kind: str) -> lower_bound.LowerBound | None:
        readings = self._complete(kind, self.settings["attack.draws"])
        if not len(readings[0]):
            return None
        return lower_bound.gaussian_tradeoff(*readings, delta=self.budget.delta, alpha=1 - LEVEL)

    def _complete(self, kind: str, count: int) -> tuple[Array, Array]:
        """Draw `count` of each data set, or fewer; return readings with the patient, and without."""
        while (cell := self.draws.next_missing(kind, count)) is not None:
            self.draws.try_cell(*cell)
        return self.draws.readings(kind, count)
