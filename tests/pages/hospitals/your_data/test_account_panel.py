"""The account of a table on the screen: found, begun or chosen, exported, imported, refused when damaged."""

import re
import sqlite3
from contextlib import closing

import pytest

from dppca_core import Budget
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, BookTable, default_path
from dppca_core.release.request import Request
from pages.hospitals.your_data import account_text
from tests.core.accounts.paying import payer
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    OTHER_TABLE,
    csv,
    limited,
    patients,
    prepared,
    released,
)

OFFERS = ("own put in", "own other patients")
EVENTS = Request("analyze_gauss", 3, 2, Budget(0.5, 1e-6)).events


def test_an_account_is_found_by_the_tables_content_alone(folder, visitor):
    """The same rows in another order, under other names; another table has a limit of its own."""
    visitor("ann")
    released()
    shuffled = patients().sample(frac=1, random_state=1).rename(columns={"age": "years"})
    same = prepared(csv(shuffled), DICTIONARY, "theirs.csv")
    assert "0.5 of the limit" in same.spent and not same.has_button("Set this limit")
    assert same.app.dataframe[-1].value["what"].tolist() == ["Analyze Gauss"]
    visitor("ben")
    other = prepared(OTHER_TABLE)
    assert other.has_button("Set this limit")


def test_without_a_book_on_the_disk_the_account_is_the_sessions_and_says_so():
    page = released()
    assert account_text.IN_SESSION in page.warnings and account_text.ON_DISK not in page.captions
    page.press("Forget it")
    page.upload(name="again.csv")
    page.answer()
    assert "0.5 of the limit" in page.spent


def test_the_bar_of_a_limit_that_is_spent_is_full():
    """A release calibrated to all of it spends it but for rounding."""
    page = released(**{"own.eps": "1"})
    assert "nothing is left" in page.spent and page.app.get("progress")[0].proto.value == 100


def test_a_damaged_account_is_one_sentence_and_no_release(folder):
    released()
    with closing(sqlite3.connect(folder / "accounts.sqlite3")) as book, book:
        book.execute("UPDATE lines SET text = replace(text, 'noise_multiplier\":', 'noise_multiplier\":9')")
    page = prepared()
    assert page.errors.count("\n") == 0 and "restore the book from a copy first" in page.errors
    assert page.errors.endswith("Until then nothing can be released.")
    assert not page.has_button("Release", "Set this")


def offers(page):
    """Return what can be pressed while the page asks whose patients these are."""
    return [button.label for button in page.app.button if button.key and button.key.startswith(OFFERS)]


def test_an_unknown_table_pays_from_an_account_of_its_owner_s_choice(folder):
    """Nothing can be released until the owner has answered, by one press, and a no begins an account."""
    first = released()
    page = prepared(OTHER_TABLE)
    assert account_text.QUESTION in page.markdown and account_text.FOR_GOOD in page.captions
    assert not page.has_button("Set this", "Release")
    day = first.payer.tables()[0].at[:10]
    assert offers(page) == [f"Yes, those of the table of 120 rows and 3 columns, {day}", account_text.OTHERS]
    page.press("Yes, those of the table")
    assert page.spent == first.spent and len(page.payer.tables()) == 2 and not offers(page)
    assert not offers(prepared(OTHER_TABLE))  # from now on it is known
    third = prepared(csv(patients(seed=2)))
    assert len(offers(third)) == 2 and "and 1 more table" in offers(third)[0]
    third.press(account_text.OTHERS)
    third.press("Set this limit")
    assert third.payments == () and len(third.payer.tables()) == 1 and not third.errors


def test_accounts_of_like_tables_stand_first_and_the_rest_under_a_box(folder):
    """By half of the columns or by a tenth of the rows; all other accounts are as old as their place."""
    book = Book(default_path())
    for number, (rows, columns) in enumerate(
        [(9, "x y z"), (70, "x y z"), (500, "age weight x"), (110, "x y z"), (115, "age weight pulse sex")], 1
    ):
        table = BookTable(f"{number:064}", rows, tuple(columns.split()))
        book.payer(table).set_limit(Limit(1.0, 1e-6))
    page = prepared(OTHER_TABLE)
    rows = [int(re.search(r"of (\d+) rows", label)[1]) for label in offers(page)[:-1]]
    assert rows == [115, 500, 110, 9, 70]
    (box,) = (box for box in page.app.expander if box.label == account_text.further(2))
    assert [button.label for button in box.button] == offers(page)[3:5]
    page.press("Yes, those of the table of 70 rows")
    assert [table.rows for table in page.payer.tables()] == [70, 120]


def test_both_tabs_of_a_visitor_see_what_is_spent(folder):
    """A price that was shown before the other tab paid is refused, and that tab shows what is left now."""
    first, second = limited(), prepared()
    second.ask()
    first.release()
    second.press("Spend")
    assert "Another release was made on this account meanwhile" in second.warnings
    assert second.spent == first.spent and "0.5 of the limit" in second.spent
    assert len(second.payments) == 1 and "used 0.5 of your limit 1" in second.markdown


def test_the_account_of_other_tables_is_imported_where_the_owner_says_so():
    away = payer(1.0, delta=1e-6)
    away.pay("elsewhere", EVENTS)
    page = limited()
    box = next(box for box in page.app.file_uploader if box.label == "An account of these patients")
    box.set_value(("account.jsonl", away.export().encode(), ""))
    page.run()
    page.press("Add its payments")
    assert "tate that they are of the same patients" in page.errors
    next(box for box in page.app.checkbox if box.label.startswith("It is of another table")).check()
    page.press("Add its payments")
    assert not page.errors and page.app.dataframe[-1].value["what"].tolist() == ["elsewhere"]


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\xff\xfe", "The file is no account: it is not in UTF-8. Nothing was taken over."),
        (b"{}\n", "Line 1 is not of an account. Nothing was taken over."),
        (None, ""),
    ],
    ids=["binary", "no account", "exported"],
)
def test_an_account_is_imported_once(data, error):
    away = released()
    exported = away.payer.export().encode()
    page = prepared()
    box = next(box for box in page.app.file_uploader if box.label == "An account of these patients")
    box.set_value(("account.jsonl", exported if data is None else data, ""))
    page.run()
    for _ in range(2):
        page.press("Add its payments")
        assert error in page.errors and bool(error) == bool(page.errors)
    assert len(page.payments) == (data is None)
