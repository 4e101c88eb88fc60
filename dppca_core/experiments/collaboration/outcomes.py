"""The gain of joining: every protocol of a collaboration, measured cell by cell.

A cell is (protocol, hospital, repeat), one run. The hospital is the index of one that works alone; -1, `ALL`,
stands for all together. Protocols are named by their keys in `PROTOCOLS`. A live protocol is fast enough to
run whenever a control moves; a slow one runs only when the reader asks for it.
"""

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.estimated_seconds import draw_rows_seconds, draw_seconds
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics

_LIVE_SECONDS = 2.0  # a protocol whose runs take longer runs only when asked for
_ALL_REPEATS_SECONDS = 6.0  # of one protocol, which has fewer repeats where they would take longer

Key = tuple[str, int, int]


class CollaborationRun(NamedTuple):
    sin: float  # sin Theta to the truth
    energy: float  # the captured energy, as a share of that of the best k directions
    noise_std: float  # the standard deviation of the noise in what the method releases
    angle: float  # the largest principal angle to the truth, in degrees


class CollaborationResults(CellStore[Key, CollaborationRun]):
    def __init__(self, recipe: CollaborationExperiment) -> None:
        super().__init__(recipe.repeats)
        self.recipe = recipe

    @cached_property
    def refused(self) -> dict[str, str]:
        """Return the protocols that cannot be measured in this setting, each with the reason as a clause."""
        reasons = {key: self.recipe.why_refused(protocol) for key, protocol in PROTOCOLS.items()}
        return {key: reason for key, reason in reasons.items() if reason}

    @cached_property
    def live(self) -> tuple[str, ...]:
        keys = (key for key in PROTOCOLS if key not in self.refused)
        return tuple(key for key in keys if self.recipe.seconds(PROTOCOLS[key]) <= _LIVE_SECONDS)

    @cached_property
    def slow(self) -> tuple[str, ...]:
        return tuple(key for key in PROTOCOLS if key not in self.refused and key not in self.live)

    def hospitals(self, key: str) -> tuple[int, ...]:
        return self.recipe.hospitals if PROTOCOLS[key].alone else (ALL,)

    def repeats_of(self, key: str) -> int:
        if PROTOCOLS[key].free:  # without noise another repeat of the same patients is the same run
            patients = max(self.recipe.sizes) if PROTOCOLS[key].alone else self.recipe.n
            return draws.patient_draws(self.recipe.population, patients, self.recipe.repeats)
        affordable = int(_ALL_REPEATS_SECONDS / self.recipe.seconds(PROTOCOLS[key]))
        return max(1, min(self.recipe.repeats, affordable))

    def wanted(self, slow: bool = False, shown: Collection[str] | None = None) -> Iterator[Key]:
        """Return every cell, first repeats first; shown: the wanted protocols, all by default."""
        keys = (*self.live, *self.slow) if slow else self.live
        keys = tuple(key for key in keys if shown is None or key in shown)
        for repeat in range(self.recipe.repeats):
            for key in keys:
                if repeat < self.repeats_of(key):
                    yield from ((key, hospital, repeat) for hospital in self.hospitals(key))

    def measure(self, cell: Key) -> CollaborationRun:
        key, hospital, repeat = cell
        if PROTOCOLS[key].free:
            return self._without_privacy(hospital, repeat)
        estimate = self.recipe.estimate(PROTOCOLS[key], hospital, repeat)
        truth = self.recipe.truth
        best = float(truth.eigenvalues[: self.recipe.k].sum())  # the most energy that k directions capture
        return CollaborationRun(
            sin=subspace_metrics.sin_theta(estimate.basis, truth.basis),
            energy=subspace_metrics.captured_energy(estimate.basis, self.recipe.second_moment, best),
            noise_std=estimate.noise_std,
            angle=float(subspace_metrics.largest_angles(estimate.basis[None], truth.basis)[0]),
        )

    def _without_privacy(self, hospital: int, repeat: int) -> CollaborationRun:
        """Return a run of the best way to do without privacy, which is the same on every page."""
        recipe = self.recipe
        patients = recipe.n if hospital == ALL else recipe.sizes[hospital]
        which = {"seed": recipe.seed, "repeats": recipe.repeats}
        _, outcome = no_privacy.of_best_way(recipe.population, patients, recipe.k, **which, energy=True)
        sin, angle, energy = (float(values[repeat]) for values in outcome)
        return CollaborationRun(sin=sin, angle=angle, energy=energy, noise_std=0.0)

    def seconds(self, *cell: Any) -> float:
        """Estimate the seconds of a cell: by what its protocol took last, or by the features."""
        protocol, d = PROTOCOLS[cell[0]], self.recipe.d
        with_rows = protocol.free or METHODS[protocol.method].scaling == "unit"
        drawing = draw_rows_seconds(d) if with_rows else draw_seconds(d)
        return self.took.get(cell[0], self.recipe.seconds(protocol) + drawing)

    def values(self, key: str, hospital: int) -> tuple[Array, Array, Array]:
        """Return sin Theta, largest angle and energy of a protocol's runs so far, (runs,) each."""
        runs = [(run.sin, run.angle, run.energy) for run in self.measured(key, hospital)]
        sines, angles, energies = np.array(runs).reshape(-1, 3).T
        return sines, angles, energies

    def records(self, cell: Key, value: CollaborationRun) -> Iterator[dict[str, Any]]:
        key, hospital, repeat = cell
        protocol = PROTOCOLS[key]
        traffic = self.recipe.traffic(protocol)
        method = METHODS[protocol.method]
        yield {
            "protocol": key,
            "method": protocol.method,
            "trust": protocol.trust,
            "server_sees": protocol.sees,
            "guarantee": method.guarantee,
            "hospital": "all" if hospital == ALL else str(hospital + 1),
            "patients": self.recipe.n if hospital == ALL else self.recipe.sizes[hospital],
            "epsilon": self.recipe.budget.epsilon if method.private else None,
            "delta": self.recipe.budget.delta if method.private else None,
            "repeat": repeat,
            "sin_theta": value.sin,
            "captured_energy": value.energy,
            "noise_std": value.noise_std,
            "rounds": traffic.rounds,
            "bytes_sent_per_round": traffic.most_sent,
            "bytes_received": traffic.bytes_received,
        }
