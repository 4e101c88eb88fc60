"""What a page lets go: its table as CSV, its figure as one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

_OURS = ("meta", "uirevision")  # for our own component


def html(figure: dict[str, Any], title: str) -> str:
    """The figure with the chart library inside (4.8 MB): opens from disk, interactive."""
    layout = {key: value for key, value in figure["layout"].items() if key not in _OURS}
    data = [{key: value for key, value in trace.items() if key != "meta"} for trace in figure["data"]]
    drawn = go.Figure(
        {"data": data, "layout": layout | {"template": "plotly_white", "title": {"text": title}}}
    )
    drawn.update_layout(margin={"t": 60})
    page: str = drawn.to_html(include_plotlyjs=True, full_html=True)
    return page


def downloads(
    table: pd.DataFrame | Callable[[], pd.DataFrame], figure: Callable[[], dict[str, Any]], name: str
) -> None:
    """Two buttons; nothing is built before one is pressed."""
    left, right, _ = st.columns([1, 1, 2])
    left.download_button(
        "Download the data",
        lambda: (table() if callable(table) else table).to_csv(index=False),
        f"{name}.csv",
        "text/csv",
        on_click="ignore",
        width="stretch",
    )
    right.download_button(
        "Download the figure",
        lambda: html(figure(), name),
        f"{name}.html",
        "text/html",
        on_click="ignore",
        width="stretch",
    )
