"""The settings of the page on hospitals that differ. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dppca_core.experiments.collaboration.joining import STRENGTHS
from dppca_core.experiments.collaboration.site_recipe import HEART, SYNTHETIC, SiteRecipe
from dppca_core.methods import METHODS
from dppca_core.populations import clinical, standardisation
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice

SITE_METHODS = ("dpdis_pca", "federated_projector", "dps_pca", "analyze_gauss_sparse")


KIND_TITLES = {
    "public": "one public range for all",
    "own-ranges": "each laboratory's printed ranges",
    "pooled": "all patients' means and spreads",
    "within-site": "each hospital's means and spreads",
}


def settings(shared: Mapping[str, Choice]) -> list[Choice]:
    """The controls of the page on hospitals that differ."""
    data = {SYNTHETIC: "Synthetic clinical cohort", HEART: "Heart disease, four real hospitals"}
    titles = {name: METHODS[name].title for name in SITE_METHODS}
    differ = {"all": "all of these", **{name: f"{name} only" for name in clinical.DIFFERENCES}}
    against = {"own": "its own patients' directions", "common": "the directions common to all"}
    shares = (0.05, 0.1, 0.2, 0.3, 0.5)
    shown = {share: f"{100 * share:g} %" for share in shares}
    levels = {0.0: "0 (none)", **{level: f"{level:g}" for level in STRENGTHS[1:]}}
    kinds = {kind: KIND_TITLES[kind] for kind in standardisation.KINDS}
    return [
        Choice("sites.data", "Patients", "Patients", tuple(data), SYNTHETIC, data),
        Choice("sites.strength", "Site effects", "How much hospitals differ", STRENGTHS, 1.0, levels),
        Choice(
            "sites.differ", "In what hospitals differ", "In what they differ", tuple(differ), "all", differ
        ),
        Choice("sites.kind", "Standardised by", "Standardised by", tuple(kinds), "own-ranges", kinds),
        Choice("sites.method", "Method", "Method", SITE_METHODS, "dpdis_pca", titles),
        Choice(
            *(
                "sites.share",
                "Budget for means and spreads",
                "Privacy for means and spreads",
            ),
            shares,
            0.2,
            shown,
        ),
        Choice("sites.against", "Measured against", "Measured against", tuple(against), "own", against),
    ]


_METHOD_CONTROLS = ("s_hat", "iterations", "burn_in", "provider_noise")


def unused(settings: Mapping[str, Any]) -> dict[str, str]:
    """The shared controls that make no difference here, and why in a few words."""
    synthetic = settings["sites.data"] == SYNTHETIC
    recipe = SiteRecipe(data=settings["sites.data"])
    here = {
        "data": "chosen on the page",
        "providers": f"{len(recipe.hospitals)} here",
        "largest_share": "unequal here",
        "d": f"{recipe.d} here",
        "k": f"{recipe.k} here",
        "s": "does not apply here",
        "accounting": "exact here",
        "scaling": "public bound here",
        **dict.fromkeys(("spike", "bulk", "start"), "does not apply here"),
    }
    if not synthetic:
        here["n"] = f"{sum(recipe.sizes):,} here"
    uses = METHODS[settings["sites.method"]].uses
    title = METHODS[settings["sites.method"]].title
    return here | {key: f"not used by {title}" for key in _METHOD_CONTROLS if key not in uses}


PANEL = Panel(unused=unused)
