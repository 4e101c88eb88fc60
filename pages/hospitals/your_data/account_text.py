"""Form sentences on what releases cost and leave, and on paid releases that are not finished.

An account is the limit of tables of the same patients and all payments that count towards it. No Streamlit
here.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dppca_core.accounting import closed_form, numerical
from dppca_core.accounts.account import Balance, Limit, Payment
from dppca_core.accounts.book import BookTable
from dppca_core.privacy import Event
from dppca_core.release.request import ReleaseRequest
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES
from pages.shared.text import literal, refusal

ONCE = "It cannot be taken back: what is spent stays spent, also if you stop it or close the page."
IN_SESSION = (
    "Your accounts are in this session only, and gone with it. Download what you release, and export the "
    "account."
)
ON_DISK = (
    "Your accounts are in one file on a local disk. The same table is known by its content, under any name, "
    "saved with at least 15 digits. The file holds what was paid for and released, and no cell of a table. "
    "DPPCA_ACCOUNTS names another folder for it. On a network disk two payments at once could pass the limit."
)
QUESTION = "**Are these patients of one of your accounts?** Nothing can be released until you answer."
OTHERS = "No, these are other patients"
FOR_GOOD = "A press is your answer. A yes cannot be taken back: the table then pays from that account."
SHARED = "Only this code makes one other person an owner of this account. It is shown once."
_LISTED = 3  # releases


class Spending(NamedTuple):
    """Hold the epsilon that is spent before and after a release, and the most that the limit allows."""

    now: float
    after: float
    most: float

    @property
    def exceeds_limit(self) -> bool:
        return not numerical.within(self.after, self.most)

    @property
    def rest(self) -> float:
        return numerical.epsilon_left(self.after, self.most)


# Forms the sentence with a price: `analyst_text.price` or `plain_text.price`.
Form = Callable[[str, float, Spending, int, float], str]


def again(spent: Spending) -> str:
    return "Another release" if spent.now > 0 else "This release"


def _limit(account: Balance) -> Limit:
    if account.limit is None:
        raise ValueError("nothing is sold before an account has a limit")
    return account.limit


def spending(account: Balance, events: tuple[Event, ...] = ()) -> Spending:
    """Return what is spent, and what would be after a release with these events."""
    return Spending(account.spent().epsilon, account.spent(events).epsilon, _limit(account).epsilon)


def price(what: str, asked: ReleaseRequest, account: Balance, form: Form) -> tuple[str, bool]:
    """Return what a request will cost and leave, in words by `form`, and whether that is beyond the limit."""
    rows, spent = asked.rows_per_patient, spending(account, asked.events)
    return form(what, asked.budget.epsilon, spent, rows, asked.patient_epsilon), spent.exceeds_limit


def refused(doing: str, reason: ValueError | OSError) -> str:
    if isinstance(reason, OSError):  # its text holds a path
        return f"The account could not be {doing} ({reason.strerror})."
    not_utf8 = isinstance(reason, UnicodeDecodeError)
    return "The file is no account: it is not in UTF-8." if not_utf8 else refusal(str(reason))


def exact(spent: numerical.Total, limit: Limit) -> str:
    return (
        f"ε = {text.number(round(spent.epsilon, 4))} at δ = {text.number(limit.delta)}. It is the least of "
        "the closed form for Gaussian noise, simple composition and, where these are quick, privacy loss "
        "distributions (dp-accounting). Simple composition, adding up, gives ε = "
        f"{text.short(spent.simple)}. Neighbours: {CHOICES['neighbours'].text(limit.neighbours)}."
    )


def of_others(many: int) -> str:
    releases = text.count(many, "release was", "releases were")
    return (
        f"{releases} paid for by another owner. The cost counts, for it was spent on the same patients. What "
        "was released is not shown."
    )


def _when(payment: Payment) -> str:
    return f"{literal(payment.at[:16].replace('T', ' '))} UTC"


def _interrupted(payment: Payment) -> str:
    return f"What was paid for on {_when(payment)} was interrupted."


def interrupted(payment: Payment) -> str:
    free = "it costs nothing more, and what was drawn is not drawn again."
    return f"**{_interrupted(payment)}** Go on with it: {free}"


def interrupted_of_another(payment: Payment) -> str:
    """Return that a paid release was begun, but not of the table as it is read now."""
    return (
        f"{_interrupted(payment)} It was begun with another dictionary, row bound, other hospitals or "
        "another answer on the rows of one patient: set these again to go on with it."
    )


def interrupted_by_mail(payment: Payment, hospital: str) -> str:
    """Return that the answer of a hospital to a joint plan was begun, and where to go on with it."""
    return (
        f"{_interrupted(payment)} It is the answer of {literal(hospital)} to the plan of a joint study. Open "
        "the plan below, under *A joint study by mail*, to go on with it for nothing."
    )


def unreadable(payment: Payment, reason: ValueError | OSError) -> str:
    return f"{_interrupted(payment)} {refused('read', reason)}"


def lost(absent: Sequence[Payment], account: Balance, named: Callable[[str, str, float], str]) -> str:
    """Return which paid releases are not in the book; named: as `analyst_text.named`."""
    delta = _limit(account).delta
    listed = [
        named(payment.title, _when(payment), closed_form.epsilon_of(payment.events, delta))
        for payment in absent[-_LISTED:]
    ]
    more = f" and {len(absent) - _LISTED:,} earlier" if len(absent) > _LISTED else ""
    many = text.count(len(absent), "paid release", "paid releases")
    return (
        f"{many} cannot be shown: {'; '.join(listed)}{more}. Deleted, made elsewhere, or begun from "
        "another table. Another release costs anew."
    )


def title(tables: Sequence[BookTable]) -> str:
    first, more = tables[0], len(tables) - 1
    columns = text.count(len(first.columns), "column", "columns")
    others = f" and {text.count(more, 'more table', 'more tables')}" if more else ""
    return f"table of {first.rows:,} rows and {columns}, {literal(first.at[:10])}{others}"


def offered(tables: Sequence[BookTable]) -> str:
    return f"Yes, those of the {title(tables)}"


def further(many: int) -> str:
    return text.count(many, "more account", "more accounts")
