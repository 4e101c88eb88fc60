"""Repeated releases from two neighbouring cohorts, which attacks and audits count.

The cohorts differ in one patient. From each release the attacker reads one number, and says from it which
cohort it was. A release is drawn as programmed ("true"), without noise ("silent"), or with one of
`planted.BUGS` in the program, so that its noise is not what is claimed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound
from dppca_core.auditing.cases import planted
from dppca_core.auditing.cases.pairs import Case
from dppca_core.experiments.cells import CellStore
from dppca_core.privacy import Budget

PORTION = 500  # draws of each cohort in a cell
Cell = tuple[str, int]  # kind of release, and number of the portion


@dataclass(frozen=True)
class AttackExperiment:
    """Hold what is attacked: releases of a method with its budget, k directions and rounds (`steps`)."""

    method: str
    budget: Budget
    k: int
    steps: int
    seed: int


class AttackDraws(CellStore[Cell, tuple[Array, Array]]):
    """Hold the numbers that the attacker reads, scaled to N(0, 1) without the patient and N(mu, 1) with.

    These are the laws for the kind "true", with the mu that the program claims (`Case`). Other kinds have the
    same means and less noise. A cell is (kind, portion), and seeds its own generator: another order or
    another epsilon draws the same noise. Its value holds the readings of both cohorts, with the patient and
    without, (PORTION,) each.
    """

    def __init__(self, attacked: AttackExperiment) -> None:
        super().__init__()
        self.attacked = attacked

    @cached_property
    def case(self) -> Case:
        a = self.attacked
        return planted.attacked(a.method, a.budget, a.k, a.steps)

    def drawn(self, kind: str) -> planted.Planted:
        """Return the release of this kind, with the size of its noise relative to the program's.

        Its mu is the true distance of the two cohorts in units of its own noise, infinite without noise.
        Raises ValueError for a bug that this method cannot have.
        """
        a = self.attacked
        if kind == "true":
            return planted.Planted(self.case, noise_factor=1.0, mu=self.case.mu)
        if kind == "silent":
            return planted.Planted(self.case, noise_factor=0.0, mu=math.inf)
        return planted.planted(kind, a.method, a.budget, a.k, a.steps)

    def measure(self, cell: Cell) -> tuple[Array, Array]:
        kind, portion = cell
        # The third value, the true mu, is not used: readings are scaled to the mu that the program claims.
        case, noise_factor, _ = self.drawn(kind)
        # The two numbers that are read without noise become mu and 0.
        with_, without = planted.readings(case)
        unit = (with_ - without) / case.mu
        drawn = []
        for side, cohort in enumerate(case.pair):  # 0, with the patient, and 1, without
            rng = planted.Scaled([self.attacked.seed, portion, side, *kind.encode()], noise_factor)
            drawn.append((lower_bound.sample(case.mechanism, cohort, PORTION, rng) - without) / unit)
        return drawn[0], drawn[1]

    def wanted(self, kind: str, draws: int) -> list[Cell]:
        """Return the cells of this kind that hold so many draws of each cohort, or a few more."""
        return [(kind, portion) for portion in range(-(-draws // PORTION))]  # rounded up to whole portions

    def records(self, cell: Cell, value: tuple[Array, Array]) -> Iterator[dict[str, Any]]:
        kind, portion = cell
        for i, (reading_with, reading_without) in enumerate(zip(*value, strict=True)):
            yield {
                "kind": kind,
                "draw": portion * PORTION + i,
                "with_patient": float(reading_with),
                "without_patient": float(reading_without),
            }

    def readings(self, kind: str, draws: int) -> tuple[Array, Array]:
        """Return the first readings with the patient and without, up to the first portion not yet measured.

        kind: "true", as programmed; "silent", without noise; or one of `BUGS`. Failed portions are left out;
        the others stay independent.
        """
        reached = takewhile(lambda cell: cell in self.cells or cell in self.failed, self.wanted(kind, draws))
        parts = [self.cells[cell] for cell in reached if cell in self.cells]
        # A portion's value is a pair: readings with the patient, and without.
        with_, without = (np.concatenate([part[i] for part in parts] or [np.empty(0)]) for i in (0, 1))
        return with_[:draws], without[:draws]
