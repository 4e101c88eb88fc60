"""An account: what its lines say, what it adds up to, and which lines are refused."""

import json
import math
import time

import pytest

from dppca_core import Budget, Guarantee, Release
from dppca_core.accounting import closed_form, gaussian, numerical
from dppca_core.accounts.account import Balance, Limit, parse, to_text
from dppca_core.accounts.book import Book, OverLimitError
from tests.core.accounts.paying import HALF, TABLE, payer

MIXES = {
    "one": ([Release(3.75)], 1e-5),
    "steps": ([Release(12.0, 10)], 1e-9),
    "many": ([Release(5.0), Release(9.0, 3), Release(20.0)], 1e-9),
    "many, large delta": ([Release(5.0), Release(9.0, 3), Release(20.0)], 0.1),
    "large": ([Release(0.05)], 1e-5),
    "tiny": ([Release(300.0)], 1e-9),
    "tiny, nothing spent": ([Release(300.0)], 0.1),
}


@pytest.mark.parametrize(("events", "delta"), MIXES.values(), ids=list(MIXES))
def test_loss_distributions_agree_with_the_closed_form(events, delta):
    """dp-accounting and Balle & Wang are independent; the former rounds up."""
    exact = closed_form.epsilon_of(events, delta)
    total = numerical.total(events, delta)
    assert total.epsilon == pytest.approx(exact, rel=1e-3, abs=1e-5)
    assert total.epsilon >= exact * (1 - 1e-6)
    assert total.simple >= exact * (1 - 1e-9)
    assert (total.simple > exact * 1.05) == (len(events) > 1 and exact > 0)


def test_stated_guarantees_add_up():
    """Pure epsilons: the sum, less what delta forgives; with a Gaussian, below simple composition."""
    ten = numerical.total([Guarantee(0.1)] * 10, 1e-6)
    assert ten.simple == pytest.approx(1.0)
    assert 0.95 < ten.epsilon <= 1.0
    mixed = numerical.total([Guarantee(0.5, 1e-6), Release(7.2)], 1e-5)
    assert closed_form.epsilon_of(HALF, 1e-5) < mixed.epsilon < mixed.simple
    assert numerical.total([Guarantee(0.5, 1e-5), Release(7.2)], 1e-5) == (math.inf, math.inf)
    assert numerical.total([], 1e-5) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.3, 1e-9), (0.5, 1e-5), (1.0, 1e-6), (5.0, 1e-9), (50.0, 1e-5)]
)
def test_a_release_of_the_whole_round_limit_fits(epsilon, delta):
    """Calibrated exactly at epsilon, it spends epsilon, and not a rounded-up total next to it."""
    pays = payer(epsilon, delta=delta)
    pays.pay("all", (Release(gaussian.noise_multiplier(Budget(epsilon, delta))),))
    with pytest.raises(OverLimitError):
        pays.pay("more", (Release(100.0),))


@pytest.mark.parametrize("rows", [1, 3])
def test_an_account_without_a_limit_has_no_total(rows):
    with pytest.raises(ValueError, match="set a limit first"):
        Balance().spent_by_patient(rows)


LINE = {
    "kind": "payment",
    "id": "5c",
    "at": "",
    "title": "a",
    "events": [{"noise_multiplier": 3.0, "steps": 1}],
    "about": {},
}


def read(*lines, same=True):
    return payer(1.0).merge(to_text(lines), same_patients=same)


@pytest.mark.parametrize("text", ["", "hello", "3", "[1]", "[" * 10_000, '{"a": 1e999}', json.dumps(LINE)])
def test_what_is_no_account_is_refused(text):
    """The last is a payment without its digest."""
    with pytest.raises(ValueError, match=r"of an account|must have lines"):
        payer(1.0).merge(text, same_patients=True)


BAD = {
    "another kind": {"kind": "refund"},
    "no events": {"events": []},
    "no id": {"id": ""},
    "no noise": {"events": [{"noise_multiplier": 0, "steps": 1}]},
    "negative": {"events": [{"epsilon": -1.0, "delta": 0.0}]},
    "negative steps": {"events": [{"noise_multiplier": 3.0, "steps": -1}]},
    "more than a release": {"events": [{"noise_multiplier": 3.0, "steps": 1, "more": 1}]},
    "half a character": {"title": "\ud800"},
    "a title of a page": {"title": "a" * 300},
    "a time that is none": {"at": [1]},
    "no budget": {"kind": "limit", "epsilon": 1e300, "delta": 1e-5, "neighbours": "replace-one"},
    "a table of no rows": {"kind": "table", "key": "ab", "rows": 0, "columns": []},
    "columns that are no names": {"kind": "table", "key": "ab", "rows": 1, "columns": [1]},
    "of an owner": {"kind": "owner", "owner": "ab"},
}


