"""Define the scenes of the pages of hospitals, each a preset of all pages, and hospitals that were typed."""

from collections.abc import Mapping
from typing import Any

from dppca_core.datasets import TABLES

RARE_DISEASE = "Rare disease"  # a preset of `catalogue`
# The disease of the preset "Rare disease" in other hospitals; of one large and many small, ours is small.
_DISEASE = {"d": 50, "spike": 20.0, "bulk": 15.0}
PRESETS: dict[str, dict[str, Any]] = {
    "Five large hospitals": _DISEASE | {"n": 20_000, "providers": 5},
    "One large, many small": _DISEASE | {"n": 10_000, "providers": 25, "largest_share": 0.4, "join.ours": 2},
}
SCENES = (RARE_DISEASE, *PRESETS)
# A scene has no typed hospitals.
CLEARED: dict[str, Any] = {"join.sizes": "", "join.losses": "", "join.ours": 1, "join.each": False}


def chosen(settings: Mapping[str, Any]) -> str | None:
    """Return the scene that these settings are at; None where hospitals were typed."""
    scene: str = settings["preset"]
    typed = settings["join.sizes"] or settings["join.losses"]
    return scene if scene in SCENES and not typed else None


def typed_sizes(settings: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the hospitals' sizes that were typed; none if nothing is typed or a table has fewer patients."""
    typed = settings["join.sizes"]
    listed = tuple(int(size) for size in typed.split("-")) if typed else ()
    table = TABLES.get(settings["data"])
    return () if table and sum(listed) > table.n else listed


def typed_losses(settings: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the hospitals' privacy losses that were typed; none if nothing is typed."""
    typed = settings["join.losses"]
    return tuple(float(loss) for loss in typed.split("-")) if typed else ()
