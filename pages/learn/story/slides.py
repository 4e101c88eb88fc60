"""Form the steps of the story: what each measures, draws and says, and where its numbers come from.

A step measures its numbers from the settings, such as `view.Sharing`, and from these makes its sentences and
its figure.

Only `notes` is Streamlit's.
"""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.methods import METHODS
from pages.learn.story import charts, glossary, text, view
from pages.learn.story.settings import STEPS
from pages.shared import text as text_of
from pages.shared.settings.catalogue import Settings

# For each step its title, and three functions: from settings to its numbers, and from these to its sentences
# and to its figure.
_STEPS: tuple[tuple[str, Any, Any, Any], ...] = (
    ("Why work together at all?", view.measure_sharing, text.sharing, charts.sharing),
    ("Why not just share the totals?", view.rebuild_record, text.rebuilt, charts.rebuilt),
    ("What is it that we want to share?", view.measure_weights, text.pattern, charts.weights),
    ("How does noise protect a patient?", view.attack, text.attack, charts.attack),
    ("What does noise cost?", view.curve_over_privacy, text.cost, charts.over_privacy),
    ("Can more patients make up for the noise?", view.curve_over_patients, text.bought, charts.over_patients),
    ("Who sees what?", view.measure_joined, text.joined, charts.joined),
    ("What would we release, and at what cost?", view.measure_decision, text.decision, charts.decision),
)


SOURCES = (
    "With privacy: the method that is recommended for the trust from public numbers, with the runs of "
    "*Explorer*, and to one hospital of its size alone. Where predictions are near a guess, the method shown "
    "is not recommended. Along a curve each point has its own, with fewer runs.",
    "No privacy: the best of PCA and sparse PCA that is told how many measurements count, on rows over a "
    "public bound and of length 1. It depends on the patients and the number of patterns alone.",
    "Joining is better or worse where spans of 8 of 10 runs lie apart. Alone, numbers are those of "
    "*Providers*; where there are many hospitals, those of other patients.",
    "Share recovered: 1 − ‖sin Θ‖²/k, Θ the angles between the space that is released and the true one. "
    "Angle: the largest of them. Medians over runs; bars and bands hold 8 of 10. Of little use: an error "
    "above a third of a guess's. Almost free: noise costs less than 1 % of the pattern.",
    "Held here: exact accounting, a random start, and rows as the method takes them: over a public bound or "
    "of length 1.",
    "Two totals: their difference is the outer product of one patient's row, whose leading eigenvector is "
    "that row, up to the sign of all its values at once.",
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017); Dong, Roth & Su (JRSS-B 2022). Noise: "
    "Balle & Wang (ICML 2018).",
    "Bytes: numbers of 64 bits, without what a network or the keys of a sealed sum add.",
)
FORMULAS = r"Share: $\|\hat V^{\top}V\|_F^2/k$; of a random guess $k/d$ in the mean."


class Note(NamedTuple):
    """Hold what a speaker needs at a step: its seconds, what to say, a likely question and its answer."""

    seconds: int
    say: str
    question: str
    answer: str


_FILE = Path(__file__).with_name("speaker_notes.toml")  # true at any setting
NOTES = tuple(Note(**note) for note in tomllib.loads(_FILE.read_text(encoding="utf-8"))["step"])


class Slide(NamedTuple):
    """Hold a step as it is on the screen."""

    title: str
    text: glossary.StepText
    figure: dict[str, Any]


def slide(settings: Settings) -> Slide:
    """Return the step that the settings are at, measured now unless it was before."""
    title, measure, write, draw = _STEPS[settings["story.step"] - 1]  # steps count from 1
    record = measure(settings)
    return Slide(title, write(record), draw(record))


def _name(used: view.Used) -> str:
    """Return the method's title and paper, and whether it is not recommended, as predictions are poor."""
    method = METHODS[PROTOCOLS[used.method].method]
    none = "none is recommended, as predictions are near a guess; shown is " if used.near_guess else ""
    return f"{none}{method.title}, {method.reference}"


def for_the_statistician(settings: Settings) -> tuple[str, ...]:
    """Return paragraphs on which methods are shown at these settings, and where all numbers come from."""
    named = (
        f"{text_of.JOINING[trust]}: {_name(each)}"
        for trust, each in view.measure_joined(settings).by_trust.items()
    )
    listed = "\n".join(f"- {source}" for source in SOURCES)
    return f"**Shown here.** {'; '.join(named)}.", listed, FORMULAS


def notes(step: int, shown: glossary.StepText) -> None:
    """Show what the speaker says here, is asked, and when in the talk the step should end.

    step: from 1 on. shown: the step's sentences, of which the last step's finding is said aloud.
    """
    note = NOTES[step - 1]
    until = sum(note.seconds for note in NOTES[:step])  # seconds from the beginning of the talk
    st.info(
        f"**Say** ({note.seconds} seconds, until {until // 60}:{until % 60:02d}): {note.say}"
        f"{f' {shown.finding}' if step == STEPS else ''}\n\n"
        f"**Likely question:** {note.question}\n\n**Answer:** {note.answer}"
        + ("" if step == STEPS else f"\n\n**Next:** {_STEPS[step][0]}")
    )
