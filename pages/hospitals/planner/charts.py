"""Draw lines of equal error over patients (or hospitals) and epsilon, and in plain view a bar for each trust.

The vertical axis counts *amounts*: hospitals where hospitals are asked for, else patients. The method *in
focus* is the one chosen on the page; its line is thick. The *plane* holds its predicted losses over amounts
and epsilon. The number that `line` takes first is the panel: all figures here have one.
"""

import math

import numpy as np
import pandas as pd

from dppca_core.arrays import Array
from dppca_core.experiments.planning.plan_plane import Plane
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner.model.evaluated import CHART_EPSILONS, title
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.planner import PlanChart, Planner
from pages.hospitals.planner.sentences import plain
from pages.hospitals.planner.sentences.answer import short_reason
from pages.hospitals.planner.sentences.numbers import number, target_in_words
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import factor
from pages.shared.charts.traces import EPSILON_TICKS, Trace, arms, axis, bar, line, one_panel, rounded
from pages.shared.plain import phrases
from pages.shared.plain.share_bars import LOOKS

# The levels of the lines of equal error, and of equal captured energy.
_ERROR_LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_SHARE_LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
_LABELS_APART = 3  # values of epsilon between the labels of two lines
_MARGIN = 3.0  # a factor, above and below what is drawn
_EPSILONS = CHART_EPSILONS.tolist()
_GREY = "rgba(128,140,150,{})"  # to be filled with an opacity
_ROW_HEIGHT = 74  # pixels
_WORDS_ABOVE = 0.36  # of a row: from the middle of its bar up to its words
Span = tuple[float, float]  # the least and the largest amount on the vertical axis


def look(name: str) -> style.Look:
    """Return the colour, marker and dash of a planned method.

    A method may be planned twice: with secure aggregation ("_summed") only its dash and marker differ.
    """
    look = style.look(PLANNED_METHODS[name].method)
    return look._replace(dash="longdash", symbol="circle-open") if name.endswith("_summed") else look


def figure(drawn: PlanChart, planner: Planner) -> Trace:
    """Draw lines of equal error for the selected method, each method's line of the target, and this setting.

    Grey: too few patients for any epsilon. Hatched: the closed form does not apply, because the error is too
    large or an assumption fails.
    """
    span = _span(drawn, planner)
    traces = []
    if drawn.plane is not None:
        traces = _shades(drawn, drawn.plane, planner, span)
        for i, level in enumerate(_SHARE_LEVELS if planner.energetic else _ERROR_LEVELS):
            # Each label stands further right than the one before, so that labels do not overlap.
            traces += _equal_error(drawn.plane, level, 2 + _LABELS_APART * i, planner, span)
    for name, values in drawn.curves.items():
        colour, _symbol, dash = look(name)
        curve = line(
            1,
            title(name),
            colour,
            dash,
            width=4 if name == planner.focus else 2,
            x=_EPSILONS,
            y=rounded(values),
            showlegend=True,
            opacity=1.0 if name == planner.focus else 0.75,
        )
        curve["hovertemplate"] = f"%{{y:,.3s}} at %{{x:.3~g}}<extra>{title(name)}</extra>"
        traces.append(curve)
    traces += _marks(planner, span)
    up = "hospitals N" if planner.asked == "hospitals" else "patients in total n"
    low, high = (math.log10(end) for end in span)
    powers = [10**p for p in range(math.ceil(low), math.floor(high) + 1)]
    ticks = powers[:: 1 if len(powers) <= 8 else 2]  # of more powers than 8 every second has a tick
    upward = axis(up, type="log", range=[low, high], automargin=True)
    upward |= {"tickvals": ticks, "ticktext": [text.patients(power) for power in ticks]}
    # Epsilon from 0.01 to 10, in powers of ten, with a little room.
    across = axis("privacy loss ε", type="log", range=[-2.03, 1.03], **EPSILON_TICKS)
    note = _note_without_line(drawn, planner)
    order = {"traceorder": "normal"}
    result = one_panel(
        traces, legend_at=-0.13, legend=order, xaxis=across, yaxis=upward, height=560, annotations=note
    )
    legend = result["layout"]["legend"] | {"y": -0.2}
    result["layout"]["meta"]["narrow"] = {"height": 660, "legend": legend}  # room for one name a row
    return result


def _amount(planner: Planner) -> int:
    return int(planner.settings["providers"] if planner.asked == "hospitals" else planner.n)


def _span(drawn: PlanChart, planner: Planner) -> Span:
    """Return the ends of the vertical axis: powers of ten around this setting and the line of the focus.

    They are within the plane. Without such a line they are the plane's own ends.
    """
    curve = drawn.curves.get(planner.focus, np.array([]))
    least, most = drawn.amounts
    if not np.isfinite(curve).any():
        return least, most
    amount = _amount(planner)
    low = math.floor(math.log10(min(np.nanmin(curve), amount) / _MARGIN))
    high = math.ceil(math.log10(max(np.nanmax(curve), amount) * _MARGIN))
    return max(10.0**low, least), min(10.0**high, most)


