"""What a release will cost, has cost and leaves, in sentences. No Streamlit here."""

from __future__ import annotations

from functools import lru_cache

from dppca_core.accounting import numerical
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget, Event
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import HARDENED, Request
from pages.hospitals.your_data import unit_text
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.shared import text

ONCE = "It cannot be taken back: what is spent stays spent, also if you stop it or close the page."

_composed = lru_cache(maxsize=256)(numerical.total)  # of noise multipliers: nothing of a table


def total(account: Account, more: tuple[Event, ...] = ()) -> numerical.Total:
    """What the releases so far cost at the limit's delta, with `more` events."""
    assert account.limit is not None
    return _composed((*account.events, *more), account.limit.delta)


def privacy(epsilon: float, plain: bool) -> str:
    """An epsilon as the reader knows it."""
    return f"privacy loss {text.short(epsilon)}" if plain else f"ε = {text.short(epsilon)}"


def title(request: Request, plain: bool) -> str:
    """What would be released."""
    title = METHODS[request.method].title
    return f"A release by {title} with {privacy(request.budget.epsilon, plain)}"


def price(what: str, events: tuple[Event, ...], account: Account, plain: bool, of_patient: str = "") -> str:
    """What a release will cost and what is left, before it is made.

    of_patient: what it costs a patient with several rows, if that is another number (`unit_text.price`).
    """
    assert account.limit is not None
    most, now = account.limit.epsilon, total(account).epsilon
    after = total(account, events).epsilon
    if not numerical.within(after, most):
        return (
            f"{what} would bring the total to {privacy(after, plain)}, beyond the limit "
            f"{text.number(most)}: ask for less."
        )
    return (
        f"{what} brings what is spent from {text.short(now)} to {text.short(after)} of "
        f"your limit {text.number(most)}, and leaves {_rest(after, most)}.{of_patient}"
    )


def spectrum_title(budget: Budget, plain: bool) -> str:
    """What a release of eigenvalues is called."""
    what = "The strength of every direction" if plain else "A release of all eigenvalues"
    return f"{what} with {privacy(budget.epsilon, plain)}"


def confirm(request: Request, prepared: PreparedTable, account: Account, plain: bool) -> str:
    """What the person confirms."""
    what = text.count(request.k, "direction", "directions") if plain else f"k = {request.k} components"
    rows = request.rows_per_patient
    of_patient = unit_text.price(request.events, request.budget, rows, plain)
    cost = price(title(request, plain), request.events, account, plain, of_patient)
    return (
        f"**Release {what} of {prepared.n:,} {unit_text.noun(rows)}?** {cost} {ONCE} The noise is "
        "drawn once, and anybody may see the result."
    )


def exceeds_limit(events: tuple[Event, ...], account: Account) -> bool:
    """Whether it would go beyond the limit."""
    assert account.limit is not None
    return not numerical.within(total(account, events).epsilon, account.limit.epsilon)


def left(account: Account, plain: bool) -> str:
    """What is spent of the limit and what is left."""
    assert account.limit is not None
    most, spent = account.limit.epsilon, total(account).epsilon
    what = "privacy loss" if plain else "ε"
    return (
        f"{text.short(spent)} of the limit {what} = {text.number(most)} is spent, "
        f"{_rest(spent, most)} is left"
    )


def _rest(spent: float, most: float) -> str:
    remains = numerical.remaining(spent, most)
    return text.short(remains) if remains > 0 else "nothing"


def hardening(method: str, plain: bool) -> str:
    """Which noise it will be."""
    if method in HARDENED:
        if plain:
            return "Its noise is drawn by a vetted library and is exact."
        return "Noise: OpenDP's discrete Gaussian on an exact integer sum. Eigenvalues come with it."
    if plain:
        return "Its noise is drawn in ordinary computer arithmetic: **not hardened** against experts."
    return (
        "Noise: a Gaussian in floating point, **not hardened**: last digits can tell more than the guarantee "
        "allows. Eigenvalues are not released."
    )
