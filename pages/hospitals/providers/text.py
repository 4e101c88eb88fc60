"""Form the providers page's introduction, notes on its settings, and hints on what to try next.

Sentences about errors are in gain_text.
"""

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import settings as page_settings
from pages.shared.settings import catalogue

TITLE = "Should we join?"
STEPS = (
    "Each point is the error of one way to work together.",
    "Move the number of hospitals: each has fewer patients.",
    "Joining pays where its point lies left of staying alone.",
)
INTRODUCTION = "What hospitals find together, by whom they trust, or alone, and what leaves them on the way."


def sizes_ignored(patients: int) -> str:
    """Return the notice that the typed sizes add up to more than a table's patients."""
    return f"The sizes add up to more than the table's {patients:,} patients: the sliders' are used."


def sizes_note(hospitals: int, patients: int) -> str:
    """Return the sentences beside the table of sizes. hospitals, patients: how many there are in all."""
    return (
        f"{hospitals:,} hospitals, {patients:,} patients. Change a number, add a row below the last, or mark "
        "rows and delete them. The link keeps what you typed."
    )


def try_this(recipe: CollaborationSetting, settings: catalogue.Settings) -> str:
    """Return a suggestion of what to do next in this panel: one that is possible and changes what is seen."""

    def name(key: str) -> str:
        """Return the name on screen of a setting."""
        return catalogue.CHOICES[key].label

    if len(recipe.sizes) == 1:
        typed = page_settings.typed_sizes(settings)
        more = "type the size of a second hospital" if typed else f"move *{name('providers')}* to 5"
        return f"{more}: then hospitals have somebody to join, and to compare with."
    if settings["largest_share"] == 0 and not settings["join.sizes"]:
        share = f"set *{name('largest_share')}* (*More settings*) to 60 %, or type the hospitals' sizes"
        return f"{share}: does joining pay for the largest and the smallest alike?"
    return "make the hospitals equal again, then raise their number: who gains by joining then?"
