"""Draw the privacy page's attack: two neighbouring data sets, the best test, its errors, and the audit.

Figures are plain dictionaries, without Streamlit: tested without a browser.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from dppca_core.arrays import Array
from dppca_core.auditing import tradeoff_curves
from dppca_core.auditing.membership import Rates
from dppca_core.experiments.demonstrations.neighbours import Picture
from dppca_core.privacy import Budget
from pages.learn.privacy import attack_text
from pages.learn.privacy.view import Attack
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.style import WITH, WITHOUT
from pages.shared.charts.traces import Trace, axis, line, one_panel, rounded
from pages.shared.text import privacy_phrases

_READ_TITLES = {
    True: "number read (1 = spread of the noise)",
    False: "number read, in standard deviations of the noise",
}
_MARKS = {WITH: "circle", WITHOUT: "diamond-open"}
_CROWD = "#7A8793"


def _figure(traces: Sequence[Trace], height: int, **layout: Any) -> dict[str, Any]:
    margin = {"l": 62, "r": 12, "t": 10, "b": 46}
    return one_panel(traces, legend_at=-0.2, height=height, margin=margin, **layout)


def _dots(panel: int, name: str, colour: str, **more: Any) -> Trace:
    mark = {"symbol": _MARKS.get(colour, "circle"), "size": 7, "color": colour, "line": {"width": 1.5}}
    return line(panel, name, colour, mode="markers", marker=mark, **more)


def releases(picture: Picture, limit: float, plain: bool) -> dict[str, Any]:
    """Draw both data sets, the direction released from each, and the number read, as frames to play."""
    titles = privacy_phrases.sides(picture.instead is not None)
    reads = np.array([[release.read for release in side] for side in (picture.here, picture.there)])
    reach = max(4.0, 1.08 * float(np.abs(reads).max()), abs(limit) + 0.3)
    count = len(picture.here)
    traces: list[Trace] = []
    for panel, (side, colour) in enumerate(zip(titles, (WITH, WITHOUT), strict=True), 1):
        crowd = {"x": rounded(picture.others[:, 0]), "y": rounded(picture.others[:, 1]), "opacity": 0.7}
        traces.append(_dots(panel, "everybody else", _CROWD, hoverinfo="skip", **crowd))
        who = picture.patient if panel == 1 else picture.instead
        spot = {"x": [] if who is None else [who[0]], "y": [] if who is None else [who[1]]}
        patient = _dots(panel, f"the patient who differs, {side.lower()}", colour, hoverinfo="skip", **spot)
        patient["marker"] |= {"size": 13}
        direction = line(panel, "direction released", colour, hoverinfo="skip")
        traces += [patient, direction | {"line": {"width": 3, "color": colour}}]
    traces += [
        _dots(3, "read with", WITH, hovertemplate="release %{y}: %{x:.2f}<extra></extra>"),
        _dots(3, "read without", WITHOUT, hovertemplate="release %{y}: %{x:.2f}<extra></extra>"),
        line(3, "the line", "#000000", "dash", x=[limit] * 2, y=[0, count + 1], meta="text-colour"),
    ]
    frames = []
    for at in range(count):
        moved = {}
        for index, side in ((2, picture.here), (5, picture.there)):
            x, y = side[at].direction
            moved[str(index)] = {"x": rounded([-x, x]), "y": rounded([-y, y])}
        for index, read in ((6, reads[0]), (7, reads[1])):
            sizes = [11 if i == at else 7 for i in range(at + 1)]
            marker = traces[index]["marker"] | {"size": sizes}
            moved[str(index)] = {"x": rounded(read[: at + 1]), "y": list(range(1, at + 2)), "marker": marker}
        frames.append({"traces": moved})
    return {
        "data": traces,
        "layout": _releases_layout(titles, reach, count, plain),
        "frames": frames,
        "words": attack_text.frames(picture, limit),
        "active": 0,
        "play": True,
        "scrub": "Releases",
        "ends": ["first", "last"],
        "kept": False,
        "tiles": [],
        "legend": [],
        "complete": True,
    }


def _releases_layout(titles: Sequence[str], reach: float, count: int, plain: bool) -> dict[str, Any]:
    square: Trace = {"range": [-1.15, 1.15], "showticklabels": False, "zeroline": False, "fixedrange": True}
    square |= {"constrain": "domain", "ticks": ""}
    across, upward = (axis(f"measurement {i}") | square for i in (1, 2))

    def title(words: str, x: float, y: float) -> Trace:
        at = {"xref": "paper", "yref": "paper", "x": x, "y": y, "xanchor": "left", "yanchor": "bottom"}
        return {"text": f"<b>{words}</b>", "showarrow": False, "font": {"size": 13}} | at

    heads = (*titles, "What the attacker reads")
    reading = axis(_READ_TITLES[plain], range=[-reach, reach], anchor="y3")
    wide = {
        "xaxis": across | {"domain": [0, 0.27], "anchor": "y"},
        "yaxis": upward | {"domain": [0, 1], "scaleanchor": "x", "anchor": "x"},
        "xaxis2": across | {"domain": [0.3, 0.57], "anchor": "y2"},
        "yaxis2": square | {"domain": [0, 1], "scaleanchor": "x2", "anchor": "x2"},
        "xaxis3": reading | {"domain": [0.65, 1]},
        "yaxis3": axis("release", range=[count + 0.7, 0.3], anchor="x3", domain=[0, 1]) | {"dtick": 5},
        "height": 350,
        "margin": {"l": 8, "r": 12, "t": 30, "b": 44},
        "annotations": [title(*at) for at in zip(heads, (0, 0.3, 0.65), (1.02,) * 3, strict=True)],
        "showlegend": False,
        "hovermode": "closest",
    }
    stacked = {"xaxis": [0, 0.48], "xaxis2": [0.52, 1], "xaxis3": [0.12, 1]}
    stacked |= {"yaxis": [0.66, 1], "yaxis2": [0.66, 1], "yaxis3": [0, 0.54]}
    narrow = {name: wide[name] | {"domain": domain} for name, domain in stacked.items()}
    narrow["xaxis3"]["title"] = {"text": "number read", "standoff": 8}
    heights = (1.01, 1.01, 0.55)
    narrow["annotations"] = [title(*at) for at in zip(heads, (0, 0.52, 0.12), heights, strict=True)]
    narrow["height"] = 560
    return wide | {"meta": {"titles": (), "narrow": narrow}}


def readings(attack: Attack, plain: bool) -> dict[str, Any]:
    """Draw what is read with and without the patient: two laws, the draws, the line, and the two errors."""
    left, right = min(-3.6, attack.limit - 0.5), max(attack.mu + 3.6, attack.limit + 0.5)
    x = np.linspace(left, right, 241)
    bins = np.linspace(left, right, 49)
    drawn, errors, laws = [], [], []
    below, above = x[x <= attack.limit], x[x >= attack.limit]
    for name, colour, dash, centre, draws, error, edge in (
        ("without", WITHOUT, "dash", 0.0, attack.there, "false alarms", np.append(attack.limit, above)),
        ("with", WITH, "solid", attack.mu, attack.here, "misses", np.append(below, attack.limit)),
    ):
        heights, _ = np.histogram(draws, bins)
        y = rounded(heights / (len(draws) * (bins[1] - bins[0])))
        counted = line(1, f"drawn, {name}", colour, x=rounded(bins[:-1]), y=y, hoverinfo="skip")
        drawn.append(counted | {"line": {"color": colour, "width": 1, "shape": "hv"}, "opacity": 0.75})
        area = line(1, error, colour, x=rounded(edge), y=rounded(norm.pdf(edge, centre)), hoverinfo="skip")
        fill = {"fill": "tozeroy", "fillcolor": style.faded(colour, 0.25), "line": {"width": 0}}
        errors.append(area | fill | {"showlegend": True})
        law = line(1, f"{name} the patient", colour, dash, x=rounded(x), y=rounded(norm.pdf(x, centre)))
        laws.append(law | {"showlegend": True})
    limit = line(1, "the line", "#000000", x=[attack.limit] * 2, y=[0, 0.46], hoverinfo="skip")
    up = axis("how often", range=[0, 0.46], showticklabels=False)
    across = axis(_READ_TITLES[plain], range=[left, right])
    return _figure([*drawn, *errors, *laws, limit | {"meta": "text-colour"}], 400, xaxis=across, yaxis=up)


def errors(attack: Attack, budget: Budget, plain: bool) -> dict[str, Any]:
    """Draw misses against false alarms: what the promise rules out, the best tests, and those measured."""
    alarms = _fine()
    least = tradeoff_curves.allowed(budget.epsilon, budget.delta, alarms)
    fill = {"fill": "tozeroy", "fillcolor": style.faded(_CROWD, 0.25), "line": {"color": _CROWD, "width": 1}}
    promise = "ruled out by the promise" if plain else "ruled out by (ε, δ)"
    exact = "best tests of this noise" if plain else f"best tests, μ = {text.short(attack.mu)}"
    x, shown = rounded(alarms), {"showlegend": True}
    hover = {"hovertemplate": "false alarms %{x:.1%}, misses %{y:.1%}<extra></extra>"}
    ring = {"symbol": "circle-open", "size": 15, "color": style.GUESS, "line": {"width": 2.5}}
    best = rounded(tradeoff_curves.gaussian(attack.mu, alarms))
    traces = [
        line(1, promise, _CROWD, x=x, y=rounded(least), hoverinfo="skip", **shown) | fill,
        line(1, "random guess", style.GUESS, "dot", x=[0, 1], y=[1, 0], hoverinfo="skip", **shown),
        line(1, exact, WITH, x=x, y=best, **shown, **hover),
        line(1, "the chosen test", "#000000", x=[attack.alarms], y=rounded([attack.misses]), **shown)
        | {"mode": "markers", "marker": ring},
        _rates_with_error_bars("measured, 95 % intervals", WITHOUT, "x-thin", attack.measured) | hover,
        _rates_with_error_bars("measured without noise", "#009E73", "star", attack.silent) | hover,
    ]
    across, up = (
        axis(f"{name} (share)", range=[-0.02, 1.02], tickformat=".0%") for name in ("false alarms", "misses")
    )
    return _figure(traces, 400, xaxis=across, yaxis=up)


def _fine() -> Array:
    """Return shares of false alarms, finely near both ends, where curves of strong attacks bend."""
    small = np.geomspace(1e-7, 0.05, 40)
    inside: Array = np.concatenate([[0], small, np.linspace(0.06, 0.94, 89), 1 - small[::-1], [1]])
    return inside


def _rates_with_error_bars(name: str, colour: str, symbol: str, rates: Rates) -> Trace:
    """Return an attack's measured error rates as one point, with the interval of each as an error bar."""

    def error_bar(value: float, span: tuple[float, float]) -> Trace:
        ends = {"array": rounded([span[1] - value]), "arrayminus": rounded([value - span[0]])}
        return ends | {"symmetric": False, "thickness": 2.5, "width": 6, "color": colour}

    point = {"x": rounded([rates.false_alarms]), "y": rounded([rates.misses]), "cliponaxis": False}
    marker = {"symbol": symbol, "size": 9, "color": colour, "line": {"width": 2, "color": colour}}
    bars = {
        "error_x": error_bar(rates.false_alarms, rates.false_alarm_span),
        "error_y": error_bar(rates.misses, rates.miss_span),
    }
    return line(1, name, colour, mode="markers", marker=marker, showlegend=True, **point, **bars)


