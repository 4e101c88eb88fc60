"""Draw the story's figures: few marks, large type, one finding each. Plain dictionaries, no Streamlit.

Shares are medians, in % of the pattern, between the ends of their 99 % interval.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from dppca_core.experiments.decision.rule import USEFUL
from pages.learn.story.model import ALONE, FREE, GUESS, TRUSTS, Point, Story, Weights, under
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import SPANS
from pages.shared.charts.traces import Trace, axis, band, bar, line, marks, one_panel, rounded
from pages.shared.plain import decisions, share_bars

# The browser sizes figure and type by the window, so that a talk fills any screen.
_TYPE, _HEIGHT, _PRESENTED = 0.0107, 0.43, 0.53  # shares of the window's width and height: 20 px at 1920
_LAYOUT: Trace = {"height": 480, "margin": {"l": 20, "r": 20, "t": 20, "b": 20}, "bargap": 0.55}
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal", "font": {}}


def _figure(traces: Sequence[Trace], **layout: object) -> Trace:
    return one_panel(traces, **(_LAYOUT | {"legend": _LEGEND} | layout))


def _axis(title: str, **more: object) -> Trace:
    return axis(title, automargin=True, fixedrange=True) | more


def _bars(story: Story, shown: Sequence[share_bars.ShareRow], free: bool) -> Trace:
    """Draw the bars of the page that decides; free: with a line of what all recover without privacy."""
    here = story.here
    unprotected = here.median(FREE) if free else math.nan
    figure = share_bars.figure(share_bars.Shares(tuple(shown), unprotected, here.median(GUESS)))
    for trace in figure["data"]:
        trace.pop("textfont", None)
    layout = figure["layout"]
    layout |= _LAYOUT | {"legend": _LEGEND, "xaxis": layout["xaxis"] | {"automargin": True}}
    return figure


def _alone(story: Story) -> share_bars.ShareRow:
    use = story.setting.use
    colour = style.PRIVATE if use == "publish" else style.NOT_PRIVATE
    label = decisions.alone_label(story.ours.patients, use)
    return share_bars.ShareRow(label, story.here.spread(ALONE), colour)


def sharing(story: Story) -> Trace:
    shown = [_alone(story)]
    if story.count > 1:
        shown.append(share_bars.ShareRow(decisions.WITHOUT, story.here.spread(FREE), style.NOT_PRIVATE))
    return _bars(story, shown, free=False)


def joined(story: Story) -> Trace:
    shown = [
        share_bars.ShareRow(
            label=decisions.together_label(trust),
            spread=story.here.spread(under(trust)),
            colour=share_bars.LOOKS[trust].colour,
            stands_out=trust == story.trust,
        )
        for trust in TRUSTS
    ]
    return _bars(story, [*shown, _alone(story)], free=True)


def rebuilt(story: Story) -> Trace:
    record = story.record
    shown = {"y": story.names(record.shown), "showlegend": True}
    true, found_out = (rounded(values[record.shown]) for values in (record.patient, record.rebuilt))
    reach = 1.15 * float(np.abs(record.patient[record.shown]).max())  # with room for the largest one's mark
    return _figure(
        [
            marks(
                1, "the patient's own values", style.GUESS, "circle-open", size=24, edge=3, x=true, **shown
            ),
            marks(
                1,
                "worked out from two totals",
                style.NOT_PRIVATE,
                "x-thin",
                size=14,
                edge=3,
                x=found_out,
                **shown,
            ),
        ],
        xaxis=_axis("value (0 is the usual one)", range=[-reach, reach], zeroline=True),
        yaxis=_axis("", autorange="reversed", type="category"),
    )


def _weights(story: Story, weights: Weights, name: str, colour: str) -> Trace:
    shown = {"y": story.names(weights.shown), "showlegend": True}
    released = bar(name, colour, fill=0.75, edge=2, x=rounded(weights.released[weights.shown]), **shown)
    true = rounded(weights.true[weights.shown])
    return _figure(
        [
            released | {"hovertemplate": "%{y}: %{x}<extra></extra>"},
            marks(1, "true", style.TRUE, "line-ns", size=24, edge=5, x=true, **shown),
        ],
        xaxis=_axis("weight (0 is none, 1 is full)", range=[0, 1.02]),
        yaxis=_axis("", autorange="reversed", type="category"),
        bargap=0.35,
    )


def pattern(story: Story) -> Trace:
    return _weights(story, story.weights(FREE), "no privacy", style.NOT_PRIVATE)


def decision(story: Story) -> Trace:
    return _weights(story, story.weights(under(story.trust)), "with privacy", style.PRIVATE)


def attack(story: Story) -> Trace:
    """Draw the laws of what is read with and without the patient, and twenty readings of each."""
    picture = story.attack
    # Both laws have width 1, at 0 and at mu: four widths to each side leave out next to nothing.
    left, right = -4.0, max(picture.mu + 4.0, 4.0)
    x = np.linspace(left, right, 201)
    present, absent = text.neighbour_names(picture.instead is not None)
    sides = (  # name, colour, marker, dash, the law's mean, releases
        (present, style.THE_PATIENT, "circle", "solid", picture.mu, picture.with_patient),
        (absent, style.ANOTHER_PATIENT, "diamond-open", "dash", 0.0, picture.without_patient),
    )
    traces: list[Trace] = []
    for row, (name, colour, symbol, dash, centre, releases) in enumerate(sides):
        law = line(1, name, colour, dash, 4, x=rounded(x), y=rounded(norm.pdf(x, centre)), hoverinfo="skip")
        traces.append(law | {"fill": "tozeroy", "fillcolor": style.faded(colour, 0.16)})
        # Put dots below the law, in three lines by turns, so that they overlap less.
        below = [-0.06 - 0.1 * row - 0.025 * (i % 3) for i in range(len(releases))]
        reads = rounded([release.reading for release in releases])
        dots = marks(1, name, colour, symbol, size=13, edge=3, x=reads, y=below, showlegend=True)
        traces.append(dots | {"hovertemplate": "%{x}<extra></extra>"})
    limit = picture.limit
    # The line goes from below the dots to above the laws, whose peak is 0.4.
    edge: Trace = {"dash": "dot", "width": 3, "x": [limit] * 2, "y": [-0.26, 0.43], "hoverinfo": "skip"}
    note = {"x": limit, "y": 0.435, "text": "guess “with” →", "showarrow": False}
    return _figure(
        [*traces, line(1, "guess “with” to the right", style.GUESS, **edge)],
        annotations=[note | {"xanchor": "left", "yanchor": "bottom", "xshift": 6}],
        xaxis=_axis("number read (1 is the width of the noise)", range=[left, right]),
        yaxis={"visible": False, "range": [-0.27, 0.5], "fixedrange": True},
    )


def _curve(
    story: Story,
    points: Sequence[Point],
    x: Sequence[float],
    title: str,
    ticks: Mapping[float, str],
    here: str,
) -> Trace:
    """Draw the share along x, with a ring at the present setting, named `here`; ticks: labels by value."""
    private, free = under(story.trust), [p.median(FREE) for p in points]
    spread = np.array([point.spread(private) for point in points]).reshape(-1, 3)
    free = [story.here.median(FREE) if math.isnan(share) else share for share in free]  # the same at any ε
    marker = {"symbol": "circle", "size": 11, "color": style.PRIVATE}
    edges = band(1, text.JOINING[story.trust], style.PRIVATE, x, rounded(spread[:, 0]), rounded(spread[:, 2]))
    ends = [x[0], x[-1]] if x else []
    shown = [
        line(1, "with privacy", style.PRIVATE, width=5, x=x, y=rounded(spread[:, 1]), marker=marker)
        | {"mode": "lines+markers"},
        line(1, "no privacy", style.NOT_PRIVATE, width=3, x=x, y=rounded(free)),
        line(1, "a random guess", style.GUESS, "dot", 3, x=ends, y=rounded([story.here.median(GUESS)] * 2)),
        line(1, "enough from here up", style.VERMILION, "longdash", 3, x=ends, y=[USEFUL] * 2),
    ]
    shown = [trace | {"showlegend": True, "hovertemplate": "%{y}<extra></extra>"} for trace in shown]
    at = [(value, row[1]) for value, point, row in zip(x, points, spread, strict=True) if point is story.here]
    ring = {"x": [value for value, _ in at], "y": rounded([share for _, share in at]), "showlegend": True}
    shown.append(marks(1, here, style.PRIVATE, "circle-open", size=30, edge=5, **ring))
    reach = {"range": [math.log10(x[0]) - 0.1, math.log10(x[-1]) + 0.1]} if x else {}
    labels = {"tickvals": list(ticks), "ticktext": list(ticks.values())}
    return _figure(
        [*edges, *shown],
        xaxis=_axis(title, type="log", **labels, **reach),
        yaxis=_axis(text.METRIC_TITLES["share"], range=SPANS["share"]),
    )


def cost(story: Story) -> Trace:
    points = story.drawn(5)
    x = [point.setting.hospitals[story.setting.ours].epsilon for point in points]
    ticks = {tick: text.number(tick) for tick in (0.01, 0.1, 1.0, 10.0)}
    whose = " of our hospital, others in proportion" if story.typed_losses else ""
    return _curve(story, points, x, f"← strict · privacy loss ε{whose} · loose →", ticks, "this setting")


def _patients(number: float) -> str:
    return text.patients(number).replace(" million", " m").replace(" billion", " bn")


def bought(story: Story) -> Trace:
    points = story.drawn(6)
    x = [float(point.setting.n) for point in points]
    powers = [10.0**power for power in range(2, 10)]
    at = [n for n in powers if x and x[0] <= n <= x[-1]] if not story.few else x
    ticks = {tick: f"{tick:,.0f}" if story.few else _patients(tick) for tick in at}
    title = "patients in total (m: million)" if not story.few else "patients in total"
    figure = _curve(story, points, x, title, ticks, "these patients")
    first = story.free_from
    if first is not None:
        since = float(first.setting.n)
        mark = {"type": "line", "x0": since, "x1": since, "yref": "paper", "y0": 0, "y1": 0.86}
        figure["layout"]["shapes"] = [mark | {"line": {"color": style.GUESS, "width": 3, "dash": "dot"}}]
        note = {"x": math.log10(since), "y": 0.5, "yref": "paper", "yanchor": "middle", "xanchor": "left"}
        note |= {"xshift": 8, "text": "no measurable cost →", "showarrow": False}
        figure["layout"]["annotations"] = [note]
    return figure


def of_step(story: Story, step: int) -> dict[str, Any]:
    figure = (sharing, rebuilt, pattern, attack, cost, bought, joined, decision)[step - 1](story)
    fits = {"type": _TYPE, "height": _PRESENTED if story.settings["story.present"] else _HEIGHT}
    figure["layout"]["meta"] = {"titles": (), "narrow": {}, "fits": fits}
    return figure
