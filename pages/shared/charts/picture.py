"""Draw the front page's first panel as a picture of PCA: what the private answer does to patients.

Of simulated patients it is the plane of the largest angle (`dppca_core.experiments.explorer.picture`). The
browser makes the patients of each frame from standard normals, which are sent once, and the frame's 2 x 2
map. Lengths are in units of three standard deviations of the strongest direction, so that a direction goes
from -1 to 1; the true one is drawn at 45 degrees, to fill a panel that may be high or wide.
"""

import math
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.picture import PATIENTS, patients
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import SpikedModel
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, line, rounded
from pages.shared.settings.catalogue import Settings

_DEVIATIONS = 3.0  # of the strongest direction in half the picture's width
_REACH = 1.04
_TILT = 45.0  # degrees, of the true direction


class Directions:
    """Draw simulated patients in the plane of the largest angle, with the true and the private direction."""

    def __init__(self, results: Results) -> None:
        self.results = results
        experiment = results.experiment
        self._unit = _DEVIATIONS * math.sqrt(float(results.truth.eigenvalues[0]))
        self._look, self._method = style.look(experiment.method), METHODS[experiment.method].title
        angles = "" if experiment.k == 1 else f", the largest of {experiment.k} angles"
        self.title = f"{PATIENTS} patients{angles}"
        marker = {"size": 4, "color": style.faded(style.GUESS, 0.55)}
        quiet: Trace = {"hoverinfo": "skip"}
        self.traces = [
            line(1, "patients", style.GUESS, x=[], y=[], mode="markers", marker=marker, **quiet),
            line(1, "true direction", style.GUESS, **_through(0.0), **quiet) | _wide(style.GUESS),
            line(1, "noises", self._look.colour, x=[], y=[], opacity=0.35, **quiet),
            line(1, "private direction", self._look.colour, meta="ghost", **quiet) | _wide(self._look.colour),
            line(1, "angle", style.GUESS, x=[1], y=[-0.94], mode="text", textposition="middle left")
            | {"textfont": {"size": 18}},
        ]

    def angle(self, epsilon: float) -> float | None:
        """Return the median over runs of the largest angle in degrees."""
        runs = self.results.measured(self.results.experiment.method, epsilon)
        angles = [abs(run.plane.angle) for run in runs if run.plane is not None]
        return float(quantiles(angles)[1]) if angles else None

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return what changes with epsilon, by position among the traces."""
        angle = self.angle(epsilon)
        if angle is None:
            return {3: {"x": [], "y": []}, 4: {"texttemplate": ""}}
        planes = self.results.planes(epsilon)
        ordered = sorted(planes, key=lambda plane: abs(plane.angle))
        median = ordered[(len(ordered) - 1) // 2]
        deviations = np.array([median.along, median.across]) / self._unit
        return {
            0: {"meta": {"map": [rounded(row * deviations) for row in _turn(_TILT)]}},
            2: {"meta": {"angles": [round(_TILT + plane.angle, 1) for plane in planes]}},
            3: _through(angle),
            4: {"texttemplate": f"off by {angle:.2g}°"},
        }

    def spoken(self, epsilon: float) -> str:
        """Return the picture in a sentence, for those who do not see it."""
        angle, k = self.angle(epsilon), self.results.experiment.k
        if angle is None:
            return ""
        which = "The angle" if k == 1 else f"The largest of the {k} angles"
        return f"{which} between the true and the private directions is {angle:.2g} degrees."

    @property
    def legend(self) -> list[tuple[str, str, str, str]]:
        """Return (label, colour, dash, kind) of what the picture draws beside the method's own line."""
        return [
            ("patient", style.GUESS, "", "point"),
            ("true direction", style.GUESS, "solid", "line"),
            (f"{self._method}, median", self._look.colour, "solid", "line"),
        ]

    @property
    def more(self) -> dict[str, Any]:
        """Return the patients' standard normals, which trace Play fans out, and its entry of the legend."""
        entry = ("other noises", style.faded(self._look.colour, 0.35), "solid", "line")
        normals = np.round(patients(), 2).T.tolist()
        return {"noises": {"trace": 2, "legend": entry}, "normals": normals}


def picture(results: Results, settings: Settings) -> Directions | None:
    """Return the first panel's picture; None where a link asks for the rounds, or there is no picture."""
    if settings["first_panel"] != "picture" or not isinstance(results.experiment.population, SpikedModel):
        return None
    return Directions(results)


def axes() -> dict[str, Any]:
    """Return the picture's axes, of one scale and without numbers."""
    bare = {"range": [-_REACH, _REACH], "fixedrange": True, "showgrid": False, "showticklabels": False}
    bare |= {"linecolor": "rgba(0,0,0,0)"}
    return {"xaxis": axis("", ticks="", **bare), "yaxis": axis("", ticks="", scaleanchor="x", **bare)}


def _turn(degrees: float) -> Array:
    """Return the rotation by an angle, (2, 2)."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cosine, -sine], [sine, cosine]])


def _through(degrees: float) -> Trace:
    """Return a line through the origin, at an angle to the true direction."""
    x, y = _turn(_TILT + degrees)[:, 0]
    return {"x": rounded([-x, x]), "y": rounded([-y, y])}


def _wide(colour: str) -> Trace:
    return {"line": {"color": colour, "width": 3}}
