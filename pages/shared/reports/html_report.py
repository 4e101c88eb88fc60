"""Write a screen as one HTML file, which opens from disk, needs no network and prints well.

It is report.html, into which go report.css, layout.js (shared with the live figure), report.js, and the chart
library.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode, urlsplit

import streamlit as st

from pages.shared.charts import as_shown
from pages.shared.figure import plotly_bundle
from pages.shared.reports import number_tables
from pages.shared.reports.sources import versions
from pages.shared.settings.catalogue import Settings, to_link

_HERE = Path(__file__).parent
_HINT = "Drag in a chart to zoom, double-click to see it whole, point at a mark to read its numbers."
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
        link: The address that restores the screen (`link`).
        made: When it was made, with which versions and seed (`made`); in plain view the day alone (`today`).
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


def link(settings: Settings, page: str = "") -> str:
    """Return the address that restores this screen of a page (its path; "" is the front page).

    It lacks the server's address where that is unknown. Call it while the page runs, not when it is pressed.
    """
    address = urlsplit(st.context.url or f"./{page}")
    path = address.path if page else address.path.rstrip("/") + "/"  # the front page's may be below a path
    return address._replace(path=path, query=urlencode(to_link(settings)), fragment="").geturl()


def today() -> str:
    now = datetime.now(UTC)
    return f"{now.day} {now:%B %Y}."


def made(seed: int | None) -> str:
    """Return when a report was made, with which seed (None: a release has none) and which versions."""
    seed_words = "No seed: noise from the operating system" if seed is None else f"Seed {seed}"
    return f"{today()} {seed_words}. {versions()}."


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
    return _document(report.title, "\n".join(part for part in _parts(report) if part))


def of_figure(figure: dict[str, Any], title: str) -> str:
    """Return a figure as a whole file, with the sentence of its active frame where it has one."""
    says = figure["words"][figure["active"]]["sentence"] if "words" in figure else ""
    return _document(title, _figure(0, ReportFigure(figure, title, says)))


def _document(title: str, body: str) -> str:
    """Return an HTML page that needs no network; body: its inside, as HTML.

    A content security policy lets nothing be loaded from anywhere, and runs the two scripts that belong to
    it and no other.
    """
    script = _read("../figure/layout.js") + _read("report.js")
    scripts = (plotly_bundle.PATH.read_text(encoding="utf-8"), script)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_read("report.html")).substitute(
        policy=escape(policy),
        title=escape(title),
        style=_read("report.css"),
        body=body,
        charts=scripts[0],
        script=scripts[1],
    )


def _parts(report: Report) -> Iterable[str]:
    """Return a report's sections as HTML, in order."""
    yield (
        f'<header><h1>{escape(report.title)}</h1>\n<p class="sentence">{escape(report.sentence)}</p>\n'
        f'<p class="small">{escape(report.made)}</p></header>'
    )
    yield _section("What patients are promised", f"<p>{escape(report.guarantee)}</p>")
    settings = "".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}</dd></div>" for label, value in report.settings
    )
    yield _section("Settings", f"<dl>{settings}</dl>")
    if report.figures:
        drawn = "\n".join(_figure(i, figure) for i, figure in enumerate(report.figures))
        hint = f'<p class="small screen">{_HINT}</p><noscript><p>Charts need JavaScript.</p></noscript>'
        yield _section("Charts", hint + drawn)
    for table in report.tables:
        notes = f'<p class="small">{escape(table.notes)}</p>' if table.notes else ""
        yield _section(table.title, _table(table.columns, table.rows) + notes)
    for title, paragraph in report.texts:
        yield _section(title, f"<blockquote>{escape(paragraph)}</blockquote>")
    yield _section("Limits", _bullets(report.limits))
    yield _section("Where this comes from", _bullets(report.sources))
    yield _section("The same screen again", _link(report.link))


def _section(title: str, content_html: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content_html}\n</section>"


def _bullets(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _figure(i: int, drawn: ReportFigure) -> str:
    """Return the report's figure number i, from 0, with its numbers; report.js draws it from its JSON."""
    tables = "".join(_table(*panel) for panel in number_tables.tables(drawn.figure))
    numbers = f"<details><summary>These numbers as a table</summary>{tables}</details>" if tables else ""
    return (
        f'<figure id="figure-{i + 1}"><h3>{escape(drawn.title)}</h3>\n'
        f'<div class="chart" role="img" aria-label="{escape(drawn.says)}"></div>\n'
        f"{_legend(drawn.figure)}<figcaption>{escape(drawn.says)}</figcaption>\n{numbers}"
        f'<script type="application/json">{_json(as_shown(drawn.figure))}</script></figure>'
    )


def _legend(figure: dict[str, Any]) -> str:
    """Return the legend that a figure keeps outside its chart, (label, colour, dash, kind of mark) each."""
    if "legend" not in figure:
        return ""
    dashes = {"solid": "solid", "dot": "dotted"}  # Plotly's names to CSS's, whose rest are "dashed"
    items = "".join(
        f'<span><i class="{escape(kind)}" style="--mark: {escape(colour)}; border-top-style: '
        f'{dashes.get(dash, "dashed")}"></i>{escape(label)}</span>'
        for label, colour, dash, kind in figure["legend"]
    )
    return f'<p class="legend">{items}</p>'


def _link(address: str) -> str:
    if not address.startswith(("https://", "http://")):  # without the server's address
        return f"<p>Add this to the address of the dashboard: <code>{escape(address)}</code></p>"
    return f'<p><a href="{escape(address)}" rel="noreferrer">{escape(address)}</a></p>'


def _json(value: object) -> str:
    """Return JSON for a script element: nothing in it ends the element or opens a comment."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
