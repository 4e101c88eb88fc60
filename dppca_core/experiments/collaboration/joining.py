"""Who gains by joining: hospitals that differ, with several kinds of standardisation, joined and each alone.

A cell is one repeat of "joined" (all hospitals, one private answer, and the answer of the same analysis
without privacy) or "alone" (every hospital by itself, with the same method, budget and standardisation, on
its own patients only), at one strength of the differences.
The strength, from 0 (alike) to 2, scales how much synthetic hospitals differ. A kind of standardisation is
one of `standardisation.KINDS`: by which means and spreads rows are centred and scaled, public ones or those
that hospitals release at a part of the budget. Basis stands for a method's answer, orthonormal, (d, k).
Generators are keyed by what a cell is, so curves over the strength are smooth, and another kind of
standardisation changes no other numbers.

Errors are measured against two truths. Synthetic: the common truth is the population's without differences,
and a hospital's local truth is its population's with its own shift and scale taken out. Heart disease: PCA
without privacy of the pooled rows, and of the hospital's rows, standardised in the same way without noise;
only the owner of the rows can compute either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration.site_experiment import SiteExperiment
from dppca_core.experiments.draws import generator
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.populations import clinical, standardisation
from dppca_core.populations.site_summaries import Site
from dppca_core.populations.standardisation import Constants, Summary

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
SWEPT = (0.0, 0.5, 1.0, 1.5, 2.0)  # of these the curve is made
FAILURE = 0.01  # chance that some synthetic patient is longer than the public bound
What = Literal["joined", "alone"]
Key = tuple[What, float, str, int]  # what, strength, kind of standardisation, repeat


class SiteTruths(NamedTuple):
    """Hold what answers are measured against: one common basis (d, k), and the rest for each hospital."""

    common: Array
    local: tuple[Array, ...]  # its own basis, (d, k)
    moments: tuple[Array, ...]  # second moment of its standardised patients, (d, d)
    best: tuple[float, ...]  # sum of that moment's k largest eigenvalues, the most that k directions capture


class SiteCell(NamedTuple):
    """Hold the errors of one run, hospital by hospital, (N,) each.

    `common` is sin Theta against the common truth (for one joint answer: N times the same), `local` against
    the hospital's own truth; the angles are the largest principal angles to the same, in degrees. `energy` is
    the variance of its own patients along the answer, as a share of that along their best k directions.
    `plain` holds the same for the joint answer without privacy; None for "alone".
    """

    common: Array
    local: Array
    energy: Array
    common_angle: Array
    local_angle: Array
    no_privacy: SiteCell | None = None


@lru_cache(maxsize=64)
def truths(recipe: SiteExperiment, strength: float, kind: str) -> SiteTruths:
    """Return the truths as the module's text defines them; a synthetic cohort's do not depend on the kind."""
    if recipe.synthetic:
        model = recipe.model(strength)
        moments = [hospital.covariance_without_effects for hospital in clinical.hospitals(model)]
        common = model.basis()
    else:
        # A table's hospitals are the same at every strength and repeat, and its bound at every tail.
        sites, printed = recipe.sites(strength=0.0, repeat=0), recipe.printed(strength=0.0)
        plain = standardisation.standardised(sites, kind, printed, tail=FAILURE)
        moments = [provider.moment.dense() for provider in plain]
        common = linalg.top_eigenspace(plain.pooled.dense(), recipe.k)
    values, local = zip(*(linalg.top_eigenpairs(moment, recipe.k) for moment in moments), strict=True)
    return SiteTruths(common, local, tuple(moments), tuple(float(largest.sum()) for largest in values))


def measure(recipe: SiteExperiment, key: Key) -> SiteCell:
    """Run and measure one cell of a comparison; ValueError for a kind that the data do not have."""
    what, strength, kind, repeat = key
    checks.one_of(recipe.kinds, kind=kind)
    sites, printed = recipe.sites(strength, repeat), recipe.printed(strength)
    against = truths(_patients_only(recipe), strength, kind)
    stream = recipe.method + kind
    if what == "joined":
        basis = _private_basis(recipe, sites, kind, printed, generator(recipe.seed, repeat, stream))
        draw = repeat if recipe.synthetic else 0  # a table has the same patients in every repeat
        plain = _plain_basis(_patients_only(recipe), strength, kind, draw)
        # One joint answer is measured at every hospital.
        private, exact = (_measure_bases(against, [answer] * len(sites)) for answer in (basis, plain))
        return private._replace(no_privacy=exact)
    # The key (1, index) gives each hospital noise of its own.
    bases = [
        _private_basis(recipe, [site], kind, [ranges], generator(recipe.seed, repeat, stream, (1, index)))
        for index, (site, ranges) in enumerate(zip(sites, printed, strict=True))
    ]
    return _measure_bases(against, bases)


def _patients_only(recipe: SiteExperiment) -> SiteExperiment:
    """Return the recipe with the default method and budget, so that all others share its cached truths."""
    return SiteExperiment(
        data=recipe.data,
        n=recipe.n,
        columns=recipe.columns,
        differences=recipe.differences,
        seed=recipe.seed,
    )


@lru_cache(maxsize=1024)
def _plain_basis(recipe: SiteExperiment, strength: float, kind: str, repeat: int) -> Array:
    """Return PCA without privacy of all hospitals' rows, standardised by exact means and spreads, (d, k)."""
    tail = FAILURE / sum(recipe.sizes)  # of one row, so that all together exceed the bound by FAILURE at most
    joint = standardisation.standardised(recipe.sites(strength, repeat), kind, recipe.printed(strength), tail)
    return linalg.top_eigenspace(joint.pooled.dense(), recipe.k)


