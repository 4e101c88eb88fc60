"""Draw the attack: two neighbouring data sets, the best test, its errors, and the audit.

The two data sets differ in one patient, who is in the first. Of each release the attacker reads one number,
in units of the noise: N(0, 1) without the patient, N(mu, 1) with. Above a threshold, the line, the attacker
says "with". A data set has its name and colour, a method the attacked one's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Array
from dppca_core.auditing.membership import Rates
from dppca_core.experiments.demonstrations.attacks import AttackExperiment
from dppca_core.experiments.demonstrations.neighbours import Picture
from dppca_core.privacy import Budget
from pages.learn.privacy.model import Attack
from pages.learn.privacy.sentences import attack as sentences
from pages.learn.privacy.sentences import figures
from pages.shared import text
from pages.shared.charts import style
from pages.shared.charts.style import ANOTHER_PATIENT, THE_PATIENT
from pages.shared.charts.traces import Trace, arms, axis, line, marks, one_panel, rounded

_READ = "number read (1 = spread of the noise)"
_CROWD = style.GUESS  # of all patients but the one who differs, and of what is ruled out
_NO_NOISE, _PROMISED, _REFUTED = style.NOT_PRIVATE, style.GREEN, style.VERMILION


def _figure(traces: Sequence[Trace], height: int, **layout: Any) -> Trace:
    margin = {"l": 62, "r": 12, "t": 10, "b": 46}
    return one_panel(traces, legend_at=-0.2, height=height, margin=margin, **layout)


def releases(picture: Picture) -> Trace:
    """Draw both data sets, the direction released from each, and the number read, as frames to play.

    A frame shows one release of each data set, and the numbers read from it and all before it. The last one
    stands first, since it has all results.
    """
    titles = text.neighbour_names(picture.instead is not None)
    both = picture.with_patient, picture.without_patient
    reads = np.array([[release.reading for release in releases] for releases in both])
    reach = max(4.0, 1.08 * float(np.abs(reads).max()))
    count = len(picture.with_patient)
    sides = (
        (titles[0].lower(), THE_PATIENT, "circle", picture.patient),
        (titles[1].lower(), ANOTHER_PATIENT, "diamond-open", picture.instead),
    )
    others: Trace = {"x": rounded(picture.others[:, 0]), "y": rounded(picture.others[:, 1]), "opacity": 0.7}
    plane: list[Trace] = []
    beside: list[Trace] = []
    for panel, (side, colour, symbol, who) in enumerate(sides, 1):
        x, y = ([], []) if who is None else who.reshape(2, 1).tolist()
        patient = f"the patient who differs, {side}"
        plane += [
            marks(panel, "all others", _CROWD, "circle", size=7, edge=1.5, hoverinfo="skip", **others),
            marks(panel, patient, colour, symbol, size=13, edge=1.5, x=x, y=y, hoverinfo="skip"),
            line(panel, "direction released", colour, width=3, hoverinfo="skip"),
        ]
        hover = "result %{y}: %{x:.2f}<extra></extra>"
        # Panel 3 has the numbers read, panels 1 and 2 the data sets.
        beside.append(marks(3, f"read {side}", colour, symbol, size=7, edge=1.5, hovertemplate=hover))
    # By its meta, browsers draw the line in the colour of text, on light or dark ground.
    ends: Trace = {"x": [picture.limit] * 2, "y": [0, count + 1]}
    divide = line(3, "the line", style.INK, "dash", meta="text-colour", **ends)
    frames = []
    for at in range(count):
        # What changes, by position in "data": three traces of each data set, of which the third is the
        # direction released (2 and 5), then the two of the numbers read (6 and 7).
        changed: Trace = {}
        for index, releases in zip((2, 5), both, strict=True):
            x, y = releases[at].direction
            changed[str(index)] = {"x": rounded([-x, x]), "y": rounded([-y, y])}
        # The readings so far, of which the newest has a larger marker.
        for index, trace, read in zip((6, 7), beside, reads, strict=True):
            # Without an opacity the library fades marks of several sizes.
            marker = trace["marker"] | {"size": [7] * at + [11], "opacity": 1}
            numbers = {"x": rounded(read[: at + 1]), "y": list(range(1, at + 2))}
            changed[str(index)] = numbers | {"marker": marker}
        frames.append({"traces": changed})
    return {
        "data": [*plane, *beside, divide],
        "layout": _releases_layout(titles, reach, count),
        "frames": frames,
        "words": sentences.frames(picture),
        "active": count - 1,
        "play": True,
        "scrub": "Results",
        "ends": ["first", "last"],
        "tiles": [],
        "legend": [],
        "complete": True,
    }


def _releases_layout(titles: Sequence[str], reach: float, count: int) -> Trace:
    """Return the layout of three panels, which stand under each other on a telephone."""
    square: Trace = {"range": [-1.15, 1.15], "showticklabels": False, "zeroline": False, "fixedrange": True}
    square |= {"constrain": "domain", "ticks": ""}
    across, upward = (axis(f"measurement {i}") | square for i in (1, 2))
    axes = {
        "xaxis": across | {"anchor": "y"},
        "yaxis": upward | {"anchor": "x", "scaleanchor": "x"},
        "xaxis2": across | {"anchor": "y2"},
        "yaxis2": square | {"anchor": "x2", "scaleanchor": "x2"},
        "xaxis3": axis(_READ, range=[-reach, reach], anchor="y3"),
        "yaxis3": axis("result", range=[count + 0.7, 0.3], anchor="x3", dtick=5),
    }
    head = {"showarrow": False, "font": {"size": 13}, "xref": "paper", "yref": "paper"}
    head |= {"xanchor": "left", "yanchor": "bottom"}

    def placed(height: int, domains: Sequence[Sequence[float]], above: Sequence[float]) -> Trace:
        """Place the panels, in shares of the figure: the x and y axes in turn, and the titles' heights."""
        layout = {name: axes[name] | {"domain": at} for name, at in zip(axes, domains, strict=True)}
        heads = zip((*titles, "What the attacker reads"), domains[::2], above, strict=True)
        notes = [head | {"text": f"<b>{words}</b>", "x": at[0], "y": y} for words, at, y in heads]
        return layout | {"height": height, "annotations": notes}

    wide = placed(350, ([0, 0.27], [0, 1], [0.3, 0.57], [0, 1], [0.65, 1], [0, 1]), (1.02,) * 3)
    stacked = ([0, 0.48], [0.66, 1], [0.52, 1], [0.66, 1], [0.12, 1], [0, 0.54])
    wide |= {"margin": {"l": 8, "r": 12, "t": 30, "b": 44}, "showlegend": False, "hovermode": "closest"}
    return wide | {"meta": {"titles": (), "narrow": placed(560, stacked, (1.01, 1.01, 0.55))}}


