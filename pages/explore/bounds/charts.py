"""Bounds beside what was measured -> figures as plain dictionaries. No Streamlit: no browser in tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import ndimage

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.ge_figure2 import EPSILONS as EPSILON_RANGE
from dppca_core.bounds.ge_figure2 import Figure2
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.experiment import EPSILONS, TRACED
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.experiments.explorer.regime_map import RegimeMap
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.records import Bound
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import Scale
from pages.shared.charts.traces import Trace, axis, band, line, one_panel, rounded

# Two for each kind: colours repeat after eight bounds, and then the dash tells two of a kind apart.
KIND_DASH = {
    "upper": ("solid", "longdashdot"),
    "lower": ("dot", "2px,8px"),
    "prediction": ("dash", "dashdot"),
}
REGIME_COLOURS = ("#1B9E77", "#F0C34E", "#C44E52", "#9AA5B1")
REGIME_INKS = ("#111111", "#111111", "#ffffff", "#111111")  # 4.5:1 or more on these
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#C58300", "#8468B8", "#2F9AD0", "#8C6D1F", "#7A8793")
_SYMBOLS = (
    *("circle", "square", "diamond", "cross", "triangle-up", "triangle-down", "pentagon", "hexagon"),
    *("star", "triangle-left", "triangle-right", "hourglass", "bowtie", "star-square", "star-diamond", "x"),
)
_MARKED = 7  # of a bound's points: enough to tell its line without its colour
_THIN = 1.2  # pixels, where an assumption fails
_ROOM = 2.0  # cells from a region's edge to its name
REGIME_NOTES = {
    "closed form": (
        "By the closed form for DPS-PCA: privacy is free where sampling errs more than noise, costs where it "
        "errs less, hopeless where the predicted error is beyond a third of a guess, silent where "
        "first-order reasoning does not reach."
    ),
    "theorem": (
        "By Theorem 4.3 of Ge et al. with its constants as set below: free or costly by its larger term, "
        "hopeless where its total is no better than a guess, silent where an assumption fails."
    ),
}
FIGURE_2_NOTE = (
    "The paper does not report the parameters of this figure. γ = 0.356 and α = 0.0513/ε, found by fitting "
    "its curve at δ = 0.01, reproduce its shape within 1 %, but other values would too. Most of it lies "
    "above √5, the largest error there is, and assumption B.3 fails along the whole curve."
)


def colour(name: str) -> str:
    """The bound's colour: by its place in the registry, so the same everywhere."""
    return _COLOURS[list(BOUNDS).index(name) % len(_COLOURS)]


def symbol(name: str) -> str:
    """The bound's mark, by its place in the registry as well."""
    return _SYMBOLS[list(BOUNDS).index(name) % len(_SYMBOLS)]


def state(name: str, bound: Bound, most: float) -> str:
    """Whether it "applies", an "assumption fails", or it is "void".

    Void is beyond the largest error there is, or a success probability of zero or less.
    """
    if bound.quantities.get("probability", 1.0) <= 0:
        return "void"
    if not math.isfinite(bound.final) or (BOUNDS[name].kind == "upper" and bound.final >= most):
        return "void"
    return "applies" if bound.applies else "assumption fails"


def against_epsilon(
    found: Results,
    of: str,
    evaluated: Mapping[str, Sequence[Bound]],
    epsilon: float,
    scale: Scale,
    plain: bool = False,
) -> dict[str, Any]:
    """Measured error of method `of` and the bounds, against epsilon on two log axes; plain: no symbols.

    A bound is solid, dashed or dotted by its kind where it applies, thin where an assumption fails, and
    a row of hollow marks at the top where it is void.
    """
    look, title = style.look(of), METHODS[of].title
    seen = [(e, found.measured(of, e)) for e in EPSILONS]
    at = [e for e, cells in seen if cells]
    spread = [quantiles([scale.last(cell) for cell in cells]) for _, cells in seen if cells]
    low, middle, high = np.array(spread).reshape(-1, 3).T
    most = scale.factor * math.sqrt(min(found.experiment.k, found.experiment.d - found.experiment.k))
    values = [bound.final * scale.factor for bounds in evaluated.values() for bound in bounds]
    smallest = min([v for v in (*low, *values) if 1e-6 < v < math.inf], default=1e-2)
    scale.floor = 10.0 ** min(math.floor(math.log10(smallest)), -2)
    top = 2.2 * most
    bands = band(1, title, look.colour, at)
    bands[0]["y"], bands[1]["y"] = scale.drawn(low), scale.drawn(high)
    traces: list[Trace] = [
        *bands,
        line(1, f"{title}, measured", look.colour, x=at, y=scale.drawn(middle), showlegend=True)
        | {"line": {"color": look.colour, "width": 3}},
        line(1, "random guess", style.GUESS, "dot", x=[EPSILONS[0], EPSILONS[-1]], y=[scale.guess] * 2),
    ]
    for row, (name, bounds) in enumerate(evaluated.items()):
        traces += _bound_traces(name, bounds, scale, most, top * 0.96 ** (2 * row))
    traces.append(
        line(1, "this setting", "#000000", x=[epsilon] * 2, y=[scale.floor, top])
        | {"meta": "text-colour", "hoverinfo": "skip"}
    )
    ticks = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6}
    measure = "error" if plain else text.METRIC_TITLES[scale.metric]
    return one_panel(
        traces,
        xaxis=axis(_privacy(plain), type="log", range=[-2.04, 1.04])
        | {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]},
        yaxis=axis(measure, range=[math.log10(scale.floor), math.log10(1.1 * top)]) | ticks,
        legend_at=-0.16,
        height=460,
    )


