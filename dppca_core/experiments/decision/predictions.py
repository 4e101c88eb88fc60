"""Predict the verdict at other numbers of patients and other ε, from the runs of the present setting.

The loss is what is not recovered of the pattern, 100 sin^2 Theta/k in %. Its median is predicted by
`dppca_core.bounds.recommendation` for what is private, and by `dppca_core.bounds.simulated_errors` at no
noise for what is not. A prediction is anchored: at another setting, a measured loss counts times the ratio of
the predictions there and here. So is the 10 % quantile. The interval of the gain widens or narrows with the
larger of the two arms' ratios. At the present setting all numbers are those measured. No median loss exceeds
that of a guess.

Shares of hospitals stay fixed while their total changes; all ε change by one factor.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import simulated_errors
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.bounds.simulated_errors import Sample
from dppca_core.experiments.decision import hospitals, rule
from dppca_core.experiments.decision.hospitals import JoiningExperiment
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.rule import Answer, Evidence
from dppca_core.numerics.reduced_rounds import GradedRows
from dppca_core.populations.elliptical import MOST_PATIENTS
from dppca_core.populations.synthetic import Synthetic

Along = Literal["patients", "epsilon"]
_LEAST_LOSS = 1e-9  # %, by which a ratio is not divided further
_STEPS_UP = 10 ** (np.arange(1, 19) / 6)  # factors of patients, up to 1,000, at which to ask again
_STEPS_AROUND = 10 ** (np.arange(1, 7) / 3)  # factors of patients and ε, up to 100, at which to turn
_ROOM = 1.25  # times the patients that a prediction asks for
_HALVINGS = 4  # of a step, on a log scale


class Losses(NamedTuple):
    """Hold predicted losses in %, in the median of runs: alone, and together under each trust."""

    alone: float
    together: tuple[float, ...]


@lru_cache(maxsize=4096)
def losses(setting: JoiningExperiment, hospital: int) -> Losses:
    """Return the predicted losses of a hospital alone, and of all together under each of `TRUSTS`, in %.

    Raises ValueError for a table, of which nobody knows what its errors without privacy would be, and for
    hospitals that differ.
    """
    model = setting.population
    if not isinstance(model, Synthetic):
        raise ValueError(f"population must be a model where errors are predicted, got {checks.shown(model)}")
    together = (hospitals.arrangement(setting, trust).error ** 2 for trust in TRUSTS)
    if setting.use == "publish":
        square = hospitals.alone(setting, hospital).error ** 2
    else:
        square = _free_square(model, setting.k, setting.hospitals[hospital].patients)
    guess = 100 * (1 - setting.k / model.d)

    def loss(square: float) -> float:
        return min(max(100 * square / setting.k, _LEAST_LOSS), guess)

    return Losses(loss(square), tuple(map(loss, together)))


@lru_cache(maxsize=4096)
def _free_square(model: Synthetic, k: int, patients: int) -> float:
    """Return the least predicted sin^2 Theta without privacy: of PCA, and of a sparse step told s."""
    matter = max(model.s, k)
    sample = Sample(GradedRows.reduced(model.eigenvalues, k), model.d, matter, patients)
    square = simulated_errors.one_moment(sample, 0.0)
    return min(square, simulated_errors.sparse_moment(sample, 0.0, matter)) if matter < model.d else square


@dataclass(frozen=True, eq=False)
class Anchor:
    """Hold the evidence that was measured for a hospital, from which other settings are predicted."""

    setting: JoiningExperiment
    hospital: int
    alone: float  # its measured median loss alone, in %
    together: Mapping[str, float]  # measured median loss together, in %, by trust
    measured: Mapping[str, Evidence]  # by trust

    @staticmethod
    def of_runs(runs: JoiningRuns, hospital: int) -> "Anchor":
        together = {trust: runs.together(trust, hospital) for trust in reversed(TRUSTS)}
        alone = runs.alone(hospital)
        return Anchor(
            runs.setting,
            hospital,
            alone=100 - float(np.median(alone)),
            together={trust: 100 - float(np.median(shares)) for trust, shares in together.items()},
            measured={
                trust: rule.evidence(runs.gain(trust, hospital), shares) for trust, shares in together.items()
            },
        )

    def at(self, setting: JoiningExperiment) -> dict[str, Evidence]:
        """Return the predicted evidence at a setting of the same hospitals with other numbers, by trust."""
        here, there = losses(self.setting, self.hospital), losses(setting, self.hospital)
        guess = 100 * (1 - setting.k / setting.experiment.d)
        alone_ratio = there.alone / here.alone
        alone = min(self.alone * alone_ratio, guess)
        predicted = {}
        for i, trust in enumerate(TRUSTS):
            known, ratio = self.measured[trust], there.together[i] / here.together[i]
            widening = max(alone_ratio, ratio)
            # The median of differences differs a little from the difference of medians.
            skew = known.median - (self.alone - self.together[trust])
            gain = alone - min(self.together[trust] * ratio, guess) + widening * skew
            predicted[trust] = Evidence(
                gain - widening * (known.median - known.lower),
                gain,
                gain + widening * (known.upper - known.median),
                100 - min((100 - known.tenth) * ratio, 100.0),
            )
        return predicted

    def answer(self, *, patients: float = 1.0, epsilon: float = 1.0) -> Answer:
        """Return the predicted answer where patients and ε have these factors, TOO_CLOSE for undecided."""
        return rule.answer(self.at(hospitals.scaled(self.setting, patients=patients, epsilon=epsilon)))

    def patients_to_join(self) -> int | None:
        """Return with how many patients to ask again: from the smallest total at which joining should pass.

        Predictions of sin Theta are within a factor of _ROOM mostly (`benchmarks.recommendation`), and noise
        falls with the patients. So it is _ROOM times the smallest such total, where that passes too. It is
        None where up to a thousand times as many are predicted not to pass, for a table, and where hospitals
        differ.
        """
        if not isinstance(self.setting.population, Synthetic):
            return None
        factor = self._first(_STEPS_UP, "patients", lambda given: given.joins)
        if factor is None:
            return None
        if self.answer(patients=_ROOM * factor).joins:
            factor *= _ROOM
        return hospitals.scaled(self.setting, patients=factor).n

    def turns(self, along: Along) -> tuple["Reversal", ...]:
        """Return the nearest numbers below and above, within a factor of 100, at which the answer is another.

        There are none for a table and hospitals that differ.
        """
        if not isinstance(self.setting.population, Synthetic):
            return ()
        now = rule.answer(self.measured)
        turns = []
        for steps in (1 / _STEPS_AROUND, _STEPS_AROUND):
            factor = self._first(steps, along, lambda given: given != now)
            if factor is not None:
                factors = {along: factor}
                then = self.answer(**factors)
                turns.append(Reversal(along, factor, hospitals.scaled(self.setting, **factors), then))
        return tuple(turns)

    def _first(self, steps: Array, along: Along, holds: Callable[[Answer], bool]) -> float | None:
        """Return the first of `steps`, each farther from 1, where the answer is such; halve its step."""
        before = 1.0
        for step in map(float, steps):
            if along == "patients" and step * self.setting.n > MOST_PATIENTS:
                return None
            if holds(self.answer(**{along: step})):
                for _ in range(_HALVINGS):
                    middle = math.sqrt(before * step)
                    if holds(self.answer(**{along: middle})):
                        step = middle
                    else:
                        before = middle
                return step
            before = step
        return None


class Reversal(NamedTuple):
    along: Along
    factor: float  # how many times as many patients, or as large an ε, all hospitals have there
    setting: JoiningExperiment
    answer: Answer  # TOO_CLOSE for undecided
