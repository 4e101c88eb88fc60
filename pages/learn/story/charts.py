"""Draw the story's figures: few marks, large type, one finding each. Plain dictionaries, no Streamlit.

Each function draws what a step has measured, a tuple of `view`, as a Plotly figure. A spread holds 10, 50
and 90 % over runs of an error; a unit says whether it is shown as the share recovered or as an angle.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import norm

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.no_privacy import NO_PRIVACY
from pages.learn.story import view
from pages.learn.story.glossary import SERVER_SEES
from pages.learn.story.units import Spread, Unit
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.metric_axis import SPANS
from pages.shared.charts.traces import Trace, arms, axis, band, bar, line, marks, one_panel, rounded
from pages.shared.plain.rows import LOOKS

# The browser sizes figure and type by the window, so that a talk fills any screen.
_FITS = {"height": 0.62, "type": 0.0107}  # shares of the window's height and width: 20 px type at 1920
_META = {"titles": (), "narrow": {}, "fits": _FITS}


def _figure(traces: Sequence[Trace], **layout: object) -> Trace:
    """Return a figure of one panel with its legend above it; layout: what differs from the usual one."""
    legend = {"yanchor": "bottom", "traceorder": "normal", "font": {}}  # its type grows with the window
    base = {"height": 520, "margin": {"l": 20, "r": 20, "t": 20, "b": 20}, "bargap": 0.55}
    return one_panel(traces, legend_at=1.02, legend=legend, **(base | {"meta": _META} | layout))


def _axis(title: str, **more: object) -> Trace:
    """Return an axis that cannot be zoomed, with room for its labels; `more` are its other properties."""
    return axis(title, automargin=True, fixedrange=True) | more


def _bars(bars: Sequence[tuple[str, str, Spread, str, bool]], unit: Unit) -> Trace:
    """Draw one bar under each title, the span of 8 of 10 runs across its end, its number beside it.

    A guess is a line across the bars, or where it is far beyond them an arrow at the edge. Bars stand at
    heights 0, 1, ... from below; the words above each are annotations, of which a telephone has shorter ones.

    Args:
        bars: For each, from the top, its title, the line under it, its error, its colour, and whether it
            stands out.
        unit: What the errors are shown in.
    """
    quantiles = [unit.values(spread) for _, _, spread, _, _ in bars]  # 10, 50 and 90 %
    shares = unit.metric == "share"
    # End the axis beyond the longest bar, to leave room for the number beside it.
    end = 125.0 if shares else max(1.85 * max(float(values[2]) for values in quantiles), 1e-4)
    guess, words = unit.guess, f"a random guess: {unit.say(unit.guess)}"
    above = {
        "x": min(guess, end),
        "xanchor": "left" if guess < end / 2 else "right",
        "y": 1.0,
        "yref": "paper",
    }
    notes = [above | {"yanchor": "bottom", "text": f"{words}{' →' if guess > end else ''}"}]
    heads, short_heads = [], []  # a telephone has no room for what stands under the titles
    traces = [line(1, "guess", style.GUESS, "dot", 3, x=[guess] * 2, y=[-0.5, 9.5], hoverinfo="skip")]
    for y, (title, under, spread, colour, bold) in enumerate(reversed(bars)):
        low, middle, high = (float(value) for value in quantiles[-1 - y])  # of the reversed order
        span = arms(*np.array([low, middle, high]).reshape(3, 1), style.GUESS, thickness=3, width=9)
        at = {"x": rounded([middle]), "y": [y], "hovertemplate": "%{x}<extra></extra>"}
        opacity = 1.0 if bold else 0.45
        traces.append(bar(title, colour, opacity, edge=3, width=0.34, error_x=span, **at))
        head = f"<b>{title}</b>" if bold else title
        # Right of the line of a guess, which would strike the words out.
        left = {"x": guess, "xshift": 6} if guess < end / 4 else {"x": 0}
        over = left | {"y": y + 0.2, "yanchor": "bottom", "align": "left", "xanchor": "left"}
        beside = {"x": high, "y": y, "xshift": 12, "xanchor": "left"}
        notes.append(beside | {"text": f"<b>{unit.value(spread)}</b>"})
        heads.append(over | {"text": f"{head}<br><i>{under}</i>"})
        short_heads.append(over | {"text": head})
    ticks = {"tickvals": [0, 25, 50, 75, 100]} if shares else {}
    wide, narrow = (
        [note | {"showarrow": False} for note in (*notes, *each)] for each in (heads, short_heads)
    )
    return _figure(
        traces,
        showlegend=False,
        annotations=wide,
        meta=_META | {"narrow": {"annotations": narrow}},
        xaxis=_axis(text.METRIC_TITLES[unit.metric], range=[0, end], **ticks),
        yaxis={"visible": False, "range": [-0.45, len(bars) - 0.15], "fixedrange": True},
        margin={"l": 20, "r": 20, "t": 44, "b": 20},
    )


def sharing(sharing: view.Sharing) -> Trace:
    """Draw step 1: what the largest hospital recovers alone, and all together; of a single one, one bar."""
    setting, most = sharing.setting, max(sharing.setting.sizes)
    bars = [("All together", f"{setting.n:,} patients", sharing.together, style.NOT_PRIVATE, True)]
    if len(setting.sizes) > 1:
        bars.insert(
            0, ("The largest hospital alone", f"{most:,} patients", sharing.alone, style.NOT_PRIVATE, True)
        )
    return _bars(bars, sharing.unit)


def joined(joined: view.Joined) -> Trace:
    """Draw step 7: what is recovered by whom hospitals trust, who sees what, and one hospital alone.

    The bar of the trust that is chosen stands out.
    """
    bars = []
    for trust, (_, spread, _) in joined.by_trust.items():
        under = f"the server sees {SERVER_SEES[trust]}; {text.size(joined.sent[trust])} from each"
        bars.append((text.JOINING[trust], under, spread, LOOKS[trust].colour, trust == joined.trust))
    largest = "The hospital" if len(joined.setting.sizes) == 1 else "The largest hospital alone"
    for purpose, under, alone, colour in (
        ("to publish", "with privacy", joined.published.error, style.PRIVATE),
        ("for its own use", "no privacy, and not to be published", joined.in_house, style.NOT_PRIVATE),
    ):
        bars.append((f"{largest}, {purpose}", under, alone, colour, False))
    return _bars(bars, joined.unit)


def names(setting: CollaborationSetting, rows: Array) -> list[str]:
    """Return the names of the measurements with these indices, which only a table has; else their numbers."""
    if isinstance(setting.population, str):
        return [TABLES[setting.population].features[int(row)] for row in rows]
    return [f"measurement {int(row) + 1}" for row in rows]


def rebuilt(record: view.RebuiltRecord) -> Trace:
    """Draw step 2: a patient's largest values as rings, and as crosses what two exact totals give away."""
    shown = {"y": names(record.setting, record.rows), "showlegend": True}
    true, rebuilt = (rounded(values[record.rows]) for values in (record.patient, record.rebuilt))
    reach = 1.15 * float(np.abs(record.patient[record.rows]).max())  # the largest, with room for its mark
    return _figure(
        [
            # The numbers are the panel, and in pixels each mark's size and its edge.
            marks(1, "the patient's own values", style.GUESS, "circle-open", 24, 3, x=true, **shown),
            marks(1, "worked out from two totals", style.NOT_PRIVATE, "x-thin", 14, 3, x=rebuilt, **shown),
        ],
        xaxis=_axis("value (0 is the usual one)", range=[-reach, reach], zeroline=True),
        yaxis=_axis("", autorange="reversed", type="category"),
    )


