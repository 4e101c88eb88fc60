"""The providers page's own controls: an editable table of sizes, and what is too slow to be live."""

from __future__ import annotations

from typing import Any, TypeGuard

import pandas as pd
import streamlit as st

from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import MOST_HOSPITALS, CollaborationSetting
from pages.hospitals.providers import gain_text
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.setting import Sizes

_COLUMN = "patients"
_TABLE = "sizes table: what it began with, and its number"


def choose_compared() -> None:
    """Who is compared, and what DPdisPCA sends."""
    for column, key in zip(st.columns(2), ("join.trust", "join.rank"), strict=True):
        with column:
            widgets.choose(key)


def edited(sizes: tuple[int, ...], changes: dict[str, Any]) -> str:
    """The sizes after what was changed in the table, as a link has them; rows without a size go."""
    kept: list[object] = list(sizes)
    for row, values in changes.get("edited_rows", {}).items():
        kept[int(row)] = values.get(_COLUMN, kept[int(row)])
    deleted = set(changes.get("deleted_rows", []))
    kept = [size for i, size in enumerate(kept) if i not in deleted]
    kept += [values.get(_COLUMN) for values in changes.get("added_rows", [])]
    return "-".join(str(int(size)) for size in kept[:MOST_HOSPITALS] if _is_size(size))


def _is_size(value: object) -> TypeGuard[float]:
    """Whether a cell holds one; the browser may send anything."""
    return isinstance(value, int | float) and 1 <= value <= Sizes.LARGEST


def sizes(of: CollaborationSetting, settings: Settings) -> None:
    """The table of sizes, and a way back to the sliders."""
    drawer = st.expander("Type the hospitals' sizes yourself", key="sizes drawer", on_change="rerun")
    if not drawer.open:
        return
    # The table keeps what it began with while only its own edits change the sizes; else it is built anew.
    base, version = st.session_state.get(_TABLE, (of.sizes, 0))
    if edited(base, st.session_state.get(f"sizes table {version}", {})) != "-".join(map(str, of.sizes)):
        base, version = of.sizes, version + 1
    st.session_state[_TABLE] = base, version
    key = f"sizes table {version}"

    def take() -> None:
        widgets.set_to("join.sizes", edited(base, st.session_state[key]))

    left, right = drawer.columns([3, 2])
    left.data_editor(
        pd.DataFrame({_COLUMN: list(base)}),
        key=key,
        num_rows="dynamic",
        height=min(36 * (len(base) + 2), 330),
        column_config={
            _COLUMN: st.column_config.NumberColumn(
                "patients", min_value=1, max_value=Sizes.LARGEST, step=1, format="localized"
            ),
        },
        on_change=take,
    )
    right.markdown(
        f"{len(of.sizes):,} hospitals, {of.n:,} patients. Change a number, add a row below the last, or mark "
        "rows and delete them. The link keeps what you typed."
    )
    if settings["join.sizes"]:
        right.button(
            "Back to the sliders", key="sizes back", on_click=widgets.set_to, args=("join.sizes", "")
        )


def slow(found: CollaborationResults, settings: Settings) -> None:
    """The button that measures what is too slow to be live."""
    plain, ways = settings["view"] == "board", [PROTOCOLS[key] for key in found.slow]
    titles = [gain_text.title(way, found.recipe, plain) for way in ways]
    widgets.slow(titles, sum(found.recipe.seconds(way) for way in ways))
