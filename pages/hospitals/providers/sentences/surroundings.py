"""Form the page's introduction, notes on its settings, and hints on what to try next."""

from collections.abc import Sequence

from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from pages.shared import text
from pages.shared.settings import catalogue, scenes

STEPS = (
    "Each point is the error of one way to work together.",
    "Move the number of hospitals: each has fewer patients.",
    "A point farther left has less error. The verdict is on top.",
)
INTRODUCTION = "What hospitals find together, by whom they trust, or alone, and what leaves them on the way."
EVIDENCE = "The decision for our hospital"
EVIDENCE_NOTE = (
    "Gains in points of the share recovered, together less alone, of the same patients. The median's "
    "interval is that of order statistics. Plain view shows the decision in full."
)


def sizes_ignored(patients: int) -> str:
    return f"The sizes add up to more than the table's {patients:,} patients: the sliders' are used."


def one_epsilon(epsilon: float) -> str:
    return f"Protocols are compared at ε = {text.number(epsilon)} ; the decision has each hospital's own."


def try_this(recipe: CollaborationExperiment, settings: catalogue.Settings) -> str:
    def name(key: str) -> str:
        return catalogue.CHOICES[key].label

    if len(recipe.sizes) == 1:
        typed = scenes.typed_sizes(settings)
        more = "type the size of a second hospital" if typed else f"move *{name('providers')}* to 5"
        return f"{more}: then hospitals have somebody to join, and to compare with."
    if settings["largest_share"] == 0 and not settings["join.sizes"]:
        share = f"set *{name('largest_share')}* (*More settings*) to 60 %, or type the hospitals' sizes"
        return f"{share}: does joining pay for the largest and the smallest alike?"
    return "make the hospitals equal again, then raise their number: who gains by joining then?"


def slow(titles: Sequence[str], seconds: float, measuring: bool) -> tuple[str, str]:
    """Return the label of the button that measures slow protocols or leaves them out, and what they are."""
    offer = f"Measure the slow methods (about {max(seconds, 1):.0f} s a run)"
    label = "Leave out the slow methods" if measuring else offer
    return label, f"Too slow to update automatically: {', '.join(titles)}."
