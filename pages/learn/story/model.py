"""Measure what the steps of the story show, on the very runs of the decision whether to join. No Streamlit.

The present hospitals have the 40 paired runs of the page that decides; other points of a curve have as few as
an interval needs. `settings` are those of all controls.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array, Indices
from dppca_core.datasets import TABLES
from dppca_core.dossier import data_flow
from dppca_core.dossier.agreement import Agreement
from dppca_core.experiments import draws
from dppca_core.experiments.collaboration.protocols import NUMBER
from dppca_core.experiments.decision import claims
from dppca_core.experiments.decision import hospitals as core_hospitals
from dppca_core.experiments.decision.cells import TRIAL, VERDICT, JoiningCells
from dppca_core.experiments.decision.claims import Claim
from dppca_core.experiments.decision.decision import JoiningDecision, bars
from dppca_core.experiments.decision.hospitals import LEAST_REPEATS, JoiningExperiment, JoiningHospital
from dppca_core.experiments.decision.outcomes import ALONE_AT, TOGETHER, WITHOUT, Arm, truth
from dppca_core.experiments.decision.rule import USEFUL, median_interval
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.demonstrations.neighbours import Picture, picture
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.populations import measurements
from dppca_core.privacy import Budget
from pages.learn.story.settings import STEPS
from pages.shared.background import cache, engine
from pages.shared.document.blocks import Measuring
from pages.shared.plain import share_bars
from pages.shared.settings import hospitals, scenes
from pages.shared.settings.catalogue import Settings

TRUSTS = tuple(share_bars.LOOKS)  # from the least trust to the most
ALONE, FREE, GUESS = "alone", "together, no privacy", "a random guess"  # quantities, as claims name them
_WIDE = 400  # measurements beyond which a curve has fewer points
_MOST_PATIENTS = 1e8  # to which a curve goes, unless more are set
_NO_WEIGHT = 1e-9  # a weight that is zero up to rounding
_SHOWN = 10  # measurements in a chart of values or weights


def under(trust: str) -> str:
    """Return the name, in claims, of what all recover together under a trust."""
    return f"{TOGETHER}, {trust}"


_ARMS: Mapping[str, Arm] = {FREE: (WITHOUT, "")} | {under(trust): (TOGETHER, trust) for trust in TRUSTS}


class ShownClaim(NamedTuple):
    """Hold a claim that a sentence makes, and the hospitals whose runs show it."""

    setting: JoiningExperiment
    claim: Claim


class Point:
    """Hold the runs of one setting; decides: they are our decision's, more where the first leave it open."""

    def __init__(self, setting: JoiningExperiment, *, decides: bool = False) -> None:
        self.setting, self.decides = setting, decides
        self.cells: JoiningCells = cache.joining_cells(setting)

    def arm(self, quantity: str) -> Arm:
        return (ALONE_AT, self.setting.ours) if quantity == ALONE else _ARMS[quantity]

    def shares(self, quantity: str) -> Array | None:
        """Return a quantity, in % by run; None until all of its runs are there."""
        if self.decides and not self.cells.looked:
            return None
        runs = self.cells.runs
        if quantity == GUESS:
            return np.full(runs.setting.repeats, runs.guess)
        shares = self.cells.shares(self.arm(quantity))
        return shares if len(shares) == runs.setting.repeats else None

    def spread(self, quantity: str) -> Array:
        """Return the median between the ends of its 99 % interval, (3,); NaN until it is measured."""
        shares = self.shares(quantity)
        if shares is None:
            return np.full(3, np.nan)
        lower, upper = median_interval(shares)
        return np.array([lower, np.median(shares), upper])

    def median(self, quantity: str) -> float:
        return float(self.spread(quantity)[1])

    def compared(self, left: str, right: str) -> ShownClaim | None:
        outcomes = {name: self.shares(name) for name in (left, right)}
        known = {name: shares for name, shares in outcomes.items() if shares is not None}
        claim = claims.compared(known, left, right) if len(known) == len({left, right}) else None
        return None if claim is None else ShownClaim(self.setting, claim)

    def useful(self, trust: str) -> bool:
        """Return whether nine of ten runs recover enough, as a verdict asks."""
        shares = self.shares(under(trust))
        return shares is not None and float(quantiles(shares)[0]) >= USEFUL


class RebuiltRecord(NamedTuple):
    """Hold step 2: a patient's record, (d,), and what two exact totals give away of it, to so many digits."""

    patient: Array
    rebuilt: Array
    digits: int
    shown: Indices  # indices of the measurements in the chart, the largest values first


class Weights(NamedTuple):
    """Hold how much each measurement counts in the true patterns and in those of one run, (d,).

    A measurement's weight is the length of its row in the basis, (d, k): from 0 to 1, however the patterns
    are rotated.
    """

    true: Array
    released: Array
    shown: Indices  # indices of the measurements in the chart, the heaviest of those released first

    @property
    def counted(self) -> int:
        """Return how many measurements truly have a weight, but no more than the chart shows."""
        return min(len(self.shown), int(np.count_nonzero(self.true > _NO_WEIGHT)))

    @property
    def agree(self) -> int:
        """Return how many of the `counted` truly heaviest measurements are among as many released ones."""
        heaviest = [set(np.argsort(-w, kind="stable")[: self.counted]) for w in (self.true, self.released)]
        return len(heaviest[0] & heaviest[1])


