"""Test that a report is one file: everything in it, nothing loaded, nothing from outside run."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import pytest

from pages.shared.reports import html_report
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.settings import catalogue

pytestmark = pytest.mark.usefixtures("patient")

EVIL = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"
FIGURE = {
    "data": [
        {"type": "scatter", "name": EVIL, "x": [1, 2], "y": [0.5, None]},
        {"type": "heatmap", "name": "weights", "x": ["1"], "y": [EVIL], "z": [[0.25]], "xaxis": "x2"},
    ],
    "layout": {"xaxis": {"title": {"text": "round"}}, "yaxis": {"title": {"text": EVIL}}, "xaxis2": {}},
    "frames": [],
}
MINE = Report(
    title="What it costs",
    sentence="With 10 patients it costs much.",
    settings=[("Patients", "10"), (EVIL, EVIL)],
    figures=[ReportFigure(FIGURE, "Error", "The error halves."), ReportFigure(FIGURE, EVIL, EVIL)],
    guarantee="An attacker could tell at most 73 times in 100.",
    limits=["Noise is floating point.", EVIL],
    sources=["Ge et al. 2018.", EVIL],
    link="https://dashboard.example/?eps=1&n=10",
    made=html_report.made(7),
    tables=[ReportTable("Answers", ("method", EVIL), [("PCA", EVIL)])],
    texts=[("For a protocol", f"We will {EVIL}")],
)
LIBRARY = re.compile(r"<script>.*?</script>", re.DOTALL)


class Elements(HTMLParser):
    """Collect every element with its attributes, as a browser reads them, and all text outside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(LIBRARY.sub("", page, count=1))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def page():
    return html_report.html(MINE)


def test_every_part_is_there_under_a_heading(page):
    read = Elements(page)
    for part in (MINE.sentence, MINE.guarantee, MINE.made, "Seed 7", "The error halves.", "We will"):
        assert part in read.text
    for label, value in MINE.settings:
        assert label in read.text and value in read.text
    for sentence in (*MINE.limits, *MINE.sources):
        assert sentence in read.text
    assert [attributes.get("href") for attributes in read.all("a")] == [MINE.link]
    assert len(read.all("h1")) == 1 and read.all("html") == [{"lang": "en"}]
    assert [
        attributes["aria-label"] for attributes in read.all("div") if attributes.get("role") == "img"
    ] == [
        "The error halves.",
        EVIL,
    ]


def test_what_comes_from_outside_is_text_and_nothing_else(page):
    """It has two scripts, one block of numbers for each figure, and no element of the attacker's."""
    read = Elements(page)
    assert [attributes.get("type") for attributes in read.all("script")] == [
        *["application/json"] * 2,
        "module",
    ]
    assert not read.all("img")
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert page.count("<script>alert") == 0
    blocks = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert [json.loads(block)["data"][0]["name"] for block in blocks] == [EVIL, EVIL]


def test_nothing_is_loaded_from_anywhere(page):
    read = Elements(page)
    assert len(page.encode()) < 6e6
    assert not [
        attributes for attributes in read.tags if {"src", "srcset", "data", "action"} & set(attributes[1])
    ]
    assert not read.all("link") and not re.search(r"url\(|@import", html_report._read("report.css"))
    (policy,) = (attributes["content"] for attributes in read.all("meta") if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-inline'" not in policy.split(";")[1]


@pytest.mark.parametrize("address", ["./planner?eps=1", "javascript:alert(1)", "file:///etc/passwd"])
def test_only_an_address_of_the_web_is_a_link(address):
    read = Elements(html_report.html(MINE._replace(link=address)))
    assert not read.all("a") and address in read.text


def test_numbers_stand_in_a_table_for_each_panel(page):
    read = Elements(page)
    assert len(read.all("details")) == 2
    assert "round" in read.text and "0.25" in read.text


# --- the pages' own reports -----------------------------------------------------------------------------


@pytest.fixture
def built(monkeypatch):
    """Return the reports that the last run of a page offers, built as if their button was pressed."""
    offered = []
    monkeypatch.setattr(html_report, "button", lambda build, name, width="": offered.append(build))
    return lambda: offered[-1]()


def read(made):
    """Return the file's text, once it was checked to stand alone."""
    page = html_report.html(made)
    assert len(page.encode()) < 6e6
    return Elements(page).text


def restored(made):
    """Return the settings that the link of a report opens a page with."""
    query = dict(parse_qsl(urlsplit(made.link).query))
    now, sentences = catalogue.open_link(query)
    assert not sentences
    return now


def test_the_explorers_report_is_the_screen(screen, built):
    page = screen(d="50", n="5000", N="3", eps="2", delta="0.01", view="full")
    made = built()
    settings = dict(page.app.session_state["settings of the last run"])
    assert made.sentence == page.words()["sentence"]
    assert restored(made) == settings
    document = read(made)
    assert page.words()["odds"] in made.guarantee and page.words()["odds"] in document
    assert dict(made.settings)["Hospitals N"] == "3"
    assert any("each record in the clear" in limit for limit in made.limits)
    assert any("floating point" in limit for limit in made.limits)
    texts = [words for _, words in made.texts]
    shown = page.captions + page.markdown.replace("**", "")
    assert texts and all(words in shown for words in texts)
    assert len(made.figures) == 2 and all(drawn.says for drawn in made.figures)
    as_a_story = made._replace(figures=4 * list(made.figures))
    assert len(html_report.html(as_a_story).encode()) < 6e6
    assert any("Ge, Wang, Wang & Liu" in source for source in made.sources)
    symbols = {sign for sign in "εδσŝλΣ√" if sign in document}
    assert {"ε", "δ", "σ", "λ"} <= symbols


def test_a_boards_report_is_the_screen_in_plain_words(screen, built):
    page = screen(d="50", n="5000", N="3", eps="2", delta="0.01", view="plain")
    made = built()
    assert made.sentence == page.words()["sentence"] and made.guarantee in page.words()["odds"]
    assert restored(made) == dict(page.app.session_state["settings of the last run"])
    assert dict(made.settings)["Hospitals"] == "3" and made.guarantee in read(made)
    assert any("too large for 5,000 patients" in limit for limit in made.limits)


def test_a_printed_calibration_is_promised_what_it_truly_gives(screen, built):
    page = screen(d="50", n="5000", accounting="as-printed")
    made = built()
    assert page.words()["odds"] in made.guarantee and "73 times" not in made.guarantee
    assert "truly give" in made.guarantee


def test_the_planners_report_has_the_answer_the_table_and_the_paragraph(screen, built):
    page = screen("hospitals/planner/page.py")
    made = built()  # evaluates what the page shows as still to come
    page.run()
    assert f"**{made.sentence}**" in page.markdown and len(made.sentence.split()) <= 20
    assert made.texts[0][1] in page.markdown
    assert restored(made) == dict(page.app.session_state["settings of the last run"])
    _, (_, paragraph), (title, recommended) = made.texts
    assert paragraph == page.app.code[0].value
    assert title == "Recommended" and recommended in page.markdown
    assert made.guarantee in paragraph and made.guarantee in read(made)
    assert [row[0] for row in made.tables[0].rows] == page.app.table[0].value["method"].tolist()


def test_where_there_is_no_plan_nothing_is_promised(screen, built):
    screen("hospitals/planner/page.py", **{"plan.target": "0.01", "n": "100", "plan.asked": "epsilon"})
    made = built()
    assert "no answer by closed form" in made.sentence and "nothing is promised" in made.guarantee
    read(made)
