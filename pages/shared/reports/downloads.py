"""Offer a page's table as CSV and its figure as one HTML file that needs no network."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.tables import safe_csv

# Shares of the width that leave room for the names of the third panel; layout.js places them in a browser.
_PANELS = {"": (0.0, 0.26), "2": (0.29, 0.55), "3": (0.76, 1.0)}
_TITLES_AT = (0.0, 0.29, 0.62)


def frozen(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure's active frame, its panels not yet placed: layout.js does that in a browser."""
    frame = figure["frames"][figure["active"]] if figure["frames"] else {"traces": {}}
    data = [
        {name: value for name, value in (trace | frame["traces"].get(str(i), {})).items() if name != "meta"}
        for i, trace in enumerate(figure["data"])
    ]
    layout = {name: value for name, value in figure["layout"].items() if name != "uirevision"}
    if "methods" in frame:  # the explorer's three panels
        layout["yaxis3"] = layout["yaxis3"] | {"ticktext": frame["methods"]}
    return {"data": data, "layout": layout}


def still(figure: dict[str, Any]) -> dict[str, Any]:
    """Return a figure as Plotly alone understands it: the active frame, its panels in their places."""
    drawn = frozen(figure)
    layout = {name: value for name, value in drawn["layout"].items() if name != "meta"}
    if len(drawn["layout"].get("meta", {}).get("titles", ())) == 3:
        for panel, domain in _PANELS.items():
            layout[f"xaxis{panel}"] = layout[f"xaxis{panel}"] | {"domain": domain}
        at_top = {"xref": "paper", "yref": "paper", "y": 1.02, "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"] = [
            at_top | {"text": f"<b>{words}</b>", "x": x, "showarrow": False}
            for words, x in zip(figure["layout"]["meta"]["titles"], _TITLES_AT, strict=True)
        ]
        layout["height"] = 620
    return drawn | {"layout": layout}


def html(figure: dict[str, Any], title: str) -> str:
    """Return the figure as a page with the chart library inside (4.8 MB): opens from disk, interactive.

    A figure with its own sentence has that as its title.
    """
    if "words" in figure:
        title = figure["words"][figure["active"]]["sentence"]
    drawn = go.Figure(still(figure))
    drawn.update_layout(template="plotly_white", title={"text": title}, margin={"t": 90})
    return str(drawn.to_html(include_plotlyjs=True, full_html=True))


def downloads(
    table: Callable[[], pd.DataFrame], figure: Callable[[], dict[str, Any]], name: str, title: str = ""
) -> DeltaGenerator:
    """Show two buttons, which build nothing before they are pressed; return the column beside them."""
    left, right, third, _ = st.columns(4)
    for column, what, build, kind in (
        # Without cells that a spreadsheet would run: a hospital's name may be anything.
        (left, "data", lambda: safe_csv(table()), "csv"),
        (right, "figure", lambda: html(figure(), title or name), "html"),
    ):
        column.download_button(
            f"Download the {what}",
            build,
            f"{name}.{kind}",
            f"text/{kind}",
            on_click="ignore",
            width="stretch",
        )
    return third