@lru_cache(maxsize=64)
def _weights(setting: JoiningExperiment, arm: Arm) -> Weights:
    bases = truth(setting), cache.joining_cells(setting).runs.basis(arm, 0)
    true, released = (np.linalg.norm(basis, axis=1) for basis in bases)
    return Weights(true, released, np.argsort(-released, kind="stable")[:_SHOWN])


class Story:
    """Hold the story at some settings, of which the runs of these steps (1 to 8) are measured."""

    def __init__(self, settings: Settings, steps: Sequence[int]) -> None:
        self.settings, self.steps = settings, tuple(steps)
        self.setting: JoiningExperiment = hospitals.to_setting(settings)
        self.trust: str = settings["trust"]
        self.here = Point(self.setting, decides=True)
        self._done = 0  # cells of `_wanted`, from the first on, that are known to be there

    # --- who may join ------------------------------------------------------------------------------------

    @property
    def ours(self) -> JoiningHospital:
        return self.setting.hospitals[self.setting.ours]

    @property
    def count(self) -> int:
        return len(self.setting.hospitals)

    @property
    def repeats(self) -> int:
        """Return how many runs of the present hospitals there are: more, where the first left it open."""
        return self.here.cells.runs.setting.repeats

    @property
    def simulated(self) -> bool:
        differing = self.setting.differing
        return differing.simulated if differing else self.settings["data"] not in TABLES

    @property
    def few(self) -> bool:
        """Return whether a curve ends at the present patients: of a table, or where rows take long."""
        return self.setting.differing is not None or not self.simulated

    @property
    def typed_losses(self) -> bool:
        return bool(scenes.typed_losses(self.settings))

    @property
    def d(self) -> int:
        return self.setting.experiment.d

    def names(self, indices: Indices) -> list[str]:
        names = measurements.names(self.setting.population, self.d)
        return [names[int(index)] for index in indices]

    # --- what is measured --------------------------------------------------------------------------------

    @cached_property
    def _factors(self) -> dict[int, tuple[float, ...]]:
        """Return what the points of each curve multiply ε, or patients, by, ascending: 1 is the present."""
        now, n = self.ours.epsilon, self.setting.n
        losses = {*EPSILONS[:: 5 if self.d > _WIDE else 2], EPSILONS[-1], now}
        digits = (1,) if self.d > _WIDE else (1, 3)  # points in each power of ten
        sizes = {float(digit * 10**power) for power in range(2, 9) for digit in digits}
        least, most = max(self.count, self.setting.k), max(_MOST_PATIENTS, n)
        if self.few:
            sizes, most = {share * n for share in (0.1, 0.2, 0.4, 0.6, 0.8)}, n
        patients = {*(size for size in sizes if least <= size <= most), float(n)}
        return {
            5: tuple(loss / now for loss in sorted(losses)),
            6: tuple(each / n for each in sorted(patients)),
        }

    def _point(self, step: int, factor: float) -> Point:
        if factor == 1:
            return self.here
        what: dict[str, Any] = {"epsilon" if step == 5 else "patients": factor}
        return Point(replace(core_hospitals.scaled(self.setting, **what), repeats=LEAST_REPEATS))

    @cached_property
    def points(self) -> dict[int, tuple[Point, ...]]:
        """Return the points of the curves among the steps, by step, ascending; the present one is there."""
        curves = {step: self._factors[step] for step in (5, 6) if step in self.steps}
        return {step: tuple(self._point(step, each) for each in curves[step]) for step in curves}

    @cached_property
    def _all_points(self) -> tuple[Point, ...]:
        return (self.here, *(p for points in self.points.values() for p in points if p is not self.here))

    @property
    def stores(self) -> list[JoiningCells]:
        return [point.cells for point in self._all_points]

    def _quantities(self, step: int) -> tuple[str, ...]:
        if step in (1, 3):
            return (ALONE, FREE) if step == 1 else (FREE,)
        if step in (5, 6):
            return under(self.trust), FREE
        return (ALONE, *map(under, TRUSTS), FREE) if step in (7, STEPS) else ()

    @cached_property
    def _wanted(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(self._in_order())

    def _in_order(self) -> Iterator[tuple[Any, ...]]:
        """Yield the runs of the curves. A cell's first part is the index of its store."""
        for index, point in enumerate(self._all_points[1:], start=1):
            of_patients = point.setting.n != self.setting.n
            for draw in range(point.setting.repeats):
                for quantity in (under(self.trust), *((FREE,) if of_patients else ())):
                    yield (index, *point.arm(quantity), draw)

    def next_missing(self) -> tuple[Any, ...] | None:
        """Return the next cell: of our decision first, where a step shows it. Threads may share this."""
        if any(map(self._quantities, self.steps)):
            needed = self.here.cells.next_missing(True)
            if needed is not None and (needed[0] not in (TRIAL, VERDICT) or {7, STEPS} & {*self.steps}):
                return (0, *needed)
        done, stores = self._done, self.stores
        while done < len(self._wanted):
            store, *cell = self._wanted[done]
            if stores[store].missing([tuple(cell)]):
                return self._wanted[done]
            self._done = done = done + 1
        return None

    def try_cell(self, store: int, *cell: Any) -> None:
        self.stores[store].try_cell(*cell)

    def located(self, store: int, *cell: Any) -> tuple[JoiningCells, tuple[Any, ...]]:
        """Return the store that measures a cell, and its name there."""
        return self.stores[store], cell

    def measured(self, step: int) -> bool:
        """Return whether all runs of a step are there; of a curve some points may have failed."""
        if any(self.here.shares(name) is None for name in self._quantities(step)):
            return False
        known = step not in (7, STEPS) or self.decision is not None
        return known and (step not in self.points or self.next_missing() is None)

    def drawn(self, step: int) -> tuple[Point, ...]:
        quantities = (under(self.trust), *((FREE,) if step == 6 else ()))
        return tuple(
            point
            for point in self.points[step]
            if all(point.shares(quantity) is not None for quantity in quantities)
        )

    @property
    def free_from(self) -> Point | None:
        """Return the first point of step 6 from which on, at all that are drawn, privacy costs nothing."""
        first = None
        for point in reversed(self.drawn(6)):
            claim = point.compared(under(self.trust), FREE)
            if claim is None or claim.claim.relation != "as good":
                break
            first = point
        return first

    @property
    def measuring(self) -> Measuring:
        cells: Any = self  # one store for the engine, which asks nothing else of it
        return Measuring(cells, self.next_missing, partial(engine.missing_cells, cells, self.next_missing))

    def complete(self) -> None:
        while (cell := self.next_missing()) is not None:
            self.try_cell(*cell)

    @property
    def failed(self) -> Mapping[Any, str]:
        """Return why runs failed; what follows from runs fails with them."""
        failed = {
            (i, *cell): why for i, store in enumerate(self.stores) for cell, why in store.failed.items()
        }
        return {cell: why for cell, why in failed.items() if len(cell) == 4}

    # --- what is shown -----------------------------------------------------------------------------------

    @property
    def record(self) -> RebuiltRecord:
        """Rebuild a patient's record from two exact totals of our hospital, with and without that patient."""
        index = self.settings["story.patient"] - 1  # patients count from 1 on screen
        population, size = self.setting.population, self.ours.patients
        if self.setting.differing:
            population = self.setting.differing.only(self.setting.ours)
        pair = differencing.pair(population, size, index, draws.PUBLIC, self.setting.seed)
        rebuilt = pair.bound * differencing.rebuilt(pair.with_, pair.without)
        # Two totals leave the sign of the whole row open, so both rows are given the same one.
        patient = differencing.with_positive_largest(pair.patient)
        shown = np.argsort(-np.abs(patient), kind="stable")[:_SHOWN]
        return RebuiltRecord(patient, rebuilt, differencing.digits(patient, rebuilt), shown)

    def weights(self, quantity: str) -> Weights:
        return _weights(self.setting, self.here.arm(quantity))

    @property
    def budget(self) -> Budget:
        return Budget(self.ours.epsilon, self.setting.delta, self.settings["neighbours"])

    @property
    def attack(self) -> Picture:
        return picture(self.budget, seed=self._attack_seed)

    @property
    def _attack_seed(self) -> int:
        seed: int = self.settings["seed"] + self.settings["story.draw"] - 1
        return seed  # the first draw is that of the page on privacy

    @property
    def decision(self) -> JoiningDecision | None:
        decision: JoiningDecision | None = self.here.cells.cells.get((VERDICT,))
        return decision

    @property
    def sent(self) -> int | None:
        """Return the bytes that our hospital sends in one run, at most; None until our verdict is known."""
        if self.decision is None:
            return None
        drawn = bars(self.here.cells.runs, self.trust)
        return data_flow.bytes_sent(Agreement(self.setting, self.decision, drawn, self.trust))

    @property
    def kept(self) -> int:
        return NUMBER * self.ours.patients * self.d

    def code(self, step: int) -> FigureRecipe:
        if step == 2:
            return FigureRecipe(
                "story.record", {"setting": self.setting, "patient": self.settings["story.patient"] - 1}
            )
        if step == 4:
            return FigureRecipe("privacy.releases", {"budget": self.budget, "seed": self._attack_seed})
        if step in (3, 8):
            kind, which = self.here.arm(FREE if step == 3 else under(self.trust))
            return FigureRecipe("story.weights", {"setting": self.setting, "trust": str(which), "kind": kind})
        if step in (5, 6):
            along = "epsilon" if step == 5 else "patients"
            values = {"setting": self.setting, "trust": self.trust, "along": along}
            return FigureRecipe("story.curve", values | {"factors": self._factors[step]})
        return FigureRecipe("story.shares", {"setting": self.setting, "trusts": TRUSTS if step == 7 else ()})
