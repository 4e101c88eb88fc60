"""Write a document as one HTML file, by report.html; show it in a notebook. No Streamlit here.

Only public blocks are written: what an owner alone may see is of another type, and refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import jinja2
import pandas as pd
from latex2mathml import converter
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from pages.shared.document import file
from pages.shared.document.blocks import Block, Figure, Frame, Live

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
)
_COLOURED = re.compile(r":(?:green|red|orange|gray|blue|violet)\[([^\]]*)\]")


@dataclass(frozen=True)
class Document:
    """A page as it is described once.

    Attributes:
        title: The menu's word for the page.
        question: What it answers, as Markdown.
        stem: The name of its files, without what follows the dot.
        blocks: Returns what it consists of.
        frame: Returns what a file has beyond that.
        steps: Three sentences for a first visit, in place of the question.
        switches: Those beside the title, as `widgets.view_switches` has them.
        beside: The page's own setting that is chosen beside the question, if there is one.
        complete: Measures what a file must not lack, before it is written.
    """

    title: str
    question: str
    stem: str
    blocks: Callable[[], Iterable[Block]]
    frame: Callable[[], Frame]
    steps: tuple[str, ...] = ()
    switches: tuple[str, ...] = ("view",)
    beside: str = ""
    complete: Callable[[], None] = lambda: None

    def html(self, link: str = "") -> str:
        """Return the file. Raises TypeError for private blocks.

        link: The address that restores the screen.
        """
        self.complete()
        body = _TEMPLATES.get_template("report.html").render(
            title=self.title,
            question=self.question,
            blocks=self.blocks(),
            frame=self.frame(),
            link=link,
        )
        return file.page(self.title, Markup(body))

    def measured(self) -> "Document":
        """Measure all that the page lacks, and return it: no page measures beside a script or a notebook."""
        for block in self.blocks():
            if isinstance(block, Live):
                block.complete()
        return self

    def _repr_html_(self) -> str:
        return file.frame(self.measured().html())


def public(parts: Iterable[Block]) -> Iterator[Block]:
    for part in parts:
        if not isinstance(part, get_args(Block)):
            raise TypeError(f"a file must have public blocks alone, got {type(part).__name__}")
        yield part


def _math(formula: str, about: dict[str, bool]) -> str:
    return converter.convert(formula, display="block" if about["display_mode"] else "inline")


# As Streamlit's, without raw HTML, which is shown as text. Streamlit's colours are emphasis here.
_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .use(dollarmath_plugin, renderer=_math, allow_digits=True)
)

# What is wider than a telephone scrolls within itself.
_MARKDOWN.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
_MARKDOWN.add_render_rule("table_close", lambda *_: "</table></div>\n")


def _markdown(words: str) -> Markup:
    return Markup(_MARKDOWN.render(_uncoloured(words)))


def _markdown_line(words: str) -> Markup:
    return Markup(_MARKDOWN.renderInline(_uncoloured(words)))


def _uncoloured(words: str) -> str:
    """Return Markdown without Streamlit's colours, such as ":green[holds]", whose words say it all."""
    return _COLOURED.sub(r"\1", words)


def _table(frame: pd.DataFrame, wide: bool) -> Markup:
    """Return a data frame as a table, its cells as Markdown; wide: as plain text, numbers to three digits."""

    def cell(value: object) -> Markup:
        if isinstance(value, float):
            return escape("" if pd.isna(value) else f"{value:.3g}")
        return escape(value) if wide else _markdown_line(str(value))

    rows = [[cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return file.table([_markdown_line(str(name)) for name in frame.columns], rows, wide)


def _figure(block: Figure) -> Markup:
    return file.figure(block.payload, block.alt_text)


_TEMPLATES.filters |= {
    "public": public,
    "markdown": _markdown,
    "markdown_line": _markdown_line,
    "table": _table,
    "figure": _figure,
}