def readings(attack: Attack, budget: Budget) -> Trace:
    """Draw what is read: laws as curves, draws as histograms, false alarms and misses as areas."""
    (with_patient, other), limit = sentences.sides(budget), attack.limit
    left, right = min(-3.6, limit - 0.5), max(attack.mu + 3.6, limit + 0.5)
    x = np.linspace(left, right, 241)
    bins = np.linspace(left, right, 49)
    drawn, errors, laws = [], [], []
    # Each error's area has the line as its exact edge, which is no point of the grid.
    below, above = np.append(x[x <= limit], limit), np.append(limit, x[x >= limit])
    # Of each data set: its name, colour and dash, the law's mean, the draws, and its error with the points at
    # which that error's area is drawn.
    sides = (
        (other, ANOTHER_PATIENT, "dash", 0.0, attack.without_patient, "false alarms", above),
        (with_patient, THE_PATIENT, "solid", attack.mu, attack.with_patient, "misses", below),
    )
    for name, colour, dash, centre, draws, error, edge in sides:
        heights, _ = np.histogram(draws, bins)
        y = rounded(heights / (len(draws) * (bins[1] - bins[0])))  # a density, as the law is
        counted = line(1, f"drawn, {name}", colour, x=rounded(bins[:-1]), y=y, hoverinfo="skip")
        drawn.append(counted | {"line": {"color": colour, "width": 1, "shape": "hv"}, "opacity": 0.75})
        area = line(1, error, colour, x=rounded(edge), y=rounded(norm.pdf(edge, centre)), hoverinfo="skip")
        fill = {"fill": "tozeroy", "fillcolor": style.faded(colour, 0.25), "line": {"width": 0}}
        errors.append(area | fill | {"showlegend": True})
        law = line(1, name, colour, dash, x=rounded(x), y=rounded(norm.pdf(x, centre)))
        laws.append(law | {"showlegend": True})
    divide = line(1, "the line", style.INK, x=[limit] * 2, y=[0, 0.46], hoverinfo="skip")
    up = axis("how often", range=[0, 0.46], showticklabels=False)
    across = axis(_READ, range=[left, right])
    return _figure([*drawn, *errors, *laws, divide | {"meta": "text-colour"}], 400, xaxis=across, yaxis=up)


