"""Write figures as HTML that opens from disk, needs no network and prints well. No Streamlit here.

A page is a shell around some HTML: the style, the chart library, and the scripts that play a figure, which
the dashboard uses too. Its content policy lets nothing be loaded from anywhere, and runs these scripts alone.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pages.shared import text
from pages.shared.figure import markup, plotly_bundle
from pages.shared.reports import number_tables

_HERE = Path(__file__).parent
_PLAYER = (*(f"../figure/{name}.js" for name in ("layout", "keyboard", "picture", "player")), "report.js")
_SHELL = jinja2.Template(
    """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>{{ title }}</title>
<style>{{ style }}</style>
</head>
<body>
<main>
{{ body }}
</main>
{% for script in scripts %}<script{{ script.kind }}>{{ script.text }}</script>
{% endfor %}</body>
</html>
""",
    autoescape=True,
    keep_trailing_newline=True,
)
# What only the server or a moving page can do with a figure.
_OF_THE_DASHBOARD = ("near", "follow", "second", "ghost", "picks")
_FRAME_HEIGHT = 700  # pixels of a page within a notebook


def page(title: str, body: Markup) -> str:
    library = plotly_bundle.PATH.read_text(encoding="utf-8")
    player = "".join(map(_read, _PLAYER))
    scripts = (library, player) if "<figure" in body else ()
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    whole: str = _SHELL.render(
        policy=policy,
        title=title,
        style=Markup(_read("../figure/chart.css") + _read("report.css")),
        body=body,
        scripts=[
            {"kind": Markup(kind), "text": Markup(script)}
            for kind, script in zip(("", ' type="module"'), scripts, strict=False)
        ],
    )
    return whole


def figure(payload: dict[str, Any], alt_text: str = "") -> Markup:
    """Return a figure with its numbers as tables, which report.js plays from its JSON.

    alt_text: its finding as Markdown, for those who cannot see it, where its frames have no words.
    """
    alt_text = text.unmarked(alt_text)
    words = payload["words"][payload["active"]] if payload.get("words") else {}
    tables = [table(*panel) for panel in number_tables.tables(payload)]
    kept = {name: part for name, part in payload.items() if name not in _OF_THE_DASHBOARD}
    kept |= {"alt_text": alt_text, "complete": True, "scene": "", "frames": payload.get("frames", [])}
    numbers = Markup("<details><summary>These numbers as a table</summary>{}</details>")
    return Markup('\n<figure>{}\n{}\n<script type="application/json">{}</script></figure>').format(
        markup.of_figure(words, payload.get("tiles", ()), alt_text=alt_text),
        numbers.format(Markup("").join(tables)) if tables else "",
        _json(kept),
    )


def table(columns: Sequence[object], rows: Sequence[Sequence[object]], wide: bool = False) -> Markup:
    """Return a table, which may be wider than a page. Cells that are `Markup` are HTML already."""
    cell = Markup("<{0}{1}>{2}</{0}>")
    head = Markup("").join(cell.format("th", Markup(' scope="col"'), name) for name in columns)
    lines = (
        Markup("<tr>{}</tr>").format(Markup("").join(cell.format("td", "", each) for each in row))
        for row in rows
    )
    whole = '\n<div class="table{}"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>'
    return Markup(whole).format(" wide" if wide else "", head, Markup("").join(lines))


def of_figure(payload: dict[str, Any], title: str, alt_text: str = "") -> str:
    return page(title, Markup("<h1>{}</h1>{}").format(title, figure(payload, alt_text)))


def frame(whole: str) -> str:
    shape = f'width="100%" height="{_FRAME_HEIGHT}" style="border:0"'
    return f'<iframe srcdoc="{escape(whole)}" {shape}></iframe>'


def _json(value: object) -> Markup:
    """Return JSON for a script element: nothing in it ends the element or opens a comment."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(written)


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
