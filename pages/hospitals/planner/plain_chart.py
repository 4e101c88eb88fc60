"""Draw what a study needs in plain view: a bar for each trust, as a plain dictionary. No Streamlit here."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pages.shared.charts import style
from pages.shared.charts.traces import axis, bar, line, one_panel, rounded
from pages.shared.plain.rows import LOOKS

_ROW_HEIGHT = 74  # pixels
_WORDS_AT = 0.36  # of a row: above its bar


class NeedBar(NamedTuple):
    """Hold a bar: its trust, its label, how long it is, NaN without an answer, and its number in words."""

    trust: str
    label: str
    length: float
    words: str


def figure(bars: Sequence[NeedBar], title: str, now: float) -> dict[str, Any]:
    """Draw the bars from the top; now: what there is now, a line across them where it is in reach."""
    lengths = [each.length for each in bars if math.isfinite(each.length)]
    end, traces = 1.15 * max(lengths, default=1.0), []
    for i, each in enumerate(bars):
        at, look = -i, LOOKS[each.trust]
        words = {"x": [0], "y": [at + _WORDS_AT], "text": [f"{each.label}: <b>{each.words}</b>"]}
        place = {"mode": "text", "textposition": "middle right", "textfont": {"size": 14}}
        shown = {"x": rounded([each.length]), "y": [at], "width": 0.34, "hoverinfo": "skip"}
        traces += [
            bar(each.label, look.colour, 0.75, 2, showlegend=False, **shown),
            line(1, "words", look.colour, **words, **place, hoverinfo="skip"),
        ]
    if now <= end:
        upright = {"x": rounded([now] * 2), "y": [0.5, -len(bars) + 0.6], "showlegend": True}
        traces.append(line(1, "what you have now", style.GUESS, "dash", hoverinfo="skip", **upright))
    up = axis("", visible=False, range=[-len(bars) + 0.55, 0.6], fixedrange=True)
    across = axis(title, range=[0, end], fixedrange=True, rangemode="tozero")
    height = _ROW_HEIGHT * len(bars) + 90
    layout = {"xaxis": across, "yaxis": up, "height": height, "margin": {"l": 12, "r": 12, "t": 4, "b": 70}}
    return one_panel(traces, legend_at=-0.24, **layout)
