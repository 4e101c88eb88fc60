"""Write a report that is no document yet, such as that of a table, by the same file as documents."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import pandas as pd
import streamlit as st

from pages.shared.document.blocks import Block, Figure, Frame, Headline, Note, Quote, Section, Table, Text
from pages.shared.document.html import Document

_HELP = "One file for the board: settings, charts, guarantee and limits. It opens and prints anywhere."


class ReportFigure(NamedTuple):
    """Hold a figure as `component.figure` shows it, its title, and its main finding in words."""

    figure: dict[str, Any]
    title: str
    says: str


class ReportTable(NamedTuple):
    """Hold a small table: its column names, rows of as many cells, and the meaning of its marks."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: str = ""


class Report(NamedTuple):
    """Hold what a report says, as plain text: markup in it is shown as it stands.

    Attributes:
        settings: (label, value) in words.
        guarantee: What it means to a patient, in words.
        limits, sources: Sentences.
        link: The address that restores the screen.
        made: When it was made, with which versions and seed; in plain view the day alone.
        texts: (title, paragraph) to be copied, such as one for a protocol.
    """

    title: str
    sentence: str
    settings: Sequence[tuple[str, str]]
    figures: Sequence[ReportFigure]
    guarantee: str
    limits: Sequence[str]
    sources: Sequence[str]
    link: str
    made: str
    tables: Sequence[ReportTable] = ()
    texts: Sequence[tuple[str, str]] = ()


def button(
    report: bytes | Callable[[], Report],
    name: str,
    on_click: Callable[[], None] | Literal["ignore"] = "ignore",
) -> None:
    """Show a button that downloads the report as `name`-report.html.

    Args:
        report: The file, whose address changes only with its bytes; or a function that builds it when the
            button is pressed. Streamlit calls that outside of the visitor's session, so it must neither
            use the session nor hold private rows, and its file is lost if the page reruns meanwhile.
        name: Of the file.
        on_click: Called when it is pressed; "ignore" does not even run the page again.
    """
    data, file_name = report if isinstance(report, bytes) else lambda: html(report()), f"{name}-report.html"
    st.download_button("Download a report", data, file_name, "text/html", on_click=on_click, help=_HELP)


def html(report: Report) -> str:
    """Return a report as a whole file. A pure function; everything in the report is escaped."""
    frame = Frame(report.settings, report.guarantee, report.limits, report.made)
    described = partial(_blocks, report), lambda: frame
    return Document(report.title, "", "", *described).html(report.link)


def _blocks(report: Report) -> Iterator[Block]:
    yield Headline(_unread(report.sentence))
    for drawn in report.figures:
        yield Section(drawn.title)
        yield Figure("", drawn.figure, drawn.title, "", says=drawn.says)
        yield Text(_unread(drawn.says))
    for table in report.tables:
        yield Section(table.title)
        yield Table(pd.DataFrame(table.rows, columns=table.columns), wide=True)
        yield Note(_unread(table.notes))
    for title, paragraph in report.texts:
        yield Section(title)
        yield Quote(paragraph)
    yield Section("Where this comes from")
    yield Text("\n".join(f"- {_unread(source)}" for source in report.sources))


def _unread(words: str) -> str:
    """Return plain text as Markdown that shows it as it stands."""
    return re.sub(r"([\\`*_\[\]<>$~|#&!+-])", r"\\\1", " ".join(words.split()))
