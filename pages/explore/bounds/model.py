"""Hold the bounds page at some settings: the bounds that are drawn, and the runs beside them.

A bound is named by its key in `BOUNDS`: an upper or a lower bound on a method's error, or a closed form that
predicts it. Evaluated at a setting it is a `Bound`, whose `final` is its value of ||sin Theta||_F. It "says
nothing", or is void, where it is infinite, an upper bound of at least the largest error there is, or holds
with a probability of zero. EPSILONS are the values of the privacy slider, and a cell is one run, named
(method, epsilon, repeat).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from dppca_core.bounds import BOUNDS, fit_constant
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS  # Theorem 4.3's method
from dppca_core.experiments.explorer.results import Cell, Key, Results
from dppca_core.experiments.studies import BoundsStudy
from dppca_core.records import Bound
from pages.explore.bounds.settings import SIN_BOUNDS
from pages.shared.background import cache, engine
from pages.shared.charts import Scale, error_unit
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import CHOICES, Settings

THEOREM = "ge2018"  # Theorem 4.3 of Ge et al.


class BoundState(StrEnum):
    APPLIES = "applies"
    FAILS = "assumption fails"
    VOID = "void"  # it says nothing


def always_drawn(settings: Settings) -> str | None:
    """Return the measured method's closed form; None where a switch that is on by default decides."""
    name = CLOSED_FORMS.get(settings["of"])
    return None if name is None or CHOICES[f"show.{name}"].default else name


def drawn(settings: Settings) -> list[str]:
    always = always_drawn(settings)
    return [name for name in SIN_BOUNDS if name == always or settings[f"show.{name}"]]


class Bounds:
    """Hold the page at some settings; study: what a script or a notebook has measured in place of it."""

    def __init__(self, settings: Settings, study: BoundsStudy | None = None) -> None:
        self.settings = settings
        if study is None:
            self.experiment, self.epsilon = to_experiment.from_settings(settings)
            self.results: Results = cache.results(self.experiment)
            self.names = drawn(settings)
        else:
            self.experiment, self.epsilon = study.experiment, study.epsilon
            self.results, self.names = study.results, list(study.constants)
            self.evaluated = study.evaluated
        self.method: str = settings["of"]
        self.tau: float = settings["tau"]
        # The largest ||sin Theta||_F there is: min(k, d - k) principal angles can be 90 degrees.
        self.most = math.sqrt(min(self.experiment.k, self.experiment.d - self.experiment.k))

    @cached_property
    def evaluated(self) -> Mapping[str, Sequence[Bound]]:
        """Return each bound that is drawn, at all EPSILONS."""
        return {
            name: cache.bounds(self.experiment, name, self.tau, self.constants(name)) for name in self.names
        }

    @property
    def runs(self) -> dict[float, list[Cell]]:
        return {e: cells for e in EPSILONS if (cells := self.results.measured(self.method, e))}

    @property
    def here(self) -> dict[str, Bound]:
        return {name: bounds[EPSILONS.index(self.epsilon)] for name, bounds in self.evaluated.items()}

    @property
    def predicted(self) -> Sequence[Bound]:
        """Return the method's closed form at all EPSILONS; empty where it has none or it is not drawn."""
        return self.evaluated.get(CLOSED_FORMS.get(self.method, ""), ())

    @property
    def has_chances(self) -> bool:
        """Return whether it is predicted how often all true features are found."""
        return any("support_probability" in bound.quantities for bound in self.predicted)

    def constants(self, name: str) -> tuple[tuple[str, float], ...]:
        """Return (name, value) of each constant that a bound's paper leaves open, as the sliders have it."""
        return tuple((constant, self.settings[f"{name}.{constant}"]) for constant in BOUNDS[name].constants)

    def concerns(self, name: str) -> bool:
        return not BOUNDS[name].methods or self.method in BOUNDS[name].methods

    def state(self, name: str, bound: Bound) -> BoundState:
        beyond = BOUNDS[name].kind == "upper" and bound.final >= self.most
        if not math.isfinite(bound.final) or beyond or bound.quantities.get("probability", 1.0) <= 0:
            return BoundState.VOID
        return BoundState.APPLIES if bound.applies else BoundState.FAILS

    def scale(self) -> Scale:
        """Return what converts errors to the unit on screen; no bound here is on captured energy."""
        return Scale(self.results, self.settings | {"metric": error_unit(self.settings)})

    def _of_theorem(self) -> list[Key]:
        repeats = self.results.repeats_of(DPS_PCA) if THEOREM in self.names else 0
        return [(DPS_PCA, self.epsilon, repeat) for repeat in range(repeats)]

    def first(self) -> Iterator[None]:
        """Measure quick runs of the method, at this epsilon and at all others, and those of the theorem."""
        if self.method in self.results.live_methods:
            for epsilons in ((self.epsilon,), EPSILONS):
                wanted = ((self.method, epsilon, 0) for epsilon in epsilons)
                yield from self.results.steps(wanted, engine.first_step_seconds())
        yield from self.results.steps(self._of_theorem(), engine.first_step_seconds())

    def next_cell(self) -> Key | None:
        """Return the run to measure next. Chances need all repeats, also of a method that takes long."""
        repeats = self.experiment.repeats if self.has_chances else None
        missing = self.results.first_missing(self._of_theorem())
        return missing or self.results.next_of(self.method, repeats)

    def fit(self, name: str) -> fit_constant.Fitted:
        """Fit a bound's free constant, with an 80 % interval. Raises ValueError where none can be fitted."""
        rule = BOUNDS[name]
        settings = [replace(self.results.setting(epsilon), tau=self.tau) for epsilon in self.runs]
        errors = [[float(cell.sin[-1]) for cell in cells] for cells in self.runs.values()]
        # Seed the bootstrap by experiment and bound, so that the same runs give the same interval.
        rng = np.random.default_rng([self.experiment.seed, *name.encode()])
        held = {constant: value for constant, value in self.constants(name) if constant != rule.fits}
        return fit_constant.fit_constant(rule, settings, errors, rng, level=0.8, resamples=1000, **held)
