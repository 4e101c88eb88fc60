"""Form sentences on what releases cost and leave, and on paid releases that are not in this session.

An account is the limit of a table's cohort and all releases that count towards it; an entry is one paid
release in it. No Streamlit here.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dppca_core.accounting import closed_form, numerical
from dppca_core.privacy import Event
from dppca_core.release.ledger_records import Account, Entry, Limit
from dppca_core.release.request import ReleaseRequest
from pages.hospitals.your_data.text import literal, refusal
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES

ONCE = "It cannot be taken back: what is spent stays spent, also if you stop it or close the page."
RETURNED = (
    "The page was reloaded, or its other tab has gone. What you released before is still here: download it "
    "now. The table is gone: bring it again to release more."
)
RESTORED = (
    "What you released before is back: this server kept it, encrypted, for this browser tab. Download it "
    "now. Its ledger was in the former session: import the line that a release's ZIP holds, or a picture's "
    "third file."
)
ELSEWHERE = (
    "This is a copy of another tab. What you released is in that one: download it there. It comes here if "
    "that tab is closed."
)
IN_SESSION = "This ledger is in this session only and is lost when the page is closed: export it."
STILL_DRAWN = "A release that you paid for is still being drawn. It appears here when it is ready."
_LISTED = 3  # releases


class Spending(NamedTuple):
    """Hold the epsilon that is spent before and after a release, and the most that the limit allows."""

    now: float
    after: float
    most: float

    @property
    def exceeds_limit(self) -> bool:
        """Return whether the release would bring the total beyond the limit."""
        return not numerical.within(self.after, self.most)

    @property
    def rest(self) -> float:
        """Return what is left afterwards."""
        return numerical.epsilon_left(self.after, self.most)


# Forms the sentence with a price: `analyst_text.price` or `plain_text.price`.
Form = Callable[[str, float, Spending, int, float], str]


def spending(account: Account, events: tuple[Event, ...] = ()) -> Spending:
    """Return what is spent, and what would be after a release with these events. The account has a limit."""
    return Spending(account.spent().epsilon, account.spent(events).epsilon, account.limit.epsilon)


def price(what: str, asked: ReleaseRequest, account: Account, form: Form) -> tuple[str, bool]:
    """Return what a request will cost and leave, in words by `form`, and whether that is beyond the limit."""
    rows, spent = asked.rows_per_patient, spending(account, asked.events)
    return form(what, asked.budget.epsilon, spent, rows, asked.patient_epsilon), spent.exceeds_limit


def in_folder(variable: str) -> str:
    """Return how a server can keep ledgers on disk, by which environment variable."""
    return f"A server that is started with {variable} set to a folder keeps the ledger there."


def refused(doing: str, reason: ValueError | OSError) -> str:
    """Return why a ledger could not be used; doing: "read" or "written", for a refusal of the disk."""
    if isinstance(reason, OSError):  # its text holds a path
        return f"The ledger could not be {doing} ({reason.strerror})."
    not_utf8 = isinstance(reason, UnicodeDecodeError)
    return "The file is no ledger: it is not in UTF-8." if not_utf8 else refusal(str(reason))


def exact(spent: numerical.Total, limit: Limit) -> str:
    """Return the total epsilon that is held against the limit, that by simple composition, and delta."""
    return (
        f"ε = {text.number(round(spent.epsilon, 4))} at δ = {text.number(limit.delta)}. It is the least of "
        "the closed form for Gaussian noise, simple composition and, where these are quick, privacy loss "
        "distributions (dp-accounting). Simple composition, adding up, gives ε = "
        f"{text.short(spent.simple)}. Neighbours: {CHOICES['neighbours'].text(limit.neighbours)}."
    )


def missing(on_disk: bool) -> str:
    """Return that a tab's paid release is gone, and what to do; on_disk: whether ledgers are on disk."""
    gone = (
        "This tab had a paid release that was not downloaded. The server was started anew, or the page was "
        "away for too long."
    )
    if on_disk:
        return f"{gone} Bring the table again: what was paid for and not downloaded is kept."
    return (
        f"{gone} Its ledger was in the session only, and is gone too: import it again if you exported it. "
        "Another release costs anew."
    )


def of_others(many: int) -> str:
    """Return how many releases others paid for from this account, and that only their cost is shown."""
    releases = text.count(many, "release was", "releases were")
    return (
        f"{releases} paid for by another owner or in another session. The cost counts, for it was spent on "
        "the same patients. What was released is not shown."
    )


def _when(entry: Entry) -> str:
    """Return the day and the minute of a release."""
    return f"{literal(entry.at[:16].replace('T', ' '))} UTC"


def _kept(entry: Entry) -> str:
    """Return that a paid release was not downloaded, with its time."""
    return f"What was released on {_when(entry)} is paid for and was not downloaded."


def kept(entry: Entry) -> str:
    """Return that a paid release was interrupted or not downloaded, and can be completed for nothing."""
    return f"**{_kept(entry)}** Go on with it: it costs nothing more, and what was drawn is not drawn again."


def kept_of_another(entry: Entry) -> str:
    """Return that a paid release is kept, but not of the table as it is read now."""
    return (
        f"{_kept(entry)} It was made with another dictionary, row bound, other hospitals or another answer "
        "on the rows of one patient: set these again to go on with it."
    )


def kept_unreadable(entry: Entry, reason: ValueError | OSError) -> str:
    """Return that a paid release is kept, and why it cannot be read."""
    return (
        f"{_kept(entry)} {refused('read', reason)} Until then it stays as it is, and nothing of it is drawn "
        "again."
    )


def lost(absent: Sequence[Entry], account: Account, named: Callable[[str, str, float], str]) -> str:
    """Return which paid releases are neither in this session nor kept, and what can be done.

    named: forms a release's name from its title, its time and its epsilon (`analyst_text.named`).
    """
    delta = account.limit.delta
    listed = [
        named(entry.title, _when(entry), closed_form.epsilon_of(entry.events, delta))
        for entry in absent[-_LISTED:]
    ]
    more = f" and {len(absent) - _LISTED:,} earlier" if len(absent) > _LISTED else ""
    return (
        f"The ledger holds {text.count(len(absent), 'paid release', 'paid releases')} that this session does "
        f"not have: {'; '.join(listed)}{more}. {'It' if len(absent) == 1 else 'They'} cannot be shown again. "
        "Look in your downloads folder, or ask who made it. What was made of another extract, and not "
        "downloaded, is kept with that table. Another release costs anew."
    )
