"""Test that a document is written as one file: everything in it, nothing loaded, nothing from outside run."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import get_args

import pandas as pd
import pytest

from pages.shared.document import blocks as b
from pages.shared.document import html
from pages.shared.document.html import Document
from pages.shared.reports import sources

EVIL = "</script><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>"
PAYLOAD = {
    "data": [
        {"type": "scatter", "name": EVIL, "x": [1, 2], "y": [0.5, None]},
        {"type": "heatmap", "name": "weights", "x": ["1"], "y": [EVIL], "z": [[0.25]], "xaxis": "x2"},
    ],
    "layout": {"xaxis": {"title": {"text": "round"}}, "yaxis": {"title": {"text": EVIL}}, "xaxis2": {}},
    "frames": [],
}
LIVE = PAYLOAD | {
    "frames": [{"traces": {"0": {"y": [0.1, 0.2]}}}, {"traces": {"0": {"y": [0.3, 0.4]}}}],
    "words": [{"sentence": f"Frame {i} {EVIL}", "tiles": [["0.1", EVIL]], "epsilon": "1"} for i in (0, 1)],
    "tiles": [EVIL],
    "legend": [(EVIL, "#123456", "dot", "line")],
    "active": 1,
    "follow": "epsilon",
    "near": "eps=1",
}
FRAME = b.Frame(
    settings=[("Patients", "10"), (EVIL, EVIL)],
    promise="An attacker could tell at most 73 times in 100.",
    limits=["Noise is floating point.", "", EVIL],
    made=sources.made(7),
)


def figure(payload=PAYLOAD, title="Error", alt_text="The error halves."):
    return b.Figure("error", payload, title, "error", alt_text=alt_text)


def every_block():
    yield b.Headline(f"With 10 patients it costs much. {EVIL}")
    yield b.Text(f"**Bold**, $\\sigma^2$ and :green[holds] {EVIL}\n\n| a | b |\n|---|---|\n| 1 | {EVIL} |")
    yield b.Note(f"Small type. {EVIL} [here](javascript:alert(3))")
    yield b.Notice(f"2 runs failed. {EVIL}", warns=True)
    yield b.Notice("")
    yield b.Quote(f"We will {EVIL}")
    yield b.Section(f"A section {EVIL}")
    yield b.Table(pd.DataFrame({"method": [f"**PCA** {EVIL}"], EVIL: [0.123456]}))
    yield b.Table(pd.DataFrame({"method": ["*as it stands*"], "error": [float("nan")]}), wide=True)
    yield b.Live("live", lambda: [figure(), figure(LIVE, EVIL, "")], lambda: False)
    yield b.Controls("row", ("epsilon", b.Choose("method", ("a",)), b.Press("Press", "n", 1)))
    yield b.Running(SimpleNamespace(state="complete"), "slot", "Medians of 4 runs.")
    yield b.Fold(f"A fold {EVIL}", "fold", lambda: [b.Text("Folded away.")])
    yield b.Asked("Draw", "draw", lambda: [b.Text("It takes long.")])
    yield b.Card((b.Text("In a card."),))
    yield b.Columns(((b.Text("Left."),), (b.Text("Right."),)))
    yield b.Save("Save", "cost.csv", lambda: "a,b", "text/csv")
    yield b.OnScreen((b.Text("Try this."),))
    yield b.Interactive(lambda: None)


MINE = Document("What it costs", f"A question {EVIL}", "cost", every_block, lambda: FRAME)
LIBRARY = re.compile(r"<script>.*?</script>", re.DOTALL)


class Elements(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._script = False
        self.feed(LIBRARY.sub("", page, count=1))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._script = tag in ("script", "style")

    def handle_endtag(self, tag):
        self._script = False

    def handle_data(self, data):
        if not self._script:
            self.text += data

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def whole():
    return MINE.html("https://dashboard.example/?eps=1&n=10")


def test_every_kind_of_block_is_in_the_example():
    kinds = {type(block) for block in every_block()}
    assert kinds | {b.Figure} == set(get_args(b.Block))


def test_every_part_is_there(whole):
    read = Elements(whole)
    for part in ("it costs much", "Bold", "holds", "Small type.", "2 runs failed.", "We will", "A section"):
        assert part in read.text
    for part in (
        "PCA",
        "0.123",
        "*as it stands*",
        "Folded away.",
        "4 runs.",
        "In a card.",
        "Left.",
        "Right.",
    ):
        assert part in read.text
    for part in (FRAME.promise, FRAME.made, "Seed 7", "Frame 1", *filter(None, FRAME.limits)):
        assert part in read.text
    for label, value in FRAME.settings:
        assert label in read.text and value in read.text
    for part in ("Try this.", "It takes long.", "**", ":green"):
        assert part not in read.text
    assert [attributes.get("href") for attributes in read.all("a")] == [
        "https://dashboard.example/?eps=1&n=10"
    ]
    assert len(read.all("h1")) == 1 and read.all("html") == [{"lang": "en"}] and len(read.all("math")) == 1
    assert len(read.all("aside")) == 1 and len(read.all("li")) == 2
    drawn = [attributes["aria-label"] for attributes in read.all("div") if attributes.get("role") == "img"]
    assert drawn == ["The error halves.", f"Frame 1 {EVIL}"]


def test_a_formula_with_lines_of_its_own_is_a_block():
    texts = [b.Text("In $x$."), b.Text("$$\nx\n$$")]
    pages = [replace(MINE, blocks=lambda text=text: [text]).html() for text in texts]
    assert [Elements(page).all("math")[0]["display"] for page in pages] == ["inline", "block"]


def test_what_comes_from_outside_is_text_and_nothing_else(whole):
    """It has two scripts, one block of numbers for each figure, and no element of the attacker's."""
    read = Elements(whole)
    kinds = [attributes.get("type") for attributes in read.all("script")]
    assert kinds == ["application/json", "application/json", "module"]
    assert not read.all("img") and "javascript:" not in str(read.tags)
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert whole.count("<script>alert") == 0
    first, second = re.findall(r'<script type="application/json">(.*?)</script>', whole, re.DOTALL)
    assert json.loads(first)["data"][0]["name"] == json.loads(second)["tiles"][0] == EVIL
    assert not {"near", "follow"} & set(json.loads(second)) and json.loads(second)["frames"] == LIVE["frames"]


