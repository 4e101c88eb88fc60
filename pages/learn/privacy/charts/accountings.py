"""Draw what delta lets happen, and what rounds cost by each way to count their privacy loss."""

import math

import numpy as np
import pandas as pd

from dppca_core.accounting.compare import ACCOUNTINGS
from pages.learn.privacy.model import ROUNDS, Accounted
from pages.learn.privacy.sentences.accounting import QUANTITIES
from pages.shared.charts import style
from pages.shared.charts.traces import Trace, axis, band, line, marked_line, one_panel, rounded, this_setting

LOOKS = {
    "printed": style.Look(style.PINK, "triangle-up", "longdash"),
    "basic": style.Look(style.VERMILION, "square", "dash"),
    "advanced": style.Look(style.OCHRE, "diamond", "dashdot"),
    "zcdp": style.Look(style.GREEN, "cross", "dot"),
    "exact": style.Look(style.BLUE, "circle", "solid"),
}


def published(table: pd.DataFrame, n: int, delta: float) -> Trace:
    """Draw how many of n patients the worst mechanism publishes: 10 %, expected and 90 %, by delta."""
    # Fewer patients than `floor` are drawn at the lower edge. A delta that follows n gives at most 0.01.
    deltas, floor, colour = table.index.tolist(), 1e-4, style.VERMILION
    # The range is in powers of ten, up to twice what is expected at the largest delta, and to 20 at least.
    reach = [math.log10(floor), math.log10(2 * max(n * deltas[-1], 10.0))]
    low, high = (rounded(np.maximum(table[edge].to_numpy(), floor)) for edge in ("10 %", "90 %"))
    lower, upper = band(1, "8 of 10 times", colour, deltas, low, high)
    expected = line(1, "expected", colour, x=deltas, y=rounded(table["expected"].to_numpy()))
    expected |= {"showlegend": True, "hovertemplate": "%{x:.1~g}: %{y:.3~g} patients<extra></extra>"}
    ends: Trace = {"x": [deltas[0], deltas[-1]], "y": [1, 1], "hoverinfo": "skip"}
    one_patient = line(1, "one patient", style.GUESS, "dot", **ends)
    here = this_setting(1, [delta] * 2, [10**v for v in reach])
    shown: Trace = {"showlegend": True}
    traces = [lower, upper | shown, expected, one_patient | shown, here]
    power = {"type": "log", "dtick": 1, "exponentformat": "power", "minexponent": 4}
    across = axis("failure chance δ", range=[-10.2, 0]) | power | {"dtick": 2}
    up = axis("patients published", range=reach) | power
    return one_panel(traces, height=430, xaxis=across, yaxis=up)


def against_rounds(costs: Accounted, quantity: str) -> Trace:
    """Draw what 1 to 50 rounds need ("noise", by std) or cost ("charged", epsilon) by each accounting."""
    table: pd.DataFrame = getattr(costs, quantity)
    values = table.to_numpy()
    high = float(values.max())
    # Where delta alone allows the release, an epsilon of 0 is charged, which a log axis has no place for.
    low = max(float(values[values > 0].min()), 1e-6 * high)
    reach = [math.log10(low / 1.3), math.log10(high * 1.3)]
    traces: list[Trace] = []
    for name, look in LOOKS.items():
        # A value below the axis is a gap.
        y = rounded(table[name].where(table[name] > 10 ** reach[0]).to_numpy())
        hover = {"hovertemplate": "%{x} rounds: %{y:.3~g}"}
        traces.append(marked_line(ACCOUNTINGS[name].title, look, list(ROUNDS), y, size=6, **hover))
    here = this_setting(1, [costs.steps] * 2, [10**value for value in reach])
    up = axis(QUANTITIES[quantity], range=reach, type="log", minexponent=4)
    # Label 1, 2 and 5 of each decade where the axis is short, else whole decades.
    up |= {"exponentformat": "power", "dtick": "D2" if reach[1] - reach[0] < 1.5 else 1}
    across = axis("rounds T", type="log", range=[-0.03, math.log10(56)])
    across |= {"tickvals": [1, 2, 5, 10, 20, 50], "ticktext": ["1", "2", "5", "10", "20", "50"]}
    return one_panel([*traces, here], height=430, xaxis=across, yaxis=up)
