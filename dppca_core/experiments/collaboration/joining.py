"""Who gains by joining: hospitals that differ, standardised in several ways, together and each alone.

A cell is one repeat of "joined" (all hospitals, one private answer, and what the same analysis finds without
privacy) or "alone" (every hospital by itself, with the same method, budget and standardisation, of its own
patients only), at one strength of the differences.
Generators are keyed by what a cell is: curves over the strength are smooth, and a new way of standardising
changes no other numbers.

What errors are measured against. Synthetic: the common truth is the population's without differences, a
hospital's own truth is its population's with its own shift and scale taken out. Heart disease: PCA without
privacy of the pooled rows, and of the hospital's own rows, standardised in the same way without noise; only
the owner of the rows can compute either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.experiments.cells import CellStore
from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.experiments.draws import generator
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.populations import clinical, standardisation
from dppca_core.populations.site_summaries import Site
from dppca_core.populations.standardisation import PAID, Constants, Summary

STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
SWEPT = (0.0, 0.5, 1.0, 1.5, 2.0)  # of these the curve is made
FAILURE = 0.01  # chance that some synthetic patient is longer than the public bound
What = Literal["joined", "alone"]
Key = tuple[What, float, str, int]  # what, strength, kind of standardisation, repeat


class SiteTruths(NamedTuple):
    """What answers are measured against: bases (d, k), second moments (d, d) and their best k's energy."""

    common: Array
    own: tuple[Array, ...]
    moments: tuple[Array, ...]
    best: tuple[float, ...]


class SiteCell(NamedTuple):
    """sin Theta and captured energy, hospital by hospital, (N,) each.

    `common` is the error against the common truth (of one joint answer: N times the same), `own` against the
    hospital's own, `energy` the share of the best k directions' energy in its own patients. `plain` is the
    same of the joint answer without privacy; None for "alone".
    """

    common: Array
    own: Array
    energy: Array
    plain: SiteCell | None = None


def standardised(
    sites: Sequence[Site], kind: str, printed: Sequence[Constants], summaries: Sequence[Summary], tail: float
) -> Cohort:
    """The hospitals' rows by their constants."""
    return standardisation.cohort(
        sites, standardisation.constants_by_site(sites, kind, printed, summaries), tail
    )


def without_privacy(sites: Sequence[Site], kind: str, printed: Sequence[Constants], tail: float) -> Cohort:
    """The same with exact means and spreads."""
    bound = standardisation.raw_bound(sites, tail)
    summaries = [standardisation.exact_summary(site, bound) for site in sites] if kind in PAID else []
    return standardised(sites, kind, printed, summaries, tail)


@lru_cache(maxsize=64)
def truths(of: SiteRecipe, strength: float, kind: str) -> SiteTruths:
    """See the module's text. Only the table's depend on the kind of standardisation."""
    if of.synthetic:
        model = of.model(strength)
        moments = [hospital.calibrated for hospital in clinical.hospitals(model)]
        common = model.basis()
    else:
        plain = without_privacy(of.sites(0.0, 0), kind, of.printed(0.0), FAILURE)
        moments = [provider.moment.dense() for provider in plain]
        common = linalg.top_eigenspace(plain.pooled.dense(), of.k)
    values, own = zip(*(linalg.top_eigenpairs(moment, of.k) for moment in moments), strict=True)
    return SiteTruths(common, own, tuple(moments), tuple(float(most.sum()) for most in values))


def measure(of: SiteRecipe, key: Key) -> SiteCell:
    """One cell. Raises ValueError for a kind of standardisation that the data do not have."""
    what, strength, kind, repeat = key
    checks.one_of(of.kinds, kind=kind)
    sites, printed = of.sites(strength, repeat), of.printed(strength)
    against = truths(_of_patients(of), strength, kind)
    if what == "joined":
        basis = _private(of, sites, kind, printed, generator(of.seed, repeat, of.method + kind))
        plain = _plain_basis(_of_patients(of), strength, kind, repeat if of.synthetic else 0)
        return _cell(against, [basis] * len(sites))._replace(plain=_cell(against, [plain] * len(sites)))
    found = [
        _private(of, [site], kind, [own], generator(of.seed, repeat, of.method + kind, (1, index)))
        for index, (site, own) in enumerate(zip(sites, printed, strict=True))
    ]
    return _cell(against, found)


