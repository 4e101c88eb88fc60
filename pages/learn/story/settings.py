"""The story's own controls, and which two controls each of its steps has. No Streamlit here."""

from collections.abc import Mapping
from typing import Any

from dppca_core.datasets import TABLES
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, switch

STEPS = 8
_TWENTY = tuple(range(1, 21))


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """Return the page's own controls: step, patient, draw, and whether notes are shown."""
    return [
        Choice("story.step", "Step", "Step", tuple(range(1, STEPS + 1)), 1),
        Choice("story.patient", "Patient", "Which patient", _TWENTY, 1),
        Choice("story.draw", "Draw", "Draw again", _TWENTY, 1),
        switch("story.notes", "Speaker notes"),
    ]


def step_controls(step: int, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return the keys of the two controls of a step, from 1 on.

    A table fixes its patients and measurements, so it has other controls in their place.
    """
    table = settings["data"] in TABLES
    return (
        ("providers", "largest_share") if table else ("n", "providers"),
        ("story.patient", "providers" if table else "n"),
        ("k", "s_hat") if table else ("n", "k"),
        ("epsilon", "story.draw"),
        ("epsilon", "k" if table else "d"),
        ("epsilon", "providers" if table else "n"),
        ("providers", "trust"),
        ("epsilon", "trust"),
    )[step - 1]


# Each step has its two controls beside the chart, so that there is no panel of shared settings.
PANEL = Panel(opens="Rare disease", hidden=True)