def table(found: Results, of: str, evaluated: Mapping[str, Sequence[Bound]]) -> pd.DataFrame:
    """Tidy: the measured runs of method `of`, then every bound at every epsilon, all as sin Theta."""
    most = math.sqrt(min(found.experiment.k, found.experiment.d - found.experiment.k))
    runs = [
        {"what": "measured", "name": of, "epsilon": e, "repeat": repeat, "sin_theta": float(cell.sin[-1])}
        for e in EPSILONS
        for repeat, cell in enumerate(found.measured(of, e))
    ]
    bounds = [
        {"what": BOUNDS[name].kind, "name": name, "epsilon": e, "sin_theta": bound.final}
        | {"state": state(name, bound, most)}
        for name, row in evaluated.items()
        for e, bound in zip(EPSILONS, row, strict=True)
    ]
    columns = ["what", "name", "epsilon", "repeat", "sin_theta", "state"]
    return pd.DataFrame([*runs, *bounds], columns=columns).astype({"repeat": "Int64"})


def _bound_traces(name: str, bounds: Sequence[Bound], scale: Scale, most: float, top: float) -> list[Trace]:
    rule, shade = BOUNDS[name], colour(name)
    states = [state(name, bound, most / scale.factor) for bound in bounds]
    drawn = [bound.final * scale.factor for bound in bounds]

    def only(kind: str) -> list[float | None]:
        kept = [v if s == kind else math.nan for v, s in zip(drawn, states, strict=True)]
        return rounded(np.maximum(kept, scale.floor))

    mark = {"symbol": symbol(name), "size": 7, "color": shade}
    shared = {"x": list(EPSILONS), "legendgroup": name, "mode": "lines+markers"}
    shared["marker"] = mark | {"maxdisplayed": _MARKED}
    dash = KIND_DASH[rule.kind][list(BOUNDS).index(name) // len(_COLOURS) % 2]
    row = {"mode": "markers", "marker": mark | {"symbol": f"{symbol(name)}-open", "size": 6}}
    return [
        line(1, rule.title, shade, dash, y=only("applies"), showlegend=True) | shared,
        line(1, f"{rule.title}: an assumption fails", shade, dash, y=only("assumption fails"))
        | shared
        | {"line": {"color": shade, "dash": dash, "width": _THIN}},
        line(1, f"{rule.title}: says nothing", shade)
        | shared
        | row
        | {"y": [top if s == "void" else None for s in states], "hoverinfo": "name"},
    ]


def terms(found: Results, bound: Bound, epsilon: float, scale: Scale) -> dict[str, Any]:
    """Theorem 4.3's terms stacked over the iterations, beside the measured trajectory."""
    steps = list(range(found.experiment.iterations + 1))
    look = style.look(TRACED)
    cells = found.measured(TRACED, epsilon)
    traces: list[Trace] = []
    top = 1.6 * scale.guess
    most = math.sqrt(min(found.experiment.k, found.experiment.d - found.experiment.k))
    if bound.terms and state("ge2018", bound, most) != "void":
        stacked = np.zeros((3, found.experiment.iterations))
        for row, term in zip(stacked, ("stat", "priv", "opt"), strict=True):
            row[:] = bound.terms[term]
        stacked = stacked.cumsum(axis=0) * scale.factor
        top = max(top, 1.1 * float(stacked.max()))
        names = ("sampling ξ_stat", "+ privacy ξ_priv", "+ optimisation ξ_opt")
        strong = 0.6 if bound.applies else 0.25
        for i, (row, name, shade) in enumerate(zip(stacked, names, style.THEOREM, strict=True)):
            fill = {"fill": "tozeroy" if i == 0 else "tonexty", "fillcolor": style.faded(shade, strong)}
            traces.append(
                line(1, name, style.THEOREM[0], style.THEOREM_DASHES[i], x=steps[1:], y=rounded(row))
                | fill
                | {"showlegend": True}
            )
    if cells:
        low, middle, high = quantiles([scale.values(cell) for cell in cells])
        bands = band(1, METHODS[TRACED].title, look.colour, steps)
        bands[0]["y"], bands[1]["y"] = rounded(low), rounded(high)
        measured = line(1, f"{METHODS[TRACED].title}, measured", look.colour, x=steps, y=rounded(middle))
        traces += [*bands, measured | {"showlegend": True, "mode": "lines+markers"}]
    guess = line(1, "random guess", style.GUESS, "dot", x=[steps[0], steps[-1]], y=[scale.guess] * 2)
    return one_panel(
        [*traces, guess],
        xaxis=axis("iteration t", range=[-0.3, steps[-1] + 0.3], dtick=max(1, steps[-1] // 5)),
        yaxis=axis(text.METRIC_TITLES[scale.metric], range=[0, top]),
        legend_at=-0.16,
        height=380,
    )


def _privacy(plain: bool) -> str:
    return "privacy setting" if plain else "privacy loss ε"


def regimes(found: RegimeMap, n: int, epsilon: float, plain: bool = False) -> dict[str, Any]:
    """The (n, epsilon) plane coloured by what dominates there; a cross at the page's own setting."""
    count = len(REGIONS)
    steps = [[edge, shade] for i, shade in enumerate(REGIME_COLOURS) for edge in (i / count, (i + 1) / count)]
    heat = {
        "type": "heatmap",
        "x": [float(v) for v in found.patients],
        "y": [float(v) for v in found.epsilons],
        "z": found.codes.tolist(),
        "text": [[REGIONS[code] for code in row] for row in found.codes],
        "hovertemplate": "%{x:,.3s} patients, " + _privacy(plain) + " %{y:.3g}: %{text}<extra></extra>",
        "colorscale": steps,
        "zmin": -0.5,
        "zmax": count - 0.5,
        "showscale": False,
        "xaxis": "x",
        "yaxis": "y",
    }
    here = line(1, "this setting", "#111111", x=[n], y=[epsilon], mode="markers")
    marker = {"symbol": "x", "size": 13, "color": "#111111", "line": {"color": "#ffffff", "width": 2}}
    keys = [
        line(1, name, shade, x=[None], y=[None], mode="markers", showlegend=True)
        | {"marker": {"symbol": "square", "size": 11, "color": shade}}
        for name, shade in zip(REGIONS, REGIME_COLOURS, strict=True)
    ]
    return one_panel(
        [heat, *keys, *_named(found), here | {"marker": marker}],
        xaxis=axis("patients" if plain else "patients n", type="log", dtick=1)
        | ({"exponentformat": "B"} if plain else {"exponentformat": "power", "minexponent": 6}),
        yaxis=axis(_privacy(plain), type="log")
        | {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]},
        legend_at=-0.16,
        height=420,
    )


def _named(found: RegimeMap) -> list[Trace]:
    """Each region's name where it has most room, in ink that is read on its colour."""
    named = []
    for code, (name, ink) in enumerate(zip(REGIONS, REGIME_INKS, strict=True)):
        room = ndimage.distance_transform_edt(np.pad(found.codes == code, 1))[1:-1, 1:-1]
        i, j = np.unravel_index(int(room.argmax()), room.shape)
        if room[i, j] >= _ROOM:
            at = {"x": [float(found.patients[j])], "y": [float(found.epsilons[i])]}
            words = {"mode": "text", "text": [name.replace(" is ", "<br>is ")], "hoverinfo": "skip"}
            named.append(line(1, name, ink, **at) | words | {"textfont": {"color": ink, "size": 12}})
    return named


def figure_2(fit: Figure2) -> dict[str, Any]:
    """The theorem's terms against epsilon, as Figure 2 of Ge et al. draws them, from the fitted curve."""
    epsilons = np.linspace(*EPSILON_RANGE, 60)
    curves = fit.curves(epsilons)
    names = {"total": "overall", "stat": "sampling", "priv": "privacy", "opt": "optimisation"}
    looks = (("#1F7FC0", "solid"), ("#C58300", "dash"), ("#D55E00", "longdash"), ("#009E73", "dashdot"))
    traces = [
        line(1, names[term], *look, x=rounded(epsilons), y=rounded(curves[term]), showlegend=True)
        for term, look in zip(names, looks, strict=True)
    ]
    most = line(
        1, "largest possible error, √5", style.GUESS, "dot", x=list(EPSILON_RANGE), y=[math.sqrt(5)] * 2
    )
    return one_panel(
        [*traces, most | {"showlegend": True}],
        xaxis=axis("privacy loss ε"),
        yaxis=axis("bound on ‖sin Θ‖<sub>F</sub>", rangemode="tozero"),
        legend_at=-0.16,
        height=360,
    )
