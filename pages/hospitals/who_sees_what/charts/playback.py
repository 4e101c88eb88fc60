"""Make the payload of a figure that plays a run round by round.

Its frames hold what changes from round to round, so that a visitor can scrub through them without asking the
server. Tiles are figures under small titles.
"""

from collections.abc import Sequence
from typing import Any

from pages.shared.charts.traces import Trace
from pages.shared.settings.catalogue import Settings

LegendEntry = tuple[str, str, str, str]  # label, colour, dash, and "line" or "band"


def with_domains(axes: dict[str, Trace], *domains: Sequence[float]) -> Trace:
    """Return axes with their places in the figure: a domain [from, to] in [0, 1] for each, in their order."""
    return {
        name: properties | {"domain": domain}
        for (name, properties), domain in zip(axes.items(), domains, strict=True)
    }


def payload(
    data: list[Trace],
    layout: Trace,
    narrow: Trace,
    frames: list[dict[int, Trace]],
    words: list[dict[str, Any]],
    tiles: Sequence[str],
    legend: list[LegendEntry],
    settings: Settings,
    active: int | None = None,
) -> Trace:
    """Return the payload of a figure with a frame for each round, or for each step of a round.

    narrow: what of the layout is different on a telephone. frames: what changes of the traces, by their
    index. active: the frame that is shown first; by default that of the link's round, or the last.
    """
    return {
        "data": data,
        "layout": layout
        | {"hovermode": "closest", "showlegend": False, "meta": {"titles": (), "narrow": narrow}},
        "frames": [{"traces": {str(i): patch for i, patch in frame.items()}} for frame in frames],
        "words": words,
        "tiles": list(tiles),
        "legend": legend,
        "active": min(settings["join.round"], len(frames)) - 1 if active is None else active,
        "play": active is not None or len(frames) > 1,
        "scrub": "Rounds",
        "ends": ["start", "end"],
        "complete": True,
    }