def weights(weights: view.Weights) -> Trace:
    """Draw step 3: the released weights of the heaviest measurements as bars, the true ones as marks."""
    rows, open_ = weights.rows, weights.method == NO_PRIVACY
    shown = {"y": names(weights.setting, rows), "showlegend": True}
    name, colour = ("no privacy", style.NOT_PRIVATE) if open_ else ("with privacy", style.PRIVATE)
    released = bar(name, colour, fill=0.75, edge=2, x=rounded(weights.released[rows]), **shown)
    true = marks(1, "true", style.TRUE, "line-ns", size=24, edge=5, x=rounded(weights.true[rows]), **shown)
    return _figure(
        [released | {"hovertemplate": "%{y}: %{x}<extra></extra>"}, true],
        xaxis=_axis("weight (0 is none, 1 is full)", range=[0, 1.02]),
        yaxis=_axis("", autorange="reversed", type="category"),
        bargap=0.35,
    )


def decision(decision: view.Decision) -> Trace:
    """Draw step 8: the weights that would be released, as in step 3."""
    return weights(decision.weights)


def attack(attack: view.AttackPicture) -> Trace:
    """Draw step 4: the laws of what is read with and without the patient, and twenty readings of each."""
    picture, limit = attack.picture, attack.picture.limit
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
    # The line goes from below the dots to above the laws, whose peak is 0.4.
    words = "guess “with” to the right"
    edge = line(1, words, style.GUESS, "dot", 3, x=[limit] * 2, y=[-0.26, 0.43], hoverinfo="skip")
    note = {"x": limit, "y": 0.435, "text": "guess “with” →", "showarrow": False}
    return _figure(
        [*traces, edge],
        annotations=[note | {"xanchor": "left", "yanchor": "bottom", "xshift": 6}],
        xaxis=_axis("number read (1 is the width of the noise)", range=[left, right]),
        yaxis={"visible": False, "range": [-0.27, 0.5], "fixedrange": True},
    )


