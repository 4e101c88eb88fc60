"""Form the steps of the story: what each measures, draws and says. Only `notes` is Streamlit's."""

from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from pages.learn.story import charts, curve_text, glossary, text, view
from pages.learn.story.glossary import StepText
from pages.learn.story.settings import STEPS
from pages.learn.story.speaker_notes import NOTES
from pages.shared.settings.catalogue import Settings

# For each step: how its numbers are measured, what they say, and how they are drawn.
_STEPS: tuple[tuple[Any, Any, Any], ...] = (
    (view.measure_sharing, text.sharing, charts.sharing),
    (view.rebuild_record, text.rebuilt, charts.rebuilt),
    (view.measure_weights, text.pattern, charts.weights),
    (view.attack, text.attack, charts.attack),
    (view.curve_over_privacy, curve_text.cost, charts.over_privacy),
    (view.curve_over_patients, curve_text.bought, charts.over_patients),
    (view.measure_joined, text.joined, charts.joined),
    (view.measure_decision, text.decision, lambda decision: charts.weights(decision.weights)),
)


class Slide(NamedTuple):
    """Hold a step as it is on the screen."""

    title: str
    text: StepText
    figure: dict[str, Any]

    @property
    def table(self) -> pd.DataFrame:
        """Return what the chart draws."""
        return charts.table(self.figure)


def slide(settings: Settings) -> Slide:
    """Return the step that the settings are at."""
    step = settings["story.step"]
    measure, write, draw = _STEPS[step - 1]
    record = measure(settings)
    return Slide(glossary.TITLES[step - 1], write(record), draw(record))


def notes(step: int, shown: StepText) -> None:
    """Show what the speaker says here, is asked, and when the step should end."""
    note = NOTES[step - 1]
    until = sum(note.seconds for note in NOTES[:step])
    st.info(
        f"**Say** ({note.seconds} seconds, until {until // 60}:{until % 60:02d}): {note.say}"
        f"{f' {shown.finding}' if step == STEPS else ''}\n\n"
        f"**Likely question:** {note.question}\n\n**Answer:** {note.answer}"
        + ("" if step == STEPS else f"\n\n**Next:** {glossary.TITLES[step]}")
    )