def _of_patients(of: SiteRecipe) -> SiteRecipe:
    """What holds without privacy: it depends neither on the method nor on the budget."""
    return SiteRecipe(data=of.data, n=of.n, differences=of.differences, seed=of.seed)


@lru_cache(maxsize=1024)
def _plain_basis(of: SiteRecipe, strength: float, kind: str, repeat: int) -> Array:
    joint = without_privacy(of.sites(strength, repeat), kind, of.printed(strength), FAILURE / sum(of.sizes))
    return linalg.top_eigenspace(joint.pooled.dense(), of.k)


def _private(
    of: SiteRecipe, sites: Sequence[Site], kind: str, printed: Sequence[Constants], rng: np.random.Generator
) -> Array:
    """Means and spreads where they are paid for, then the method: its basis."""
    tail = FAILURE / sum(site.n for site in sites)
    own, *hospitals = rng.spawn(1 + len(sites))
    summaries = []
    if kind in PAID:
        bound = standardisation.raw_bound(sites, tail)
        summaries = [
            standardisation.release(site, bound, of.budget, of.share, chance)
            for site, chance in zip(sites, hospitals, strict=True)
        ]
    joint = standardised(sites, kind, printed, summaries, tail)
    return METHODS[of.method].fit(joint, k=of.k, budget=of.left(kind), rng=own, **of.options).basis


def _cell(against: SiteTruths, bases: Sequence[Array]) -> SiteCell:
    captured = zip(bases, against.moments, against.best, strict=True)
    return SiteCell(
        common=np.array([subspace_metrics.sin_theta(basis, against.common) for basis in bases]),
        own=np.array([subspace_metrics.sin_theta(b, own) for b, own in zip(bases, against.own, strict=True)]),
        energy=np.array([subspace_metrics.captured_energy(*one) for one in captured]),
    )


class SiteResults(CellStore[Key, SiteCell]):
    """The cells of a comparison: (what, strength, kind of standardisation, repeat)."""

    def __init__(self, of: SiteRecipe) -> None:
        super().__init__(of.repeats)
        self.of = of

    def measure(self, cell: Key) -> SiteCell:
        """Return `measure` of this comparison."""
        return measure(self.of, cell)

    def first(self, strength: float, kind: str) -> Iterator[Key]:
        """What a first look needs: two repeats of what is looked at, one of everything else."""
        for repeat in range(min(2, self.of.repeats)):
            yield ("joined", strength, kind, repeat)
            yield ("alone", strength, kind, repeat)
        yield from (("joined", at, other, 0) for at in self.strengths(strength) for other in self.of.kinds)

    def wanted(self, strength: float, kind: str) -> Iterator[Key]:
        """Return all cells of the view."""
        for repeat in range(self.of.repeats):
            yield ("joined", strength, kind, repeat)
            yield ("alone", strength, kind, repeat)
        for repeat in range(self.of.repeats):
            yield from (
                ("joined", at, other, repeat) for at in self.strengths(strength) for other in self.of.kinds
            )

    def strengths(self, strength: float) -> tuple[float, ...]:
        """Where the curve is measured: the table's hospitals are what they are."""
        return tuple(sorted({*SWEPT, strength})) if self.of.synthetic else (0.0,)

    def rows(self, cell: Key, value: SiteCell) -> Iterator[dict[str, Any]]:
        """Return a row for each hospital."""
        what, strength, kind, repeat = cell
        for i, (hospital, size) in enumerate(zip(self.of.hospitals, self.of.sizes, strict=True)):
            yield {
                "data": self.of.data,
                "method": self.of.method,
                "answer": what,
                "site_effect": strength if self.of.synthetic else None,
                "standardisation": kind,
                "epsilon": self.of.epsilon,
                "epsilon_of_pca": self.of.left(kind).epsilon,
                "delta": self.of.delta,
                "repeat": repeat,
                "hospital": hospital,
                "patients": size,
                "sin_theta_common": float(value.common[i]),
                "sin_theta_own": float(value.own[i]),
                "captured_energy_own": float(value.energy[i]),
                "sin_theta_common_without_privacy": float(value.plain.common[i]) if value.plain else None,
                "sin_theta_own_without_privacy": float(value.plain.own[i]) if value.plain else None,
            }
