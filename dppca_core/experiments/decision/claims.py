"""Comparative sentences as records that runs can confirm or refute.

A claim is about two quantities of one setting's runs, through the median of their paired difference
(`rule.median_interval`). More and less mean by more than MARGIN percent points, as good means within it. So
of one pair exactly one claim is true, and a difference that is not worth joining for is never "more".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments.decision.rule import LEVEL, MARGIN, median_interval

Relation = Literal["more", "less", "as good"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@dataclass(frozen=True)
class Claim:
    """Claim that one quantity recovers more or less of the pattern than another, or is as good."""

    left: str  # name of a quantity, as `JoiningRuns.quantities` names them
    relation: Relation
    right: str

    def __post_init__(self) -> None:
        checks.one_of(RELATIONS, relation=self.relation)

    def holds(self, outcomes: Mapping[str, Array], level: float = LEVEL) -> bool:
        """Return whether runs show the claim: the whole interval of the median difference agrees with it.

        outcomes: the quantities by name, each in % by run, (runs,), paired. A false claim is held with a
        probability of at most 1 - level.
        """
        lower, upper = self._interval(outcomes, level)
        shown = {
            "more": lower > MARGIN,
            "less": upper < -MARGIN,
            "as good": lower >= -MARGIN and upper <= MARGIN,
        }
        return shown[self.relation]

    def fails(self, outcomes: Mapping[str, Array], level: float = LEVEL) -> bool:
        """Return whether runs refute the claim: no point of the interval agrees with the relation.

        A true claim fails with a probability of at most 1 - level.
        """
        lower, upper = self._interval(outcomes, level)
        refuted = {
            "more": upper <= MARGIN,
            "less": lower >= -MARGIN,
            "as good": lower > MARGIN or upper < -MARGIN,
        }
        return refuted[self.relation]

    def _interval(self, outcomes: Mapping[str, Array], level: float) -> tuple[float, float]:
        return median_interval(outcomes[self.left] - outcomes[self.right], level)


def compared(outcomes: Mapping[str, Array], left: str, right: str, level: float = LEVEL) -> Claim | None:
    """Return the claim about two quantities that the runs show; None where the interval crosses a margin."""
    possible = (Claim(left, relation, right) for relation in RELATIONS)
    return next((claim for claim in possible if claim.holds(outcomes, level)), None)


def claims(outcomes: Mapping[str, Array], level: float = LEVEL) -> tuple[Claim, ...]:
    """Return every claim about two quantities that the runs show, at most one for each pair."""
    each = (compared(outcomes, left, right, level) for left, right in combinations(outcomes, 2))
    return tuple(claim for claim in each if claim is not None)
