"""Define the settings of the providers page. No Streamlit here."""

import re
from collections.abc import Mapping
from typing import Any

from dppca_core.experiments.collaboration.joining import STRENGTHS
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC, SiteExperiment
from dppca_core.experiments.decision.hospitals import MOST_HOSPITALS
from dppca_core.methods import METHODS
from dppca_core.populations import clinical
from pages.shared import text
from pages.shared.settings import scenes
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.scenes import typed_losses, typed_sizes
from pages.shared.settings.setting import MOST_LETTERS, Choice, LinkValue, among, printable, switch

# Headings of the protocols by whom the hospitals trust.
JOIN_TITLES = {
    "none": "Joined, no privacy",
    "central": "Joined, trusting one place",
    "secure aggregation": "Joined, sealed sums",
    "untrusted server": "Joined, trusting nobody",
    "one message": "Two messages undo the noise",
    "alone": "Alone, with privacy",
    "alone, none": "Alone, no privacy",
}
USES = {"in-house": "For our own use", "publish": "To publish"}
# How hospitals that differ are compared in full view.
SITE_METHODS = (
    "dpdis_pca",
    "federated_projector",
    "dps_pca",
    "own_noise_sparse",
    "two_stage_own_noise",
    "sealed_sparse",
    "two_stage_sealed",
    "analyze_gauss_sparse",
    "two_stage",
)
KIND_TITLES = {
    "public": "one public range for all",
    "own-ranges": "each laboratory's printed ranges",
    "pooled": "all patients' means and spreads",
    "within-site": "each hospital's means and spreads",
}
_RANKS = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 2000)


LARGEST = 10**9  # patients of a hospital
LEAST_LOSS, MOST_LOSS = 0.001, 1000.0


class Typed(Choice):
    """Read a number for each hospital from a link, such as 400-300-100; empty for those of the sliders."""

    refusal = ""

    def numbers_of(self, raw: str) -> list[str]:
        """Return the numbers that a text lists, as links have them; none where it is unclear."""
        raise NotImplementedError

    def read(self, raw: str) -> LinkValue:
        """Return the numbers as a link has them; or none, and words that say what the text was."""
        if raw.strip() in ("", self.text("")):  # the words that stand for none on the screen are empty too
            return LinkValue("")
        # A number takes fewer than 20 letters with what separates it, so a longer text is refused unread.
        numbers = self.numbers_of(raw.strip()) if len(raw) <= 20 * MOST_HOSPITALS else []
        if 0 < len(numbers) <= MOST_HOSPITALS:
            return LinkValue("-".join(numbers))
        shown = printable(raw[:MOST_LETTERS])
        return LinkValue("", f"“{shown}”, {self.refusal}" if shown else f"not readable, {self.refusal}")


class Sizes(Typed):
    """Read the hospitals' sizes, their numbers of patients.

    People also type 400; 300 or 50,000 30,000. Text that can be read in one way only is accepted.
    """

    refusal = "which is not up to 200 sizes such as 400-300-100"

    def numbers_of(self, raw: str) -> list[str]:
        numbers = _sizes(raw)
        return list(map(str, numbers)) if all(1 <= number <= LARGEST for number in numbers) else []


class PrivacyLosses(Typed):
    """Read the hospitals' privacy losses, such as 1-0.5-2."""

    refusal = "which is not up to 200 privacy losses such as 1-0.5-2"

    def numbers_of(self, raw: str) -> list[str]:
        parts = re.split(r"[-;\s]+", raw)
        readable = all(re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,9})?", part) for part in parts)
        losses = [float(part) for part in parts] if readable else []
        return list(map(loss_text, losses)) if all(LEAST_LOSS <= loss <= MOST_LOSS for loss in losses) else []


def loss_text(epsilon: float) -> str:
    """Return a privacy loss within these limits as links have it."""
    return f"{epsilon:g}"


# Whole numbers without and with commas between thousands.
_PLAIN, _GROUPED = "[1-9][0-9]{0,11}", "[1-9][0-9]{0,2}(?:,[0-9]{3})+"


