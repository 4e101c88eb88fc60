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
from pages.shared.background import cache, engine
from pages.shared.charts import explorer_summary
from pages.shared.document.blocks import Measuring
from pages.shared.plain import phrases, share_bars
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

_MORE = "still measuring"
_ROWS = 12  # height of the rows in lines of text, where panels stand under each other


def side_by_side(experiment: ExplorerExperiment, epsilon: float, settings: Settings) -> tuple[str, ...]:
    """Return the methods to compare: all, or those recommended under each trust, DPS-PCA, and our own."""
    if settings["all_methods"]:
        return tuple(METHODS)
    # A hospital alone is on *Providers*.
    names = (*trusts.methods_shown(experiment, epsilon), DPS_PCA, experiment.method)
    return tuple(name for name in METHODS if name in names)


def picture(results: Results, *, named: bool = True) -> FirstPanel:
    """Return the first panel's picture; named: whether the page names the method, unlike plain view."""
    table = results.experiment.table
    if table is None:
        return Directions(results, named=named)
    who = METHODS[results.experiment.method].title if named else "private"
    return (Components if table.image else Scores)(results, who)


class Explorer:
    """Hold the page at these settings; results are shared by all visitors with the same experiment."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.experiment, self.epsilon = to_experiment.from_settings_with_method(settings)
        self.results: Results = cache.results(self.experiment)
        self.shown = side_by_side(self.experiment, self.epsilon, settings)

    @property
    def measuring(self) -> Measuring:
        return Measuring(
            self.results,
            self.next_cell,
            self.first,
            self.release,
            later=self.next_after,
            ahead=type(self),
        )

    @property
    def release(self) -> Key:
        return self.experiment.method, self.epsilon, 0  # the first of its runs

    def first(self) -> Iterator[None]:
        return self.results.steps(self.first_cells(), engine.first_step_seconds())

    def first_cells(self) -> Iterator[Key]:
        return self.results.first(self.epsilon, self.shown)

    def next_cell(self) -> Key | None:
        if self.results.missing([self.release]):  # what a reader waits for
            return self.release
        return self.results.next_missing(self.epsilon, self.settings["slow"], (*self.shown, NO_PRIVACY))

    def next_after(self) -> Key | None:
        """Return the run to measure once the view is complete: rows of length 1 cost as much as all else."""
        return self.results.next_missing(
            self.epsilon, self.settings["slow"], (*self.shown, NO_PRIVACY, UNIT_ROWS)
        )

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return the figure of methods side by side, which `payload` keeps until more is measured."""
        first_panel = picture(results) if settings["first_panel"] == "picture" else None
        return explorer_summary.explorer_figure(results, settings, beside, first_panel)

    def payload(self) -> dict[str, Any]:
        return explorer_summary.payload(
            self.results, self.epsilon, self.settings, self.shown, self.figure, self.next_cell
        )


class PlainExplorer(Explorer):
    """Hold the plain view: settings that it does not show are as advised, whatever a link says."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings | share_bars.ADVISED)
        self.shown = trusts.methods_shown(self.experiment, self.epsilon)

    def next_after(self) -> None:
        """Return None: once the view is complete nothing is left."""

    def payload(self) -> dict[str, Any]:
        drawn = super().payload()
        return drawn | {"progress": _MORE if drawn["progress"] else ""}

    def shares(self) -> share_bars.Shares:
        return share_bars.shares(self.results, self.epsilon, self.settings["trust"])

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return the picture (panel 1) and the rows of trusts (2), with a frame for each of EPSILONS."""
        experiment, trust = results.experiment, settings["trust"]
        panel = picture(results, named=False)
        all_shares = [share_bars.shares(results, epsilon, trust, beside) for epsilon in EPSILONS]
        frames, words = [], []
        for epsilon, shares in zip(EPSILONS, all_shares, strict=True):
            # The rows' traces follow those of the picture, so their positions go on from there.
            changed = panel.frame(epsilon) | dict(
                enumerate(share_bars.patches(shares.rows), len(panel.traces))
            )
            traces = {str(i): patch for i, patch in changed.items()}
            frames.append({"traces": traces, "axes": {"xaxis2": {"range": share_bars.span(shares.rows)}}})
            sentence = sentences.headline(results, shares, trust)
            promise = text.odds(epsilon, experiment.delta)
            alt_text = [sentence, panel.alt_text(epsilon), share_bars.description(shares)]
            entry = {"sentence": sentence, "alt_text": " ".join(filter(None, alt_text)), "tiles": []}
            odds = f"{phrases.references(*shares[1:])} {promise}"
            number = f"{epsilon:g}"
            entry |= {"at": number, "epsilon": number, "odds": odds, "notes": share_bars.note(shares)}
            words.append(entry)
        # Lines of reference are the same at every epsilon, and frames replace the rows: any will do.
        first = all_shares[0]
        references = [(name, colour, dash, "line") for name, colour, dash, _ in share_bars.references(first)]
        # "left" is the left margin in pixels.
        meta = {"titles": (phrases.PICTURE, phrases.TITLE), "rows": _ROWS, "left": 12, "picture": True}
        layout = {"meta": meta, "hovermode": "closest", "showlegend": False}
        return {
            "data": [*panel.traces, *share_bars.traces(first, panel=2)],
            "layout": layout | share_bars.axes(first, panel=2) | panel.axes,
            "frames": frames,
            "words": words,
            "tiles": [],
            "scrub": "Privacy loss ε",
            "legend": [*panel.legend, *references],
        } | panel.more
