"""Wide tables on the page: columns are typed, ranges are stated once, and the width is judged first."""

import re

import numpy as np
import pandas as pd
import pytest

from dppca_core.accounting import gaussian
from dppca_core.bounds.stated_spectra import STATED, predicted_errors
from dppca_core.privacy import Budget
from pages.hospitals.your_data import dictionary, release_request, upload_text, wide_table
from pages.hospitals.your_data.text import TOO_MUCH
from pages.shared.document.blocks import Table
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import TablePage, csv, of_size

COLUMNS = [f"g{i}" for i in range(1, 2101)]


def table(n=40):
    return pd.DataFrame(np.random.default_rng(1).integers(0, 9, (n, len(COLUMNS))), columns=COLUMNS)


def asked(n, d, usual=True, **changed):
    settings = catalogue.defaults() | {"own.method": "recommended", "own.epsilon": 0.5} | changed
    return release_request.requested(settings, of_size(d, n, usual), None, 1)


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        ("all", tuple(COLUMNS)),
        ("3-5, 9\ng4", ("g3", "g4", "g5", "g9")),
        ("g2\n\n 7 ", ("g2", "g7")),
        ("", ()),
    ],
)
def test_columns_are_chosen_by_names_and_places(typed, chosen):
    assert dictionary.parse_choice(typed, COLUMNS) == chosen
    assert dictionary.parse_choice(dictionary.describe_choice(chosen, COLUMNS), COLUMNS) == chosen


def test_a_name_goes_before_what_it_could_mean():
    assert dictionary.parse_choice("all\na, b\n2", ("x", "all", "a, b", "2")) == ("all", "a, b", "2")


@pytest.mark.parametrize(
    ("typed", "error"), [("g1\ngene", "no column 'gene'"), ("5-3", "to 2,100, got '5-3'"), ("2101", "2,100")]
)
def test_a_choice_that_cannot_be_is_refused(typed, error):
    with pytest.raises(ValueError, match=error):
        dictionary.parse_choice(typed, COLUMNS)


def test_a_wide_table_is_chosen_typed_and_judged_before_a_limit_is_set(built):
    page = TablePage()
    page.upload(csv(table()))
    page.answer()
    assert not page.app.multiselect
    page.app.text_area[0].set_value("1-2099")
    page.run()
    assert upload_text.chosen(2099, 2100) in page.captions and len(page.app.data_editor[0].value) == 200
    page.type_line(low=0.0, high=20.0)
    ends = {"Lowest": 0.0, "Highest": 9.0}
    for box in page.app.number_input:
        if box.label in ends:
            box.set_value(ends[box.label])
    page.run()
    page.press("Take this range for all numbers")
    assert not page.app.exception and page.state.ready.d == 2099
    assert [page.state.lines[name].high for name in ("g1", "g2", "g2099")] == [20.0, 9.0, 9.0]
    assert max(len(box.options) for box in page.app.selectbox) < 300
    assert page.has_button("Set this limit") and "any method gets no answer" in page.warnings
    assert "from the literature or a code book, not from these rows" in page.warnings
    assert "are not rehearsed by runs" in page.captions
    page.press("Set this limit")
    page.release("Release anyway")
    listed = re.search(r"Listed: the (\d+) strongest of 2,099 measurements", built().html())
    assert listed is not None and int(listed[1]) <= 200
    assert page.state.cache_by_name["downloads"][1][1]["components.csv"].count("\n") == 2100
    assert all(len(part.frame) <= 200 for part in built().blocks() if isinstance(part, Table))


@pytest.mark.parametrize(("n", "d", "usual"), [(62, 2000, True), (40, 500, True), (1500, 500, False)])
def test_what_is_judged_to_do_does_and_half_of_it_does_not(n, d, usual):
    """By the closed forms on the worst of the stated spectra; a mean is paid for by the same epsilon."""
    request = asked(n, d, usual)
    assert (request.mean_share > 0) != usual

    def share(n, d, epsilon):
        budget = Budget(epsilon, request.budget.delta)
        budget = budget if usual else gaussian.remaining(budget, request.mean_share)
        on_all = [
            predicted_errors(
                "central",
                n=n,
                d=d,
                k=request.k,
                budget=budget,
                ratio=each.times(d, request.k),
                carriers=each.carriers(d, request.k),
            )
            for each in STATED
        ]
        names = ["stacked_rounds", "two_stage", *["analyze_gauss"] * (d <= 400)]
        return min(max(errors[name] / guess for errors, guess in on_all) for name in names)

    sentence, stopped = wide_table.judge(request, n, d, 1)
    now, patients, epsilon, features = wide_table._ways_out(
        n, d, request.k, request.budget, request.mean_share, 1, "central"
    )
    assert stopped and now == pytest.approx(share(n, d, 0.5)) and now > 0.4
    assert share(patients, d, 0.5) <= TOO_MUCH < share(patients // 2, d, 0.5)
    assert f"about {patients:,} patients" in sentence and f"{d:,} measurements" in sentence
    if features is not None:
        assert share(n, features, 0.5) <= TOO_MUCH < share(n, 2 * features, 0.5)
    if epsilon is not None:
        assert share(n, d, epsilon) <= TOO_MUCH and epsilon > 0.5


@pytest.mark.parametrize(
    ("d", "words"),
    [
        (20_000, "The better of them is predicted"),
        (400, ""),
    ],
)
def test_what_a_width_allows_is_judged(d, words):
    sentence, stopped = wide_table.judge(asked(10**6, d), 10**6, d, 1)
    assert (words in sentence) and bool(sentence) == bool(words) and not stopped


def test_a_method_that_cannot_take_a_wide_table_is_refused():
    with pytest.raises(release_request.NotReleasedError, match="d must be"):
        asked(10**6, 20_000, **{"own.method": "analyze_gauss"})
