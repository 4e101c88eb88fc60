"""Standardising several hospitals' rows before a joint PCA: by public ranges, or by paid means and spreads.

"public": one reference range for all hospitals. "own-ranges": the range that each hospital's laboratory
prints on its reports. Both are public, so they cost nothing. "pooled" and "within-site" need means and
spreads of private rows. Each hospital releases its own, with noise of its own, and what is pooled is made of
what was released:

    m~ = mean of u + N(0, (D_1 z_1/n)^2 I),    q~ = mean of u^2 + N(0, (D_2 z_2/n)^2 I),

u a row in public units, clipped to a public bound and divided by it, |u| <= 1, and u^2 entry by entry.

Sensitivity of the sums. Replacing a row moves sum u by |u - v| <= 2 = D_1, adding one by 1. |u^2|_2 <= |u|^2
<= 1 and u^2 has no negative entry, so replacing moves sum u^2 by at most sqrt(|u^2|^2 + |v^2|^2) <= sqrt 2
= D_2, adding by 1. Hospitals hold different patients, so each has the whole budget.

Two Gaussian releases and the PCA's own are one Gaussian release with 1/z^2 = 1/z_1^2 + 1/z_2^2 + 1/z_3^2
(`dppca_core.accounting.closed_form`): `share` of 1/z^2 pays for means and spreads, half each, and
`remaining_budget` is what the PCA has then. All that follows a release is post-processing: noisy constants
are drawn towards the public range by how noisy they are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.populations.site_summaries import Site
from dppca_core.privacy import Budget, Event, Release

KINDS = ("public", "own-ranges", "pooled", "within-site")
PAID = ("pooled", "within-site")
# Public guesses of how far a hospital's mean and variance lie from the public range's, in its units: they
# weigh a noisy constant against that range.
SPREAD_OF_MEANS = 0.5
SPREAD_OF_VARIANCES = 0.5
# Limits of a column's variance in public units, so that a constant column is not magnified.
_LEAST_VARIANCE, _MOST_VARIANCE = 1 / 16, 16.0


@dataclass(frozen=True, eq=False)
class Constants:
    """Hold what a hospital's rows x are standardised by, (x - centre)/scale, in public units, (d,) each."""

    centre: Array
    scale: Array


@dataclass(frozen=True, eq=False)
class Summary:
    """Hold the released means and mean squares of rows, in public units, (d,) each.

    mean_std, square_std: the standard deviation of the noise in each of their entries; 0 for exact ones.
    """

    mean: Array
    square: Array
    mean_std: float
    square_std: float


Summarise = Callable[[Site, float], Summary]  # the means and spreads of a hospital, rows cut to a bound


def sensitivities(budget: Budget) -> tuple[float, float]:
    """Return D_1 and D_2, the most by which one patient moves the sums of u and of u^2, |u| <= 1."""
    return (2.0, math.sqrt(2)) if budget.neighbours == "replace-one" else (1.0, 1.0)


def mean_and_spread_multiplier(budget: Budget, share: float) -> float:
    """Return the noise multiplier z_1 = z_2, std over sensitivity, of the means' and of the spreads' release.

    Both together take `share` of the budget.
    Raises ValueError unless 0 < share < 1 and the accounting is exact.
    """
    checks.inside_unit_interval(share=share)
    checks.one_of(("exact",), accounting=budget.accounting)
    # Each of the two has half of the share of 1/z^2, so its own 1/z^2 is share/2 of the budget's.
    return gaussian.noise_multiplier(budget) * math.sqrt(2 / share)


def remaining_budget(budget: Budget, share: float) -> Budget:
    """Return the budget that the PCA has left once `share` of it paid for means and spreads."""
    mean_and_spread_multiplier(budget, share)  # raises for what cannot be divided
    return gaussian.remaining(budget, share)


def spends(budget: Budget, share: float) -> tuple[Event, ...]:
    """Return what means and spreads cost each hospital's own patients: two Gaussian releases."""
    z = mean_and_spread_multiplier(budget, share)
    return (Release(z), Release(z))


def release(site: Site, bound: float, budget: Budget, share: float, rng: np.random.Generator) -> Summary:
    """Return noisy means and mean squares of one hospital, in public units.

    bound: the public length to which rows are clipped for it. share: of the budget, for both together.
    This is the only step here that releases something of private rows; `cohort` reads them for the PCA.
    """
    z = mean_and_spread_multiplier(budget, share)
    mean, square = site.means(bound)  # of rows divided by the bound, whose unit is restored below
    mean_std, square_std = (sensitivity * z / site.n for sensitivity in sensitivities(budget))
    return Summary(
        (mean + mean_std * rng.standard_normal(site.features)) * bound,
        (square + square_std * rng.standard_normal(site.features)) * bound**2,
        mean_std * bound,
        square_std * bound**2,
    )


