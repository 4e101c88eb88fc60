"""The ledger of a table on the screen: found by content, exported, imported, refused when damaged."""

import pytest

from dppca_core import Budget
from dppca_core.release.ledger import DiskLedger
from dppca_core.release.ledger_records import Limit
from dppca_core.release.request import Request
from dppca_core.tables import content, content_key
from pages.hospitals.your_data import ledger_text, session
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    OTHER_TABLE,
    csv,
    patients,
    prepared,
    released,
)

EVENTS = Request("analyze_gauss", 3, 2, Budget(0.5, 1e-6)).events


def test_a_ledger_is_found_by_the_tables_content_alone(folder, visitor):
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


def test_without_a_folder_the_ledger_is_the_sessions_and_says_so():
    page = released()
    assert ledger_text.IN_SESSION in page.warnings and session.LEDGER_DIR in page.captions
    page.press("Forget it")
    page.upload(name="again.csv")
    page.answer()
    assert "0.5 of the limit" in page.spent


def test_the_bar_of_a_limit_that_is_spent_is_full():
    """A release calibrated to all of it spends it but for rounding."""
    page = released(**{"own.eps": "1"})
    assert "nothing is left" in page.spent and page.app.get("progress")[0].proto.value == 100


def test_a_damaged_ledger_is_one_sentence_and_no_release(folder):
    (folder / f"{content_key(patients())}.jsonl").write_text('{"kind": "release"}\n')
    page = prepared()
    assert page.errors.count("\n") == 0 and "cannot be read: mend or restore it first" in page.errors
    assert page.errors.endswith("Until then nothing can be released.")
    assert not page.has_button("Release", "Set this")


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"\xff\xfe", "The file is no ledger: it is not in UTF-8. Nothing was taken over."),
        (b"{}\n", "Line 1 is not of a ledger. Nothing was taken over."),
        (None, ""),
    ],
    ids=["binary", "no ledger", "exported"],
)
def test_a_ledger_is_imported_once(folder, data, error):
    ledger = DiskLedger(folder, content_key(patients()))
    ledger.set_limit(Limit(1.0, 1e-6))
    ledger.spend("before", EVENTS)
    exported = ledger.export().encode()
    ledger.path.unlink()
    page = prepared()
    box = next(box for box in page.app.file_uploader if box.label == "A ledger of this table")
    box.set_value(("ledger.jsonl", exported if data is None else data, ""))
    page.run()
    for _ in range(2):
        page.press("Add its releases")
        assert error in page.errors and bool(error) == bool(page.errors)
    entries = DiskLedger(folder, content_key(patients())).account().entries
    assert len(entries) == (data is None)


def test_a_ledger_under_the_former_key_of_the_table_counts_and_goes_on(folder):
    former = DiskLedger(folder, content.content_keys(patients()).former[0])
    former.set_limit(Limit(1.0, 1e-6))
    former.spend("before", EVENTS)
    page = prepared()
    assert not page.has_button("Set this")
    assert "before" in page.app.dataframe[-1].value.to_string()
    page.release()
    assert len(former.account().entries) == 2
    assert [path for path in folder.glob("*.jsonl") if "drawn" not in path.name] == [former.path]
