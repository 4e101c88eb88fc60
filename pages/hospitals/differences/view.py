"""Settings -> what the page on hospitals that differ compares, and in which measure. No Streamlit here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.joining import SiteCell, SiteResults, What
from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.numerics import subspace_metrics
from dppca_core.populations import clinical
from pages.shared import text
from pages.shared.charts.metric_axis import error_title, factor

ALL = "all"


def recipe(settings: Mapping[str, Any]) -> SiteRecipe:
    """What is compared: possible for all settings."""
    data, differ = settings["sites.data"], settings["sites.differ"]
    blank = SiteRecipe(data=data)
    return SiteRecipe(
        data=data,
        method=settings["sites.method"],
        n=settings["n"],
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        neighbours=settings["neighbours"],
        share=settings["sites.share"],
        differences=clinical.DIFFERENCES if differ == ALL else (differ,),
        s_hat=min(max(settings["s_hat"], blank.k), blank.d),
        iterations=settings["iterations"],
        burn_in=settings["burn_in"],
        provider_noise=settings["provider_noise"],
        repeats=settings["repeats"],
        seed=settings["seed"],
    )


def kind(recipe: SiteRecipe, settings: Mapping[str, Any]) -> str:
    """The way of standardising that is looked at: public where the data have no other ranges."""
    asked: str = settings["sites.kind"]
    return asked if asked in recipe.kinds else recipe.kinds[0]


def strength(recipe: SiteRecipe, settings: Mapping[str, Any]) -> float:
    """How much hospitals differ: real ones as they do."""
    return float(settings["sites.strength"]) if recipe.synthetic else 0.0


def plain_is_truth(recipe: SiteRecipe, settings: Mapping[str, Any]) -> bool:
    """Whether errors are measured against the joint answer without privacy itself."""
    return not recipe.synthetic and settings["sites.against"] == "common" and settings["metric"] != "energy"


class SiteMeasure:
    """What is shown of a cell, in the units of the screen; errors, or captured energy."""

    def __init__(self, recipe: SiteRecipe, settings: Mapping[str, Any]) -> None:
        self.plain = settings["view"] == "board"
        self.energy = settings["metric"] == "energy"
        self.factor = factor(settings)
        self.against = settings["sites.against"]
        self.guess = self.factor * subspace_metrics.random_guess(recipe.d, recipe.k)
        self.error_title = error_title(settings)
        self.title = self.error_title
        if self.energy:
            self.title = (
                "share of signal captured" if self.plain else "captured energy of own patients, share"
            )

    def values(self, cell: SiteCell) -> Array:
        """(N,) values, hospital by hospital."""
        if self.energy:
            return cell.energy
        return self.factor * (cell.own if self.against == "own" else cell.common)

    def spread(self, results: SiteResults, what: What, at: float, kind: str) -> Array | None:
        """10, 50 and 90 % over the repeats, (3, N); None before the first."""
        cells = results.measured(what, at, kind)
        return quantiles([self.values(cell) for cell in cells]) if cells else None

    def without_privacy(self, results: SiteResults, at: float, kind: str) -> Array | None:
        """The joint answer without privacy, median, (N,)."""
        cells = [cell.plain for cell in results.measured("joined", at, kind) if cell.plain]
        return np.median([self.values(cell) for cell in cells], axis=0) if cells else None

    def common(self, results: SiteResults, at: float, kind: str) -> tuple[Array, float] | None:
        """Error against the common truth: 10, 50, 90 % (3,), and the median without privacy."""
        cells = results.measured("joined", at, kind)
        if not cells:
            return None
        plain = [cell.plain.common[0] for cell in cells if cell.plain]
        spread = quantiles([cell.common[0] for cell in cells])
        return self.factor * spread, self.factor * float(np.median(plain))

    def format(self, value: float) -> str:
        """A value as a sentence has it."""
        return text.percent(value) if self.energy else text.error(value)

    def outcome(self, alone: float, joined: float) -> str:
        """gains, loses, same or nothing: a tenth better or worse, "nothing" where neither beats guessing."""
        if self.energy:
            if abs(joined - alone) < 0.02:
                return "same"
            return "gains" if joined > alone else "loses"
        if min(alone, joined) > 0.9 * self.guess:
            return "nothing"
        if joined < 0.9 * alone:
            return "gains"
        return "loses" if joined > alone / 0.9 else "same"


def outcomes(measure: SiteMeasure, alone: Array, joined: Array) -> list[str]:
    """Every hospital's outcome, by medians."""
    return [measure.outcome(float(a), float(j)) for a, j in zip(alone[1], joined[1], strict=True)]
