"""Offer what a visitor may take along of a figure: data, pictures, the code that makes it, and a recipe."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments import Recipe
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.tables import safe_csv
from pages.shared.document import file
from pages.shared.reports import number_tables, python_code

_HERE = Path(__file__).parent
_COMMAND = "python -m dppca_core.experiments {0}.json --out {0}.csv"
_CODE_NOTE = "It runs as it stands beside the package `dppca_core`, and prints the numbers of this figure."
_save_buttons = st.components.v2.component(
    "dppca.save",
    html='<p class="dppca-save"><button type="button" value="png">PNG</button>'
    '<button type="button" value="svg">SVG</button></p>',
    css=(_HERE / "save.css").read_text(encoding="utf-8"),
    js=(_HERE / "save.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def menu(
    key: str,
    file_stem: str,
    title: str,
    figure: Callable[[], dict[str, Any]],
    *,
    table: Callable[[], pd.DataFrame] | None = None,
    code: Callable[[], FigureRecipe] | None = None,
    recipe: Callable[[], Recipe | None] | None = None,
) -> None:
    """Show the menu "Download" below a figure. Nothing is built before it is opened or pressed.

    It is no fragment: an interrupted run keeps what a nested fragment has sent, but drops its place.

    key: the figure's, as `component.figure` has it. figure: returns it, of public or simulated patients.
    The other arguments are fields of the block `Figure`.
    """
    popover = st.popover("Download", key=f"{key} along", on_change="rerun", type="tertiary")
    if not popover.open:
        return
    with popover:
        with st.container(horizontal=True, vertical_alignment="center"):
            # Without cells that a spreadsheet would run: a hospital's name may be anything.
            data = table or (lambda: number_tables.frame(figure()))
            download("Data (CSV)", lambda: safe_csv(data()), f"{file_stem}.csv", "text/csv")
            page = lambda: file.of_figure(figure(), title)  # noqa: E731
            download("Chart (HTML)", page, f"{file_stem}.html", "text/html")
            # The browser draws the figure that is on screen into a file.
            _save_buttons(key=f"{key} save", data={"figure": key, "filename": file_stem, "title": title})
        source, sweep = code() if code else None, recipe() if recipe else None
        if source is not None:
            written = json.dumps(recipe_file.to_dict(sweep) if sweep else source.to_dict(), indent=1)
            with st.container(horizontal=True, vertical_alignment="center"):
                download("Recipe (JSON)", written, f"{file_stem}.json", "application/json")
                st.caption(f"`{_COMMAND.format(file_stem)}`")
            _code(source, file_stem)


def _code(source: FigureRecipe, file_stem: str) -> None:
    program = python_code.of_table(source)
    st.markdown("**Code of this figure**")
    st.caption(_CODE_NOTE)
    st.code(program, "python", height=min(26 * program.count("\n") + 40, 380))  # pixels
    download("Code (Python)", program, f"{file_stem}.py", "text/x-python")


def download(label: str, data: str | Callable[[], str], file_name: str, kind: str) -> None:
    """Show a button that saves a file of a MIME type, `kind`, and does not run the page again."""
    st.download_button(label, data, file_name, kind, on_click="ignore")
