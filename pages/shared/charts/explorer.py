"""Draw the front page's three linked panels, with a frame for each epsilon. No Streamlit here.

A frame holds what its epsilon changes in the traces. Browsers keep traces of the meta "ghost" when asked to.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer.closed_forms import closed_form
from dppca_core.experiments.explorer.experiment import DPS_PCA, EPSILONS
from dppca_core.experiments.explorer.results import ON_UNIT_ROWS, RUNS, Results, quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import Bound
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import QUANTITIES, Scale
from pages.shared.charts.traces import EPSILON_TICKS, ZERO, Trace, arms, axis, band, line, this_setting
from pages.shared.settings.catalogue import Settings

# The groups of the third panel, from the most trust to the least.
_TRUSTS = ("none", "central", "secure aggregation", "untrusted server", "local")
BoundPair = tuple[Bound, Bound]  # Theorem 4.3, which is about DPS-PCA, and the closed form
_NO_BOUND = Bound({}, math.inf, applies=False, why=(), source="")
_STRIDE = 3  # beside a picture each third epsilon has the closed form of two stages, which takes 3 to 10 ms


def spreads(results: Results, scale: Scale, names: Sequence[str]) -> Array:
    """Return the 10, 50 and 90 % quantiles over runs: (methods, epsilons, 3), nan where nothing was run.

    Methods with equally many runs are sorted together: one sort for each would take longer than all else.
    """
    out = np.full((len(names), len(EPSILONS), 3), math.nan)
    by_count: dict[int, list[tuple[int, int, list[float]]]] = {}  # by number of runs: indices of out, runs
    for i, name in enumerate(names):
        for j, epsilon in enumerate(EPSILONS if RUNS[name].private else EPSILONS[:1]):
            runs = [scale.final_error(cell) for cell in results.measured(name, epsilon)]
            by_count.setdefault(len(runs), []).append((i, j, runs))
    by_count.pop(0, None)
    for group in by_count.values():
        rows, columns, values = zip(*group, strict=True)
        out[rows, columns] = quantiles(np.transpose(values)).T
    for i, name in enumerate(names):
        if not RUNS[name].private:  # it was run once for all epsilons
            out[i] = out[i, 0]
    return out


def rounds(results: Results, scale: Scale) -> list[Trace]:
    """Return panel 1: error per step, with the theorem's terms and the closed form; `rounds_at` has the y."""
    method = results.experiment.method
    look, name = style.look(method), METHODS[method].title
    steps = steps_of(results)
    marker = {"symbol": look.symbol, "size": 6, "color": style.PRIVATE}
    ends = [0, max(steps[-1], 1)]
    terms: list[Trace] = []
    for i, term in enumerate(("sampling", "+ privacy", "+ optimisation") if method == DPS_PCA else ()):
        edge = line(1, f"Theorem 4.3: {term}", style.THEOREM[0], style.THEOREM_DASHES[i], x=steps[1:])
        fill = {"fill": "tonexty" if i else "tozeroy", "fillcolor": style.faded(style.THEOREM[i], 0.5)}
        terms.append(edge | fill)
    return [
        *terms,
        *band(1, name, style.PRIVATE, steps),
        line(1, name, style.PRIVATE, x=steps, mode="lines+markers", marker=marker, meta="ghost"),
        line(1, "closed-form prediction", style.PRIVATE, "dash", x=ends),
        line(1, "random guess", style.GUESS, "dot", x=ends, y=[scale.guess] * 2),
    ]