def audits(
    promised: float, true_epsilon: float, rows: Sequence[tuple[str, float]], plain: bool
) -> dict[str, Any]:
    """Draw what audits show, beside what is promised and what the noise as programmed truly gives."""
    titles, values = zip(
        *rows[::-1], ("what its noise truly gives", true_epsilon), ("promised", promised), strict=True
    )
    shades = [*(WITHOUT if value > promised else WITH for _, value in rows[::-1]), _CROWD, "#009E73"]
    bars = {
        **{"type": "bar", "orientation": "h", "x": rounded(values), "y": list(titles), "width": 0.6},
        **{"marker": {"color": shades}, "text": [attack_text.figures(value) for value in values]},
        **{"textangle": 0, "textposition": "auto", "insidetextanchor": "start", "cliponaxis": False},
        **{"hovertemplate": "%{y}: %{x:.3g}<extra></extra>", "xaxis": "x", "yaxis": "y", "showlegend": False},
    }
    limit = {"type": "line", "x0": promised, "x1": promised, "yref": "paper", "y0": 0, "y1": 1}
    limit["line"] = {"color": style.GUESS, "width": 1.5, "dash": "dash"}
    across = axis("privacy setting" if plain else "privacy loss ε", range=[0, 1.12 * max(*values, 0.01)])
    up = axis("", automargin=True, type="category", ticksuffix=" ")
    return _figure([bars], 96 + 44 * len(values), xaxis=across, yaxis=up, shapes=[limit])
