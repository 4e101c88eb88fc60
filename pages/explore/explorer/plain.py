"""The front page in plain view: the picture beside three rows, by whom the hospitals trust.

A row is the answer of the method recommended under one trust: the share of the pattern that it recovers,
in %. A reader of this view is no statistician, so no method is named.
"""

from functools import partial
from typing import Any

import streamlit as st

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from pages.explore.explorer import live_figure, plain_text
from pages.explore.explorer.view import ExplorerView, picture
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.plain import phrases, rows, screen
from pages.shared.reports import html_report, sources
from pages.shared.reports import phrases as report_phrases
from pages.shared.settings import sidebar, widgets
from pages.shared.settings.catalogue import Settings

_MORE = "still measuring"
_ROWS = 12  # height of the rows in lines of text, where panels stand under each other


def headline(results: Results, shares: rows.Shares, trust: str) -> str:
    """Return the sentence on the share that hospitals recover under the trust that was chosen.

    Before its first run it says that this is being measured, or that there is no answer where the run failed.
    results: name the failed runs. shares: of the pattern, in %, under each trust.
    """
    row, experiment = shares.row_of_trust(trust), results.experiment
    if not row.measured:
        # Copy the keys, to which other threads may add while this looks through them.
        failed = any(name == row.method for name, _, _ in list(results.failed))
        return failed_runs.NO_ANSWER if failed else text.MEASURING
    patients = text.count(experiment.n, *(experiment.table.row_noun if experiment.table else PATIENTS))
    return phrases.recovered(patients, experiment.providers, trust, row.share, shares.guess)


class PlainView(ExplorerView):
    """Hold the page in plain view: the rows of the three trusts.

    Settings that plain view does not show have the values that we advise (`rows.ADVISED`), whatever a link
    says.

    Args:
        settings: All settings of the page.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings | rows.ADVISED)
        self.shown = trusts.methods_shown(self.experiment, self.epsilon)

    def next_after(self) -> None:
        """Return None: once the view is complete nothing is left."""

    def payload(self) -> dict[str, Any]:
        """Return what the browser draws, with shorter words on what is still being measured."""
        drawn = super().payload()
        return drawn | {"progress": _MORE if drawn["progress"] else ""}

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return data, layout, frames, words and legend; beside: the methods behind the rows.

        Frames and words have an entry for each of EPSILONS: the traces' properties that differ there, and the
        sentences that stand beside the figure. The picture is panel 1, the rows are panel 2.
        """
        experiment, trust = results.experiment, settings["trust"]
        panel = picture(results, settings, named=False)
        all_shares = [rows.shares(results, epsilon, trust, beside) for epsilon in EPSILONS]
        frames, words = [], []
        for epsilon, shares in zip(EPSILONS, all_shares, strict=True):
            # The rows' traces follow those of the picture, so their positions go on from there.
            changed = panel.frame(epsilon) | dict(enumerate(rows.patches(shares.rows), len(panel.traces)))
            traces = {str(i): patch for i, patch in changed.items()}
            frames.append({"traces": traces, "axes": {"xaxis2": {"range": rows.span(shares.rows)}}})
            sentence = headline(results, shares, trust)
            promise = text.odds(epsilon, experiment.delta)
            spoken = [sentence, panel.spoken(epsilon), rows.description(shares)]
            entry = {"sentence": sentence, "spoken": " ".join(filter(None, spoken)), "tiles": []}
            odds = f"{phrases.references(*shares[1:])} {promise}"
            number = f"{epsilon:g}"
            entry |= {"at": number, "epsilon": number, "odds": odds, "notes": rows.note(shares)}
            words.append(entry)
        # Lines of reference are the same at every epsilon, and frames replace the rows: any will do.
        first = all_shares[0]
        references = [(name, colour, dash, "line") for name, colour, dash, _ in rows.references(first)]
        # "left" is the left margin in pixels.
        meta = {"titles": (phrases.PICTURE, phrases.TITLE), "rows": _ROWS, "left": 12, "picture": True}
        layout = {"meta": meta, "hovermode": "closest", "showlegend": False}
        return {
            "data": [*panel.traces, *rows.traces(first, panel=2)],
            "layout": layout | rows.axes(first, panel=2) | panel.axes,
            "frames": frames,
            "words": words,
            "tiles": [],
            "scrub": "Privacy loss ε",
            "legend": [*panel.legend, *references],
        } | panel.more


def render() -> None:
    """Show the front page in plain view: the figure, what to try, the report's button, and the fold."""
    view = PlainView(widgets.head(plain_text.TITLE, plain_text.QUESTION))
    experiment, epsilon, results, settings = view.experiment, view.epsilon, view.results, view.settings
    live_figure.show_while_measuring(partial(live_figure.show, view, plain_text.TITLE), view)
    st.markdown(plain_text.TRY if experiment.table is None else plain_text.TRY_TABLE)
    build = partial(report, view, html_report.link(widgets.settings()))
    html_report.button(build, "dppca-explorer")
    shares = partial(rows.shares, results, epsilon, settings["trust"])
    screen.fold(settings, shares, experiment.k, sources.how_measured(results))


def report(view: PlainView, link: str) -> html_report.Report:
    """Return all that the page shows at this privacy loss, as measured so far; link: restores this screen."""
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
    return html_report.Report(
        title=plain_text.TITLE,
        sentence=headline(results, shares, trust),
        settings=report_phrases.settings_in_words(view.settings, (*sidebar.PLAIN_MAIN, *sidebar.PLAIN_MORE)),
        figures=[html_report.ReportFigure(payload, phrases.TITLE, rows.description(shares))],
        guarantee=text.odds(view.epsilon, experiment.delta),
        limits=[limit for limit in limits if limit],
        sources=[
            text.unmarked(sources.how_measured(results)),
            *report_phrases.methods([row.method for row in shares.rows], experiment.k),
            html_report.made(experiment.seed),
        ],
        link=link,
        made=html_report.today(),
    )
