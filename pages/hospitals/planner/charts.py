"""The planner's chart as a plain dictionary: lines of equal error over patients and epsilon. No Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.hospitals.planner.view import DrawnPlan
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import factor
from pages.shared.charts.traces import Trace, axis, line, plain_figure, rounded
from pages.shared.settings.catalogue import Settings

_ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_SHARES = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
_APART = 3  # values of epsilon between the labels of two lines
_ROOM = 3.0  # a factor above and below
_SHADE = "rgba(128,140,150,{})"


def look(way: str) -> style.Look:
    """The method's, with another dash and marker where its noise is summed in secret."""
    own = style.look(PLANNED_METHODS[way].method)
    return own._replace(dash="longdash", symbol="circle-open") if way.endswith("_summed") else own


def figure(of: DrawnPlan, settings: Settings, read: Mapping[str, SimulatedAnswer]) -> Trace:
    """The plane of the way looked at: its lines of equal error, the target's line of every way, and here.

    Grey: too few patients for any epsilon. Hatched: an error too large for the closed form.
    """
    plain, asked = settings["view"] == "board", settings["plan.asked"]
    chosen = view.focus(settings)
    epsilons = [float(epsilon) for epsilon in of.plane.epsilons]
    low, high = _span(of, settings)
    traces = _no_answer(of, settings, epsilons, low, high)
    for i, level in enumerate(_SHARES if view.energetic(settings) else _ERRORS):
        traces += _equal(of, level, 2 + _APART * i, settings, (low, high))
    for name, values in of.curves.items():
        own, bold = look(name), name == chosen
        drawn = line(
            1,
            PLANNED_METHODS[name].title,
            own.colour,
            own.dash,
            x=epsilons,
            y=rounded(values),
            showlegend=True,
        )
        drawn["line"] |= {"width": 4 if bold else 2}
        drawn["hovertemplate"] = f"%{{y:,.3s}} at %{{x:.3~g}}<extra>{PLANNED_METHODS[name].title}</extra>"
        traces.append(drawn | {"opacity": 1.0 if bold else 0.75})
    traces += _here(settings, read, chosen, (low, high))
    up = axis(_upward(asked, plain), type="log", range=[math.log10(low), math.log10(high)], automargin=True)
    across = axis("privacy setting" if plain else "privacy loss ε", type="log", range=[-2.03, 1.03])
    across |= {"tickvals": [0.01, 0.1, 1, 10], "ticktext": ["0.01", "0.1", "1", "10"]}
    drawn = plain_figure(traces, across, up | _ticks(low, high))
    drawn["layout"] |= {"height": 560, "annotations": _said(of, settings, low, high)}
    legend = drawn["layout"]["legend"] | {"y": -0.13, "traceorder": "normal"}
    narrow = {"height": 660, "legend": legend | {"y": -0.2}}  # of a telephone: one name in a row
    drawn["layout"] |= {"legend": legend, "meta": {"titles": (), "narrow": narrow}}
    return drawn


def _span(of: DrawnPlan, settings: Settings) -> tuple[float, float]:
    """Whole powers of ten around the target's line of the way looked at and this setting."""
    curve = of.curves[view.focus(settings)]
    ends = float(of.plane.amounts[0]), float(of.plane.amounts[-1])
    if not np.isfinite(curve).any():
        return ends
    amount = settings["providers"] if settings["plan.asked"] == "hospitals" else view.in_total(settings)
    wanted = (np.nanmin([np.nanmin(curve), amount]) / _ROOM, np.nanmax([np.nanmax(curve), amount]) * _ROOM)
    low, high = (
        10.0 ** kind(math.log10(end)) for kind, end in zip((math.floor, math.ceil), wanted, strict=True)
    )
    return max(low, ends[0]), min(high, ends[1])


def _said(of: DrawnPlan, settings: Settings, low: float, high: float) -> list[Trace]:
    """Why there is no bold line, in its place."""
    chosen = view.focus(settings)
    answer = view.answer(settings, chosen)
    if np.isfinite(of.curves[chosen]).any() or answer.value is not None:
        return []
    words = f"no answer by formula: {page_text.short_reason(answer, settings)}"
    place = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.12, "showarrow": False}
    return [
        place | {"text": words, "font": {"size": 15}, "bgcolor": "rgba(128,140,150,0.25)", "borderpad": 6}
    ]


def _upward(asked: str, plain: bool) -> str:
    if asked == "hospitals":
        return "hospitals" if plain else "hospitals N"
    return "patients in total" if plain else "patients in total n"


