"""Offer a page's table as CSV and its figure as one HTML file that needs no network."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.tables import safe_csv
from pages.shared.reports import html_report


def downloads(
    table: Callable[[], pd.DataFrame], figure: Callable[[], dict[str, Any]], name: str, title: str = ""
) -> DeltaGenerator:
    """Show two buttons, which build nothing before they are pressed; return the column beside them."""
    left, right, third, _ = st.columns(4)
    for column, what, build, kind in (
        # Without cells that a spreadsheet would run: a hospital's name may be anything.
        (left, "data", lambda: safe_csv(table()), "csv"),
        (right, "figure", lambda: html_report.of_figure(figure(), title or name), "html"),
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
