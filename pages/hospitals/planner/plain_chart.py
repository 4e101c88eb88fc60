"""Draw what a study needs in plain view: a bar for each trust, as a plain dictionary. No Streamlit here."""

import math
from collections.abc import Mapping
from typing import Any

from pages.shared.charts import style
from pages.shared.charts.traces import axis, bar, line, one_panel, rounded
from pages.shared.plain import phrases
from pages.shared.plain.rows import LOOKS

_ROW_HEIGHT = 74  # pixels
_WORDS_AT = 0.36  # of a row: above its bar


def figure(
    lengths: Mapping[str, float], numbers: Mapping[str, str], title: str, now: float
) -> dict[str, Any]:
    """Draw a bar for each trust from the top, with its number, where there is one.

    now: what there is now, a line across the bars where it is in reach.
    """
    end = 1.15 * max((length for length in lengths.values() if math.isfinite(length)), default=1.0)
    traces = []
    for i, (trust, length) in enumerate(lengths.items()):
        colour, name = LOOKS[trust].colour, phrases.ROWS[trust]
        words = {"x": [0], "y": [_WORDS_AT - i], "text": [f"{name}: <b>{numbers.get(trust, '…')}</b>"]}
        place = {"mode": "text", "textposition": "middle right", "textfont": {"size": 14}}
        shown = {"x": rounded([length]), "y": [-i], "width": 0.34, "hoverinfo": "skip"}
        traces += [
            bar(name, colour, 0.75, 2, showlegend=False, **shown),
            line(1, "words", colour, **words, **place, hoverinfo="skip"),
        ]
    if now <= end:
        upright = {"x": rounded([now] * 2), "y": [0.5, -len(lengths) + 0.6], "showlegend": True}
        traces.append(line(1, "what you have now", style.GUESS, "dash", hoverinfo="skip", **upright))
    up = axis("", visible=False, range=[-len(lengths) + 0.55, 0.6], fixedrange=True)
    across = axis(title, range=[0, end], fixedrange=True, rangemode="tozero")
    height = _ROW_HEIGHT * len(lengths) + 50
    layout = {"xaxis": across, "yaxis": up, "height": height, "margin": {"l": 12, "r": 12, "t": 4, "b": 46}}
    return one_panel(traces, legend_at=-0.24, **layout)
