"""The front page in plain view: the picture beside three rows, by whom the hospitals trust."""

from functools import partial

import streamlit as st

from pages.explore.explorer import figure_code, live_figure, plain_figure, plain_text
from pages.explore.explorer.view import ExplorerView
from pages.shared import text
from pages.shared.plain import phrases, rows, screen
from pages.shared.reports import html_report, sources, take_along
from pages.shared.reports import phrases as report_phrases
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.settings import sidebar, to_experiment, widgets


def render() -> None:
    """Show the page."""
    view = ExplorerView(widgets.head(plain_text.TITLE, plain_text.QUESTION))
    experiment, epsilon, results, settings = view.experiment, view.epsilon, view.results, view.settings

    def panels() -> None:
        payload = view.payload()
        live_figure.show(payload, view)
        take_along.menu(
            *("live", "dppca-explorer", plain_text.TITLE, lambda: payload),
            table=results.table,
            code=lambda: figure_code.panels(results, epsilon, view.shown, settings),
            recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, (experiment.method,)),
        )

    live_figure.measured(panels, view)
    st.markdown(plain_text.TRY if experiment.table is None else plain_text.TRY_TABLE)
    build = partial(report, view, html_report.link(widgets.settings()))
    html_report.button(build, "dppca-explorer")
    screen.fold(
        settings,
        lambda: rows.shares(results, epsilon, settings["trust"]),
        *(experiment.k, lambda: (sources.how_measured(results),)),
    )


def report(view: ExplorerView, link: str) -> Report:
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
    names = {row.method: row for row in shares.rows}
    return Report(
        title=plain_text.TITLE,
        sentence=plain_figure.headline(results, shares, trust),
        settings=report_phrases.settings_in_words(view.settings, (*sidebar.PLAIN_MAIN, *sidebar.PLAIN_MORE)),
        figures=[ReportFigure(payload, phrases.TITLE, plain_text.trusts(shares))],
        tables=[
            ReportTable(
                *(phrases.TITLE, ("", "share", "8 in 10 repeats")),
                [(row.label, phrases.share(row.share), row.reach.strip(" ()")) for row in shares.rows],
                phrases.references(shares.unprotected, shares.guess),
            )
        ],
        guarantee=phrases.promise(view.epsilon, experiment.delta, experiment.neighbours),
        limits=[limit for limit in limits if limit],
        sources=[
            text.unmarked(sources.how_measured(results)),
            *report_phrases.methods(list(names), experiment.k),
            html_report.made(experiment.seed),
        ],
        link=link,
        made=html_report.today(),
    )
