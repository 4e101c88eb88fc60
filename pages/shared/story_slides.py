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


def _sharing(settings: Settings) -> Slide:
    found = story_data.sharing(settings)
    return Slide(story_words.sharing(found), story_charts.sharing(found))


def _given(settings: Settings) -> Slide:
    found = story_data.given_away(settings)
    return Slide(story_words.given(found), story_charts.given(found))


def _pattern(settings: Settings) -> Slide:
    found = story_data.weights(settings, story_data.OPEN)
    return Slide(story_words.pattern(found), story_charts.weights(found, story_data.OPEN))


def _hidden(settings: Settings) -> Slide:
    found = story_data.hidden(settings)
    return Slide(story_words.hidden(found), story_charts.hidden(found))


def _cost(settings: Settings) -> Slide:
    found = story_data.against_privacy(settings)
    return Slide(story_curve_words.cost(found), story_charts.against_privacy(found))


def _bought(settings: Settings) -> Slide:
    found = story_data.against_patients(settings)
    return Slide(story_curve_words.bought(found), story_charts.against_patients(found))


def _together(settings: Settings) -> Slide:
    found, way = story_data.joined(settings), settings["story.way"]
    return Slide(story_words.together(found, way), story_charts.joined(found, way))


def _offer(settings: Settings) -> Slide:
    found = story_data.offer(settings)
    return Slide(story_words.offer(found), story_charts.offer(found))


SLIDES: Mapping[int, Callable[[Settings], Slide]] = dict(
    enumerate((_sharing, _given, _pattern, _hidden, _cost, _bought, _together, _offer), 1)
)


def slide(settings: Settings) -> Slide:
    """The step that the settings are at."""
    return SLIDES[settings["story.step"]](settings)


def notes(step: int) -> None:
    """What the speaker says here, is asked, and when the step should end."""
    note = NOTES[step - 1]
    until = sum(one.seconds for one in NOTES[:step])
    st.info(
        f"**Say** ({note.seconds} seconds, until {until // 60}:{until % 60:02d}): {note.say}\n\n"
        f"**Likely question:** {note.question}\n\n**Answer:** {note.answer}"
        + ("" if step == STEPS else f"\n\n**Next:** {story_terms.TITLES[step]}")
    )
