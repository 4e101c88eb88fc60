"""Sentences on what a release will cost, has cost and leaves. No Streamlit here."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dppca_core.accounting import numerical
from dppca_core.privacy import Budget, Event
from dppca_core.release.ledger_records import Account, Limit
from dppca_core.release.private_release import HARDENED, Request
from pages.hospitals.your_data import unit_text
from pages.shared import text

ONCE = "It cannot be taken back: what is spent stays spent, also if you stop it or close the page."

_composed = lru_cache(maxsize=256)(numerical.total)  # of noise multipliers: nothing of a table


def _limit(account: Account) -> Limit:
    assert account.limit is not None
    return account.limit


def total(account: Account, more: tuple[Event, ...] = ()) -> numerical.Total:
    """Return what the releases so far, and `more` events, cost at the limit's delta."""
    return _composed((*account.events, *more), _limit(account).delta)


def privacy(epsilon: float, plain: bool) -> str:
    """Return an epsilon as the reader knows it."""
    return f"privacy loss {text.short(epsilon)}" if plain else f"ε = {text.short(epsilon)}"


class Price(NamedTuple):
    """Hold what a release will cost and leave, in words, and whether that is beyond the limit."""

    sentence: str
    exceeds_limit: bool


def price(
    what: str, events: tuple[Event, ...], account: Account, budget: Budget, rows: int, plain: bool
) -> Price:
    """Return what a release will cost, a row and a patient with several, and what is left."""
    title = f"{what} with {privacy(budget.epsilon, plain)}"
    most, now = _limit(account).epsilon, total(account).epsilon
    after = total(account, events).epsilon
    if not numerical.within(after, most):
        sentence = (
            f"{title} would bring the total to {privacy(after, plain)}, beyond the limit "
            f"{text.number(most)}: ask for less."
        )
        return Price(sentence, True)
    sentence = (
        f"{title} brings what is spent from {text.short(now)} to {text.short(after)} of your limit "
        f"{text.number(most)}, and leaves {_rest(after, most)}."
    )
    return Price(sentence + unit_text.price(events, budget, rows, plain), False)


def question(request: Request, n: int, plain: bool, price: str) -> str:
    """Return what the owner of n rows confirms for this price."""
    what = text.count(request.k, "direction", "directions") if plain else f"k = {request.k} components"
    return (
        f"**Release {what} of {n:,} {unit_text.noun(request.rows_per_patient)}?** {price} {ONCE} "
        "The noise is drawn once, and anybody may see the result."
    )


def spectrum_question(price: str) -> str:
    """Return what the owner confirms before eigenvalues are released."""
    return f"**Release the strength of every direction?** {price} {ONCE}"


def left(account: Account, plain: bool) -> str:
    """Return what is spent of the limit and what is left."""
    most, spent = _limit(account).epsilon, total(account).epsilon
    what = "privacy loss" if plain else "ε"
    return (
        f"{text.short(spent)} of the limit {what} = {text.number(most)} is spent, "
        f"{_rest(spent, most)} is left"
    )


def _rest(spent: float, most: float) -> str:
    remains = numerical.remaining(spent, most)
    return text.short(remains) if remains > 0 else "nothing"


def hardening(method: str, plain: bool) -> str:
    """Return how the noise is drawn."""
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