@pytest.mark.parametrize("change", BAD.values(), ids=list(BAD))
def test_a_line_that_no_export_has_is_refused(change):
    with pytest.raises(ValueError, match="line 2 is not of an account"):
        read(LINE, {**LINE, "id": "cd", **change})
    assert read(LINE).payments[0].title == "a"


def test_numbers_that_are_none_are_refused():
    for number in ("NaN", "Infinity", "1e999"):
        text = to_text([LINE]).replace('"about":{}', f'"about":{{"a":{number}}}')
        with pytest.raises(ValueError, match="line 1 is not of an account"):
            parse(text)


def test_a_file_that_was_changed_is_refused():
    """Each line's digest depends on those before it."""
    text = to_text([{**LINE, "id": name} for name in "abcd"])
    first, second, third, last = text.splitlines()
    assert len(parse(text)) == 4
    for lines, number in (
        ([first, second.replace("3.0", "30.0"), third, last], 2),
        ([first, third, second, last], 2),
        ([first, third, last], 2),
        ([second, third, last], 1),
        ([first, second, second, third, last], 3),
    ):
        with pytest.raises(ValueError, match=rf"^line {number} was changed or moved"):
            parse("\n".join(lines))


PRICELESS = {
    "no finite total": [{"epsilon": 1.0, "delta": 1.0}],
    "deltas used up": [{"epsilon": 0.1, "delta": 6e-6}, {"epsilon": 0.1, "delta": 6e-6}],
}


@pytest.mark.parametrize("events", PRICELESS.values(), ids=list(PRICELESS))
def test_what_has_no_total_is_not_taken_in(events):
    pays = payer(1.0)
    with pytest.raises(ValueError, match="no total can be told"):
        pays.merge(to_text([LINE | {"events": events}]), same_patients=True)
    assert pays.balance().payments == ()


@pytest.mark.parametrize(
    "event",
    [
        {"epsilon": 1e6, "delta": 0.0},
        {"noise_multiplier": 1e-6, "steps": 1},
        {"noise_multiplier": 1.0, "steps": 10**6},
    ],
)
def test_a_huge_price_is_a_number(event):
    pays = payer(1.0)
    account = pays.merge(to_text([LINE | {"events": [event]}]), same_patients=True)
    assert 1e3 < account.spent().epsilon < math.inf
    with pytest.raises(OverLimitError):
        pays.pay("more", HALF)


def test_an_import_that_would_keep_a_visitor_waiting_is_refused():
    """And one just within is counted in seconds: many different guarantees by simple composition alone."""
    with pytest.raises(ValueError, match="an account may have 2,000 lines, got 2,001"):
        parse("{}\n" * 2001)
    with pytest.raises(ValueError, match="an account may have 5,000 events, got 5,001"):
        read(LINE | {"events": [{"noise_multiplier": 3.0, "steps": 1}] * 5001})
    stated = [{"epsilon": 1e-6 * i, "delta": 0.0} for i in range(1, 2501)]
    drawn = [{"noise_multiplier": 100.0 + i, "steps": 1} for i in range(2500)]
    began = time.process_time()
    account = read(LINE | {"events": stated + drawn})
    spent = account.spent()
    assert time.process_time() - began < 7  # ten times of what it takes alone
    assert spent.epsilon == closed_form.epsilon_of(account.events, 1e-5) < spent.simple < math.inf


def test_two_limits_count_alike():
    limit = {"kind": "limit", "at": "", "epsilon": 1.0, "delta": 1e-5, "neighbours": "replace-one"}
    with pytest.raises(ValueError, match="line 2 of the account cannot be read"):
        Book().payer(TABLE).merge(to_text([limit, limit | {"delta": 0.9}]), same_patients=True)
    with pytest.raises(ValueError, match=r"delta of that account is 0\.9, here 1e-05"):
        read(limit | {"delta": 0.9})
    assert read(limit | {"epsilon": 5.0}).limit == Limit(1.0, 1e-5)  # what the owner set here