def rounds_at(results: Results, scale: Scale, epsilon: float, bounds: BoundPair) -> dict[int, Trace]:
    """Return what changes with epsilon in the traces of `rounds`, by their position among these."""
    (theorem, prediction), method, patch = bounds, results.experiment.method, {}
    if method == DPS_PCA:  # each term is drawn on top of those before
        stacked = np.full((3, results.experiment.iterations), math.nan)
        if theorem.applies:
            for row, term in zip(stacked, ("stat", "priv", "opt"), strict=True):
                row[:] = theorem.terms[term]
            stacked = stacked.cumsum(axis=0)
        patch = {i: {"y": scale.drawn(scale.bound_in_unit(row))} for i, row in enumerate(stacked)}
    first, runs = len(patch), [scale.values(cell) for cell in results.measured(method, epsilon)]
    # The rounds of a run may depend on epsilon; those of other runs at this epsilon are as many.
    spread = quantiles(runs) if runs else None
    for i, quantile in ((first, 0), (first + 1, 2), (first + 2, 1)):  # the band's edges, and the median
        patch[i] = {"y": [] if spread is None else scale.drawn(spread[quantile])}
        patch[i] |= {} if spread is None else {"x": list(range(spread.shape[1]))}
    total = prediction.final if prediction.applies else math.nan
    patch[first + 3] = {"y": scale.drawn(np.repeat(scale.bound_in_unit(total), 2))}
    return patch


def steps_of(results: Results) -> list[int]:
    """Return the steps of the experiment's method, from the longest of its runs so far."""
    method = results.experiment.method
    if method == DPS_PCA:  # DPS-PCA makes all its iterations; other methods may end earlier
        return list(range(results.experiment.iterations + 1))
    runs = [len(cell.sin) for epsilon in EPSILONS for cell in results.measured(method, epsilon)[:1]]
    return list(range(max(runs, default=2)))  # an axis from 0 to 1 where nothing has run


def sweep(results: Results, scale: Scale, predictions: Sequence[Bound], span: Sequence[float]) -> list[Trace]:
    """Return panel 2: error against epsilon; the last trace marks the current one, where frames put it.

    predictions: the closed form at each of EPSILONS. span: the range of the error's axis, as Plotly has it.
    """
    method = results.experiment.method
    free_look, name = style.look(NO_PRIVACY), METHODS[method].title
    spread = spreads(results, scale, (method,))[0]
    measured = np.isfinite(spread[:, 1])  # by the median
    at = [epsilon for epsilon, known in zip(EPSILONS, measured, strict=True) if known]
    low, middle, high = (scale.drawn(values) for values in spread[measured].T)
    forms = {e: bound.final for e, bound in zip(EPSILONS, predictions, strict=True) if bound.applies}
    predicted = scale.drawn(scale.bound_in_unit(np.array(list(forms.values()))))  # in the metric on screen
    runs = [scale.final_error(cell) for cell in results.measured(NO_PRIVACY, EPSILONS[0])]
    level = scale.drawn([quantiles(runs)[1] if runs else math.nan] * 2)  # [1] is the median
    ends = [EPSILONS[0], EPSILONS[-1]]
    return [
        *band(2, name, style.PRIVATE, at, low, high),
        line(2, name, style.PRIVATE, x=at, y=middle, meta="ghost"),
        line(2, "closed-form prediction", style.PRIVATE, "dash", x=list(forms), y=predicted),
        line(2, RUNS[NO_PRIVACY].title, free_look.colour, free_look.dash, x=ends, y=level),
        line(2, "random guess", style.GUESS, "dot", x=ends, y=[scale.guess] * 2),
        this_setting(2, [], [(10**v if scale.log else v) for v in span]),
    ]


