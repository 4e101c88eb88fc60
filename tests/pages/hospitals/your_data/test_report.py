"""The report: of the release, of what is public and of the twin, and the same for any rows."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from dppca_core.release import bundle
from pages.hospitals.your_data import book_releases, report
from pages.shared import text
from pages.shared.reports import html_report
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import (
    OTHER_TABLE,
    ROWS,
    TABLE,
    WIDE,
    csv,
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
        page = prepared(table, WIDE, view="full", **{"own.shown": "true"})
        rehearsals.append(built())
    alike = [json.dumps(each._replace(figures=[], made="")) for each in rehearsals]
    assert alike[0] == alike[1] and "Nothing was released" in alike[0]
    assert [len(each.figures) for each in rehearsals] == [1, 1]
    page.press("Set this limit")
    page.release()
    now, result = built(), page.state.releases[0].result
    promise, _, odds = now.guarantee.partition(" Even an attacker")
    assert promise in page.markdown.replace("**", "").replace("\\", "")
    assert odds.split(" All releases")[0] in page.captions
    assert "0.5 of the limit" in now.guarantee
    assert "2 components of" in now.sentence
    (weights,) = (table for table in now.tables if table.title.startswith("All released "))
    shown = np.hstack([result.basis, 2 * result.loading_std])
    assert [cell for row in weights.rows for cell in row[1:]] == [f"{v:.4f}" for v in shown.ravel()]
    opened, notices = catalogue.open_link(dict(parse_qsl(urlsplit(now.link).query)))
    last = dict(page.app.session_state["settings of the last run"])
    assert not notices and opened == last | {"own.shown": False}


class Read(HTMLParser):
    """Read a report's file: the rows of cells under each heading, the words under it, and each figure."""

    def __init__(self, file):
        super().__init__()
        self.rows, self.words, self.figures, self.tag, self.heading = {}, {}, [], "", ""
        self.feed(file)

    def handle_starttag(self, tag, attributes):
        self.tag = "json" if ("type", "application/json") in attributes else tag
        if tag in ("h1", "h2", "h3"):
            self.heading = ""
        if tag == "tr":
            self.rows.setdefault(self.heading, []).append([])

    def handle_endtag(self, tag):
        self.tag = ""

    def handle_data(self, data):
        if self.tag in ("h1", "h2", "h3"):
            self.heading += data
        elif self.tag == "json":
            self.figures.append(json.loads(data))
        elif self.tag == "td":
            self.rows[self.heading][-1].append(data)
        elif self.tag not in ("script", "style", "th", "noscript"):
            self.words[self.heading] = f"{self.words.get(self.heading, '')} {data}"


def numbers(words):
    return re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?", words)


