"""The settings of the page on hospitals that differ. No Streamlit here.

The *shared* settings are those of all pages, whose panel stands beside each: `unused` tells which of them
make no difference here.
"""

from dppca_core.experiments.collaboration.joining import STRENGTHS
from dppca_core.experiments.collaboration.site_recipe import HEART, SYNTHETIC, SiteRecipe
from dppca_core.methods import METHODS
from dppca_core.populations import clinical
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, Value, among

SITE_METHODS = (
    *("dpdis_pca", "federated_projector", "dps_pca", "own_noise_sparse", "two_stage_own_noise"),
    *("sealed_sparse", "two_stage_sealed", "analyze_gauss_sparse", "two_stage"),
)
KIND_TITLES = {
    "public": "one public range for all",
    "own-ranges": "each laboratory's printed ranges",
    "pooled": "all patients' means and spreads",
    "within-site": "each hospital's means and spreads",
}


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the page's own controls. shared: those of all pages by key; "method" lends an option."""
    data = {SYNTHETIC: "Synthetic clinical cohort", HEART: "Heart disease, four real hospitals"}
    recommended = shared["method"].default
    titles = {recommended: shared["method"].text(recommended)} | {
        name: METHODS[name].title for name in SITE_METHODS
    }
    differ = {"all": "all of these", **{name: f"{name} only" for name in clinical.DIFFERENCES}}
    against = {"own": "its own patients' directions", "common": "the directions common to all"}
    shares = {share: f"{100 * share:g} %" for share in (0.05, 0.1, 0.2, 0.3, 0.5)}
    levels = {0.0: "0 (none)", **{level: f"{level:g}" for level in STRENGTHS[1:]}}
    return [
        among("sites.data", "Patients", data),
        among("sites.strength", "Site effects", levels, default=1.0, plain="How much hospitals differ"),
        among("sites.differ", "In what hospitals differ", differ, plain="In what they differ"),
        among("sites.kind", "Standardised by", KIND_TITLES, default="own-ranges"),
        among("sites.method", "Method", titles),
        among("sites.share", "Budget for means and spreads", shares, 0.2, "Privacy for means and spreads"),
        among("sites.against", "Measured against", against),
    ]


# Shared controls that matter to some methods only.
_METHOD_CONTROLS = ("s_hat", "iterations", "burn_in", "provider_noise")


def unused(settings: dict[str, Value]) -> dict[str, str]:
    """Return the shared controls that make no difference here, and why in a few words."""
    # The fixed sizes are those of the data, whatever the other settings are.
    recipe, method = SiteRecipe(data=settings["sites.data"]), METHODS.get(settings["sites.method"])
    reasons = {
        "data": "chosen on the page",
        "providers": f"{len(recipe.hospitals)} here",
        "largest_share": "unequal here",
        "d": f"{recipe.d} here",
        "k": f"{recipe.k} here",
        "accounting": "exact here",
        "scaling": "public bound here",
        **dict.fromkeys(("s", "spike", "bulk", "start"), "not used here"),
    }
    if not recipe.synthetic:
        reasons["n"] = f"{sum(recipe.sizes):,} here"
    # Short, without the method's name, which does not fit beside a control's name and its question mark.
    uses = ("s_hat",) if method is None else method.uses  # no recommended method uses more of these
    not_used = [key for key in _METHOD_CONTROLS if key not in uses]
    chosen = {} if method is None else {"trust": "comes with the method"}
    return reasons | chosen | dict.fromkeys(not_used, "other methods only")


PANEL = Panel(opens="Rare disease", unused=unused, plain_uses=("trust",))
