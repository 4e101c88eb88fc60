"""Form the providers page's introduction, notes on its settings, and hints on what to try next.

Sentences about errors are in gain_text, about a run and its messages in run_text.
"""

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import settings as page_settings
from pages.shared.settings import catalogue

TITLE = "Providers"
STEPS = (
    "Each point is the error of one way to work together.",
    "Move the number of hospitals: each has fewer patients.",
    "Joining pays where its point lies left of staying alone.",
)
INTRODUCTION = (
    "**Who sees what?** What hospitals find together, by whom they trust, or alone, and what leaves them on "
    "the way."
)
_TRY = {
    "rounds": "press *Play*; then choose *DPS-PCA, sealed sums*: what does the server still see?",
    "sees": "move *{}* to the left, round by round: the more noise, the less of the pattern can be told.",
    "pair": "move *{}* to the left: with shared noise all points stay on the line, however much there is.",
}


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
    panel = settings["join.panel"]

    def name(key: str) -> str:
        """Return the name on screen of a setting."""
        return catalogue.CHOICES[key].label

    if len(recipe.sizes) == 1 and panel in ("gain", "travel", "pair"):
        typed = page_settings.typed_sizes(settings)
        more = "type the size of a second hospital" if typed else f"move *{name('providers')}* to 5"
        return f"{more}: then hospitals have somebody to join, and to compare with."
    if panel in ("rounds", "sees") and settings["join.source"] != "simulated":
        return "press *Play*, then set *Run* to a simulated one, whose privacy and hospitals you can move."
    if panel in _TRY:
        simulated = ("dps_pca shared", "dps_pca") if panel == "pair" else (settings["join.way"],)
        # What is too large cannot be simulated message by message.
        if any(transcript.why_refused(recipe, PROTOCOLS[key]) for key in simulated):
            sliders = f"*{name('providers')}* or *{name('d')}*"
            return f"move {sliders} to the left: then every message is simulated here."
        return _TRY[panel].format(name("epsilon"))
    if settings["largest_share"] == 0 and not settings["join.sizes"]:
        share = f"set *{name('largest_share')}* (*More settings*) to 60 %, or type the hospitals' sizes"
        return f"{share}: does joining pay for the largest and the smallest alike?"
    return "make the hospitals equal again, then raise their number: who gains by joining then?"
