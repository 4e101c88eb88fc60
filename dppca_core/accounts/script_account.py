"""The account of a script: one limit for everything that it releases about the same patients.

Tables of the dashboard are known by their content, so that nobody gets a fresh limit for patients whose
privacy was spent. A script sees the same patients as many arrays, as the folds of a grid search. So its
account asks for no table: whoever opens one says by its path, or within one process by the object, whose
privacy it counts.
"""

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dppca_core.accounting import numerical
from dppca_core.accounting.dp_event import to_dp_event
from dppca_core.accounts.account import Balance, Limit
from dppca_core.accounts.book import Book, BookTable, DamagedBookError, Payer
from dppca_core.privacy import Event, Neighbours

# What a book has in the place of a table: all arrays of an account are of the same patients.
_ARRAYS = BookTable("arrays of a script", 1, ())


class Account:
    """Pay for all that a script releases about the same patients, within one limit.

    with Account(epsilon=2.0, delta=1e-6) as account:
        PrivatePCA(account=account).fit(rows)

    Every release is written to the account before its noise is drawn, and is refused beyond the limit. After
    the `with` block, which nobody has to use, the account pays no more, and still says what was spent.

    Without a path the account is in memory, for one process. With one it is in that file, on a local disk,
    and goes on where it was left: a later run, and every worker of joblib, pays from the same account. A copy
    of an account, as `sklearn.clone` makes, is the account itself. One path is for the tables of the same
    patients, whatever arrays these are in: another path, or another account in memory, is a fresh limit.

    Args:
        epsilon: What all releases together may cost, at `delta`; see `dppca_core.Budget`. Where a file has
            another limit from before, this is the limit from now on.
        delta: It belongs well below 1/n. Where a file has one from before, it must be that.
        path: File of the account, made where there is none; None is in memory.
        neighbours: The relation that all releases are for, with the same rule as delta.

    Raises:
        ValueError: For a number out of range, for another delta or other neighbours than the file has, and
            for a limit below what is spent already.
        OSError: Where the disk refuses.
        DamagedBookError: For a file that was damaged.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float,
        *,
        path: str | PathLike[str] | None = None,
        neighbours: Neighbours = "replace-one",
    ) -> None:
        limit = Limit(epsilon, delta, neighbours)  # checked before a file is made
        self._payer = Book(None if path is None else Path(path).absolute()).payer(_ARRAYS)
        self._payer.set_limit(limit)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._closed = True

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> Self:
        return self

    @property
    def payer(self) -> Payer:
        """Return what pays for one release after another.

        Raises ValueError after the `with` block, and DamagedBookError where the file of the account is gone.
        """
        if self._closed:
            raise ValueError("this account was closed at the end of its with block, and pays no more")
        self._check_there()
        return self._payer

    def balance(self) -> Balance:
        """Return limit and payments as they are now. Raises DamagedBookError where the file is gone."""
        self._check_there()
        return self._payer.balance()

    def _check_there(self) -> None:
        if not self._payer.is_known():
            raise DamagedBookError(
                "the file of this account is gone, or its content: restore it from a copy, as nothing else "
                "says what was spent"
            )

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what all releases cost, event by event."""
        return self.balance().events

    @property
    def spent(self) -> float:
        """Return the epsilon of all releases together, at the limit's delta."""
        return self.balance().spent().epsilon

    @property
    def left(self) -> float:
        """Return the epsilon that is left of the limit.

        Several releases cost less together than the sum of what each costs, so that one that costs a little
        more than this may still be within the limit.
        """
        balance = self.balance()
        assert balance.limit is not None  # it is set before anybody has the account
        return numerical.epsilon_left(balance.spent().epsilon, balance.limit.epsilon)

    def to_dp_event(self) -> Any:
        """Return all releases as one event of dp-accounting (`dppca_core.accounting.dp_event`)."""
        return to_dp_event(self.events)