@pytest.mark.parametrize("view", ["plain", "full"])
@pytest.mark.parametrize("method", ["analyze_gauss_sparse", "two_stage", "stacked_rounds", "analyze_gauss"])
def test_every_number_of_a_report_is_one_of_release_json(view, method):
    """Each cell, mark and sentence of the report's file, against the file that the release comes with.

    What may be noise is grey, and in no table: of Analyze Gauss nearly all is, at epsilon .1.
    """
    n, epsilon = (ROWS, "0.1") if method == "analyze_gauss" else (5000, "1")
    link = {"own.method": method, "own.k": "3", "own.eps": epsilon}
    page = released(csv(patients(n=n)), WIDE, view=view, **link)
    job, settings = page.state.releases[0], dict(page.app.session_state["settings of the last run"])
    record = report.public_record(None, None, job, "", None, 1, settings)  # without a rehearsal
    now = report.build(record, settings)
    read = Read(html_report.html(now))
    account = book_releases.account_after(job)
    document = json.loads(bundle.files(job.result.document, account, job.result.payment)["release.json"])
    values, noise = (np.array(document[name]).T for name in ("components", "noise of components"))
    grey, features = np.abs(values) < 2 * noise, document["features"]
    assert grey.any() or method != "analyze_gauss"  # of the others now and then none is

    titles = {"full": "Loadings of the released components"}
    title = titles.get(view, "What the released patterns are made of")
    clear = {(i, j) for i, j in np.ndindex(values.shape) if not grey[i, j]}
    listed = filter(None, read.rows.get(title, ()))  # a head has no cells
    cells = {(features.index(name), int(j) - 1): cell for name, j, cell in listed}
    assert cells == {at: f"{values[at]:.4g}" for at in clear}
    (figure,) = read.figures
    drawn, cover = figure["data"]
    order = [features.index(name) for name in figure["layout"]["yaxis"]["ticktext"]]
    for i, shown, hidden, pointed in zip(order, drawn["z"], cover["z"], drawn["customdata"], strict=True):
        assert shown == [None if grey[i, j] else float(f"{values[i, j]:.4g}") for j in range(3)]
        assert [cell == 1 for cell in hidden] == grey[i].tolist()
        assert pointed == [f"{features[i]}: {text.short(value)}" for value in values[i]]

    if view == "full":
        wanted = [[f"{value:.4f}" for value in row] for row in np.hstack([values, 2 * noise])]
        assert [row[1:] for row in filter(None, read.rows["All released loadings"])] == wanted
        strengths = read.words.get("Strength of the directions", "")
        eigenvalues, error = document["eigenvalues"] or [], document["error of eigenvalues"]
        wanted = [text.short(max(value, 0)) for value in eigenvalues]
        wanted += [text.short(error), "95", "100"] if eigenvalues else []
        of_rows = "rows of length 1" if "length 1" in strengths else "b²"
        assert numbers(strengths.partition(of_rows)[2]) == wanted
        noisy = grey.all(axis=0)  # an eigenvalue is as grey as its component
        assert strengths.count("may be noise") == (noisy.sum() if eigenvalues else 0)
        assert all(noisy[i] for i, value in enumerate(eigenvalues) if value <= error)
    *measured, _ = document["public"]["dictionary"]["fields"]
    listed = list(filter(None, read.rows["What counts as public"]))[: len(measured)]
    for column, (name, span, missing) in zip(measured, listed, strict=True):
        ends = column["constraints"]
        assert (name, *map(float, span.split(" to "))) == (column["name"], ends["minimum"], ends["maximum"])
        assert missing == "row left out" or float(missing.split()[0]) == column["fill"]

    # Sentences have the document's numbers, those of its loadings that are told from 0, and how many are.
    parameters = document["parameters"]
    stated = (*parameters.values(), *parameters["budget"].values())
    known = [f"{value:g}" for value in stated if isinstance(value, int | float)]
    known += [*map(text.short, np.abs(values[~grey])), *numbers(document["guarantee"])]
    known += [f"{n:,}", f"{document['public']['dictionary']['bound']:.4g}", "1.00", "1e-6"]
    known += [text.percent(share).split()[0] for name, share in parameters.items() if "share" in name]
    known += [str(len(clear)), str(np.count_nonzero(values)), "0", "1", "2", "3"]
    for heading in (title, "Settings", "What was released of our own table"):
        words = read.words[heading].replace(now.made, "")
        assert set(numbers(words)) <= set(known), heading


def test_a_report_says_that_hospitals_dealt_at_random_do_not_exist(built):
    """Before the release and after it, in its first sentence, its settings and its limits."""
    page = prepared(rows=8, **{"own.method": "two_stage_own_noise", "own.N": "3"})
    reports = [built()]
    page.press("Set this limit")
    page.release()
    for each in (*reports, built()):
        assert f"{ROWS} rows assigned at random to 3 hospitals that do not exist" in each.sentence
        assert "in 3 hospitals" not in each.sentence
        assert dict(each.settings)["Hospitals"] == "assigned at random to 3 hospitals that do not exist"
        (limit,) = (line for line in each.limits if "do not exist" in line)
        assert limit.startswith("Rows are assigned") and limit in page.captions


def test_a_report_says_nothing_of_invented_hospitals_where_a_column_names_them(built):
    page = prepared(**{"own.method": "two_stage_own_noise", "own.N": "3"})
    page.choose_hospitals()
    assert sorted(page.state.ready.sizes) == sorted(patients()["clinic"].value_counts())
    now = built()
    assert f"{ROWS} patients in 2 hospitals" in now.sentence
    assert dict(now.settings)["Hospitals"] == "2" and "not exist" not in json.dumps(now.limits)


def test_a_report_rehearses_what_was_released_though_controls_moved(built):
    page = released(dictionary=WIDE, **{"own.eps": "1"})
    page.move("own.method", "dpdis_pca")
    page.move("own.epsilon", 0.1)
    (drawn,) = (figure for figure in built().figures if "rehearsal" in figure.title)
    assert "Analyze Gauss" in drawn.says and "ε = 1" in drawn.says
