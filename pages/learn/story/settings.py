"""The story's own controls, and which controls each of its steps has. No Streamlit here."""

from collections.abc import Iterator, Mapping
from typing import Any

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.site_experiment import HEART
from pages.shared.settings import scenes
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, switch

STEPS = 8
_TWENTY = tuple(range(1, 21))
# Of each step what a visitor may move, the most telling first; two are shown of those that matter.
_CONTROLS = {
    1: ("n", "providers", "largest_share", "sites.strength", "join.ours"),
    2: ("story.patient", "n", "providers", "join.ours"),
    3: ("n", "k", "sites.strength", "join.ours"),
    4: ("epsilon", "story.draw"),
    5: ("epsilon", "d", "trust"),
    6: ("n", "epsilon", "trust"),
    7: ("trust", "providers", "join.ours"),
    8: ("trust", "epsilon", "join.ours"),
}


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    return [
        Choice("story.step", "Step", "Step", tuple(range(1, STEPS + 1)), 1),
        Choice("story.patient", "Patient", "Which patient", _TWENTY, 1),
        Choice("story.draw", "Draw", "Draw again", _TWENTY, 1),
        switch("story.present", "Present"),
    ]


def step_controls(step: int, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the controls of a step: at most two, which make a difference here."""
    idle = {*_idle(settings)}
    return tuple(key for key in _CONTROLS[step] if key not in idle)[:2]


def _idle(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the controls that move nothing: something else decides, or there is nothing to choose among."""
    differ, real = scenes.differ(settings), settings["sites.data"] == HEART
    if differ:
        yield from ("d", "k", "providers", "largest_share")
    if not differ or real:
        yield "sites.strength"
    if real or (not differ and settings["data"] in TABLES):
        yield from ("n", "d")
    if scenes.typed_sizes(settings):
        yield from ("n", "providers", "largest_share")
    if scenes.typed_losses(settings):
        yield "epsilon"


# Each step has its controls above the chart, so that there is no panel of shared settings.
PANEL = Panel(opens=scenes.RARE_DISEASE, hidden=True)
