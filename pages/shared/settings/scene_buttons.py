"""Show the buttons that set all settings of a scene, on the pages of hospitals that may join."""

from typing import Literal

import streamlit as st

from pages.shared.settings import catalogue, scenes, widgets
from pages.shared.settings.catalogue import Settings

NAMES = "hospitals' names"  # the key in the session's state of those that were typed, which no link has


def show_scenes(settings: Settings) -> None:
    row = st.container(key="scenes", horizontal=True)
    for scene in scenes.SCENES:
        chosen = scenes.chosen(settings) == scene
        kind: Literal["primary", "secondary"] = "primary" if chosen else "secondary"
        row.button(scene, on_click=set_scene, args=(scene,), key=f"scene {scene}", type=kind)


def set_scene(scene: str) -> None:
    """Set all settings of a scene, whose hospitals have no typed sizes, losses or names."""
    st.session_state.pop(NAMES, None)
    widgets.set_all(catalogue.with_preset(widgets.settings() | scenes.CLEARED, scene))
