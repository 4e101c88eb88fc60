"""Fit a plan: the steps of a private PCA that read private rows, in floating point or as a hardened release.

Everything is in units of the scaled rows, (x - mean)/scale, but the mean and the scale.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounts.account import size_details
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms import eigenvalues, paid_centre, paid_scale
from dppca_core.mechanisms.eigenvalues import AxisVariances
from dppca_core.numerics import linalg, moments
from dppca_core.privacy import Budget
from dppca_core.records import Estimate
from dppca_core.release import array_release
from dppca_core.release.private_release import Released
from dppca_core.sklearn.plan import WHOLE_MOMENT, FitPlan


class FitAnswer(NamedTuple):
    """Hold what a fit found, and what a row x was taken through: (x - mean)/scale, shortened to the bound.

    basis: (d, k). variances: along it and outside of it, over n; None where they are neither paid for nor
    released anyway.
    """

    basis: Array
    variances: AxisVariances | None
    mean: Array
    scale: Array
    bound: float
    notes: tuple[str, ...] = ()
    released: Released | None = None


class PublicScaling(NamedTuple):
    """Hold the public numbers by which a row x becomes (x - mean)/scale, (d,) each, and names of columns."""

    mean: Array
    scale: Array
    features: list[str]


def answer(
    plan: FitPlan, rows: Array, public: PublicScaling, payer: Payer | None, rng: np.random.Generator
) -> FitAnswer:
    """Pay for a plan, where somebody pays, then draw its noise. Reads private rows, (n, d).

    Raises OverLimitError beyond the payer's limit, before anything is drawn; ValueError, before anything is
    paid, for rows that overflow.
    """
    if plan.request is not None:
        released = array_release.make(
            plan.request,
            rows,
            payer,
            features=public.features,
            center=public.mean,
            scale=public.scale,
            bound=plan.bound,
        )
        return _of_release(plan, released)
    if plan.rule is not None:
        _pay(plan, len(rows), payer)
        return _with_private_bound(plan, array_release.encoded(rows, public.mean, public.scale), public, rng)
    with np.errstate(over="ignore"):
        scaled = (rows - public.mean) / public.scale
    checks.finite_matrix(rows=scaled)  # they may overflow
    _pay(plan, len(rows), payer)
    return _with_public_bound(plan, scaled, public, rng)


def _pay(plan: FitPlan, rows: int, payer: Payer | None) -> None:
    if payer is not None:
        about = {"method": plan.method.name, **size_details(rows, 1, averaged=False)}
        payer.pay(plan.method.title, plan.spent, about, neighbours=plan.whole_budget.neighbours)


def _of_release(plan: FitPlan, released: Released) -> FitAnswer:
    mean, scale, bound = array_release.taken_through(released)
    k = plan.components
    if plan.variance_share is not None:
        k = array_release.fewest_components(released, plan.variance_share)
    basis, variances = released.basis[:, :k], None
    known = array_release.variances(released, k)
    if known is not None:
        variances, basis = eigenvalues.principal_axes(basis, known)
    variances = variances if plan.wants_variances else None
    return FitAnswer(basis, variances, mean, scale, bound, array_release.notes(released, k), released)


def _with_private_bound(
    plan: FitPlan, numbers: Array, public: PublicScaling, rng: np.random.Generator
) -> FitAnswer:
    """Return components of one noisy moment, whose bound is fitted to encoded rows. Reads private rows."""
    assert plan.rule is not None
    release = fitted_release.fitted_moment(numbers, plan.rule, rng)
    # Noise in the trace, whose diagonal was divided by squares of what columns were divided by in the end.
    roots = release.divisors / release.frame.divisors
    std = plan.rule.mean_std("moment", release.bound) / release.frame.usable
    std *= float(np.linalg.norm(1 / np.square(roots)))
    k = _components(plan, release.moment, std)
    basis = Estimate.from_moment(release.moment, k, **plan.options).basis
    known = eigenvalues.of_moment(release.moment, basis, std)
    variances, basis = eigenvalues.principal_axes(basis, known)
    return FitAnswer(
        basis,
        variances if plan.wants_variances else None,
        public.mean + public.scale * release.mean,
        public.scale * release.divisors,
        release.bound,
    )


def _components(plan: FitPlan, moment: Array, std: float) -> int:
    """Return k: the number that was asked for, or the least that holds the share of a released moment."""
    if plan.variance_share is None:
        return plan.components
    values, _ = linalg.top_eigenpairs(moment, plan.components)
    return eigenvalues.fewest_axes(values, float(moment.trace()), std, plan.variance_share)


class _ScaledRows(NamedTuple):
    """Hold rows as (x - mean)/scale, and to which length they are shortened.

    public_bound: at which rows are clipped where a mean or scales are paid for. n: by which sums over rows
    are divided: their number, or the one that is declared where it is protected.
    """

    rows: Array
    mean: Array
    scale: Array
    public_bound: float
    bound: float
    n: int | None

    @property
    def ratio(self) -> float:
        """Return what turns a mean over all rows into their sum over n; 1 where there is no n."""
        return 1.0 if self.n is None else len(self.rows) / self.n

    def centred(self, budget: Budget, share: float, rng: np.random.Generator) -> "_ScaledRows":
        """Return the rows about a noisy mean that this share of the budget pays for. Reads private rows."""
        # The released mean is of clipped rows, which are divided by the bound.
        clipped = moments.clip_rows(self.rows, self.public_bound)
        shift = self.ratio * paid_centre.release(clipped, budget, share, rng)
        rows = self.rows - shift * self.public_bound
        # An empty row must stay empty (`paid_centre.centred`).
        if budget.neighbours == "add-remove":
            rows = paid_centre.empty_rows_kept(rows, self.rows)
        return self._replace(rows=rows, mean=self.mean + self.scale * shift * self.public_bound)

    def divided(self, budget: Budget, share: float, left: Budget, rng: np.random.Generator) -> "_ScaledRows":
        """Return the rows divided by scales that this share of the budget pays for. Reads private rows.

        left: what the mean and the scales leave of the budget.
        """
        clipped = moments.clip_rows(self.rows, self.public_bound)
        squares = self.ratio * paid_scale.release(clipped, budget, share, rng)
        # The columns' scales, (d,), and the length to which rows divided by them are shortened.
        n = len(clipped) if self.n is None else self.n
        divisors, bound = paid_scale.scales_of_release(squares, budget, share, left, n)
        scale = self.scale * self.public_bound * divisors
        return self._replace(rows=clipped / divisors, scale=scale, bound=bound)


def _with_public_bound(
    plan: FitPlan, rows: Array, public: PublicScaling, rng: np.random.Generator
) -> FitAnswer:
    """Return a method's components, as principal axes where their variances are known. Reads private rows."""
    scaled = _ScaledRows(rows, public.mean, public.scale, plan.public_bound, plan.bound, plan.n)
    if plan.mean_share:
        scaled = scaled.centred(plan.whole_budget, plan.mean_share, rng)
    if plan.scale_share:
        scaled = scaled.divided(plan.whole_budget, plan.scale_share, plan.budget, rng)
    cohort = Cohort.from_rows([scaled.rows], scaled.bound)
    estimate = plan.method.fit(cohort, k=plan.components, budget=plan.remainder, rng=rng, **plan.options)
    basis, variances, known = estimate.basis, None, None
    if estimate.covariance is not None:
        std = _trace_std(plan, estimate, cohort.features)
        basis = basis[:, : _components(plan, estimate.covariance, std)]
        known = eigenvalues.of_moment(estimate.covariance, basis, std)
    if plan.price is not None:
        known = eigenvalues.release(cohort, basis, plan.price, plan.budget, rng)
    if known is not None:
        in_units, basis = eigenvalues.principal_axes(basis, known)
        # Rows were divided by the bound. Both parts are proportional to the sums, as is the noise in them.
        variances = in_units.times(scaled.ratio * scaled.bound**2)
    variances = variances if plan.wants_variances else None
    return FitAnswer(basis, variances, scaled.mean, scaled.scale, scaled.bound, estimate.notes)


def _trace_std(plan: FitPlan, estimate: Estimate, d: int) -> float:
    """Return the std of the noise in the trace of a released moment, 0 where the covariance is no moment.

    Its diagonal has at most sqrt 2 times the noise of other entries.
    """
    return math.sqrt(2 * d) * estimate.noise_std if plan.method.name in WHOLE_MOMENT else 0.0
