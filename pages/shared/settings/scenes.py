"""Define the scenes of the pages of hospitals, each a preset of all pages, and hospitals that were typed."""

from collections.abc import Mapping
from typing import Any

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC

RARE_DISEASE = "Rare disease"  # a preset of `catalogue`
FOUR_REAL = "Heart disease, four real hospitals"
ALIKE = "alike"  # the option of "sites.data" of hospitals that do not differ
# The disease of the preset "Rare disease" in other hospitals; of one large and many small, ours is small.
_DISEASE = {"d": 50, "spike": 20.0, "bulk": 15.0}
PRESETS: dict[str, dict[str, Any]] = {
    "Five large hospitals": _DISEASE | {"n": 20_000, "providers": 5},
    "One large, many small": _DISEASE | {"n": 10_000, "providers": 25, "largest_share": 0.4, "join.ours": 2},
    "Hospitals that measure differently": {"sites.data": SYNTHETIC, "n": 10_000, "providers": 6, "d": 50},
    FOUR_REAL: {"sites.data": HEART, "n": 1000, "providers": 4, "k": 2},
}
SCENES = (RARE_DISEASE, *PRESETS)
# A scene has no typed hospitals, and these are alike unless it says otherwise.
CLEARED: dict[str, Any] = {
    "join.sizes": "",
    "join.losses": "",
    "join.ours": 1,
    "join.each": False,
    "sites.data": ALIKE,
}


def differ(settings: Mapping[str, Any]) -> bool:
    """Return whether the hospitals differ, and so bring their own patients."""
    return bool(settings["sites.data"] != ALIKE)


def chosen(settings: Mapping[str, Any]) -> str | None:
    """Return the scene that these settings are at; None where hospitals were typed."""
    scene: str = settings["preset"]
    typed = settings["join.sizes"] or settings["join.losses"]
    here = settings["sites.data"] == PRESETS.get(scene, {}).get("sites.data", ALIKE)
    return scene if scene in SCENES and here and not typed else None


def typed_sizes(settings: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the hospitals' sizes that were typed.

    There are none if nothing is typed, a table has fewer patients, or the hospitals are real ones.
    """
    if settings["sites.data"] == HEART:
        return ()
    typed = settings["join.sizes"]
    listed = tuple(int(size) for size in typed.split("-")) if typed else ()
    table = TABLES.get(settings["data"])
    return () if table and sum(listed) > table.n else listed


def typed_losses(settings: Mapping[str, Any]) -> tuple[float, ...]:
    typed = settings["join.losses"]
    return tuple(float(loss) for loss in typed.split("-")) if typed else ()
