"""What the providers page says one might try next: possible, and to be seen, at the present settings."""

from __future__ import annotations

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import settings as page_settings
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

_TRY = {
    "rounds": (
        "press *Play*; then choose *DPS-PCA, secure sums* and see what still reaches the server, and what "
        "error it is left with."
    ),
    "sees": (
        "move *{}* to the left, round by round: more noise, until nothing of the pattern can be told from it."
    ),
    "pair": (
        "move *{}* to the left: with shared noise all points stay on the line, however much noise there is."
    ),
}


def try_this(of: CollaborationSetting, settings: Settings) -> str:
    """What to do next."""
    if len(of.sizes) == 1 and settings["join.panel"] in ("gain", "travel", "pair"):
        return _try_alone(settings)
    if settings["join.panel"] in ("rounds", "sees") and settings["join.source"] != "simulated":
        return "press *Play*, then set *Run* to a simulated one, whose privacy and hospitals you can move."
    if settings["join.panel"] in _TRY:
        if any(transcript.refused(of, PROTOCOLS[key]) for key in _simulated(settings)):
            names = [catalogue.CHOICES[key].name(settings["view"] == "board") for key in ("providers", "d")]
            return f"move *{names[0]}* or *{names[1]}* to the left: then every message is simulated here."
        privacy = catalogue.CHOICES["epsilon"].name(settings["view"] == "board")
        return _TRY[settings["join.panel"]].format(privacy)
    name = catalogue.CHOICES["largest_share"].name(settings["view"] == "board")
    if settings["largest_share"] == 0 and not settings["join.sizes"]:
        return (
            f"set *{name}* (*More settings*) to 60 %, or type the hospitals' sizes yourself: whether joining "
            "pays is then another question for the largest than for the smallest."
        )
    return "make the hospitals equal again, then raise their number: who gains by joining then?"


def _try_alone(settings: Settings) -> str:
    """What to do next with one hospital."""
    after = {
        "gain": "the same patients in several hospitals, and what each would find alone.",
        "travel": "then hospitals have somebody to send to.",
        "pair": "then two can put their messages together.",
    }[settings["join.panel"]]
    if page_settings.own_sizes(settings):
        return f"type the size of a second hospital: {after}"
    return f"move *{catalogue.CHOICES['providers'].name(settings['view'] == 'board')}* to 5: {after}"


def _simulated(settings: Settings) -> tuple[str, ...]:
    """The ways whose messages a view shows."""
    return ("dps_pca shared", "dps_pca") if settings["join.panel"] == "pair" else (settings["join.way"],)
