"""The report: of the release, of what is public and of the twin, and the same for any rows."""

import json
from urllib.parse import parse_qsl, urlsplit

import numpy as np

from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import (
    OTHER_TABLE,
    ROWS,
    TABLE,
    WIDE,
    patients,
    prepared,
    released,
)


def test_a_report_is_of_the_release_and_the_same_for_any_rows(built):
    """Two tables of one size and dictionary: before a release their reports say the same, to the letter.

    The twin's figure, of invented patients, is measured meanwhile and may have come further in the second.
    """
    rehearsals = []
    for table in (TABLE, OTHER_TABLE):
        page = prepared(table, WIDE, view="researcher", **{"own.shown": "true"})
        rehearsals.append(built())
    alike = [json.dumps(report._replace(figures=[], made="")) for report in rehearsals]
    assert alike[0] == alike[1] and "Nothing was released" in alike[0]
    assert [len(report.figures) for report in rehearsals] == [1, 1]
    page.press("Set this limit")
    page.release()
    report, result = built(), page.state.releases[0].result
    assert report.guarantee.split(" All releases")[0] in page.markdown.replace("**", "").replace("\\", "")
    assert "0.5 of the limit" in report.guarantee
    assert "2 components of" in report.sentence
    (weights,) = (table for table in report.tables if table.title.startswith("All released "))
    shown = np.hstack([result.basis, 2 * result.loading_std])
    assert [cell for row in weights.rows for cell in row[1:]] == [f"{v:.4f}" for v in shown.ravel()]
    now, notices = catalogue.open_link(dict(parse_qsl(urlsplit(report.link).query)))
    last = dict(page.app.session_state["settings of the last run"])
    assert not notices and now == last | {"own.shown": False}


def test_a_report_says_that_hospitals_dealt_at_random_do_not_exist(built):
    """Before the release and after it, in its first sentence, its settings and its limits."""
    page = prepared(rows=8, **{"own.method": "dps_pca", "own.N": "3"})
    reports = [built()]
    page.press("Set this limit")
    page.release()
    for report in (*reports, built()):
        assert f"{ROWS} rows assigned at random to 3 hospitals that do not exist" in report.sentence
        assert "in 3 hospitals" not in report.sentence
        assert dict(report.settings)["Hospitals"] == "assigned at random to 3 hospitals that do not exist"
        (limit,) = (line for line in report.limits if "do not exist" in line)
        assert limit.startswith("Rows are assigned") and limit in page.captions


def test_a_report_says_nothing_of_invented_hospitals_where_a_column_names_them(built):
    page = prepared(**{"own.method": "dps_pca", "own.N": "3"})
    page.choose_hospitals()
    assert sorted(page.state.ready.sizes) == sorted(patients()["clinic"].value_counts())
    report = built()
    assert f"{ROWS} patients in 2 hospitals" in report.sentence
    assert dict(report.settings)["Hospitals"] == "2" and "not exist" not in json.dumps(report.limits)


def test_a_report_rehearses_what_was_released_though_controls_moved(built):
    page = released(dictionary=WIDE, **{"own.eps": "1"})
    page.move("own.method", "dps_pca")
    page.move("own.epsilon", 0.1)
    (drawn,) = (figure for figure in built().figures if "rehearsal" in figure.title)
    assert "Analyze Gauss" in drawn.says and "ε = 1" in drawn.says
