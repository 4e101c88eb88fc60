"""Parts that all pictures in the front page's first panel share."""

from typing import Any

from dppca_core.experiments.explorer.results import Results, quantiles
from pages.shared.charts import Trace, axis

LegendEntry = tuple[str, str, str, str]  # label, colour, dash, kind


class FirstPanel:
    """Draw a picture in the first panel, for every value of the privacy slider.

    The browser gets `traces` once, and a frame for each epsilon with the properties that differ. It moves
    between frames without asking the server.

    Attributes:
        more: Other parts of the message to the browser. "base" are numbers, (r, points), from which the
            browser makes the points of a trace whose meta holds a "map", (2, r): map @ base, moved by "at".
            With a "dot" each is drawn as a square of this half side.
    """

    title: str
    traces: list[Trace]
    legend: list[LegendEntry]
    more: dict[str, Any]
    axes: Trace

    def __init__(self, results: Results) -> None:
        self.results = results

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return the properties of the traces that change with epsilon, by their position in `traces`."""
        raise NotImplementedError

    def angle(self, epsilon: float) -> float | None:
        """Return the median over runs of the largest angle in degrees; None before the first run."""
        runs = self.results.measured(self.results.experiment.method, epsilon)
        angles = [abs(run.plane.angle) for run in runs if run.plane is not None]
        return float(quantiles(angles)[1]) if angles else None  # of 10, 50 and 90 % the second

    def alt_text(self, epsilon: float) -> str:
        angle, k = self.angle(epsilon), self.results.experiment.k
        if angle is None:
            return ""
        which = "" if k == 1 else f", the largest of {k} angles"
        return f"The private pattern is off by {angle:.2g} degrees{which}."


def bare_axes(x: float, y: float) -> Trace:
    bare: Trace = {"fixedrange": True, "showgrid": False, "showticklabels": False, "ticks": ""}
    bare["linecolor"] = "rgba(0,0,0,0)"
    return {
        "xaxis": axis("", range=[-x, x], **bare),
        "yaxis": axis("", range=[-y, y], scaleanchor="x", **bare),
    }
