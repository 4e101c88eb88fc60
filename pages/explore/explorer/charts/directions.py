"""Draw simulated patients in the plane of the largest angle: the front page's first panel.

`dppca_core.experiments.explorer.picture` has the mathematics. The browser makes the patients of each frame
from standard normals, which are sent once, and the frame's 2 x 2 map. Lengths are in units of three standard
deviations of the strongest direction, so that a direction goes from -1 to 1; the true one is drawn at 45
degrees, to fill a panel that may be high or wide.

Each run has an `AnglePlane`: the plane of the true and the released direction that are furthest apart, with
the angle between them and the patients' standard deviations along and across the true one.
"""

import math

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.explorer.picture import PATIENTS, patients
from dppca_core.experiments.explorer.results import Results
from pages.explore.explorer.charts.first_panel import FirstPanel, bare_axes
from pages.shared.charts import Trace, line, rounded, style

_DEVIATIONS = 3.0  # of the strongest direction in half the picture's width
_REACH = 1.04  # from the middle to the ends of the axes, in units of a direction's half length
_DOT = 0.013  # half the side of the square that stands for a patient
_TILT = 45.0  # degrees, of the true direction


class Directions(FirstPanel):
    """Draw simulated patients with the true and the private direction; named: the page names the method."""

    def __init__(self, results: Results, *, named: bool = True) -> None:
        super().__init__(results)
        experiment = results.experiment
        self._unit = _DEVIATIONS * math.sqrt(float(results.truth.eigenvalues[0]))
        angles = "" if experiment.k == 1 else f", the largest of {experiment.k} angles"
        self.title = f"{PATIENTS} patients{angles}"
        # One path for all patients: markers of their own would take a third of a redraw.
        dots: Trace = {"mode": "none", "fill": "toself", "fillcolor": style.faded(style.GUESS, 0.55)}
        quiet: Trace = {"hoverinfo": "skip"}
        # All are in panel 1. `frame` and the browser name them by their position in this list, from 0 on.
        self.traces = [
            line(1, "patients", style.GUESS, x=[], y=[], **dots, **quiet) | {"line": {"simplify": False}},
            line(1, "true direction", style.TRUE, width=3, **_line_through_origin(0.0), **quiet),
            # The directions of many runs, which differ in their noise: the browser draws them on demand.
            line(1, "noises", style.PRIVATE, x=[], y=[], opacity=0.35, **quiet),
            # "ghost": the browser can keep this trace of the previous setting, dotted.
            line(1, "private direction", style.PRIVATE, width=3, meta="ghost", **quiet),
            line(1, "angle", style.GUESS, x=[1], y=[-0.94], mode="text", textposition="middle left")
            | {"textfont": {"size": 18}},
        ]
        self.axes = bare_axes(_REACH, _REACH)
        self.legend = [
            ("patient", style.GUESS, "", "square"),
            ("true pattern", style.TRUE, "solid", "line"),
            *(() if named else [("private pattern", style.PRIVATE, "solid", "line")]),
        ]
        # For the browser: which trace shows other noises on demand, and the numbers it makes patients from.
        many = ("other noises", style.faded(style.PRIVATE, 0.35), "solid", "line")
        self.more = {"noises": {"trace": 2, "legend": many}, "base": np.round(patients(), 2).T.tolist()}

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return the properties of the traces that change with epsilon, by their position in `traces`.

        They are the patients (0), the directions of many runs (2), the private direction (3) and the words on
        its angle (4). The patients are those of the run with the median angle: the frame only has the 2 x 2
        map, from standard normals to points, with which the browser makes them.
        """
        angle = self.angle(epsilon)
        if angle is None:
            return {3: {"x": [], "y": []}, 4: {"texttemplate": ""}}
        planes = self.results.planes(epsilon)
        ordered = sorted(planes, key=lambda plane: abs(plane.angle))
        median = ordered[(len(ordered) - 1) // 2]
        # Scale the normals to the patients' deviations along and across the true direction, then tilt both.
        deviations = np.array([median.along, median.across]) / self._unit
        return {
            0: {"meta": {"map": [rounded(row * deviations) for row in _rotation(_TILT)], "dot": _DOT}},
            2: {"meta": {"angles": [round(_TILT + plane.angle, 1) for plane in planes]}},
            3: _line_through_origin(angle),
            4: {"texttemplate": f"off by {angle:.2g}°"},
        }


def _rotation(degrees: float) -> Array:
    # Turn a column counterclockwise.
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cosine, -sine], [sine, cosine]])


def _line_through_origin(degrees: float) -> Trace:
    x, y = _rotation(_TILT + degrees)[:, 0]
    return {"x": rounded([-x, x]), "y": rounded([-y, y])}
