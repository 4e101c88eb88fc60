"""Releases drawn over and over from two neighbouring cohorts: what attacks and audits count."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.auditing import lower_bound
from dppca_core.auditing.cases import planted
from dppca_core.auditing.cases.pairs import Case
from dppca_core.auditing.cases.planted import Planted
from dppca_core.experiments.failures import Failures
from dppca_core.privacy import Budget

PORTION = 500  # draws of each cohort in one cell
KINDS = ("true", "silent", *planted.BUGS)  # as programmed; without noise; with a bug
Cell = tuple[str, int]


@dataclass(frozen=True)
class Attacked:
    """What is released: a method, its budget, its columns and its rounds."""

    method: str
    budget: Budget
    k: int
    steps: int
    seed: int


class Draws:
    """Numbers that the attacker reads, in units of the noise: without the patient N(0, 1) as programmed.

    A cell is (kind, portion), drawn by what it is: another order or another epsilon draws the same noise.
    """

    def __init__(self, attacked: Attacked) -> None:
        self.attacked = attacked
        self._cells: dict[Cell, tuple[Array, Array]] = {}
        self.failed: Failures[Cell] = Failures()

    @cached_property
    def case(self) -> Case:
        """As programmed."""
        a = self.attacked
        return planted.attacked(a.method, a.budget, a.k, a.steps)

    @property
    def nbytes(self) -> int:
        """Bytes of what has been drawn so far."""
        return sum(here.nbytes + there.nbytes for here, there in list(self._cells.values()))

    def drawn(self, kind: str) -> Planted:
        """What this kind draws. Raises ValueError for a bug that is none here."""
        a = self.attacked
        if kind == "true":
            return Planted(self.case, 1.0, self.case.mu)
        if kind == "silent":
            return Planted(self.case, 0.0, math.inf)
        return planted.planted(kind, a.method, a.budget, a.k, a.steps)

    def try_cell(self, kind: str, portion: int) -> None:
        """Draw a portion unless it was; one that fails is noted, by the policy of `failures`.

        Raises:
            ValueError: An unknown kind.
        """
        checks.one_of(KINDS, kind=kind)
        cell = (kind, portion)
        if cell in self._cells or self.failed.settled(cell):
            return
        with self.failed.noting(cell):
            self._cells[cell] = self._draw(kind, portion)

    def _draw(self, kind: str, portion: int) -> tuple[Array, Array]:
        case, size, _ = self.drawn(kind)
        with_, without = planted.readings(case)
        unit = (with_ - without) / case.mu
        drawn = []
        for side, cohort in enumerate(case.pair):
            rng = planted.Scaled([self.attacked.seed, portion, side, *kind.encode()], size)
            drawn.append((lower_bound.sample(case.mechanism, cohort, PORTION, rng) - without) / unit)
        return drawn[0], drawn[1]

    def missing(self, kind: str, draws: int) -> Cell | None:
        """Return the next cell that is missing from so many draws of each cohort, or None."""
        return self.failed.next_missing(_portions(kind, draws), self._cells, lambda cell: cell)

    def of(self, kind: str, draws: int) -> tuple[Array, Array]:
        """Return what was drawn of so many, in order, as far as nothing is missing: (with, without).

        Portions that failed are left out: others are no less independent for it.
        """
        reached = takewhile(lambda cell: cell in self._cells or cell in self.failed, _portions(kind, draws))
        parts = [self._cells[cell] for cell in reached if cell in self._cells]
        here, there = (np.concatenate([part[i] for part in parts] or [np.empty(0)]) for i in (0, 1))
        return here[:draws], there[:draws]


def _portions(kind: str, draws: int) -> list[Cell]:
    return [(kind, portion) for portion in range(-(-draws // PORTION))]