def _note_without_line(drawn: PlanChart, planner: Planner) -> list[Trace]:
    """Return a note for the chart on why the method in focus has no line; [] where there is an answer."""
    answer, simulation = planner.answer(), planner.simulation
    if simulation is not None and simulation.state == "found":
        return []
    if planner.focus in drawn.reaching or answer.value is not None:
        return []
    reason = short_reason(answer, planner)
    no_formula_yet = answer.kind in ("evaluating", "simulation")  # or none at all
    words = f"{reason}: no line" if no_formula_yet else f"no answer by formula: {reason}"
    at = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.12, "showarrow": False}
    box = {"font": {"size": 15}, "bgcolor": _GREY.format(0.25), "borderpad": 6}
    return [at | box | {"text": words}]


def _shades(drawn: PlanChart, plane: Plane, planner: Planner, span: Span) -> list[Trace]:
    """Return the shades over the amounts without an answer: hatched and grey, as `figure` says."""
    (low, high), epsilons = span, plane.epsilons.tolist()
    traces = []

    def shade(heights: Array, opacity: float, **more: object) -> None:
        # Plotly fills down to the trace before, so each shade has a base line of its own.
        flat = {"x": epsilons, "y": [low] * len(epsilons), "line": {"width": 0}}
        base = line(1, "", style.INK, hoverinfo="skip", **flat)
        fill = {"fill": "tonexty", "fillcolor": _GREY.format(opacity)}
        traces.extend([base, base | {"y": rounded(heights)} | fill | more])

    # The closed form describes the error from this edge upwards; NaN, off the plane, is put on the axis.
    edge = np.clip(np.nan_to_num(plane.edge, nan=low), low, high)
    # An assumption may fail everywhere, and not only below the edge.
    if not plane.holds and planner.focus not in drawn.reaching:
        edge = np.full_like(edge, high)
    if (edge > low).any():
        hatch = {"shape": "/", "fgcolor": _GREY.format(0.45), "bgcolor": _GREY.format(0.0), "size": 9}
        shade(edge, opacity=0.2, fillpattern=hatch)
    if math.isfinite(drawn.floor) and drawn.floor > low:
        shade(np.full_like(edge, drawn.floor), opacity=0.35)
    return traces


