"""Write the tables and figures of docs/report.md, and print it to docs/report.pdf: `make report`.

Formulas become MathML, which Chromium draws without a script or the network. The PDF ends in a comment with a
digest of all that it was made from, so that a test can tell whether it is of today's text.
"""

import hashlib
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from latex2mathml import converter
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from scripts import report_numbers, report_pictures
from scripts.started import ROOT, chromium

SOURCE = ROOT / "docs" / "report.md"
PDF = SOURCE.with_suffix(".pdf")
STYLE = Path(__file__).with_suffix(".css")
TABLE = re.compile(r"<!-- table (\w+), written by make report -->\n(.*?)<!-- end of table -->", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
# Bars and slashes without the space that signs between two numbers get, and as high as what is next to them.
_TIGHT = re.compile(r"<mo>(&#x0007C;|&#x02016;|&#x0002F;|&#x02032;)</mo>")
# A prime is raised already: as a superscript it is next to invisible.
_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
_HEADER = (
    '<div style="width: 100%; margin: 0 18mm; font: 7pt serif; color: #444; border-bottom: 0.2mm solid #999">'
    '<div style="display: flex; justify-content: space-between"><span>The developers of dppca-core</span>'
    "<span>Technical report, version {version}, {day}</span></div><div>{title}</div></div>"
)
_FOOTER = (
    '<div style="width: 100%; font: 7pt serif; color: #444; text-align: center">'
    '<span class="pageNumber"></span> / <span class="totalPages"></span></div>'
)
_LINE = re.compile(r"Technical report, version ([\d.]+), (.+)")


def filled(text: str) -> str:
    """Return the text of the report with every table as its source gives it today."""

    def table(match: re.Match[str]) -> str:
        begin, end = f"<!-- table {match[1]}, written by make report -->", "<!-- end of table -->"
        return f"{begin}\n\n{report_numbers.TABLES[match[1]]()}\n\n{end}"

    return TABLE.sub(table, text)


def mathml(formula: str, about: dict[str, bool]) -> str:
    """Return a formula as MathML. Raises ValueError where some of it is no LaTeX that is known.

    about: "display_mode", whether it has a line of its own.
    """
    element = converter.convert(formula, display="block" if about["display_mode"] else "inline")
    # A command that the library does not know stays as it was, in the text of an element.
    if unknown := re.findall(r"\\[A-Za-z]+", element):
        raise ValueError(f"formula must be LaTeX that becomes MathML, {unknown[0]} does not: {formula}")
    element = re.sub(r"(<mi>(?:sin|log)</mi>)", r'\1<mspace width="0.17em"/>', element)
    element = _PRIME.sub(r"<mrow>\1<mo>&#x02032;</mo></mrow>", element)
    return _TIGHT.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', element)


class _Renderer(RendererHTML):
    """Render tokens for paper: formulas and pictures within the page, links to files as words."""

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        if token.info.strip() == "math":
            return mathml(token.content.strip(), {"display_mode": True}) + "\n"
        return f"<pre><code>{escape(token.content)}</code></pre>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        svg = (SOURCE.parent / str(tokens[idx].attrs["src"])).read_text(encoding="utf-8")
        return f'<figure role="img" aria-label="{escape(tokens[idx].content)}">{svg}</figure>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        address = str(tokens[idx].attrs["href"])
        return f'<a href="{escape(address)}">' if address.startswith(("https:", "#")) else "<a>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _cell("th", tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _cell("td", tokens[idx])


def _cell(tag: str, token: Token) -> str:
    return f'<{tag} class="right">' if "right" in str(token.attrs.get("style", "")) else f"<{tag}>"


def html(text: str) -> str:
    """Return the report as one page that needs nothing else. Raises ValueError for a formula that fails."""
    parser = (
        MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer)
        .enable("table")
        .use(dollarmath_plugin, renderer=mathml, allow_digits=True)
        .use(anchors_plugin, max_level=3)
    )
    body = parser.render(text)
    title = escape(title_of(text))
    style = STYLE.read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head><body>{body}</body></html>"
    )


def title_of(text: str) -> str:
    return text.partition("\n")[0].removeprefix("# ")


def digest(text: str) -> str:
    """Return the SHA-256 of what the PDF is made from: the text, its pictures and its style."""
    parts = [text, STYLE.read_text(encoding="utf-8")]
    parts += [(SOURCE.parent / name).read_text(encoding="utf-8") for name in _IMAGE.findall(text)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def digest_in(pdf: bytes) -> str | None:
    last = re.search(rb"\n% source sha256 ([0-9a-f]{64})\n$", pdf)
    return last[1].decode() if last else None


def printed(text: str) -> bytes:
    """Return the report as a PDF of A4 pages, with its digest."""
    stated = _LINE.search(text)
    assert stated is not None
    header = _HEADER.format(version=stated[1], day=stated[2], title=escape(title_of(text)))
    with chromium() as browser:
        page = browser.new_page(offline=True)
        page.set_content(html(text))
        pdf = page.pdf(
            format="A4",
            margin={"top": "24mm", "bottom": "17mm", "left": "18mm", "right": "18mm"},
            display_header_footer=True,
            header_template=header,
            footer_template=_FOOTER,
        )
    return pdf.rstrip() + f"\n% source sha256 {digest(text)}\n".encode()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def main() -> None:
    for path, picture in report_pictures.pictures().items():
        path.write_text(picture, encoding="utf-8")
    text = filled(SOURCE.read_text(encoding="utf-8"))
    SOURCE.write_text(text, encoding="utf-8")
    pdf = printed(text)
    PDF.write_bytes(pdf)
    print(f"{PDF.relative_to(ROOT)}: {pages(pdf)} pages, {len(pdf) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
