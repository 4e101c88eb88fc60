"""What hospitals gain by joining: every protocol of a collaboration, measured cell by cell.

A cell is (way, hospital, repeat); hospital -1 is all of them together.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration.protocols import WAYS
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting, second_moment, truth
from dppca_core.experiments.draws import Truth
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics

_LIVE_SECONDS = 2.0  # a run that takes longer is asked for
_ALL_REPEATS_SECONDS = 6.0  # of one way: repeats beyond the first are cut to keep it

Key = tuple[str, int, int]


class CollaborationRun(NamedTuple):
    """One cell."""

    sin: float
    energy: float
    noise_std: float


class CollaborationResults(CellStore[Key, CollaborationRun]):
    """The cells of a recipe: (way, hospital, repeat)."""

    def __init__(self, recipe: CollaborationSetting) -> None:
        super().__init__(recipe.repeats)
        self.recipe = recipe

    @cached_property
    def truth(self) -> Truth:
        """The population's basis, or that of the whole table, in units of the scaled rows."""
        recipe = self.recipe
        return truth(recipe.population, recipe.n, recipe.k, recipe.scaling)

    @property
    def second_moment(self) -> Array:
        """The covariance, or second moment, that belongs to it, (d, d); not held here."""
        recipe = self.recipe
        return second_moment(recipe.population, recipe.n, recipe.scaling)

    @cached_property
    def refused(self) -> dict[str, str]:
        """Ways that cannot be measured here, and why."""
        reasons = {key: self.recipe.refused(way) for key, way in WAYS.items()}
        return {key: reason for key, reason in reasons.items() if reason}

    @cached_property
    def live(self) -> tuple[str, ...]:
        """Ways measured without being asked for."""
        return tuple(
            key
            for key, way in WAYS.items()
            if key not in self.refused and self.recipe.seconds(way) <= _LIVE_SECONDS
        )

    @cached_property
    def slow(self) -> tuple[str, ...]:
        """Ways measured when asked for."""
        return tuple(key for key in WAYS if key not in self.refused and key not in self.live)

    def places(self, key: str) -> tuple[int, ...]:
        """The hospitals that a way is measured at, or ALL."""
        return self.recipe.hospitals if WAYS[key].alone else (ALL,)

    def repeats_of(self, key: str) -> int:
        """Repeats aimed at: all, fewer where a run takes long."""
        return max(1, min(self.recipe.repeats, int(_ALL_REPEATS_SECONDS / self.recipe.seconds(WAYS[key]))))

    def wanted(self, slow: bool = False) -> Iterator[Key]:
        """Return every cell, first repeats first."""
        keys = (*self.live, *self.slow) if slow else self.live
        for repeat in range(self.recipe.repeats):
            for key in keys:
                if repeat < self.repeats_of(key):
                    yield from ((key, hospital, repeat) for hospital in self.places(key))

    def measure(self, cell: Key) -> CollaborationRun:
        """Run a way once and measure its answer."""
        key, hospital, repeat = cell
        found = self.recipe.estimate(WAYS[key], hospital, repeat)
        best = float(self.truth.eigenvalues[: self.recipe.k].sum())
        return CollaborationRun(
            subspace_metrics.sin_theta(found.basis, self.truth.basis),
            subspace_metrics.captured_energy(found.basis, self.second_moment, best),
            found.noise_std,
        )

    def values(self, key: str, hospital: int, energy: bool) -> Array:
        """Return the errors so far of one way (at one hospital), or its captured energies."""
        return np.array([run.energy if energy else run.sin for run in self.measured(key, hospital)])

    def rows(self, cell: Key, value: CollaborationRun) -> Iterator[dict[str, Any]]:
        """Return the one row of a run."""
        key, hospital, repeat = cell
        way = WAYS[key]
        sent = self.recipe.traffic(way)
        private = METHODS[way.method].private
        yield {
            "way": key,
            "method": way.method,
            "trust": way.trust,
            "server_sees": way.sees,
            "guarantee": way.guarantee,
            "hospital": "all" if hospital == ALL else str(hospital + 1),
            "patients": self.recipe.n if hospital == ALL else self.recipe.sizes[hospital],
            "epsilon": self.recipe.budget.epsilon if private else None,
            "delta": self.recipe.budget.delta if private else None,
            "repeat": repeat,
            "sin_theta": value.sin,
            "captured_energy": value.energy,
            "noise_std": value.noise_std,
            "rounds": sent.rounds,
            "bytes_sent_per_round": sent.up,
            "bytes_received": sent.received,
        }
