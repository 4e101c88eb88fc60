"""The front page in plain view: the picture beside three rows, by whom the hospitals trust."""

from functools import partial

import streamlit as st

from pages.explore.explorer import live_figure, plain_figure, plain_text
from pages.explore.explorer.plain_figure import PlainView
from pages.shared import text
from pages.shared.plain import phrases, rows, screen
from pages.shared.reports import html_report, sources
from pages.shared.reports import phrases as report_phrases
from pages.shared.reports.html_report import Report, ReportFigure
from pages.shared.settings import sidebar, widgets


def render() -> None:
    """Show the page."""
    view = PlainView(widgets.head(plain_text.TITLE, plain_text.QUESTION))
    experiment, epsilon, results, settings = view.experiment, view.epsilon, view.results, view.settings
    live_figure.measured(partial(live_figure.show, view, plain_text.TITLE), view)
    st.markdown(plain_text.TRY if experiment.table is None else plain_text.TRY_TABLE)
    build = partial(report, view, html_report.link(widgets.settings()))
    html_report.button(build, "dppca-explorer")
    screen.fold(
        settings,
        lambda: rows.shares(results, epsilon, settings["trust"]),
        *(experiment.k, lambda: (sources.how_measured(results),)),
    )


def report(view: PlainView, link: str) -> Report:
    """Return all that the page shows at this privacy loss, as measured so far."""
    experiment, results, trust = view.experiment, view.results, view.settings["trust"]
    shares = rows.shares(results, view.epsilon, trust)
    payload = view.payload()
    simulated = experiment.table is None
    limits = [
        plain_text.SIMULATED if simulated else plain_text.NOT_PRIVATE,
        phrases.delta_too_large(experiment.delta, experiment.n),
        "" if payload["complete"] else plain_text.MEASURING,
        plain_text.LIMITS,
    ]
    return Report(
        title=plain_text.TITLE,
        sentence=plain_figure.headline(results, shares, trust),
        settings=report_phrases.settings_in_words(view.settings, (*sidebar.PLAIN_MAIN, *sidebar.PLAIN_MORE)),
        figures=[ReportFigure(payload, phrases.TITLE, rows.description(shares))],
        guarantee=text.odds(view.epsilon, experiment.delta, experiment.neighbours, yours=True),
        limits=[limit for limit in limits if limit],
        sources=[
            text.unmarked(sources.how_measured(results)),
            *report_phrases.methods([row.method for row in shares.rows], experiment.k),
            html_report.made(experiment.seed),
        ],
        link=link,
        made=html_report.today(),
    )