def _curve(curve: view.Curve, title: str, ticks: Mapping[float, str], here: str) -> Trace:
    """Draw the error along a setting, with and without privacy, a guess, and where it is of little use.

    title: of the horizontal axis. ticks: its labels by their values. here: the legend's name for the ring at
    the current setting.
    """
    look, unit = style.look(curve.method), curve.unit
    x, ends = list(curve.values), [curve.values[0], curve.values[-1]]
    # With privacy and without: a row for each value on the x axis, with 10, 50 and 90 % in three columns.
    private, open_ = (
        np.array([unit.values(spread) for spread in spreads]) for spreads in (curve.private, curve.free)
    )
    low, high = private.min(axis=1), private.max(axis=1)
    edges = band(1, text.JOINING[curve.trust], style.PRIVATE, x, rounded(low), rounded(high))
    marker = {"symbol": look.symbol, "size": 11, "color": style.PRIVATE}
    edge = unit.at(view.TOO_MUCH * view.guess(curve.setting))  # beyond it an answer is of little use
    side = "below" if unit.metric == "share" else "above"
    shown = [
        line(1, "with privacy", style.PRIVATE, x=x, y=rounded(private[:, 1]), marker=marker)
        | {"mode": "lines+markers"},
        line(1, "no privacy", style.NOT_PRIVATE, x=x, y=rounded(open_[:, 1])),
        line(1, "random guess", style.GUESS, "dot", x=ends, y=rounded([unit.guess] * 2)),
        line(1, f"of little use {side}", style.VERMILION, "longdash", x=ends, y=rounded([edge] * 2)),
    ][: 4 if math.isfinite(edge) else 3]  # in degrees the last one has no place where k > 1
    for i, trace in enumerate(shown):
        trace |= {"showlegend": True, "hovertemplate": "%{y}<extra></extra>"}
        trace["line"]["width"] = 5 if i == 0 else 3
    at = {"x": [x[curve.here]], "y": rounded([private[curve.here, 1]]), "showlegend": True}
    ring = marks(1, here, style.PRIVATE, "circle-open", size=30, edge=5, **at)
    reach = [math.log10(ends[0]) - 0.1, math.log10(ends[1]) + 0.1]
    return _figure(
        [*edges, *shown, ring],
        xaxis=_axis(title, type="log", tickvals=list(ticks), ticktext=list(ticks.values()), range=reach),
        yaxis=_axis(text.METRIC_TITLES[unit.metric], range=SPANS[unit.metric]),
    )


def over_privacy(curve: view.Curve) -> Trace:
    """Draw step 5: the error along the privacy loss."""
    ticks = {tick: text.number(tick) for tick in (0.01, 0.1, 1.0, 10.0)}
    return _curve(curve, "← strict · privacy loss ε · loose →", ticks, "this setting")


def over_patients(curve: view.Curve) -> Trace:
    """Draw step 6: the error along the number of patients, and from how many on privacy is almost free."""
    table = curve.setting.population in TABLES
    at = (
        list(curve.values)
        if table
        else [10.0**p for p in range(2, 10) if curve.values[0] <= 10**p <= curve.values[-1]]
    )
    ticks = {tick: text.patients(tick).replace(" million", " m").replace(" billion", " bn") for tick in at}
    title = "patients in total" if table else "patients in total (m: million)"
    figure = _curve(curve, title, ticks, "these patients")
    if curve.relaxed is not None:  # mark from where on privacy is almost free
        since = max(curve.relaxed, curve.values[0])
        mark = {"type": "line", "x0": since, "x1": since, "yref": "paper", "y0": 0, "y1": 0.86}
        figure["layout"]["shapes"] = [mark | {"line": {"color": style.GUESS, "width": 3, "dash": "dot"}}]
        note = {"x": math.log10(since), "y": 0.5, "yref": "paper", "yanchor": "middle", "xanchor": "left"}
        note |= {"xshift": 8, "text": "almost free →", "showarrow": False}
        figure["layout"]["annotations"] = [note]
    return figure
