"""Read a page's document as a visitor reads the screen, without Streamlit and without a browser."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from pages.shared.document import blocks as b
from pages.shared.document.html import Document
from pages.shared.settings import catalogue, of_pages

FIRST = "explore/explorer/page.py"


class Page:
    """Read a page at the settings of a link. It starts from the preset on which others build.

    What a first view needs is measured once a test looks at the page; `settle` measures the rest.
    """

    def __init__(self, page: str = FIRST, **link: str) -> None:
        section, self.name, _ = Path(page).parts
        self.module = import_module(f"pages.{section}.{self.name}.document")
        panel = of_pages.panel(self.name)
        settings, self.sentences = catalogue.open_link(
            {"preset": "large-study", "repeats": "2"} | link, panel.opens
        )
        self.settings = settings | ({"view": "full"} if panel.full_only else {})
        self.read()

    def read(self, document: Document | None = None) -> None:
        """Read the page at its settings, or a document that is made of more than them."""
        self.document: Document = document or self.module.at(self.settings)
        self._blocks: list[b.Block] | None = None

    @property
    def blocks(self) -> list[b.Block]:
        if self._blocks is None:
            self._blocks = list(walk(self.document.blocks()))
        return self._blocks

    def settle(self) -> "Page":
        self._blocks = list(walk(self.document.measured().blocks()))
        return self

    def move(self, key: str, value: Any) -> None:
        self.settings, self.sentences = catalogue.reconcile(self.settings | {key: value}, (key,))
        self.read()

    @property
    def link(self) -> dict[str, str]:
        return catalogue.to_link(self.settings)

    def setting(self, key: str) -> Any:
        return self.settings[key]

    def all(self, *kinds: type) -> list[Any]:
        return [block for block in self.blocks if isinstance(block, kinds)]

    @property
    def markdown(self) -> str:
        paragraphs = [
            f"**{x.sentence}**" if isinstance(x, b.Headline) else x.words
            for x in self.all(b.Headline, b.Text)
        ]
        return "\n".join([self.document.question, *paragraphs])

    @property
    def captions(self) -> str:
        return "\n".join(block.words for block in self.all(b.Note))

    @property
    def notices(self) -> str:
        return "\n".join(block.words for block in self.all(b.Notice))

    @property
    def headline(self) -> str:
        return self.all(b.Headline)[0].sentence

    @property
    def tables(self) -> list[pd.DataFrame]:
        return [table.frame for table in self.all(b.Table)]

    @property
    def figures(self) -> dict[str, b.Figure]:
        return {figure.name: figure for figure in self.all(b.Figure)}

    @property
    def figure(self) -> dict[str, Any]:
        return self.all(b.Figure)[0].payload

    def words(self) -> dict[str, Any]:
        return self.figure["words"][self.figure["active"]]

    def opened(self, name: str) -> list[b.Block]:
        fold = next(block for block in self.all(b.Fold) if block.name == name)
        return list(walk(fold.blocks()))

    def html(self) -> str:
        return self.document.html("https://dashboard.example/")


def walk(blocks: Iterable[b.Block]) -> Iterator[b.Block]:
    """Yield blocks and those within them; of folds what is pressed. What is live is measured as at first."""
    for block in blocks:
        yield block
        if isinstance(block, b.Live):
            if isinstance(block.measuring, b.Measuring):
                for _ in block.measuring.first():
                    pass
            yield from walk(block.blocks())
        elif isinstance(block, b.Card | b.OnScreen):
            yield from walk(block.blocks)
        elif isinstance(block, b.Columns):
            for column in block.columns:
                yield from walk(column)
