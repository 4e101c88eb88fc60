"""Write what the board takes home: one printed page, and a report. Only `buttons` is Streamlit's."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

import streamlit as st

from pages.learn.story import charts, glossary, slides, text, view
from pages.learn.story.settings import STEPS
from pages.shared.charts import style
from pages.shared.document import streamlit
from pages.shared.reports import html_report, sources
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.settings.catalogue import Settings

TITLE = "Should we release a pattern, and at what cost?"
_HERE = Path(__file__).parent
_STYLE = (_HERE / "handout.css").read_text(encoding="utf-8")
_TEMPLATE = Template((_HERE / "handout.html").read_text(encoding="utf-8"))
# Pixels: where bars begin, to the right of their labels; the width of all; the heights of a row and its bar.
_BARS_AT, _WIDTH, _ROW_HEIGHT, _BAR_HEIGHT = 230, 680, 19, 11


def _picture(weights: view.Weights) -> str:
    """Return released weights as bars, with true ones as marks across them, in an SVG without scripts."""
    # A weight of 1 is `scale` pixels long, with 50 beside it for its number.
    scale, top, colour = _WIDTH - _BARS_AT - 50, 4, style.PRIVATE
    parts = []
    labels = charts.names(weights.setting, weights.rows)
    for i, (name, row) in enumerate(zip(labels, weights.rows, strict=True)):
        y, released, true = top + _ROW_HEIGHT * i, float(weights.released[row]), float(weights.true[row])
        x = _BARS_AT + scale * true
        parts.append(
            f'<text x="{_BARS_AT - 8}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{_BARS_AT}" y="{y}" '
            f'width="{scale * released:.1f}" height="{_BAR_HEIGHT}" fill="{colour}"/>'
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 3}" y2="{y + 15}" '
            f'stroke="{style.TRUE}" stroke-width="2.5"/>'
            f'<text x="{_BARS_AT + scale * max(released, true) + 8:.1f}" y="{y + 11}">{released:.2f}</text>'
        )
    height = top + _ROW_HEIGHT * len(labels) + 2
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" font-size="12" role="img" '
        f'aria-label="Weights released, and the true ones">{"".join(parts)}</svg>'
    )


def html(decision: view.Decision, settings: Settings, link: str, made: str) -> str:
    """Return the one-page summary as HTML: self-contained, without scripts, one sheet of A4 when printed.

    decision: what step 8 has measured. link: restores the screen. made: the day, as text.
    """
    shown, joined = text.decision(decision), decision.joined
    setting = joined.setting
    listed = text.listed(settings, setting)
    limits = "".join(f"<li>{escape(limit)}</li>" for limit in _limits(settings))
    sees = glossary.SERVER_SEES[joined.trust]
    failure = text.failure(setting)
    failure = "" if failure in shown.more else failure  # it stands above already
    page = f"{shown.sentences} {listed} {limits} {sees} server weight".lower()
    # Explain only terms that this page has: with all of them it may not fit one sheet.
    shown_terms = [row for row in glossary.GLOSSARY if row[0].lower() in page]
    terms = "".join(f"<li><b>{escape(term)}:</b> {escape(words)}</li>" for term, words in shown_terms)
    return _TEMPLATE.substitute(
        title=escape(TITLE),
        style=_STYLE,
        finding=escape(shown.finding),
        sentences="".join(f"<p>{escape(sentence)}</p>" for sentence in shown.more),
        heading="The release" if text.is_advised(joined) else "What a release would hold",
        picture=_picture(decision.weights),
        listed="".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in listed),
        promise=f"{escape(text.promise(setting.budget))} {escape(failure)}",
        sees=escape(sees),
        limits=limits,
        terms=terms,
        made=f"{escape(made)} {escape(link)}",
    )


def _limits(settings: Settings) -> Sequence[str]:
    """Return the sentences on what neither the numbers nor the promise cover."""
    return (
        f"All numbers are measured on {text.described(settings)}. Real patients may differ.",
        "The promise covers this one release. Promises of several releases add up.",
        "Privacy is for each patient, not for a hospital or a family.",
        "The noise here is repeatable: make a release from real rows in Your data, where it is fresh.",
    )


def full(settings: Settings, link: str) -> Report:
    """Return the report on all eight steps at these settings, of which the last gives its first sentence.

    link: restores the screen.
    """
    shown = [slides.slide({**settings, "story.step": step}) for step in range(1, STEPS + 1)]
    setting = view.to_setting(settings)
    # Without the day, which the report states elsewhere.
    versions = sources.made(settings["seed"]).removeprefix(f"{sources.today()} ")
    return Report(
        title="Sharing a pattern, not a patient",
        sentence=shown[-1].text.finding,
        settings=text.listed(settings, setting),
        figures=[ReportFigure(slide.figure, slide.title, slide.text.sentences) for slide in shown],
        guarantee=f"{text.promise(setting.budget)} {text.failure(setting)}",
        limits=_limits(settings),
        sources=(*slides.SOURCES, f"Made with: {versions}"),
        link=link,
        made=sources.today(),
        tables=[ReportTable("In plain words", ("Term", "Meaning"), glossary.GLOSSARY)],
    )


def buttons(settings: Settings) -> None:
    """Show buttons for the page to print and the report; neither is built before it is pressed."""
    link = streamlit.link(settings)  # known while the page runs, not when a button is pressed
    with st.container(horizontal=True):
        st.download_button(
            "One-page summary",
            # Without seeds and versions, which a board need not know: the report's sources have them.
            lambda: html(view.measure_decision(settings), settings, link, sources.today()),
            "summary.html",
            "text/html",
            on_click="ignore",
            help="Opens in a browser and prints on one page.",
        )
        html_report.button(lambda: full(settings, link), "dppca-story")
