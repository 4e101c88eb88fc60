"""The report: of the release, of what is public and of the twin, and the same for any rows."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dppca_core.release import bundle
from dppca_core.release.private_release import Released
from pages.hospitals.your_data import book_releases, results
from pages.shared import text
from pages.shared.plain import phrases
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


def in_bundle(job):
    return bundle.files(job.result.document, book_releases.account_after(job), job.result.payment)


def test_a_rehearsals_file_is_the_same_for_any_rows(built):
    """Two tables of one size and dictionary: before a release their files are the same, to the letter."""
    files = []
    for table in (TABLE, OTHER_TABLE):
        prepared(table, WIDE, view="full", **{"own.shown": "true"})
        files.append(built().html())
    assert files[0] == files[1] and "Nothing was released" in files[0]


def test_a_release_is_described_by_its_json_alone(built):
    """Whatever the page is set to by then, and whoever paid: the same file, and what the screen says."""
    page = released(dictionary=WIDE, view="full", **{"own.eps": "1"})
    job = page.state.releases[0]
    kept = json.loads(
        bundle.files(job.result.document, book_releases.account_after(job), job.result.payment)[
            "release.json"
        ]
    )
    file = built().html()
    assert results.file_of_release(Released.from_document(kept, payment=None), False).html() == file
    promise = built().frame().promise.partition(" Even an attacker")[0]
    assert promise in page.markdown.replace("**", "").replace("\\", "")
    page.move("own.method", "dpdis_pca")
    page.move("own.epsilon", 0.1)
    assert built().html() == file


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
    job = page.state.releases[0]
    now = results.file_of_release(job.result, view == "plain")
    read, kept = Read(now.html()), json.loads(in_bundle(job)["release.json"])
    values, noise = (np.array(kept[name]).T for name in ("components", "noise of components"))
    grey, features = np.abs(values) < 2 * noise, kept["features"]
    assert grey.any() or method != "analyze_gauss"  # of the others now and then none is

    title = f"Released {'components' if view == 'full' else 'patterns'}"
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
        pairs = zip(values[i], noise[i], strict=True)
        assert pointed == [f"{features[i]}: {text.short(at)} ± {text.short(2 * std)}" for at, std in pairs]

    if view == "full":
        wanted = [[f"{value:.3g}" for value in row] for row in np.hstack([values, 2 * noise])]
        assert [row[1:] for row in filter(None, read.rows["Loadings as a table"])] == wanted
        strengths = read.words[phrases.FOLD].partition("Private eigenvalues")[2]
        eigenvalues, error = kept["eigenvalues"] or [], kept["error of eigenvalues"]
        wanted = [text.short(max(value, 0)) for value in eigenvalues]
        wanted += [text.short(error), "95", "100"] if eigenvalues else []
        of_rows = "rows of length 1" if "length 1" in strengths else "b²"
        assert numbers(strengths.partition(of_rows)[2])[: len(wanted)] == wanted
        noisy = grey.all(axis=0)  # an eigenvalue is as grey as its component
        assert strengths.count("may be noise") == (noisy.sum() if eigenvalues else 0)
        assert all(noisy[i] for i, value in enumerate(eigenvalues) if value <= error)
    *measured, _ = kept["public"]["dictionary"]["fields"]
    listed = list(filter(None, read.rows["What counts as public"]))[: len(measured)]
    for column, (name, span, missing) in zip(measured, listed, strict=True):
        ends = column["constraints"]
        assert (name, *map(float, span.split(" to "))) == (column["name"], ends["minimum"], ends["maximum"])
        assert missing == "row left out" or float(missing.split()[0]) == column["fill"]

    # Sentences have the document's numbers, those of its loadings that are told from 0, and how many are.
    parameters = kept["parameters"]
    stated = (*parameters.values(), *parameters["budget"].values())
    known = [f"{value:g}" for value in stated if isinstance(value, int | float)]
    clearly = np.abs(values[~grey])
    # The description has marks as they are drawn, to four digits.
    known += [text.short(float(f"{value:.4g}")) for value in clearly]
    known += [*map(text.short, clearly), *numbers(kept["guarantee"])]
    known += [
        *numbers(kept["at"][:10]),
        f"{n:,}",
        f"{kept['public']['dictionary']['bound']:.4g}",
        "1.00",
        "1e-6",
    ]
    known += [text.percent(share).split()[0] for name, share in parameters.items() if "share" in name]
    known += [str(len(clear)), str(np.count_nonzero(values)), "0", "1", "2", "3"]
    for heading in (title, "Settings", "What was released of our own table"):
        words = read.words[heading].replace(now.frame().made, "")
        assert set(numbers(words)) <= set(known), heading


def test_a_file_says_that_hospitals_assigned_at_random_do_not_exist(built):
    """Before the release and after it; nothing of it where a column names them."""
    page = prepared(dictionary=WIDE, rows=8, **{"own.method": "two_stage_own_noise", "own.N": "3"})
    files = [built()]
    page.press("Set this limit")
    page.release()
    for each in (*files, built()):
        (limit,) = (line for line in each.frame().limits if "do not exist" in line)
        assert limit.startswith("Rows are assigned") and limit in page.captions
        assert dict(each.frame().settings)["Hospitals"] == "3"
    page = prepared(dictionary=WIDE, **{"own.method": "two_stage_own_noise", "own.N": "3"})
    page.choose_hospitals()
    assert sorted(page.state.ready.sizes) == sorted(patients()["clinic"].value_counts())
    assert dict(built("rehearsal").frame().settings)["Hospitals"] == "2"
    assert "not exist" not in json.dumps(built("rehearsal").frame().limits)
