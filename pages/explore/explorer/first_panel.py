"""Parts that all pictures in the front page's first panel share."""

from typing import Any

from dppca_core.experiments.explorer.results import Results, quantiles
from pages.shared.charts import Trace, axis

LegendEntry = tuple[str, str, str, str]  # label, colour, dash, kind


class FirstPanel:
    """Draw a picture in the first panel.

    Attributes:
        results: What has been measured.
        title: The panel's title.
        traces: All traces; `frame` holds what changes with epsilon.
        legend: What they draw.
        more: Other parts of the payload. "base" are numbers, (r, points), from which the browser makes the
            points of a trace whose meta holds a "map", (2, r), and where they stand, "at"; with a "dot" each
            is drawn as a square of this half side.
    """

    title: str
    traces: list[Trace]
    legend: list[LegendEntry]
    more: dict[str, Any]
    axes: Trace

    def __init__(self, results: Results) -> None:
        self.results = results

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return what changes with epsilon, by position among the traces."""
        raise NotImplementedError

    def angle(self, epsilon: float) -> float | None:
        """Return the median over runs of the largest angle in degrees."""
        runs = self.results.measured(self.results.experiment.method, epsilon)
        angles = [abs(run.plane.angle) for run in runs if run.plane is not None]
        return float(quantiles(angles)[1]) if angles else None

    def spoken(self, epsilon: float) -> str:
        """Return the picture in a sentence, for those who do not see it."""
        angle, k = self.angle(epsilon), self.results.experiment.k
        if angle is None:
            return ""
        which = "" if k == 1 else f", the largest of {k} angles"
        return f"The private pattern is off by {angle:.2g} degrees{which}."


def bare_axes(x: float, y: float) -> Trace:
    """Return axes from -x to x and from -y to y, of one scale and without numbers."""
    bare = {"fixedrange": True, "showgrid": False, "showticklabels": False, "linecolor": "rgba(0,0,0,0)"}
    bare["ticks"] = ""
    return {
        "xaxis": axis("", range=[-x, x], **bare),
        "yaxis": axis("", range=[-y, y], scaleanchor="x", **bare),
    }
