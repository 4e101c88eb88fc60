"""Releases drawn over and over from two neighbouring cohorts: what attacks and audits count."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dppca_core import audit, checks
from dppca_core.audited import planted
from dppca_core.audited.pairs import Case
from dppca_core.audited.planted import Planted
from dppca_core.types import Array, Budget

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
        """Draw a portion, if it is missing. Raises ValueError for an unknown kind or a bug that is none."""
        checks.one_of(KINDS, kind=kind)
        if (kind, portion) in self._cells:
            return
        case, size, _ = self.drawn(kind)
        with_, without = planted.readings(case)
        unit = (with_ - without) / case.mu
        drawn = []
        for side, cohort in enumerate(case.pair):
            rng = planted.Scaled([self.attacked.seed, portion, side, *kind.encode()], size)
            drawn.append((audit.sample(case.mechanism, cohort, PORTION, rng) - without) / unit)
        self._cells[kind, portion] = (drawn[0], drawn[1])

    def missing(self, kind: str, draws: int) -> Cell | None:
        """The next cell that is missing from so many draws of each cohort."""
        cells = ((kind, portion) for portion in range(-(-draws // PORTION)))
        return next((cell for cell in cells if cell not in self._cells), None)

    def of(self, kind: str, draws: int) -> tuple[Array, Array]:
        """What has been drawn of so many, in order, as far as nothing is missing: (with, without)."""
        last = self.missing(kind, draws)
        count = -(-draws // PORTION) if last is None else last[1]
        parts = [self._cells[kind, portion] for portion in range(count)]
        here, there = (np.concatenate([part[i] for part in parts] or [np.empty(0)]) for i in (0, 1))
        return here[:draws], there[:draws]
