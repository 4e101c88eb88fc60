"""Hold the numbers that sentences of both views are about. No Streamlit here."""

from typing import NamedTuple

from dppca_core.accounting import numerical


class Spending(NamedTuple):
    """Hold what is spent of a limit before and after a release."""

    now: float
    after: float
    most: float

    @property
    def exceeds_limit(self) -> bool:
        return not numerical.within(self.after, self.most)

    @property
    def rest(self) -> float:
        """Return what is left afterwards."""
        return numerical.remaining(self.after, self.most)


class StopSign(NamedTuple):
    """Hold how much of a rehearsed answer would be noise, and what it would take instead.

    share: its error, of a guess's. n: rows of the table. epsilon: that is asked for. rows: of one patient.
    needed: the least epsilon that would do; None where none on the figure does. patients: how many would do
    at the epsilon that is asked for, 0 where none does.
    """

    share: float
    n: int
    epsilon: float
    rows: int
    needed: float | None = None
    patients: int = 0
