"""Draw a real table in the front page's first panel: its patients' scores, or its components as images.

The true ones stand above, the private ones of the run with the median error below, turned onto the true ones.
The browser makes the scores at every epsilon: it gets the rows of as many patients as fit `_MOST_NUMBERS`
once, and for each epsilon the components, by which it multiplies them.
"""

import numpy as np

from dppca_core import datasets
from dppca_core.arrays import Array
from dppca_core.experiments.explorer.picture import COMPONENTS, PATIENTS, SEED
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics.moments import clip_rows
from pages.explore.explorer.charts.first_panel import FirstPanel, bare_axes
from pages.shared.charts import Trace, line, style

_MOST_NUMBERS = 10_000  # of rows that are sent, at four bytes each
# Of two diagnoses: colour, Plotly's number of the marker (a cross, a circle), and its name in the legend.
_DIAGNOSES = ((style.VERMILION, 4, "cross"), (style.BLUE, 0, "point"))
_NOT_PRIVATE = "not private: made from the rows"


class _TablePicture(FirstPanel):
    def __init__(self, results: Results, who: str) -> None:
        super().__init__(results)
        # What the private part is called, such as its method.
        self.table, self.who = datasets.table(str(results.experiment.population)), who

    def components(self, epsilon: float) -> Array | None:
        """Return the components, (d, m), of the run with the median error, turned onto the true ones."""
        runs = self.results.measured(self.results.experiment.method, epsilon)
        ordered = sorted(runs, key=lambda run: run.sin[-1])  # by the error of the output, the last iterate
        components = [run.components for run in ordered if run.components is not None]
        return components[(len(components) - 1) // 2] if components else None

    def label(self, epsilon: float) -> str:
        angle = self.angle(epsilon)
        return "" if angle is None else f"<b>{self.who}</b>, off by {angle:.2g}°"


class Scores(_TablePicture):
    """Draw patients on the first two components, coloured by diagnosis; with one component, spread at random.

    True scores are drawn around (0, 100), private ones around (0, -100); 100 is the largest true score in
    magnitude. Rows are clipped to the table's bound and divided by it, as the methods do.
    """

    def __init__(self, results: Results, who: str) -> None:
        super().__init__(results, who)
        rng, d = np.random.default_rng(SEED), self.table.d
        self._shown = min(results.experiment.k, 2)  # components
        # Each patient is sent as d values and a random height.
        count = min(PATIENTS, self.table.n, _MOST_NUMBERS // (d + 1))
        chosen = np.sort(rng.permutation(self.table.n)[:count])
        rows = clip_rows(datasets.rows(self.table.name)[chosen], self.table.bound) / self.table.bound
        truth = results.truth.basis[:, : self._shown]
        unit = float(np.abs(rows @ truth).max())
        # The last column has a random height for each patient, used where there is one component.
        base = np.column_stack([100 * rows / unit, rng.uniform(-50, 50, count)])
        self.more = {"base": np.round(base).astype(int).T.tolist()}
        marker: Trace = {"size": 4, "color": style.GUESS, "opacity": 0.7}
        self.legend = [(self.table.row_noun[0], style.GUESS, "", "point")]
        if self.table.diagnoses:  # two, numbered 0 and 1
            kinds = datasets.labels(self.table.name)[chosen].astype(int).tolist()
            colours, symbols, _ = zip(*_DIAGNOSES, strict=True)
            marker |= {"color": kinds, "colorscale": list(enumerate(colours)), "cmin": 0, "cmax": 1}
            marker["symbol"] = [symbols[kind] for kind in kinds]
            looks = zip(self.table.diagnoses, _DIAGNOSES, strict=True)
            self.legend = [(name, colour, "", shape) for name, (colour, _, shape) in looks]
        axis = "component 1, spread upwards" if self._shown == 1 else "components 1 and 2"
        self.title = f"{count} {self.table.row_noun[1]}, {axis}"
        points: Trace = {"x": [], "y": [], "mode": "markers", "marker": marker, "hoverinfo": "skip"}
        self.traces = [
            line(1, "true scores", style.GUESS, meta=self._map(truth, 100), **points),
            line(1, "private scores", style.GUESS, **points),
            *_labels(x=-100, true=200, private=-5, below=-205),
        ]
        # True scores reach 100 to each side of a centre, at a height of 100 or -100; words need some more.
        self.axes = bare_axes(104, 214)

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return the map of the private scores (1) and the heading over them (3), by position in `traces`."""
        basis = self.components(epsilon)
        scores = {} if basis is None else {"meta": self._map(basis[:, : self._shown], -100)}
        return {1: scores, 3: {"texttemplate": self.label(epsilon)}}

    def _map(self, basis: Array, up: int) -> Trace:
        """Return the map, (2, d + 1), by which the browser makes scores around the height `up`."""
        onto = np.zeros((2, self.table.d + 1))
        onto[: self._shown, :-1] = basis.T
        # The last column has a random height of each patient, the second coordinate of a single score.
        onto[1, -1] = self._shown == 1
        return {"map": np.round(onto, 3).tolist(), "at": [0, up]}


class Components(_TablePicture):
    """Draw the first components as images, of `table.image` pixels, with the strongest at full colour."""

    def __init__(self, results: Results, who: str) -> None:
        super().__init__(results, who)
        self._high, self._wide = self.table.image
        self._shown = min(results.experiment.k, COMPONENTS)  # images
        truth = results.truth.basis[:, : self._shown]
        rest = "" if self._shown == results.experiment.k else f" of {results.experiment.k}"
        self.title = f"{self._shown}{rest} component{'s' * (self._shown > 1)} as images"
        colours = {"colorscale": style.DIVERGING, "zmin": -100, "zmax": 100, "showscale": False}
        tiles = {"type": "heatmap", "xaxis": "x", "yaxis": "y", "hoverinfo": "skip", "dy": -1} | colours
        # Lengths are in pixels. With a gap of one pixel between images, their pixels' centres go from `left`
        # to -left; the true images lie above a height of 1, the private ones below -2.
        left, top = -(self._shown * (self._wide + 1) - 2) / 2, self._high + 1.0
        where = {"x0": left, "dx": 1}
        self.traces = [
            tiles | where | {"name": "true components", "y0": top, "z": self._tiles(truth)},
            tiles | where | {"name": "private components", "y0": -2.5, "z": []},
            *_labels(x=left - 0.5, true=top + 1.6, private=-0.9, below=-self._high - 3.2),
        ]
        self.axes = bare_axes(0.5 - left, self._high + 4.0)
        self.legend = [("brighter", style.POSITIVE, "", "band"), ("darker", style.NEGATIVE, "", "band")]
        self.more = {}

    def frame(self, epsilon: float) -> dict[int, Trace]:
        """Return the private images (1) and the heading over them (3), by position in `traces`."""
        basis = self.components(epsilon)
        tiles = [] if basis is None else self._tiles(basis[:, : self._shown])
        return {1: {"z": tiles}, 3: {"texttemplate": self.label(epsilon)}}

    def _tiles(self, basis: Array) -> list[list[int | None]]:
        """Return m images side by side, by rows of pixels in hundredths of the strongest; None in gaps."""
        whole = np.round(100 * basis / np.abs(basis).max(axis=0)).astype(int)
        images = whole.T.reshape(-1, self._high, self._wide).tolist()
        rows = [[pixel for image in images for pixel in (*image[y], None)] for y in range(self._high)]
        return [row[:-1] for row in rows]  # without the gap after the last image


def _labels(x: float, true: float, private: float, below: float) -> list[Trace]:
    """Return three headings from x on, at these heights: of the true, of the private part, and a caution."""
    base: Trace = {"mode": "text", "textposition": "middle right"}
    # The private part's heading is empty here, as it differs from frame to frame.
    places = (("<b>true</b>", true), ("", private), (_NOT_PRIVATE, below))
    return [
        line(1, "label", style.GUESS, x=[x], y=[y], texttemplate=words, **base) | {"textfont": {"size": 12}}
        for words, y in places
    ]