def errors(attack: Attack, attacked: AttackExperiment) -> Trace:
    alarms, budget, colour = _fine(), attacked.budget, style.look(attacked.method).colour
    least = TradeOff.allowed(budget.epsilon, budget.delta).misses(alarms)
    fill = {"fill": "tozeroy", "fillcolor": style.faded(_CROWD, 0.25), "line": {"color": _CROWD, "width": 1}}
    x = rounded(alarms)
    shown: Trace = {"showlegend": True}
    hover: Trace = {"hovertemplate": "false alarms %{x:.1%}, misses %{y:.1%}<extra></extra>"}
    here: Trace = {"x": [attack.alarms], "y": rounded([attack.misses])}
    best = rounded(attack.best.misses(alarms))
    traces = [
        line(1, "ruled out by (ε, δ)", _CROWD, x=x, y=rounded(least), hoverinfo="skip", **shown) | fill,
        line(1, "random guess", style.GUESS, "dot", x=[0, 1], y=[1, 0], hoverinfo="skip", **shown),
        line(1, f"best tests, μ = {text.short(attack.mu)}", colour, x=x, y=best, **shown, **hover),
        marks(1, "the chosen test", style.GUESS, "circle-open", size=15, edge=2.5, **here, **shown),
        _rates_with_error_bars("measured, 95 % intervals", colour, "x-thin", attack.measured) | hover,
        _rates_with_error_bars("measured without noise", _NO_NOISE, "star", attack.silent) | hover,
    ]
    share: Trace = {"range": [-0.02, 1.02], "tickformat": ".0%"}
    across, up = axis("false alarms (share)", **share), axis("misses (share)", **share)
    return _figure(traces, 400, xaxis=across, yaxis=up)


def _fine() -> Array:
    """Return shares of false alarms from 0 to 1, close together near both ends: there curves bend."""
    small = np.geomspace(1e-7, 0.05, 40)
    return np.concatenate([[0], small, np.linspace(0.06, 0.94, 89), 1 - small[::-1], [1]])


def _rates_with_error_bars(name: str, colour: str, symbol: str, rates: Rates) -> Trace:
    def error_bar(value: float, span: tuple[float, float]) -> Trace:
        low, middle, high = np.array([span[0], value, span[1]]).reshape(3, 1)
        return arms(low, middle, high, colour, thickness=2.5, width=6)

    point: Trace = {"x": rounded([rates.false_alarms]), "y": rounded([rates.misses]), "cliponaxis": False}
    point |= {"error_x": error_bar(rates.false_alarms, rates.false_alarm_span), "showlegend": True}
    point |= {"error_y": error_bar(rates.misses, rates.miss_span)}
    return marks(1, name, colour, symbol, size=9, **point)


def audits(attacked: AttackExperiment, true_epsilon: float, shown: Mapping[str, float]) -> Trace:
    """Draw the lower bounds that audits show; a bar beyond the promise refutes it, and has another colour."""
    promised, colour = attacked.budget.epsilon, style.look(attacked.method).colour
    # Bars are drawn from below: the promise is on top, then the true epsilon, then the audits in their order.
    rows = dict(reversed([*shown.items()])) | {
        "what its noise truly gives": true_epsilon,
        "promised": promised,
    }
    values = list(rows.values())
    # The last two are no audits.
    shades = [*(_REFUTED if value > promised else colour for value in values[:-2]), _CROWD, _PROMISED]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": rounded(values),
        "y": list(rows),
        "width": 0.6,
        "marker": {"color": shades},
        "text": [figures(value) for value in values],
        "textangle": 0,
        "textposition": "auto",
        "insidetextanchor": "start",
        "cliponaxis": False,
        "hovertemplate": "%{y}: %{x:.3g}<extra></extra>",
        "showlegend": False,
    }
    limit = {"type": "line", "x0": promised, "x1": promised, "yref": "paper", "y0": 0, "y1": 1}
    limit["line"] = {"color": style.GUESS, "width": 1.5, "dash": "dash"}
    across = axis("privacy loss ε", range=[0, 1.12 * max(*values, 0.01)])
    up = axis("", automargin=True, type="category", ticksuffix=" ")
    # Each bar has a height of 44 pixels, the rest is for axis and margins.
    return _figure([bars], 96 + 44 * len(values), xaxis=across, yaxis=up, shapes=[limit])