class Comparison:
    """Draw panel 3: every method at one epsilon, a dot and its 10-90 % interval, grouped by trust.

    With the methods shown it has the best without privacy, and published methods on rows of length 1.
    """

    def __init__(self, results: Results, scale: Scale, shown: Collection[str]) -> None:
        self.results, self.scale = results, scale
        run = {cell[:2] for cell in list(results.cells)}  # a copy: other threads add to it
        done = {name for name, at in run if len(results.measured(name, at)) == results.repeats_of(name)}
        # Of the trust that was chosen: those of all trusts would push the axes out of sight.
        trust = METHODS[results.experiment.method].trust
        unit = [name for name in ON_UNIT_ROWS if name in done and RUNS[name].trust == trust]
        shown = {*shown, *(ON_UNIT_ROWS[name] for name in unit)}  # each also as it was published
        names = [name for name in results.methods if name in shown and name not in results.skipped]
        self.names = [*names, *unit, *([NO_PRIVACY] if results.has_reference else ())]
        self._spreads = spreads(results, scale, self.names)
        trusts = [RUNS[name].trust for name in self.names]
        order = [trust for trust in _TRUSTS if trust in trusts]
        self._groups: list[tuple[float, list[str]]] = []  # of each trust: where its methods begin, and they
        self.positions: list[float] = []  # on the axis, downwards: each heading, and the rows below it
        position = 0.0
        for trust in order:
            members = [name for name in self.names if RUNS[name].trust == trust]
            self._groups.append((position + 1, members))
            self.positions += [position + i for i in range(len(members) + 1)]
            position += len(members) + 1.35  # a row for the heading, and a gap
        self.bottom = position - 0.75  # where the axis ends: 0.6 below the last row
        self._headings = [f"<b>{text.trust_heading(trust)}</b>" for trust in order]
        ends = {"x": [scale.guess] * 2, "y": [-0.6, self.bottom]}
        self.traces = [self._dots(), line(3, "random guess", style.GUESS, "dot") | ends]

    def _dots(self) -> Trace:
        """Return all methods as one trace: a trace for each would take most of a redraw."""
        looks, k = [style.look(name) for name in self.names], self.results.experiment.k
        methods = [RUNS[name] for name in self.names]
        colours, symbols = [look.colour for look in looks], [look.symbol for look in looks]
        return line(3, "methods", style.GUESS) | {
            "mode": "markers",
            "meta": "ghost",
            "marker": {"color": colours, "symbol": symbols, "size": 11},
            "customdata": [[m.title, text.guarantee(m.guarantee_at(k))] for m in methods],
            "hovertemplate": "%{x:.4~g}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
        }

    def _label(self, name: str, epsilon: float) -> str:
        label = RUNS[name].title
        waiting = name in self.results.slow and not self.results.measured(name, epsilon)
        return f"<i>{label} · too slow</i>" if waiting else label

    def frame(self, epsilon: float) -> tuple[Trace, list[str]]:
        """Return dots and intervals at this epsilon, best first in each group, and the axis labels."""
        low, middle, high = self._spreads[:, EPSILONS.index(epsilon)].T
        sign = -1 if self.scale.more_is_better else 1
        order = dict(zip(self.names, np.where(np.isfinite(middle), sign * middle, math.inf), strict=True))
        rows: dict[str, float] = {}
        words: list[str] = []
        for heading, (top, members) in zip(self._headings, self._groups, strict=True):
            ranked = sorted(members, key=order.__getitem__)
            rows |= {name: top + i for i, name in enumerate(ranked)}
            words += [heading, *(self._label(name, epsilon) for name in ranked)]
        ends = arms(low, middle, high, style.faded(style.GUESS, 0.9), thickness=2, width=4)
        y = [rows[name] for name in self.names]
        return {"x": self.scale.drawn(middle), "y": y, "error_x": ends}, words


def bounds_at(results: Results, epsilon: float, theorem: bool) -> BoundPair:
    """Return both bounds at an epsilon, each `_NO_BOUND` where it is not about these runs or not wanted yet.

    theorem: False beside a picture, which draws no theorem. The closed form of two stages takes milliseconds:
    a first view does not wait for it, and a picture has it at every `_STRIDE`th epsilon.
    """
    experiment = results.experiment
    # A paid mean takes a part of the budget before the method runs.
    if (
        experiment.clip is not None
        or experiment.mean_share
        or not isinstance(experiment.population, Synthetic | str)
    ):
        return _NO_BOUND, _NO_BOUND
    method = experiment.method
    if method == DPS_PCA:
        setting = results.setting(epsilon)
        return BOUNDS["ge2018"](setting) if theorem else _NO_BOUND, BOUNDS["dps_prediction"](setting)
    two_stages = METHODS[method].chooses_rows
    stride = 1 if theorem else _STRIDE
    if two_stages and (EPSILONS.index(epsilon) % stride or results.missing((method, e, 0) for e in EPSILONS)):
        return _NO_BOUND, _NO_BOUND
    return _NO_BOUND, closed_form(results, method, epsilon) or _NO_BOUND


