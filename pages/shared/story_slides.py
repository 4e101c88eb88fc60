"""One step of the story: what it measures, draws and says. Only `notes` is Streamlit's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.shared import story_charts, story_curve_words, story_data, story_terms, story_words
from pages.shared.choices import Settings
from pages.shared.story_choices import STEPS
from pages.shared.story_notes import NOTES
from pages.shared.story_terms import Said


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
        return story_charts.table(self.figure)


def _step(
    found: Callable[[Settings], Any], said: Callable[[Any], Said], drawn: Callable[[Any], dict[str, Any]]
) -> Callable[[Settings], Slide]:
    """A step whose words and figure need nothing but what it found."""

    def slide(settings: Settings) -> Slide:
        seen = found(settings)
        return Slide(said(seen), drawn(seen))

    return slide


def _pattern(settings: Settings) -> Slide:
    found = story_data.weights(settings, story_data.OPEN)
    return Slide(story_words.pattern(found), story_charts.weights(found, story_data.OPEN))


def _together(settings: Settings) -> Slide:
    found, way = story_data.joined(settings), settings["story.way"]
    return Slide(story_words.together(found, way), story_charts.joined(found, way))


SLIDES: Mapping[int, Callable[[Settings], Slide]] = {
    1: _step(story_data.sharing, story_words.sharing, story_charts.sharing),
    2: _step(story_data.given_away, story_words.given, story_charts.given),
    3: _pattern,
    4: _step(story_data.hidden, story_words.hidden, story_charts.hidden),
    5: _step(story_data.against_privacy, story_curve_words.cost, story_charts.against_privacy),
    6: _step(story_data.against_patients, story_curve_words.bought, story_charts.against_patients),
    7: _together,
    8: _step(story_data.offer, story_words.offer, story_charts.offer),
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
        + ("" if step == STEPS else f"\n\n**Next:** {story_terms.TITLES[step]}")
    )
