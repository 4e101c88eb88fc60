"""Hold the explorer at some settings: its results, the methods side by side, and its figure.

A cell is one run, named (method, epsilon, repeat). The experiment's method is the one that the page is about;
others are shown side by side with it.
"""

from collections.abc import Iterator
from typing import Any

from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import UNIT_ROWS, Key, Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from pages.explore.explorer import sentences
from pages.explore.explorer.charts.directions import Directions
from pages.explore.explorer.charts.first_panel import FirstPanel
from pages.explore.explorer.charts.table_pictures import Components, Scores
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import explorer_summary
from pages.shared.document.blocks import Measuring
from pages.shared.plain import phrases, rows
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

_MORE = "still measuring"
_ROWS = 12  # height of the rows in lines of text, where panels stand under each other


def side_by_side(experiment: ExplorerExperiment, epsilon: float, settings: Settings) -> tuple[str, ...]:
    """Return the methods to compare, in the registry's order.

    They are all methods where the visitor asks for that. Else they are those recommended under each trust,
    DPS-PCA as published, and the experiment's own. A hospital alone is on *Providers*.
    """
    if settings["all_methods"]:
        return tuple(METHODS)
    names = (*trusts.methods_shown(experiment, epsilon), DPS_PCA, experiment.method)
    return tuple(name for name in METHODS if name in names)


def picture(results: Results, *, named: bool = True) -> FirstPanel:
    """Return the first panel's picture: of simulated patients, or of a table's scores or images.

    named: whether the page names the method; plain view does not.
    """
    table = results.experiment.table
    if table is None:
        return Directions(results, named=named)
    who = METHODS[results.experiment.method].title if named else "private"
    return (Components if table.image else Scores)(results, who)


class Explorer:
    """Hold the page at these settings: the experiment that they describe, its results, and what is shown.

    Results are shared by all visitors with the same experiment. `shown` are the methods side by side.

    Args:
        settings: All settings of the page.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.experiment, self.epsilon = to_experiment.from_settings_with_method(settings)
        self.results: Results = cache.results(self.experiment)
        self.shown = side_by_side(self.experiment, self.epsilon, settings)

    @property
    def measuring(self) -> Measuring:
        return Measuring(self.results, self.next_cell, self.first, later=self.next_after, ahead=type(self))

    @property
    def release(self) -> Key:
        """Return the run whose release is shown: the first, repeat 0."""
        return self.experiment.method, self.epsilon, 0

    def first(self) -> Iterator[None]:
        """Measure the runs that a first view needs, in steps between which the caller can stop."""
        return self.results.steps(self.results.first(self.epsilon, self.shown))

    def next_cell(self) -> Key | None:
        """Return the run to measure next, (method, epsilon, repeat); None where the view is complete."""
        return self.results.next_missing(self.epsilon, self.settings["slow"], (*self.shown, NO_PRIVACY))

    def next_after(self) -> Key | None:
        """Return the run to measure once the view is complete: rows of length 1 cost as much as all else."""
        return self.results.next_missing(
            self.epsilon, self.settings["slow"], (*self.shown, NO_PRIVACY, UNIT_ROWS)
        )

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return the figure with a frame and a text for each epsilon; beside: the methods side by side.

        `explorer_summary.payload` calls it, and keeps the figure for all visitors until more is measured.
        """
        first_panel = picture(results) if settings["first_panel"] == "picture" else None
        return explorer_summary.explorer_figure(results, settings, beside, first_panel)

    def payload(self) -> dict[str, Any]:
        """Return all that the browser draws: figure, frames, words, and which epsilon is active."""
        return explorer_summary.payload(
            self.results, self.epsilon, self.settings, self.shown, self.figure, self.next_cell
        )


class PlainExplorer(Explorer):
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

    def shares(self) -> rows.Shares:
        """Return the rows at this epsilon, as measured so far."""
        return rows.shares(self.results, self.epsilon, self.settings["trust"])

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return data, layout, frames, words and legend; beside: the methods behind the rows.

        Frames and words have an entry for each of EPSILONS: the traces' properties that differ there, and the
        sentences that stand beside the figure. The picture is panel 1, the rows are panel 2.
        """
        experiment, trust = results.experiment, settings["trust"]
        panel = picture(results, named=False)
        all_shares = [rows.shares(results, epsilon, trust, beside) for epsilon in EPSILONS]
        frames, words = [], []
        for epsilon, shares in zip(EPSILONS, all_shares, strict=True):
            # The rows' traces follow those of the picture, so their positions go on from there.
            changed = panel.frame(epsilon) | dict(enumerate(rows.patches(shares.rows), len(panel.traces)))
            traces = {str(i): patch for i, patch in changed.items()}
            frames.append({"traces": traces, "axes": {"xaxis2": {"range": rows.span(shares.rows)}}})
            sentence = sentences.headline(results, shares, trust)
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
