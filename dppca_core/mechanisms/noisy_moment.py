"""Share fits between methods: a noisy second moment, then its top eigenvectors or truncated power iteration.

The release, its sensitivity and its proof are those of `dppca_core.mechanisms.symmetric_gaussian`. All that
follows the release is free, so unlike in DPS-PCA the noise does not grow with the iterations; d(d+1)/2
numbers are sent instead of d k a round.
"""

from collections.abc import Callable

import numpy as np

from dppca_core import checks
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget
from dppca_core.records import Estimate, Method


def _estimate(
    trust: str,
    cohort: Cohort,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    noise: str | None,
    shrink: bool,
    s_hat: int | None = None,
) -> Estimate:
    """Release the noisy pooled moment and return its top k directions.

    trust: who adds the noise (`symmetric_gaussian`). noise: shape of the noise, as for
    `symmetric_gaussian.shape_of`. shrink: whether the rows of the basis are shrunk at the end. s_hat: rows
    that truncated power iteration keeps; None takes the eigenvectors as they are.
    """
    noisy = symmetric_gaussian.release(cohort, budget, rng, noise, trust)
    return Estimate.from_moment(
        noisy,
        k,
        s_hat=s_hat,
        shrink_n=cohort.public_n(budget) if shrink else None,
        noise_std=symmetric_gaussian.entry_std(budget, cohort.n, noise, trust, len(cohort)),
        spent=symmetric_gaussian.spends(budget),
        # Only Analyze Gauss, one curator without truncated power, gives the moment out as a covariance.
        covariance=noisy if trust == "central" and s_hat is None else None,
    )


def method_for_trust(
    trust: str,
    title: str,
    reference: str,
    module: str,
    *,
    audit: str = "moments.pooled",
    sparse: bool = False,
) -> Method:
    """Return the method of a module of `dppca_core.methods`: one noisy moment, released under this trust.

    trust: who adds the noise (`symmetric_gaussian`). module: the method's, whose `fit` this makes. audit: the
    releases that an audit draws, as for `Method`. sparse: whether truncated power follows, which keeps some
    rows, instead of eigenvectors.
    """
    # Sparse methods of several hospitals take rows of length 1.
    together = sparse and trust != "central"
    return Method(
        title=title,
        reference=reference,
        trust=trust,
        guarantee="(ε, δ)",
        uses=(
            *("epsilon", "delta", "d", "n", "k", "s", *("s_hat",) * sparse, *("providers",) * together),
            *("neighbours", "accounting"),
        ),
        fit=(_sparse_fit_under if sparse else _fit_under)(trust, module),
        pools="whole" if trust in ("secure aggregation", "untrusted server") else "",
        spends=symmetric_gaussian.spends,
        scaling="unit" if together else "inside",
        audit=audit,
    )


def _fit_under(trust: str, module: str) -> Callable[..., Estimate]:
    """Make the `fit` of one trust model; documents show it as a function of the method's module."""

    def fit(
        cohort: Cohort,
        *,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        noise: str | None = None,
        shrink: bool = False,
    ) -> Estimate:
        """Return the top k eigenvectors of the noisy pooled second moment.

        Args:
            cohort: The hospitals' second moments, d features.
            k: Number of components.
            budget: Privacy budget of the release; in the local model, of each user's message.
            rng: Source of the noise.
            noise: "isotropic", or "mirrored" (the upper triangle reflected, as in the paper). None is
                "mirrored" where the budget's accounting is as printed, else "isotropic".
            shrink: True shrinks the rows of the basis, one per feature, at the end
                (`dppca_core.numerics.row_shrinkage`).

        Returns:
            The basis, (d, k). `bytes_sent` is one hospital's, in the local model one user's. With one trusted
            place `covariance` is the noisy moment itself, (d, d), of the scaled rows.

        Raises:
            ValueError: For an unknown shape of the noise.

        References:
            Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1; by users, Wang & Xu, IJCAI 2019,
                Algorithm 1; by hospitals together, Imtiaz & Sarwate, ICASSP 2018 (its protocol from memory).
        """
        return _estimate(trust, cohort, k, budget, rng, noise, shrink)

    fit.__module__ = module
    return fit


def _sparse_fit_under(trust: str, module: str) -> Callable[..., Estimate]:
    """Make the `fit` of one trust model with truncated power, as `_fit_under` does without."""

    def fit(
        cohort: Cohort,
        *,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        s_hat: int | None = None,
        noise: str | None = None,
        shrink: bool = False,
    ) -> Estimate:
        """Run truncated power iteration on the noisy moment, from its top eigenvectors, keeping `s_hat` rows.

        Args:
            cohort: The hospitals' second moments, d features.
            k: Number of components.
            budget: Privacy budget.
            rng: Source of the noise.
            s_hat: Number of features, rows of the basis, that are kept; default d.
            noise: Shape of the noise, as for `analyze_gauss`.
            shrink: True shrinks the rows of the basis, one per feature, at the end
                (`dppca_core.numerics.row_shrinkage`).

        Returns:
            The basis, (d, k), with at most `s_hat` non-zero rows.

        Raises:
            ValueError: Unless k <= s_hat <= d, or for an unknown shape of the noise.

        References:
            Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1, followed by truncated power iteration
                (Yuan & Zhang, JMLR 2013).
        """
        d = cohort.features
        kept = d if s_hat is None else s_hat
        checks.whole(k, d, s_hat=kept)
        return _estimate(trust, cohort, k, budget, rng, noise, shrink, kept)

    fit.__module__ = module
    return fit