def _private_basis(
    recipe: SiteExperiment,
    sites: Sequence[Site],
    kind: str,
    printed: list[Constants],
    rng: np.random.Generator,
) -> Array:
    """Release means and spreads where they are paid for, run the method, and return its basis, (d, k)."""
    tail = FAILURE / sum(site.n for site in sites)
    # A generator for each hospital and one for the method: whether means are released, and of how many
    # hospitals, then changes no noise of the method.
    method_rng, *site_rngs = rng.spawn(1 + len(sites))
    rngs = iter(site_rngs)

    def released(site: Site, bound: float) -> Summary:
        return standardisation.release(site, bound, recipe.budget, recipe.share, next(rngs))

    joint = standardisation.standardised(sites, kind, printed, tail, released)
    method, budget = METHODS[recipe.method], recipe.budget_left(kind)
    return method.fit(joint, k=recipe.k, budget=budget, rng=method_rng, **recipe.options).basis


def _measure_bases(against: SiteTruths, bases: Sequence[Array]) -> SiteCell:
    captured = zip(bases, against.moments, against.best, strict=True)
    pairs = zip(bases, against.local, strict=True)
    return SiteCell(
        common=np.array([subspace_metrics.sin_theta(basis, against.common) for basis in bases]),
        local=np.array(list(map(subspace_metrics.sin_theta, bases, against.local))),
        common_angle=subspace_metrics.largest_angles(np.stack(bases), against.common),
        local_angle=np.array(
            [subspace_metrics.largest_angles(basis[None], local)[0] for basis, local in pairs]
        ),
        energy=np.array([subspace_metrics.captured_energy(*arguments) for arguments in captured]),
    )


class SiteResults(CellStore[Key, SiteCell]):
    """Hold the cells of a comparison: ("joined" or "alone", strength, kind of standardisation, repeat)."""

    def __init__(self, recipe: SiteExperiment) -> None:
        super().__init__(recipe.repeats)
        self.recipe = recipe

    def measure(self, cell: Key) -> SiteCell:
        return measure(self.recipe, cell)

    def first(self, strength: float, kind: str) -> Iterator[Key]:
        """Return the cells to measure before anything is shown: two repeats, and one of each curve."""
        return self._view(strength, kind, min(2, self.recipe.repeats), repeats_of_curves=1)

    def wanted(self, strength: float, kind: str) -> Iterator[Key]:
        return self._view(strength, kind, self.recipe.repeats, self.recipe.repeats)

    def _view(self, strength: float, kind: str, repeats: int, repeats_of_curves: int) -> Iterator[Key]:
        """Yield the cells at this strength and kind, then the curves over the strength, of every kind."""
        for repeat in range(repeats):
            yield ("joined", strength, kind, repeat)
            yield ("alone", strength, kind, repeat)
        for repeat in range(repeats_of_curves):
            for at in self.strengths(strength):
                yield from (("joined", at, other, repeat) for other in self.recipe.kinds)

    def strengths(self, strength: float) -> tuple[float, ...]:
        """Return the strengths at which the curve is measured; the table's hospitals have only one."""
        return tuple(sorted({*SWEPT, strength})) if self.recipe.synthetic else (0.0,)

    def records(self, cell: Key, value: SiteCell) -> Iterator[dict[str, Any]]:
        what, strength, kind, repeat = cell
        for i, (hospital, size) in enumerate(zip(self.recipe.hospitals, self.recipe.sizes, strict=True)):
            yield {
                "data": self.recipe.data,
                "method": self.recipe.method,
                "answer": what,
                "site_effect": strength if self.recipe.synthetic else None,
                "standardisation": kind,
                "epsilon": self.recipe.epsilon,
                "epsilon_of_pca": self.recipe.budget_left(kind).epsilon,
                "delta": self.recipe.delta,
                "repeat": repeat,
                "hospital": hospital,
                "patients": size,
                "sin_theta_common": float(value.common[i]),
                "sin_theta_own": float(value.local[i]),
                "captured_energy_own": float(value.energy[i]),
                "sin_theta_common_without_privacy": float(value.no_privacy.common[i])
                if value.no_privacy
                else None,
                "sin_theta_own_without_privacy": float(value.no_privacy.local[i])
                if value.no_privacy
                else None,
            }
