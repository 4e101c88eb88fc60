"""Lay out the page's steps: in plain view short sentences, and an expander with all that is technical.

The page has two kinds of view. The plain one is for readers without statistics, all others are for analysts,
who see technical parts at once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.hospitals.your_data import analyst_text, plain_text
from pages.shared.document import streamlit
from pages.shared.plain import phrases
from pages.shared.settings.catalogue import Settings


class PageLayout:
    """Render sentences of the plain view alone, and put technical parts where the view has them.

    settings: the page's, as they stand. words: the module with this view's sentences, `plain_text` or
    `analyst_text`, which have functions of the same names.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.plain = settings, settings["view"] == "plain"
        self.words = plain_text if self.plain else analyst_text
        # Of the present step: where its expander goes, the expander once it is made, and what `step` got.
        self._place: DeltaGenerator | None = None
        self._fold: Any = None
        self._name, self._on_demand = "", False

    @contextmanager
    def step(self, name: str, on_demand: bool = False) -> Iterator[None]:
        """Render a step of the page in this context; in plain view the step's expander is below it.

        on_demand: whether the page runs again when the expander is opened, so that its costly parts are
        computed only then (`details_are_open`).
        """
        main, self._place = st.container(), st.container()
        self._fold, self._name, self._on_demand = None, name, on_demand
        with main:
            yield

    def address(self) -> str:
        """Return the link that a file has: it restores the settings, without what only the owner may see."""
        return streamlit.link(self.settings | {"own.shown": False})

    def say(self, sentence: str) -> None:
        if self.plain and sentence:
            st.markdown(sentence)

    def details(self) -> DeltaGenerator:
        """Return where technical parts go: the step's expander, made at first call; for analysts, here."""
        if not self.plain or self._place is None:
            return st.container()
        if self._fold is None:
            on_change: Any = "rerun" if self._on_demand else "ignore"
            self._fold = self._place.expander(phrases.FOLD, key=f"own fold {self._name}", on_change=on_change)
        fold: DeltaGenerator = self._fold
        return fold

    def details_are_open(self) -> bool:
        return not self.plain or bool(getattr(self.details(), "open", True))

    def details_here(self) -> DeltaGenerator:
        """Return where technical parts of a form go: inside, since a form submits only its own widgets."""
        return st.expander(phrases.FOLD) if self.plain else st.container()


def choose_or_none(
    label: str, none: str, names: Sequence[str], begin: int, place: Any = st, **more: Any
) -> str | None:
    """Let one of some names be chosen, or none of them. Return it, or None.

    The choice is by position, since a name may read as the option `none` does. begin: the position chosen at
    first, 0 for none, 1 for the first name.
    """
    options = [none, *names]  # Streamlit keeps the options: texts, and no table
    index = place.selectbox(label, range(len(options)), begin, format_func=options.__getitem__, **more)
    return options[index] if index else None
