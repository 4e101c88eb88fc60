"""Render the editable table of hospitals' sizes, their numbers of patients.

Links and settings hold sizes as text, such as "400-300-100".
"""

from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments.collaboration.setting import MOST_HOSPITALS, CollaborationSetting
from pages.hospitals.providers import text as page_text
from pages.hospitals.providers.settings import Sizes
from pages.shared.settings import editions, widgets
from pages.shared.settings.catalogue import Settings

_COLUMN = "patients"
_BASE_KEY = "sizes table: what it began with, and its number"


def edited(base: tuple[int, ...], changes: dict[str, Any]) -> str:
    """Return the sizes after a data editor's edits, as text for a link, without rows that have no valid size.

    Args:
        base: The sizes that the table began with.
        changes: The editor's state, which comes from the browser and may hold anything as a cell.
    """
    cells: list[object] = list(base)
    for row, values in changes.get("edited_rows", {}).items():
        cells[int(row)] = values.get(_COLUMN, cells[int(row)])
    deleted = set(changes.get("deleted_rows", []))
    cells = [size for i, size in enumerate(cells) if i not in deleted]
    cells += [values.get(_COLUMN) for values in changes.get("added_rows", [])]
    sizes = [cell for cell in cells[:MOST_HOSPITALS] if isinstance(cell, int | float)]
    return "-".join(str(int(size)) for size in sizes if 1 <= size <= Sizes.LARGEST)


def sizes(recipe: CollaborationSetting, settings: Settings) -> None:
    """Render the table of sizes, and the button that returns to the sliders' sizes; nothing until opened."""
    drawer = st.expander("Type the hospitals' sizes yourself", key="sizes drawer", on_change="rerun")
    if not drawer.open:
        return
    # Keep the editor's data while only its own edits change the sizes: new data would discard the edits.
    # A new version is another widget, which begins without edits.
    base, version = st.session_state.get(_BASE_KEY, (recipe.sizes, 0))
    current = "-".join(map(str, recipe.sizes))
    if edited(base, st.session_state.get(f"sizes table {version}", {})) != current:
        base, version = recipe.sizes, version + 1
    st.session_state[_BASE_KEY] = base, version
    key = f"sizes table {version}"
    left, right = drawer.columns([3, 2])
    whole = st.column_config.NumberColumn(min_value=1, max_value=Sizes.LARGEST, step=1, format="localized")
    left.data_editor(
        pd.DataFrame({_COLUMN: list(base)}),
        key=key,
        num_rows="dynamic",
        height=min(36 * (len(base) + 2), 330),  # pixels: a line for each size, the header and a new size
        column_config={_COLUMN: whole},  # cells hold whole numbers
        on_change=editions.finished_by_next_run(  # called again if it is interrupted
            lambda: widgets.set_to("join.sizes", edited(base, st.session_state[key]))
        ),
    )
    right.markdown(page_text.sizes_note(len(recipe.sizes), recipe.n))
    if settings["join.sizes"]:
        back = {"on_click": editions.finished_by_next_run(widgets.set_to), "args": ("join.sizes", "")}
        right.button("Back to the sliders", key="sizes back", **back)