def explorer(
    results: Results,
    settings: Settings,
    bounds: Sequence[BoundPair],
    shown: Collection[str],
    drawn: Any = None,
) -> dict[str, Any]:
    """Return the three linked panels: data, layout, and one frame for each of EPSILONS.

    shown: the methods that stand side by side. drawn: the picture in the first panel (traces, frame, axes,
    title, more); None shows the error of each step there, and leaves the panel out for a single step.
    """
    scale = Scale(results, settings)
    cells = list(results.cells.values())  # more may come meanwhile
    last = np.array([scale.final_error(cell) for cell in cells])
    span = scale.span(float(last[last > ZERO].min(initial=1e-2)))  # from 0.01 or the smallest value on
    steps = drawn is None and METHODS[results.experiment.method].iterative
    first = drawn.traces if drawn else rounds(results, scale) if steps else []
    second = sweep(results, scale, [prediction for _, prediction in bounds], span)
    third = Comparison(results, scale, shown)
    dots_at = len(first) + len(second)  # index of the dots' trace, one after the mark of this epsilon
    frames = []
    for epsilon, pair in zip(EPSILONS, bounds, strict=True):
        dots, labels = third.frame(epsilon)
        patches = drawn.frame(epsilon) if drawn else {}
        if steps:
            patches = rounds_at(results, scale, epsilon, pair)
        patches |= {dots_at - 1: {"x": [epsilon] * 2}, dots_at: dots}
        frames.append({"traces": {str(i): patch for i, patch in patches.items()}, "methods": labels})
    return {
        "data": [*first, *second, *third.traces],
        "layout": _layout(third, span, drawn),
        "frames": frames,
    } | (drawn.more if drawn else {})


def _layout(third: Comparison, span: list[float], drawn: Any) -> dict[str, Any]:
    """Return axes and titles. span: the range of each axis of an error; drawn: as `explorer` has it."""
    results, scale = third.results, third.scale
    method = METHODS[results.experiment.method]
    word = ({"energy": "energy"} | QUANTITIES).get(scale.metric, "error")
    error_title, kind = text.METRIC_TITLES[scale.metric], "log" if scale.log else "linear"

    def error_axis(title: str, **more: Any) -> Trace:
        return axis(title, decades=scale.log, type=kind, range=span, fixedrange=False, **more)

    titles = [f"{word.capitalize()} against ε", "Methods side by side"]
    first, alone = {}, bool(drawn) or not method.iterative  # alone: no panel of steps beside the second
    if drawn:
        first, titles = drawn.axes, [drawn.title, *titles]
    elif method.iterative:
        last, step = steps_of(results)[-1], "iteration" if method.name == DPS_PCA else "step"
        titles = [f"{method.title}, {word} per {step}", *titles]
        across = axis(f"{step} t", range=[-0.3, last + 0.3], dtick=max(1, last // 5))
        first = {"xaxis": across, "yaxis": error_axis(error_title)}
    up = axis("", anchor="x3", range=[third.bottom, -0.6], ticks="")
    return first | {
        "xaxis2": axis("privacy loss ε", type="log", range=[-2.04, 1.04], anchor="y2") | EPSILON_TICKS,
        # Beside the first panel it shares that panel's scale.
        "yaxis2": error_axis(error_title if alone else "", anchor="x2", showticklabels=alone),
        "xaxis3": error_axis(error_title, anchor="y3"),
        "yaxis3": up | {"tickvals": third.positions, "showgrid": False},
        "meta": {"titles": titles, "rows": third.bottom + 0.6, "picture": drawn is not None},
        "hovermode": "closest",
        "showlegend": False,
    }
