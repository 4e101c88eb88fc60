"""The recipe of a decision: hospitals that may join, which is ours, and what each trust would run.

Each hospital has its own privacy loss ε. Where nobody is trusted each hospital adds noise for its own ε, and
the server weights hospitals by precision (`dppca_core.mechanisms.hospital_budgets`). Where sums are sealed,
or one place is trusted, one noise protects the patients of all. In a mean by patients each patient moves it
alike, so that this noise must be enough for the strictest ε, which all others then get as well. (Weights
could let a sealed sum carry less noise. Without them both trusts have one law, and so one verdict.)

More trust also allows what less trust does. If a strict hospital makes the one noise worse than everyone's
own noise, by predicted errors, the own noise is run under every trust. That unequal weights raise the error
of sampling is left out of these predictions, not of runs.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from dppca_core import checks
from dppca_core.bounds.recommendation import TRUSTS, Recommendation
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.mechanisms import hospital_budgets
from dppca_core.methods import METHODS
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget

Use = Literal["in-house", "publish"]
USES: tuple[Use, ...] = get_args(Use)
LEAST_REPEATS = 8  # of which an order-statistic interval of a median has 99 %: 2 (1/2)^8 < .01
MOST_HOSPITALS = 200


@dataclass(frozen=True)
class JoiningHospital:
    name: str
    patients: int  # how many it has, at least 1
    epsilon: float  # privacy loss that it asks for

    def __post_init__(self) -> None:
        checks.whole(1, patients=self.patients)
        checks.within(1e-12, 1e12, epsilon=self.epsilon)


@dataclass(frozen=True)
class JoiningExperiment:
    """Hold who may join, what for, and in which population it is simulated."""

    hospitals: tuple[JoiningHospital, ...]  # all hospitals, from 1 to 200
    ours: int  # index of ours
    # A spiked model, hospitals that differ, or the name of a table with at least as many rows as patients.
    population: Synthetic | DifferingHospitals | str
    k: int
    delta: float = 1e-6  # failure chance of every hospital's guarantee
    use: Use = "in-house"  # "in-house", where the result alone needs no protection, or "publish"
    s_hat: int | None = None  # features that sparse methods keep; None chooses them from the release
    seed: int = 0
    repeats: int = 40  # runs, at least 8

    def __post_init__(self) -> None:
        checks.whole(1, MOST_HOSPITALS, hospitals=len(self.hospitals))
        checks.whole(0, len(self.hospitals) - 1, ours=self.ours)
        checks.inside_unit_interval(delta=self.delta)
        checks.one_of(USES, use=self.use)
        checks.whole(LEAST_REPEATS, repeats=self.repeats)
        checks.whole(0, seed=self.seed)
        checks.whole(1, self.experiment.d - 1, k=self.k)
        if self.s_hat is not None:
            checks.whole(self.k, self.experiment.d, s_hat=self.s_hat)
        if self.differing:
            self.differing.check(self.sizes)
        if table := self.experiment.table:
            checks.whole(1, table.n, patients=self.n)

    @property
    def differing(self) -> DifferingHospitals | None:
        """Return the hospitals' populations where each has its own, and so a pattern of its own."""
        return self.population if isinstance(self.population, DifferingHospitals) else None

    def site(self, hospital: int) -> int:
        """Return the number that seeds what a hospital does alone: its index, unless others have left."""
        return self.differing.site(hospital) if self.differing else hospital

    def rank(self, hospital: int) -> tuple[int, float, int]:
        """Return what a hospital's verdict depends on: patients, ε where it publishes, and who differs."""
        member = self.hospitals[hospital]
        epsilon = member.epsilon if self.use == "publish" else 0.0
        return member.patients, epsilon, hospital if self.differing else 0

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(hospital.patients for hospital in self.hospitals)

    @property
    def n(self) -> int:
        return sum(self.sizes)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """Return the guarantee that each hospital asks for: one patient is replaced, exact accounting."""
        return tuple(Budget(hospital.epsilon, self.delta) for hospital in self.hospitals)

    @property
    def strictest(self) -> float:
        return min(hospital.epsilon for hospital in self.hospitals)

    @property
    def experiment(self) -> ExplorerExperiment:
        """Return the explorer's experiment with these patients, whose runs are those of other pages."""
        d = ExplorerExperiment(self.population, n=1, k=self.k, s_hat=1, delta=self.delta).d
        return ExplorerExperiment(
            population=self.population,
            n=self.n,
            k=self.k,
            s_hat=d if self.s_hat is None else self.s_hat,
            delta=self.delta,
            providers=len(self.hospitals),
            repeats=self.repeats,
            seed=self.seed,
            choose_rows=self.s_hat is None,
        )


