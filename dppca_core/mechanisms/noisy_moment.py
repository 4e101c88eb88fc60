"""Share fits between methods: a noisy second moment, then its top eigenvectors or truncated power iteration.

The release, its sensitivity and its proof are those of `dppca_core.mechanisms.symmetric_gaussian`. All that
follows the release is free, so unlike in DPS-PCA the noise does not grow with the iterations; d(d+1)/2
numbers are sent instead of d k a round. SULQ and MOD-SULQ take the size of the noise from their papers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import Estimate, Method


@dataclass(frozen=True)
class NoisyMoment:
    """Run one noisy moment under one trust: who adds the noise (`symmetric_gaussian`)."""

    trust: str

    def fit(
        self,
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
            budget: Privacy budget of the release; in the local model, of each user's message.

        Returns:
            The basis, (d, k). `bytes_sent` is one hospital's, in the local model one user's. With one trusted
            place `covariance` is the noisy moment itself, (d, d), of the scaled rows.

        Raises:
            ValueError: For an unknown shape of the noise.
        """
        return self._estimate(cohort, k, budget, rng, noise, shrink)

    def sparse_fit(
        self,
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

        Returns:
            The basis, (d, k), with at most `s_hat` non-zero rows (Yuan & Zhang, JMLR 2013).

        Raises:
            ValueError: Unless k <= s_hat <= d, or for an unknown shape of the noise.
        """
        d = cohort.features
        kept = d if s_hat is None else s_hat
        checks.whole(k, d, s_hat=kept)
        return self._estimate(cohort, k, budget, rng, noise, shrink, kept)

    def _estimate(
        self,
        cohort: Cohort,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        noise: str | None,
        shrink: bool,
        s_hat: int | None = None,
    ) -> Estimate:
        noisy = symmetric_gaussian.release(cohort, budget, rng, noise, self.trust)
        return Estimate.from_moment(
            noisy,
            k,
            s_hat=s_hat,
            shrink_n=cohort.public_n(budget) if shrink else None,
            noise_std=symmetric_gaussian.entry_std(budget, cohort.n, noise, self.trust, len(cohort)),
            spent=symmetric_gaussian.spends(budget),
            # Only Analyze Gauss, one curator without truncated power, gives the moment out as a covariance.
            covariance=noisy if self.trust == "central" and s_hat is None else None,
        )


def method_for_trust(
    trust: str, title: str, reference: str, *, audit: str = "moments.pooled", sparse: bool = False
) -> Method:
    """Return the method of a module of `dppca_core.methods`: one noisy moment, released under this trust.

    trust: who adds the noise (`symmetric_gaussian`). audit: the releases that an audit draws, as for
    `Method`. sparse: whether truncated power follows, which keeps some rows, instead of eigenvectors.
    """
    # Sparse methods of several hospitals take rows of length 1.
    together = sparse and trust != "central"
    chosen = (*("s_hat",) * sparse, *("providers",) * together)
    moment = NoisyMoment(trust)
    return Method(
        title=title,
        reference=reference,
        trust=trust,
        guarantee="(ε, δ)",
        uses=("epsilon", "delta", "d", "n", "k", "s", *chosen, "neighbours", "accounting"),
        fit=moment.sparse_fit if sparse else moment.fit,
        pools="whole" if trust in ("secure aggregation", "untrusted server") else "",
        spends=symmetric_gaussian.spends,
        scaling="unit" if together else "inside",
        audit=audit,
    )


@dataclass(frozen=True)
class PrintedMoment:
    """Release the moment of one curator with noise whose size a paper states, whatever the accounting.

    sum_noise_std: n beta, the std of each entry of the paper's noise in sum x x^T, at d features.
    shape: "isotropic", where the paper's matrix is not symmetric and is symmetrised, or "mirrored".
    """

    sum_noise_std: Callable[[Budget, int], float]
    shape: str

    def release(self, cohort: Cohort, budget: Budget, rng: np.random.Generator) -> Array:
        """Return the noisy pooled moment, (d, d) symmetric. This is the only step that reads private rows."""
        std = self.sum_noise_std(budget, cohort.features) / cohort.n
        return symmetric_gaussian.with_noise(cohort.pooled, std, self.shape, rng)

    def fit(
        self, cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, shrink: bool = False
    ) -> Estimate:
        """Return the top k eigenvectors of the noisy moment.

        Args:
            budget: Privacy budget; the calibration is the paper's whatever the accounting.

        Returns:
            The basis, (d, k).
        """
        d = cohort.features
        averaged = math.sqrt(2) if self.shape == "isotropic" else 1.0  # two entries off the diagonal
        return Estimate.from_moment(
            self.release(cohort, budget, rng),
            k,
            shrink_n=cohort.public_n(budget) if shrink else None,
            noise_std=self.sum_noise_std(budget, d) / (averaged * cohort.n),
            spent=self.spends(budget, d=d),
        )

    def spends(self, budget: Budget, *, d: int, **_: object) -> tuple[Event, ...]:
        """Return one Gaussian release."""
        return (Release(self.sum_noise_std(budget, d) / symmetric_gaussian.sensitivity(budget)),)
