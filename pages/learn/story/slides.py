"""One step of the story: what it measures, draws and says. Only `notes` is Streamlit's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.learn.story import charts, curve_text, glossary, text, view
from pages.learn.story.glossary import Said
from pages.learn.story.settings import STEPS
from pages.learn.story.speaker_notes import NOTES
from pages.shared.settings.catalogue import Settings


class Slide(NamedTuple):
    """What is on the screen."""

    said: Said
    figure: dict[str, Any]

    @property
    def says(self) -> str:
        """The chart's main finding, for those who do not see it."""
        return self.said.sentences

    @property
    def table(self) -> pd.DataFrame:
        """What the chart draws."""
        return charts.table(self.figure)


def _step(
    found: Callable[[Settings], Any], said: Callable[[Any], Said], drawn: Callable[[Any], dict[str, Any]]
) -> Callable[[Settings], Slide]:
    """A step whose words and figure need nothing but what it found."""

    def slide(settings: Settings) -> Slide:
        seen = found(settings)
        return Slide(said(seen), drawn(seen))

    return slide


def _pattern(settings: Settings) -> Slide:
    found = view.weights(settings, view.OPEN)
    return Slide(text.pattern(found), charts.weights(found, view.OPEN))


def _together(settings: Settings) -> Slide:
    found, way = view.joined(settings), settings["story.way"]
    return Slide(text.together(found, way), charts.joined(found, way))


SLIDES: Mapping[int, Callable[[Settings], Slide]] = {
    1: _step(view.sharing, text.sharing, charts.sharing),
    2: _step(view.given_away, text.given, charts.given),
    3: _pattern,
    4: _step(view.hidden, text.hidden, charts.hidden),
    5: _step(view.against_privacy, curve_text.cost, charts.against_privacy),
    6: _step(view.against_patients, curve_text.bought, charts.against_patients),
    7: _together,
    8: _step(view.offer, text.offer, charts.offer),
}


def slide(settings: Settings) -> Slide:
    """The step that the settings are at."""
    return SLIDES[settings["story.step"]](settings)


def notes(step: int, said: Said) -> None:
    """Show what the speaker says here, is asked, and when the step should end."""
    note = NOTES[step - 1]
    until = sum(one.seconds for one in NOTES[:step])
    st.info(
        f"**Say** ({note.seconds} seconds, until {until // 60}:{until % 60:02d}): {note.say}"
        f"{f' {said.finding}' if step == STEPS else ''}\n\n"
        f"**Likely question:** {note.question}\n\n**Answer:** {note.answer}"
        + ("" if step == STEPS else f"\n\n**Next:** {glossary.TITLES[step]}")
    )