def test_nothing_is_loaded_from_anywhere(whole):
    read = Elements(whole)
    assert len(whole.encode()) < 6e6
    assert not [a for a in read.tags if {"src", "srcset", "data", "action"} & set(a[1])]
    style = re.search(r"<style>(.*?)</style>", whole, re.DOTALL)[1]
    assert not read.all("link") and not re.search(r"url\(|@import", style)
    (policy,) = (attributes["content"] for attributes in read.all("meta") if "http-equiv" in attributes)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-inline'" not in policy.split(";")[1]


@pytest.mark.parametrize("address", ["./?eps=1", "javascript:alert(1)", "file:///etc/passwd"])
def test_only_an_address_of_the_web_is_a_link(address):
    read = Elements(MINE.html(address))
    assert not read.all("a") and address in read.text


def test_numbers_stand_in_a_table_for_each_panel(whole):
    read = Elements(whole)
    assert len(read.all("details")) == 2
    assert "round" in read.text and "0.25" in read.text


@pytest.mark.parametrize(
    "hides",
    [
        tuple,
        lambda x: (b.Fold("", "", lambda: x),),
        lambda x: (b.Card(x),),
        lambda x: (b.Columns((x,)),),
        lambda x: (b.Live("", lambda: x, lambda: False),),
    ],
)
def test_a_file_refuses_what_an_owner_alone_may_see(hides):
    private = (b.OwnersOnly((b.Text("not private"),)),)
    with pytest.raises(TypeError, match="public blocks alone, got OwnersOnly"):
        replace(MINE, blocks=lambda: hides(private)).html()


def test_a_document_and_a_figure_show_themselves_in_a_notebook():
    for shown in (MINE, figure()):
        (frame,) = Elements(shown._repr_html_()).all("iframe")
        assert "The error halves." in frame["srcdoc"] and "default-src " in frame["srcdoc"]


def test_lists_and_lines_of_markdown_are_those_of_the_screen():
    assert "<li>" in html._markdown("- one\n- two") and "<p>" not in html._markdown_line("**one**")


# --- the pages' own files -----------------------------------------------------------------------------


def test_a_printed_calibration_is_promised_what_it_truly_gives(page):
    explorer = page(d="50", n="5000", accounting="as-printed")
    promise = explorer.document.frame().promise
    assert explorer.words()["odds"] in promise and "73 times" not in promise and "truly give" in promise


def test_the_explorers_file_says_its_limits_and_its_settings(page):
    explorer = page(d="50", n="5000", N="3", eps="2", delta="0.01", view="full")
    frame = explorer.document.frame()
    assert explorer.words()["odds"] in frame.promise and dict(frame.settings)["Hospitals N"] == "3"
    for limit in ("each record in the clear", "floating point"):
        assert any(limit in each for each in frame.limits)
    read = Elements(explorer.html())
    assert "Ge, Wang, Wang & Liu" in read.text and {"ε", "δ", "σ", "λ"} <= set(read.text)


def test_a_boards_file_is_in_plain_words(page):
    board = page(d="50", n="5000", N="3", eps="2", delta="0.01", view="plain")
    frame = board.document.frame()
    assert frame.promise in board.words()["odds"] and dict(frame.settings)["Hospitals"] == "3"
    assert any("too large for 5,000 patients" in limit for limit in frame.limits)
