"""What a hospital would agree to: who joins, the verdict, and the guarantee of its own patients.

Where each hospital adds its own noise, its patients have the guarantee that it asked for. A noise that all
share is enough for the strictest hospital, so that all others have that guarantee as well.

Several releases cost together what an account would say of them (`dppca_core.accounting.numerical`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from dppca_core import checks
from dppca_core.accounting import gaussian, numerical
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.experiments.decision import hospitals
from dppca_core.experiments.decision.decision import JoiningDecision, ShareBar
from dppca_core.experiments.decision.hospitals import Arrangement, JoiningExperiment, JoiningHospital
from dppca_core.experiments.decision.rule import Answer
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget, Event
from dppca_core.records import Method
from dppca_core.release.registry_record import BLANK

YEARS = 5


class YearsAccount(NamedTuple):
    """Hold what so many releases a year cost a patient who is in all of them.

    epsilon: their privacy loss together, at the failure chance of one. guess: the largest chance to guess
    right from 50:50 which of two records was used. each: the privacy loss of each release where all together
    may cost what one does.
    """

    a_year: int
    epsilon: float
    guess: float
    each: float


@dataclass(frozen=True)
class Agreement:
    """Hold what a board would sign: the decision for our hospital, and its three bars under a trust, by name.

    Raises ValueError for another trust than `TRUSTS`, for a decision of another hospital, and for one to ask
    again with a number of patients that no runs confirmed.
    """

    setting: JoiningExperiment
    decision: JoiningDecision
    bars: Mapping[str, ShareBar]
    trust: str

    def __post_init__(self) -> None:
        checks.one_of(TRUSTS, trust=self.trust)
        checks.whole(
            self.setting.ours, self.setting.ours, **{"hospital of the decision": self.decision.hospital}
        )
        if self.decision.answer is Answer.ASK_AGAIN and self.decision.patients is None:
            raise ValueError("decision must be settled, got one to ask again without a number of patients")

    @property
    def ours(self) -> JoiningHospital:
        return self.setting.hospitals[self.setting.ours]

    @property
    def joins(self) -> bool:
        answer = self.decision.answer
        return answer == Answer.JOIN or (answer == Answer.JOIN_IF and self.trust != "untrusted server")

    @property
    def patients(self) -> str:
        """Return in words whose patients all runs are of."""
        population, differing = self.setting.population, self.setting.differing
        if differing:
            return "simulated patients" if differing.simulated else "the public records of real hospitals"
        return f"the public table {population}" if isinstance(population, str) else "simulated patients"

    @cached_property
    def arrangement(self) -> Arrangement:
        return hospitals.arrangement(self.setting, self.trust)

    @property
    def method(self) -> Method:
        return METHODS[self.arrangement.method]

    @property
    def options(self) -> dict[str, Any]:
        return self.setting.experiment.options(self.arrangement.method)

    @property
    def noise_by(self) -> str:
        """Return who makes the noise, as a trust: more trust may run what asks for less."""
        return "untrusted server" if self.method.trust == "untrusted server" else self.trust

    @property
    def budget(self) -> Budget:
        """Return the guarantee of our patients, by the module's text."""
        if self.noise_by == "untrusted server":
            return self.setting.budgets[self.setting.ours]
        return Budget(self.setting.strictest, self.setting.delta)

    @property
    def multiplier(self) -> float:
        """Return the noise multiplier of all that a run releases, as one Gaussian release."""
        return gaussian.noise_multiplier(self.budget)

    @property
    def events(self) -> tuple[Event, ...]:
        spends = self.method.spends
        assert spends is not None  # every method that is recommended is private
        return spends(self.budget, d=self.setting.experiment.d, k=self.setting.k, **self.options)

    @property
    def mu(self) -> float:
        """Return the mu of Gaussian differential privacy: what is recommended has Gaussian noise alone."""
        return 1 / self.multiplier

    @property
    def trade_off(self) -> TradeOff:
        """Return what all that a run releases lets an attacker do, by its own noise."""
        return TradeOff(self.multiplier)

    @property
    def promised(self) -> TradeOff:
        """Return what the guarantee lets an attacker do, whatever method keeps it."""
        return TradeOff.allowed(self.budget.epsilon, self.budget.delta)

    @property
    def guess(self) -> float:
        """Return the largest chance to guess right from 50:50 which of two records of a patient was used."""
        return self.promised.best_guess()

    def over_years(self, a_year: int) -> YearsAccount:
        """Return what so many releases a year cost in five years, each like this one."""
        checks.whole(1, a_year=a_year)
        budget, releases = self.budget, YEARS * a_year
        epsilon = numerical.total(self.events * releases, budget.delta).epsilon
        # Releases compose exactly: of so many, each has the noise of one times the root of their number.
        each = gaussian.epsilon_of(self.multiplier * math.sqrt(releases), budget.delta)
        return YearsAccount(a_year, epsilon, TradeOff.allowed(epsilon, budget.delta).best_guess(), each)


def blank(what: str) -> str:
    """Return the mark of what only the hospital knows, by its name."""
    return f"{BLANK}: {what}"
