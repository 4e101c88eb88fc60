"""The guarantee is for a row: what a patient with several rows is told, everywhere."""

import pytest

from dppca_core.accounting import closed_form, gaussian
from pages.hospitals.your_data import text as page_text
from tests.pages.hospitals.your_data.table_page import (
    OTHER_TABLE,
    ROWS,
    WIDE,
    TablePage,
    limited,
    prepared,
)

EIGHT = 10.2962  # epsilon of a patient with 8 rows, for (1, 1e-6) a row
AT_ONE = {"own.eps": "1", "own.delta": "1e-6"}


def test_nothing_is_shown_of_a_table_before_its_rows_per_patient_are_stated():
    page = TablePage()
    page.upload()
    assert page.rows_question.value is None and page_text.UNANSWERED in page.notices
    assert not page.app.multiselect and not page.app.get("bidi_component")[1:] and not page.app.success
    page.answer(8)
    assert page.app.multiselect
    page.most_rows.set_value(None)
    page.run()
    assert not page.app.multiselect
    page.answer(1)
    page.upload(OTHER_TABLE, "next.csv")
    assert page.rows_question.value is None and not page.app.multiselect  # asked of each table


def test_an_example_is_known_to_have_one_row_a_patient():
    page = TablePage()
    page.press("Try it with the breast cancer")
    assert page_text.OF_EXAMPLE in page.captions and "569 patients" in page.everything
    page.answer(3)
    assert page_text.OF_EXAMPLE not in page.captions and "569 rows" in page.everything


def test_a_patient_with_eight_rows_is_told_ten_and_not_one(folder, built):
    """On the price, the question, the promise, the account, the document and the report; 1 by row."""
    page = prepared(dictionary=WIDE, rows=8, **AT_ONE)
    assert "120 rows in " in page.everything and "120 patients" not in page.everything
    assert "The limit counts per row." in page.captions
    page.press("Set this limit")
    assert "10.30" in page.markdown
    page.ask()
    assert "of 120 rows?" in page.markdown
    page.spend()
    document = page.state.releases[0].result.document
    assert (document["unit"], document["rows per patient"]) == ("row", 8)
    assert document["epsilon for a patient"] == pytest.approx(EIGHT, abs=1e-4)
    assert document["parameters"]["budget"]["epsilon"] == 1
    assert "any one row" in document["guarantee"] and "e^10.3" in document["guarantee"]
    assert "For a patient with 8 rows, all releases so far have" in page.markdown
    shown = page.app.dataframe[-1].value
    assert shown["rows per patient"].tolist() == ["8"] and shown.iloc[0, -1] == "10.30"
    (payment,) = page.payments
    assert (payment.about["rows"], payment.rows_per_patient) == (ROWS, 8)
    settings = dict(built().frame().settings)
    assert "all 8 rows of one patient" in built().frame().promise
    assert settings["Rows"] == "120" and settings["Rows of one patient"] == "up to 8"
    assert settings["Privacy loss ε of a patient"] == "10.3"


def test_each_release_keeps_the_answer_it_was_made_with(folder):
    """Answered anew after a release: the old one says what it is now, the next one has the new number."""
    page = prepared(**{"own.eps": "0.5", "own.delta": "1e-6"})
    page.press("Set this limit")
    page.release()
    assert "rows per patient" not in page.app.dataframe[-1].value
    page.ask()
    assert page.state.pending is not None
    page.answer(4)
    assert page.state.pending is None  # the question was for another number
    events = page.state.releases[0].result.payment.events  # the mean's and the method's
    first = closed_form.multiplier_of(events)
    cost = gaussian.epsilon_of(first / 4, 1e-6)
    assert f"up to 4, it has ε = {cost:.2f} for a patient" in page.warnings
    page.move("own.epsilon", 0.2)
    page.release()
    shown = page.app.dataframe[-1].value
    assert shown["rows per patient"].tolist() == ["1", "4"]
    assert shown.iloc[0, -1] == "0.5" and float(shown.iloc[1, -1]) > 4 * 0.2
    second = closed_form.multiplier_of(page.state.releases[1].result.payment.events)
    total = gaussian.epsilon_of((first**-2 + second**-2) ** -0.5 / 4, 1e-6)
    assert f"all releases so far have ε = {total:.2f} together" in page.markdown


def test_what_evades_an_account_stands_at_the_account_once():
    page = prepared()
    assert page.captions.count(page_text.CHANGED_TABLE_CAVEAT) == 1
    page.press("Set this limit")
    assert page.captions.count(page_text.CHANGED_TABLE_CAVEAT) == 1


def test_the_rehearsal_counts_rows_where_a_patient_has_several(built):
    page = limited(dictionary=WIDE, rows=8, **AT_ONE)
    assert "rows in one place" in page.markdown
    assert "invented rows" in page.captions.lower()
    for text in (page.markdown, page.captions, str(page.figure), built().html()):
        assert f"{ROWS} patients" not in text


def test_who_is_in_two_hospitals_is_told_what_both_releases_cost(built):
    """Twice the same Gaussian release is one with z/sqrt 2: at epsilon = 1, delta = 1e-6 it is 1.45."""
    page = limited(dictionary=WIDE, **AT_ONE)
    page.release()
    sentence = "two releases of this size together have ε = 1.45."
    assert sentence in page.captions and any(sentence in limit for limit in built().frame().limits)