def _sizes(raw: str) -> list[int]:
    """Return the numbers that a text lists between dashes, semicolons, commas or spaces; none where unclear.

    400,300 may be one size or two, so it is refused.
    """
    if re.fullmatch("[0-9]{1,12}(-[0-9]{1,12})*", raw):  # as links have them
        return [int(part) for part in raw.split("-")]
    for between in (";", "-", r",\s", r"\s"):
        if re.search(between, raw):
            parts = re.split(rf"\s*{between}\s*", raw)
            readable = all(re.fullmatch(f"{_PLAIN}|{_GROUPED}", part) for part in parts)
            return [int(part.replace(",", "")) for part in parts] if readable else []
    # Only commas are left, which group thousands or stand between sizes: exactly one reading must fit.
    single = re.fullmatch(_GROUPED, raw) is not None
    several = re.fullmatch(f"{_PLAIN}(,{_PLAIN})+", raw) is not None
    if single == several:
        return []
    return [int(raw.replace(",", ""))] if single else [int(part) for part in raw.split(",")]


def settings(shared: dict[str, Choice]) -> list[Choice]:
    trusts = {"all": "everybody"} | JOIN_TITLES
    panels = {"gain": "Joining or alone", "travel": "What travels"}
    return [
        among("join.panel", "Shown", panels),
        Sizes(
            "join.sizes",
            label="Hospitals' sizes",
            plain="Hospitals' sizes",
            options=("",),
            default="",
            words={"": "those of the sliders"},
        ),
        PrivacyLosses(
            "join.losses",
            label="Hospitals' ε",
            plain="Hospitals' privacy losses",
            options=("",),
            default="",
            words={"": "the slider's"},
        ),
        Choice(
            "join.ours",
            label="Ours",
            plain="Our hospital",
            options=tuple(range(1, MOST_HOSPITALS + 1)),
            default=1,
        ),
        among("join.use", "What the pattern is for", USES),
        switch("join.each", "List every hospital"),
        Choice(
            "join.rank",
            label="R, directions DPdisPCA sends",
            plain="Directions DPdisPCA sends",
            options=_RANKS,
            default=10,
        ),
        among("join.trust", "Compared", trusts),
        *_of_hospitals_that_differ(shared["method"]),
    ]


def _of_hospitals_that_differ(method: Choice) -> list[Choice]:
    data = {
        scenes.ALIKE: "Hospitals are alike",
        SYNTHETIC: "Synthetic clinical cohort",
        HEART: "Heart disease, four real hospitals",
    }
    titles = {method.default: method.text(method.default)} | {
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
        among(
            "sites.share",
            "Budget for means and spreads",
            shares,
            default=0.2,
            plain="Privacy for means and spreads",
        ),
        among("sites.against", "Measured against", against),
    ]


def _held(settings: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return, for each shared setting that typed hospitals decide, its text and what decides it."""
    values = {}
    if sizes := typed_sizes(settings):
        share = text.percent(max(sizes) / sum(sizes))
        values = {"n": f"{sum(sizes):,}", "providers": str(len(sizes)), "largest_share": share}
    if (losses := typed_losses(settings)) and settings["view"] == "plain":  # in full view protocols have one
        values["epsilon"] = " to ".join(loss_text(end) for end in sorted({min(losses), max(losses)}))
    return {key: (value, "set by the table") for key, value in values.items()}


# Shared controls that matter to some methods only.
_METHOD_CONTROLS = ("s_hat", "iterations", "burn_in", "provider_noise")


def unused(settings: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the shared controls without an effect where hospitals differ, and why; None elsewhere."""
    if not scenes.differ(settings):
        return None
    recipe, method = SiteExperiment(data=settings["sites.data"]), METHODS.get(settings["sites.method"])
    reasons = {
        "data": "chosen on the page",
        "providers": f"{len(typed_sizes(settings) or recipe.hospitals)} here",
        "largest_share": "unequal here",
        "d": f"{recipe.d} here",
        "k": f"{recipe.k} here",
        "accounting": "exact here",
        "scaling": "public bound here",
        **dict.fromkeys(("s", "spike", "fall", "bulk", "correlation", "tails", "start"), "not used here"),
    }
    if not recipe.synthetic:
        reasons["n"] = f"{sum(recipe.sizes):,} here"
    # Short, without the method's name, which does not fit beside a control's name and its question mark.
    uses = ("s_hat",) if method is None else method.uses  # no recommended method uses more of these
    not_used = [key for key in _METHOD_CONTROLS if key not in uses]
    chosen = {} if method is None else {"trust": "comes with the method"}
    return reasons | chosen | dict.fromkeys(not_used, "other methods only")


PANEL = Panel(
    opens=scenes.RARE_DISEASE,
    decided={
        "trust": "all are compared",
        "provider_noise": "all kinds are on the page",
        "start": "always random here",
    },
    unused=unused,
    plain_uses=("trust",),
    held=_held,
    differing=True,
)
