"""Prepare what full view compares where hospitals differ, in the unit on screen.

Hospitals standardise their rows in one of several ways, the *kinds*. Then they join for one private answer,
or each works alone with the same method and budget. A cell holds the errors of one such run, hospital by
hospital, and "plain" those of the joint answer without privacy. Synthetic hospitals differ by a *strength*
from 0 on. Errors are measured against a *common* truth, or against each hospital's *own* (`local` in a cell).
"""

from dataclasses import replace

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import Recommendation, recommend
from dppca_core.experiments.collaboration.joining import SiteCell, SiteResults, What
from dppca_core.experiments.collaboration.site_experiment import SiteExperiment
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.numerics.subspace_metrics import runs_in_unit
from pages.shared.charts import metric_axis
from pages.shared.settings import catalogue, hospitals

_SAME_NAMES = ("n", "epsilon", "delta", "neighbours", "iterations", "burn_in", "provider_noise")


def to_recipe(settings: catalogue.Settings) -> SiteExperiment:
    """Return the comparison that the settings ask for; it keeps at least k features and at most all d.

    Its hospitals have the population of the decision, and of a simulated one the cohort's own sizes.
    """
    population = hospitals.differing(settings)
    assert population is not None  # hospitals that are alike have other comparisons
    data, columns = settings["sites.data"], population.columns
    defaults = SiteExperiment(data=data, columns=columns)
    recipe = SiteExperiment(
        data=data,
        columns=columns,
        share=settings["sites.share"],
        differences=population.differences,
        s_hat=min(max(catalogue.rows_kept(settings), defaults.k), defaults.d),
        **{name: settings[name] for name in (*_SAME_NAMES, "repeats", "seed")},
    )
    method = settings["sites.method"]
    if method == catalogue.RECOMMENDED:
        method = recommended(recipe, kind_shown(recipe, settings), settings["trust"]).method
    return replace(recipe, method=method)


def kind_shown(recipe: SiteExperiment, settings: catalogue.Settings) -> str:
    """Return the chosen kind of standardisation, or the first where the data do not allow it."""
    kind: str = settings["sites.kind"]
    # Of the real table no laboratory's own ranges are known.
    return kind if kind in recipe.kinds else recipe.kinds[0]


def recommended(recipe: SiteExperiment, kind: str, trust: str) -> Recommendation:
    """Return what the core recommends to these hospitals together under a trust.

    A simulated population is public, as it would be if hospitals did not differ.
    """
    return recommend(
        trust,
        n=sum(recipe.sizes),
        d=recipe.d,
        k=recipe.k,
        budget=recipe.budget_left(kind),
        s_hat=recipe.s_hat,
        providers=len(recipe.sizes),
        model=recipe.model(strength=0.0) if recipe.synthetic else None,
    )


class SiteView:
    """Give the results of a comparison in the unit of the screen.

    kind: of standardisation; the chosen one, if the data allow it. strength: 0 for the real table. against:
    "own" or "common". unit: the metric of errors on screen, in which `guess` is that of a random guess.
    """

    def __init__(self, results: SiteResults, settings: catalogue.Settings) -> None:
        self.results, self.settings = results, settings
        self.recipe = recipe = results.recipe
        self.kind = kind_shown(recipe, settings)
        self.strength = settings["sites.strength"] if recipe.synthetic else 0.0
        self.against = settings["sites.against"]
        self.unit = metric_axis.error_unit(settings)
        self.guess = metric_axis.random_guess(settings, recipe.d, recipe.k)
        self.error_title = metric_axis.error_title(settings)

    @property
    def plain_is_truth(self) -> bool:
        """Return whether the joint answer without privacy is itself what errors are measured against.

        Then its own error is 0 and is not shown.
        """
        return not self.recipe.synthetic and self.against == "common"

    def code(self, name: str) -> FigureRecipe:
        """Return a figure's recipe: "standardising", of joint errors, or "joining", of every hospital."""
        values = {"recipe": self.recipe, "strength": self.strength, "kind": self.kind}
        return FigureRecipe(f"collaboration.{name}", values)

    def values(self, cell: SiteCell) -> Array:
        """Return a cell's errors for each hospital in the unit on screen, (N,)."""
        local = self.against == "own"
        sines, angles = (cell.local, cell.local_angle) if local else (cell.common, cell.common_angle)
        return runs_in_unit(self.unit, sines, angles, self.recipe.k)

    def text(self, value: float) -> str:
        return metric_axis.value_text(self.unit, value)

    def _joint_error(self, cell: SiteCell) -> float:
        # A cell holds it for each hospital, but it is the same for all.
        return float(runs_in_unit(self.unit, cell.common[0], cell.common_angle[0], self.recipe.k))

    def spread(self, what: What) -> Array | None:
        """Return 10, 50 and 90 % over the repeats of the hospitals' values, (3, N); None before the first."""
        cells = self.results.measured(what, self.strength, self.kind)
        return quantiles([self.values(cell) for cell in cells]) if cells else None

    def without_privacy(self) -> Array:
        """Return each hospital's median value of the joint answer without privacy, (N,).

        There must be a joint answer with privacy, whose cells hold both.
        """
        cells = self.results.measured("joined", self.strength, self.kind)
        return np.median([self.values(cell.no_privacy) for cell in cells if cell.no_privacy], axis=0)

    def joint_errors(self, strength: float) -> dict[str, tuple[Array, float]]:
        """Return by kind the joint answer's error against the common truth, where it is measured.

        Errors are 10, 50 and 90 % over the repeats, (3,), and the median without privacy.
        """
        errors = {}
        for kind in self.recipe.kinds:
            cells = self.results.measured("joined", strength, kind)
            if cells:
                spread = quantiles([self._joint_error(cell) for cell in cells])
                plain = [self._joint_error(cell.no_privacy) for cell in cells if cell.no_privacy]
                errors[kind] = spread, float(np.median(plain))
        return errors