class Arrangement(NamedTuple):
    method: str
    budget: Budget  # budget at which all hospitals have this noise; each keeps its own guarantee
    # Weight of each hospital in the mean, (N,), or None for weights by patients.
    weights: tuple[float, ...] | None
    error: float  # predicted sin Theta, in the median of runs


@lru_cache(maxsize=4096)
def arrangement(setting: JoiningExperiment, trust: str) -> Arrangement:
    """Return what the hospitals run together under one of `TRUSTS`, by the module's text.

    It is that of the untrusted server where this is predicted to err no more.
    """
    checks.one_of(TRUSTS, trust=trust)
    if len({hospital.epsilon for hospital in setting.hospitals}) == 1:
        epsilon = setting.strictest
        chosen = trusts.recommended(setting.experiment, epsilon, trust)
        return Arrangement(chosen.method, setting.budgets[0], None, chosen.error)
    if trust != "untrusted server":
        chosen = trusts.recommended(setting.experiment, setting.strictest, trust)
        alternative = arrangement(setting, "untrusted server")
        if METHODS[chosen.method].trust == "untrusted server" or alternative.error <= chosen.error:
            return alternative
        return Arrangement(chosen.method, Budget(setting.strictest, setting.delta), None, chosen.error)
    sampling = hospital_budgets.sampling_ratio(setting.experiment.d, setting.k, setting.s_hat)
    weights, pooled = hospital_budgets.pooled_budget(setting.sizes, setting.budgets, trust, sampling)
    chosen = trusts.recommended(setting.experiment, pooled.epsilon, trust)
    return Arrangement(chosen.method, pooled, tuple(weights.tolist()), chosen.error)


def alone(setting: JoiningExperiment, hospital: int) -> Recommendation:
    """Return the method recommended to a hospital that publishes by itself, with its own ε."""
    member = setting.hospitals[hospital]
    return trusts.recommended_alone(setting.experiment, member.epsilon, member.patients)


def halved(setting: JoiningExperiment) -> JoiningExperiment:
    """Return the setting in which the strictest hospital, if possible not ours, asks for half of its ε."""
    order = sorted(
        range(len(setting.hospitals)), key=lambda i: (setting.hospitals[i].epsilon, i == setting.ours)
    )
    return changed(setting, order[0], epsilon=setting.hospitals[order[0]].epsilon / 2)


def without(setting: JoiningExperiment, hospital: int) -> JoiningExperiment:
    """Return the setting that a hospital, which cannot be ours, has left."""
    checks.whole(0, len(setting.hospitals) - 1, hospital=hospital)
    if hospital == setting.ours:
        raise ValueError(f"hospital must be another than ours, got {hospital}")
    left = setting.hospitals[:hospital] + setting.hospitals[hospital + 1 :]
    ours, population = setting.ours - (hospital < setting.ours), setting.population
    if setting.differing:  # the others stay who they are
        population = setting.differing.without(hospital, len(setting.hospitals))
    return replace(setting, hospitals=left, ours=ours, population=population)


def changed(setting: JoiningExperiment, hospital: int, **fields: Any) -> JoiningExperiment:
    """Return the setting in which one hospital, by its index, has these fields of `JoiningHospital`."""
    members = list(setting.hospitals)
    members[hospital] = replace(members[hospital], **fields)
    return replace(setting, hospitals=tuple(members))


def scaled(setting: JoiningExperiment, *, patients: float = 1.0, epsilon: float = 1.0) -> JoiningExperiment:
    """Return the setting at fixed shares of hospitals, in which all have so many times the patients and ε."""
    members = (
        replace(member, patients=max(1, round(patients * member.patients)), epsilon=epsilon * member.epsilon)
        for member in setting.hospitals
    )
    return replace(setting, hospitals=tuple(members))