def _ticks(low: float, high: float) -> Trace:
    """Powers of ten as people say them."""
    powers = [10**p for p in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    every = powers[:: 1 if len(powers) <= 8 else 2]
    return {"tickvals": every, "ticktext": [text.patients(power) for power in every]}


def _no_answer(
    of: DrawnPlan, settings: Settings, epsilons: list[float], low: float, high: float
) -> list[Trace]:
    plain, chosen, found = settings["view"] == "board", view.focus(settings), []
    flat = [low] * len(epsilons)
    base = line(1, "", "#000000", x=epsilons, y=flat, hoverinfo="skip") | {"line": {"width": 0}}
    edge = np.clip(np.nan_to_num(of.plane.edge, nan=low), low, high)
    name = "error too large to predict" if plain else "closed form silent: error beyond ⅓ of a guess"
    if not of.plane.holds and not np.isfinite(of.curves[chosen]).any():
        edge[:] = high
        name = "the formula does not hold" if plain else "closed form silent: an assumption fails"
    if (edge > low).any():
        hatch = {"shape": "/", "fgcolor": _SHADE.format(0.45), "bgcolor": _SHADE.format(0.0), "size": 9}
        own = {"y": rounded(edge), "name": name, "fill": "tonexty", "fillpattern": hatch, "showlegend": True}
        found += [base, base | own | {"fillcolor": _SHADE.format(0.2)}]
    if math.isfinite(of.floor) and of.floor > low:
        name = "too few patients for any privacy setting" if plain else "no ε helps: sampling alone errs more"
        own = {"y": [float(f"{of.floor:.4g}")] * len(epsilons), "name": name, "fill": "tonexty"}
        found += [base, base | own | {"fillcolor": _SHADE.format(0.35), "showlegend": True}]
    return found


def _equal(
    of: DrawnPlan, level: float, place: int, settings: Settings, span: tuple[float, float]
) -> list[Trace]:
    """One thin line, labelled at a place of its own; not where the closed form is silent."""
    energy = view.energetic(settings)
    loss = 1 - level if energy else level / factor(settings)
    values = of.plane.line(loss)
    values[(values < of.plane.edge) | (values < span[0]) | (values > span[1])] = np.nan
    seen = np.flatnonzero(np.isfinite(values))
    if not len(seen):
        return []
    said = f"{100 * level:g} %" if energy else f"{level:g}"
    at = place if place in seen else int(seen[len(seen) // 4])
    epsilons = [float(epsilon) for epsilon in of.plane.epsilons]
    drawn = line(1, said, style.GUESS, "dot", x=epsilons, y=rounded(values), hoverinfo="skip")
    drawn["line"] |= {"width": 1}
    words = line(1, said, style.GUESS, x=[epsilons[at]], y=rounded(values[[at]]), hoverinfo="skip")
    words |= {"mode": "text", "text": [said], "textposition": "top right", "textfont": {"size": 11}}
    return [drawn, words]


def _here(
    settings: Settings, read: Mapping[str, SimulatedAnswer], chosen: str, span: tuple[float, float]
) -> list[Trace]:
    """This setting as a cross, the answer as a dot, the simulated one with its interval."""
    asked, epsilon = settings["plan.asked"], float(settings["epsilon"])
    amount = settings["providers"] if asked == "hospitals" else view.in_total(settings)
    marks = [("this setting", epsilon, float(amount), "x", 12, "#111111")]
    answer = view.answer(settings, chosen)
    if answer.value is not None:
        at = (answer.value, float(amount)) if asked == "epsilon" else (epsilon, answer.value)
        marks.append(("the answer", *at, "circle", 13, look(chosen).colour))
    colour = look(chosen).colour
    traces = []
    for name, x, y, symbol, size, shade in marks:
        marker = {"symbol": symbol, "size": size, "color": shade}
        marker["line"] = {"color": "#ffffff", "width": 1.5}
        traces.append(
            line(
                1, name, "#000000", x=[x], y=[min(max(y, span[0]), span[1])], mode="markers", showlegend=True
            )
            | {
                "marker": marker,
                "cliponaxis": False,
                "hovertemplate": f"{name}: %{{y:,.3s}} at %{{x:.3~g}}<extra></extra>",
            }
        )
    found = read.get(chosen)
    if found is not None and found.state == "found":
        traces.append(_simulated(found, settings, colour))
    return traces


def _simulated(found: SimulatedAnswer, settings: Settings, colour: str) -> Trace:
    sideways = settings["plan.asked"] == "epsilon"
    amount = view.in_total(settings)
    place = ([found.value], [amount]) if sideways else ([settings["epsilon"]], [found.value])
    arms = {"type": "data", "symmetric": False, "color": colour, "thickness": 2, "width": 6}
    arms |= {"array": rounded([found.high - found.value]), "arrayminus": rounded([found.value - found.low])}
    own = line(1, "simulated, 95 %", colour, x=rounded(place[0]), y=rounded(place[1]), mode="markers")
    marker = {"symbol": "diamond-open", "size": 14, "color": colour, "line": {"width": 2.5}}
    return own | {"marker": marker, "showlegend": True, "error_x" if sideways else "error_y": arms}


def table(of: DrawnPlan, settings: Settings, chosen: str) -> pd.DataFrame:
    """Tidy: the target's curve of every way, then the plane of the one that is looked at."""
    amount = "hospitals" if settings["plan.asked"] == "hospitals" else "patients"
    curves = [
        {"what": "target", "way": name, "epsilon": float(e), amount: float(v)}
        for name, values in of.curves.items()
        for e, v in zip(of.plane.epsilons, values, strict=True)
    ]
    losses: Array = of.plane.losses
    column = "share_lost" if view.energetic(settings) else "sin_theta"
    points = [
        {"what": "plane", "way": chosen, "epsilon": float(e), amount: float(a), column: float(losses[i, j])}
        for i, a in enumerate(of.plane.amounts)
        for j, e in enumerate(of.plane.epsilons)
    ]
    return pd.DataFrame([*curves, *points])