def exact_summary(site: Site, bound: float) -> Summary:
    """Return the means and mean squares of one hospital as `release` does, but without noise: not private."""
    mean, square = site.means(bound)
    return Summary(mean * bound, square * bound**2, 0.0, 0.0)


def pool(summaries: Sequence[Summary], sizes: Sequence[int]) -> Summary:
    """Return the summary of all hospitals' patients, from what they released: means weighted by sizes.

    Noises are independent, so their variances add. This costs no privacy: it reads what was released.
    """
    weights = np.array(sizes) / sum(sizes)  # sizes: patients of each hospital, which are public
    pairs = list(zip(weights, summaries, strict=True))
    return Summary(
        np.sum([w * s.mean for w, s in pairs], axis=0),
        np.sum([w * s.square for w, s in pairs], axis=0),
        math.sqrt(sum((w * s.mean_std) ** 2 for w, s in pairs)),
        math.sqrt(sum((w * s.square_std) ** 2 for w, s in pairs)),
    )


def constants(summary: Summary) -> Constants:
    """Return centre and scale from released means and mean squares, drawn towards the public range, 0 and 1.

    What differs from that range counts by t^2/(t^2 + noise^2), with t `SPREAD_OF_MEANS` or
    `SPREAD_OF_VARIANCES`, so that a noisy constant counts little. Without noise they are the mean and the
    standard deviation, the latter within limits.
    """
    noise = summary.mean_std**2
    centre = summary.mean * SPREAD_OF_MEANS**2 / (SPREAD_OF_MEANS**2 + noise)
    variance = summary.square - summary.mean**2 + noise  # its noise makes the mean's square too large
    # The variance of the noise in this variance, to first order.
    variance_noise = summary.square_std**2 + 4 * summary.mean**2 * noise
    variance = 1 + (variance - 1) * SPREAD_OF_VARIANCES**2 / (SPREAD_OF_VARIANCES**2 + variance_noise)
    return Constants(centre, np.sqrt(np.clip(variance, _LEAST_VARIANCE, _MOST_VARIANCE)))


def public_constants(features: int) -> Constants:
    """Return the public reference range in its own units, where it has centre 0 and scale 1."""
    return Constants(np.zeros(features), np.ones(features))


def constants_by_site(
    sites: Sequence[Site], kind: str, own_ranges: Sequence[Constants], summaries: Sequence[Summary]
) -> tuple[Constants, ...]:
    """Return every hospital's constants for one of KINDS, in the hospitals' order.

    own_ranges: those that each hospital's laboratory prints, for "own-ranges" alone. summaries: what each
    hospital released, for "pooled" and "within-site" alone.
    """
    checks.one_of(KINDS, kind=kind)
    if kind == "public":
        return (public_constants(sites[0].features),) * len(sites)
    if kind == "own-ranges":
        return tuple(own_ranges)
    if kind == "pooled":
        return (constants(pool(summaries, [site.n for site in sites])),) * len(sites)
    return tuple(constants(summary) for summary in summaries)


def raw_bound(sites: Sequence[Site], tail: float) -> float:
    """Return one public length for the rows of all hospitals in public units, before they are standardised.

    tail: the chance that a row of a simulated hospital is longer.
    """
    plain = public_constants(sites[0].features)
    return max(site.bound(plain.centre, plain.scale, tail) for site in sites)


def cohort(sites: Sequence[Site], by: Sequence[Constants], tail: float) -> Cohort:
    """Return the hospitals with their standardised rows, divided by one public bound for all of them.

    by: the constants of each hospital. tail: the chance that a row of a simulated hospital exceeds the bound.
    """
    pairs = list(zip(sites, by, strict=True))
    # The longest of the hospitals' bounds serves all, so that their rows are divided by the same number.
    bound = max(site.bound(its.centre, its.scale, tail) for site, its in pairs)
    providers = (Provider(site.n, site.moment(its.centre, its.scale, bound)) for site, its in pairs)
    return Cohort.together(providers, bound)


def standardised(
    sites: Sequence[Site],
    kind: str,
    printed: Sequence[Constants],
    tail: float,
    summarise: Summarise = exact_summary,
) -> Cohort:
    """Return the hospitals' rows, standardised by one of KINDS and divided by one public bound.

    printed: the reference range that each hospital's laboratory prints, for "own-ranges" alone. tail: the
    chance that a simulated row exceeds the bound. summarise: returns the means and spreads of one hospital,
    for the kinds that need them: exact, which is not private, or with noise.
    """
    summaries = list[Summary]()
    if kind in PAID:
        bound = raw_bound(sites, tail)
        summaries = [summarise(site, bound) for site in sites]
    return cohort(sites, constants_by_site(sites, kind, printed, summaries), tail)
