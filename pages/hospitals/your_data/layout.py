"""Lay out the page's steps: in plain view short sentences, and a fold for all that is technical."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.hospitals.your_data import analyst_text, plain_text
from pages.shared.plain import phrases
from pages.shared.settings.catalogue import Settings


class PageLayout:
    """Say what the view says, and give its technical parts their place.

    settings: of the page, as they stand. words: the view's sentences, a module; both views' have the same
    names.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.plain = settings, settings["view"] == "plain"
        self.words = plain_text if self.plain else analyst_text
        self._place: DeltaGenerator | None = None
        self._fold: Any = None
        self._name, self._on_demand = "", False

    @contextmanager
    def step(self, name: str, on_demand: bool = False) -> Iterator[None]:
        """Render a step of the page; in plain view its fold stands below it.

        on_demand: whether the fold's costly parts are computed only once it is open.
        """
        main, self._place = st.container(), st.container()
        self._fold, self._name, self._on_demand = None, name, on_demand
        with main:
            yield

    def say(self, sentence: str) -> None:
        """Render a sentence of plain view alone; nothing where it is empty."""
        if self.plain and sentence:
            st.markdown(sentence)

    def details(self) -> DeltaGenerator:
        """Return where technical parts go: the step's fold or, for analysts, this place."""
        if not self.plain or self._place is None:
            return st.container()
        if self._fold is None:
            on_change: Any = "rerun" if self._on_demand else "ignore"
            self._fold = self._place.expander(phrases.FOLD, key=f"own fold {self._name}", on_change=on_change)
        fold: DeltaGenerator = self._fold
        return fold

    def details_are_open(self) -> bool:
        """Return whether a step's technical parts are in sight, as they always are for analysts."""
        return not self.plain or bool(getattr(self.details(), "open", True))

    def details_here(self) -> DeltaGenerator:
        """Return a place for technical parts of a form, which has to hold them itself."""
        return st.expander(phrases.FOLD) if self.plain else st.container()


def choose_or_none(
    label: str, none: str, names: Sequence[str], begin: int, place: Any = st, **more: Any
) -> str | None:
    """Return which of some names is chosen, or None; one may read as `none` does. begin: 0, or from 1."""
    words = [none, *names]  # Streamlit keeps them, and no table
    index = place.selectbox(label, range(len(words)), begin, format_func=words.__getitem__, **more)
    return words[index] if index else None
