"""Build plain view's moving figure: the picture beside the three rows, a frame for each privacy loss."""

from typing import Any

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Key, Results
from pages.explore.explorer.view import ExplorerView, picture
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.plain import phrases, rows
from pages.shared.plain.rows import Shares
from pages.shared.settings.catalogue import Settings

_MORE = "still measuring"
_ROWS = 12  # lines of text that the rows are as high as, where panels stand under each other


def headline(results: Results, shares: Shares, trust: str) -> str:
    """Return what the hospitals recover under the trust that was chosen."""
    row, experiment = shares.under(trust), results.experiment
    if not row.measured:
        failed = any(name == row.method for name, _, _ in list(results.failed))
        return failed_runs.NO_ANSWER if failed else text.MEASURING
    patients = text.count(experiment.n, *(experiment.table.row_noun if experiment.table else PATIENTS))
    return phrases.recovered(patients, experiment.providers, trust, row.share, shares.guess)


class PlainView(ExplorerView):
    """Hold the page in plain view: the rows of the three trusts, and as we advise it what is hidden.

    Args:
        settings: Of the page.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings | rows.ADVISED)
        self.shown = trusts.shown(self.experiment, self.epsilon)

    def next_cell(self) -> Key | None:
        """Return the cell to measure next; None where the view is complete."""
        return trusts.next_missing(self.results, self.epsilon)

    def payload(self) -> dict[str, Any]:
        """Return everything that the component draws."""
        drawn = super().payload()
        return drawn | {"progress": _MORE if drawn["progress"] else ""}

    def figure(self, results: Results, settings: Settings, beside: tuple[str, ...]) -> dict[str, Any]:
        """Return data, layout, frames, words and legend; beside: the methods behind the rows."""
        experiment, trust = results.experiment, settings["trust"]
        drawn = picture(results, settings, rows.LOOKS[trust].colour)
        each = [rows.shares(results, at, trust, beside) for at in EPSILONS]
        first, frames, words = drawn.traces, [], []
        for at, shares in zip(EPSILONS, each, strict=True):
            moved = drawn.frame(at) | {
                len(first) + i: patch for i, patch in enumerate(rows.patches(shares.rows))
            }
            frames.append({"traces": {str(i): patch for i, patch in moved.items()}})
            sentence = headline(results, shares, trust)
            promise = text.odds(at, experiment.delta, experiment.neighbours, yours=True)
            spoken = [sentence, drawn.spoken(at), rows.description(shares)]
            words.append(
                {
                    **{"sentence": sentence, "spoken": " ".join(filter(None, spoken)), "tiles": []},
                    **{"at": f"{at:g}", "epsilon": f"{at:g}"},
                    "odds": f"{phrases.references(shares.unprotected, shares.guess)} {promise}",
                    "notes": rows.note(shares),
                }
            )
        references = [(name, colour, dash, "line") for name, colour, dash, _ in rows.references(each[0])]
        meta = {"titles": (phrases.PICTURE, phrases.TITLE), "rows": _ROWS, "left": 12, "picture": True}
        layout = {"meta": meta, "hovermode": "closest", "showlegend": False}
        return {
            "data": [*first, *rows.traces(each[0], 2)],
            "layout": layout | rows.axes(each[0], 2) | drawn.axes,
            "frames": frames,
            "words": words,
            "tiles": [],
            "scrub": "Privacy loss",
            "legend": [*drawn.legend, *references],
        } | drawn.more
