"""Test that the file of each page has what the browser was sent: its texts, numbers and figures."""

import json
import re
from html import unescape
from typing import Any

import numpy as np
import pytest

from pages.shared.document import blocks as b
from pages.shared.document import html
from pages.shared.settings import of_pages
from pages.shared.settings.catalogue import CHOICES
from scripts.started import ROOT
from tests.pages.conftest import Screen
from tests.pages.documents import Page, walk
from tests.pages.quiet import few_points  # noqa: F401

pytestmark = pytest.mark.usefixtures("patient", "few_points")

SETTINGS = 20  # two links to each page
PAGES = sorted(
    path.relative_to(ROOT / "pages").as_posix()
    for path in ROOT.glob("pages/*/*/page.py")
    if list(path.parent.glob("document*"))
)
QUICK = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "T": "3", "repeats": "2"}
OF_ALL = ("epsilon", "delta", "providers", "trust", "view", "neighbours", "accounting", "metric", "scale")
# A simulation that takes long; what asks for a file or a table; methods that take long.
SLOW = {"plan.simulate", "join.source", *(key for key in CHOICES if key.startswith("use."))}
OF_A_PAGE = ("order", "key", "server", "near", "second", "uses", "picks")
NOT_COMPARED = (*OF_A_PAGE, "ghost", "follow", "complete", "scene")


def drawn_link(page: str, rng: np.random.Generator) -> dict[str, str]:
    """Return a link with half of the settings that the page has at random options."""
    name = page.split("/")[1]
    module = of_pages.modules().get(name)
    choices_of_page = module.settings(CHOICES) if hasattr(module, "settings") else ()
    choices = [*(CHOICES[key] for key in OF_ALL), *(each for each in choices_of_page if each.key not in SLOW)]
    return QUICK | {
        choice.parameter: choice.link(choice.options[rng.integers(len(choice.options))])
        for choice in choices
        if rng.random() < 0.5
    }


def plain(words: str) -> str:
    """Return HTML or words as a reader sees them, without spaces and marks of Markdown."""
    bare = re.sub(r"<(script|style|math)\b.*?</\1>", "", words, flags=re.DOTALL)
    return re.sub(r"\s+", "", unescape(re.sub(r"<[^>]*>", "", bare)))


def read(words: str) -> str:
    return plain(html._markdown(words))


def sent(screen: Screen) -> tuple[list[str], list[dict[str, Any]]]:
    main, texts = screen.app.main, []
    for kind in ("markdown", "caption", "header", "info", "warning", "code"):
        texts += [read(box.value) if kind != "code" else plain(box.value) for box in getattr(main, kind)]
    editable = [table for table in main.dataframe if table.proto.editing_mode]  # a control, which no file has
    for table in (*main.table, *(table for table in main.dataframe if table not in editable)):
        texts += [read(str(cell)) for cell in table.value.select_dtypes(exclude="float").to_numpy().ravel()]
    figures = [json.loads(each.proto.json) for each in main.get("bidi_component")]
    return [words for words in texts if words], [figure for figure in figures if "layout" in figure]


def compared(figure: dict[str, Any]) -> Any:
    shown = {name: part for name, part in figure.items() if name not in NOT_COMPARED}
    return json.loads(json.dumps(shown))


def differences(screen: Screen, document: Page, whole: str) -> list[Any]:
    """Return what the browser was sent and the file has not, and the paragraphs of the other way round."""
    skipped = [each for block in document.blocks if isinstance(block, b.OnScreen) for each in block.blocks]
    words = {b.Text: "words", b.Note: "words", b.Section: "title"}
    left_out = "".join(read(getattr(x, words[type(x)])) for x in walk(skipped) if type(x) in words)
    in_file, (texts, figures) = plain(whole), sent(screen)
    assert texts or figures
    written = [
        compared(json.loads(block))
        for block in re.findall(r'<script type="application/json">(.*?)</script>', whole, re.DOTALL)
    ]
    paragraphs = [block for block in document.blocks if isinstance(block, b.Text | b.Note | b.Notice)]
    return [
        *(words for words in texts if words not in in_file and words not in left_out),
        *(figure for figure in map(compared, figures) if figure not in written),
        *(x.words for x in paragraphs if x.words and read(x.words) not in "".join(texts)),
        *(figure for figure in written if figure not in map(compared, figures)),
    ]


@pytest.mark.parametrize("number", range(SETTINGS))
def test_a_file_has_what_the_browser_was_sent(number):
    rng, page = np.random.default_rng([52, number]), PAGES[number % len(PAGES)]
    document = Page(page, **drawn_link(page, rng)).settle()
    screen = Screen(page, **document.link)
    for block in document.blocks:
        if isinstance(block, b.Fold):
            screen.app.session_state[block.name] = True
    screen.settle()
    document.settings = dict(screen.settings)
    document.read()
    assert differences(screen, document.settle(), document.html()) == []


def test_planted_differences_are_seen():
    document = Page(**QUICK).settle()
    screen, whole = Screen(**QUICK | document.link).settle(), document.html()
    for planted in (
        whole.replace("the least error of", ""),
        whole.replace('"name":"random guess"', '"name":""'),
    ):
        assert planted != whole and differences(screen, document, planted)
    document.blocks.append(b.Text("Only in the file."))
    assert differences(screen, document, whole) == ["Only in the file."]


@pytest.mark.parametrize("view", ["plain", "full"])
@pytest.mark.parametrize("page", PAGES)
def test_no_control_stands_where_a_page_refreshes_itself(page, view):
    """A fragment that holds a control would run twice: for itself, and for the page that applies the move."""
    document = Page(page, **QUICK | {"view": view}).document
    live = [block for block in document.blocks() if isinstance(block, b.Live)]
    assert not [each for block in live for each in walk(block.blocks()) if isinstance(each, b.Controls)]