def _equal_error(plane: Plane, level: float, label_at: int, planner: Planner, span: Span) -> list[Trace]:
    """Draw the dotted line of one error, or captured share, and its label; [] where none of it is visible.

    It is left out where the closed form does not apply. level: in the unit on screen. label_at: the index of
    the epsilon at which the label stands, if the line is visible there.
    """
    energy, settings = planner.energetic, planner.settings
    values = plane.line(1 - level if energy else level / factor(settings))
    values[(values < plane.edge) | (values < span[0]) | (values > span[1])] = np.nan
    visible = np.flatnonzero(np.isfinite(values))
    if not len(visible):
        return []
    label = f"{100 * level:g} %" if energy else target_in_words(settings, level)
    # Where the line is not visible at its place, the label stands a quarter along the visible part.
    at = label_at if label_at in visible else int(visible[len(visible) // 4])
    epsilons = plane.epsilons.tolist()
    curve = line(1, label, style.GUESS, "dot", 1, x=epsilons, y=rounded(values), hoverinfo="skip")
    words = {"mode": "text", "text": [label], "textposition": "top right", "textfont": {"size": 11}}
    return [curve, curve | {"x": [epsilons[at]], "y": rounded(values[[at]])} | words]


def _marks(planner: Planner, span: Span) -> list[Trace]:
    """Mark this setting with a cross, the answer with a dot, and the simulated answer with its interval.

    Where epsilon is asked for, the answer lies sideways of this setting, else above or below it.
    """
    epsilon, amount = float(planner.epsilon), float(_amount(planner))
    sideways, colour = planner.asked == "epsilon", look(planner.focus).colour

    def mark(name: str, value: float, **marker: object) -> Trace:
        x, y = (value, amount) if sideways else (epsilon, value)
        inside = [min(max(y, span[0]), span[1])]  # what lies beyond the axis is marked on its end
        drawn = line(1, name, style.INK, x=[x], y=inside, mode="markers", showlegend=True, cliponaxis=False)
        drawn["marker"] = {"line": {"color": style.PAPER, "width": 1.5}} | marker
        return drawn | {"hovertemplate": f"{name}: %{{y:,.3s}} at %{{x:.3~g}}<extra></extra>"}

    marks = [mark("this setting", epsilon if sideways else amount, symbol="x", size=12, color=style.INK)]
    answer, simulation = planner.answer().value, planner.simulation
    if answer is not None:
        marks.append(mark("the answer", answer, symbol="circle", size=13, color=colour))
    if simulation is not None and simulation.state == "found":
        low, middle, high = np.array([[simulation.low], [simulation.value], [simulation.high]])
        bars = {"error_x" if sideways else "error_y": arms(low, middle, high, colour, thickness=2, width=6)}
        diamond = {"symbol": "diamond-open", "size": 14, "color": colour, "line": {"width": 2.5}}
        marks.append(mark("simulated, 95 %", simulation.value, **diamond) | bars)
    return marks


def table(planner: Planner) -> pd.DataFrame:
    """Return the numbers of the chart as one table, whose column "what" tells three kinds of rows apart.

    "answer": what a "method" needs, "by" closed form or simulation, the latter with the ends of its
    interval. "target": where a method's line lies. "plane": the loss of the method in focus, which is
    ‖sin Θ‖ or the share of energy lost.
    """
    planner.complete()  # a table is taken along once, so it must not lack what is still being evaluated
    drawn = planner.drawn()
    plane, amount = drawn.plane, "hospitals" if planner.asked == "hospitals" else "patients"
    loss = "share_lost" if planner.energetic else "sin_theta"
    setting: Trace = {"epsilon": planner.epsilon, amount: _amount(planner)}
    unknown = "epsilon" if planner.asked == "epsilon" else amount
    answers: list[Trace] = []
    for name in planner.listed:
        answer, simulation = planner.answer(name), planner.simulations.get(name)
        by = "closed form" if answer.value is not None else f"none: {answer.kind}"
        # The answer takes the place of this setting's value in the column that is asked for.
        row = setting | {"method": name, unknown: answer.value}
        answers.append(row | {"by": by, "chance_kept": answer.chance})
        if simulation is not None and simulation.state in ("found", "least"):
            ends = {unknown: simulation.value, "low": simulation.low, "high": simulation.high}
            answers.append(row | {"by": "simulation"} | ends)
    epsilons = pd.Index(_EPSILONS, name="epsilon")
    curves = pd.DataFrame(drawn.curves, epsilons).melt(
        var_name="method", value_name=amount, ignore_index=False
    )
    parts = [pd.DataFrame(answers).assign(what="answer"), curves.reset_index().assign(what="target")]
    if plane is not None:
        losses = pd.DataFrame(plane.losses.T, pd.Index(plane.nodes.tolist(), name="epsilon"), plane.amounts)
        points = losses.melt(var_name=amount, value_name=loss, ignore_index=False).reset_index()
        parts.append(points.assign(what="plane", method=planner.focus))
    columns = ["what", "method", "epsilon", amount, loss, "by", "low", "high", "chance_kept"]
    return pd.concat(parts).reindex(columns=columns)


def by_trust(planner: PlainPlanner) -> Trace:
    """Draw a bar for each trust, the least on top, and a line across them at what there is now.

    A bar that is not known yet has no length. The line is left out where it is far beyond all bars.
    """
    now, known = planner.current_value, planner.known
    # The axis ends a little beyond the longest bar.
    end = 1.15 * max(known.values(), default=1.0)
    traces = []
    for i, trust in enumerate(each.trust for each in planner.least):
        words = number(known[trust], planner.asked) if trust in known else "…"
        colour, words = LOOKS[trust].colour, f"{phrases.ROWS[trust]}: <b>{words}</b>"
        length = rounded([known.get(trust, math.nan)])
        filled = bar(phrases.ROWS[trust], colour, fill=0.75, edge=2, showlegend=False, hoverinfo="skip")
        above = line(1, "words", colour, x=[0], y=[_WORDS_ABOVE - i], text=[words], hoverinfo="skip")
        traces += [
            filled | {"x": length, "y": [-i], "width": 0.34},  # in rows, downwards
            above | {"mode": "text", "textposition": "middle right", "textfont": {"size": 14}},
        ]
    if now <= end:
        # Across each bar alone: a line from end to end would strike the words out.
        rows = [y for i in range(len(planner.least)) for y in (0.24 - i, -0.24 - i, None)]
        upright = line(1, "what you have now", style.INK, width=3, x=rounded([now] * len(rows)), y=rows)
        traces.append(upright | {"hoverinfo": "skip", "showlegend": True, "meta": "text-colour"})
    up = axis("", visible=False, range=[-len(planner.least) + 0.55, 0.6], fixedrange=True)
    across = axis(plain.AXES[planner.asked], range=[0, end], fixedrange=True, rangemode="tozero")
    height, margin = _ROW_HEIGHT * len(planner.least) + 50, {"l": 12, "r": 12, "t": 4, "b": 46}
    return one_panel(traces, legend_at=-0.24, xaxis=across, yaxis=up, height=height, margin=margin)
