"""Share normalised rounds between three stacked methods, for directions that are spread over many features.

Each of T rounds (`dppca_core.mechanisms.normalised_product`, with the sensitivity and its proof) starts from
Q, the basis that the rounds before give. The first rounds approach the directions. All later rounds are
stacked, each in units of its noise (`dppca_core.numerics.stacked_rounds`), and the top k left singular
vectors are the answer. Each round spends the same share: its noise is Delta z sqrt(T) c/n, z the exact
multiplier of the budget, Delta the sensitivity, c the noise of the sum in those of one curator.

A round has d k noisy numbers and a moment has d^2. So rounds serve weak and dense signals, where the two
stages of `dppca_core.mechanisms.two_stage` find no features. Rounds must converge first: about 12 where the
eigenvalue is three times the bulk's.
"""

import math
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product
from dppca_core.numerics import block_power
from dppca_core.privacy import Budget, Event, Release
from dppca_core.records import Estimate, Method

ROUNDS = 12  # T by default
LEFT_OUT = 4  # first rounds that are not stacked, as their bases are still far off


def noise_std(budget: Budget, trust: str, providers: int, n: int, iterations: int) -> float:
    """Return the std of the noise in each entry of one of T = `iterations` rounds, a mean over n patients.

    trust: who adds the noise, one curator or `providers` hospitals (`normalised_product.noise_factor`).
    """
    factor = normalised_product.noise_factor(trust, providers) / n
    sensitivity = normalised_product.sensitivity(budget)
    return sensitivity * math.sqrt(iterations) * gaussian.noise_multiplier(budget) * factor


@dataclass(frozen=True)
class StackedRun:
    """Run stacked rounds under one trust, which decides who adds the noise."""

    trust: str

    def fit(
        self,
        cohort: Cohort,
        *,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        iterations: int = ROUNDS,
        left_out: int = LEFT_OUT,
        start: Array | None = None,
    ) -> Estimate:
        """Return the directions that T released, normalised rounds share.

        Args:
            budget: The guarantee of the whole run.
            rng: Draws the noise, and the start.
            iterations: T, rounds.
            left_out: First rounds that only lead to the next and are not stacked.

        Returns:
            The basis, (d, k); iterates are the start and the basis after every round; noise_std is that of
            an entry of a round.

        Raises:
            ValueError: For options out of range, another start, and moments of unknown rows.
        """
        checks.whole(1, block_power.MOST_STEPS, iterations=iterations)
        checks.whole(0, left_out=left_out)
        std = noise_std(budget, self.trust, len(cohort), cohort.n, iterations)
        begin = block_power.begin(start, cohort.features, k, rng)
        bases, _ = normalised_product.release_rounds(cohort, [std] * iterations, begin, left_out, rng)
        return estimate(bases, budget, std)


def method_for_trust(trust: str, title: str, audit: str) -> Method:
    """Return the method of a module of `dppca_core.methods`: stacked rounds, released under this trust.

    trust: who adds the noise. audit: the releases that an audit draws, as for `Method`.
    """
    several = trust != "central"
    chosen = ("providers",) * several
    return Method(
        title=title,
        reference="normalised rounds, stacked in units of their noise",
        trust=trust,
        guarantee="(ε, δ)",
        uses=("epsilon", "delta", "d", "n", "k", "s", *chosen, "neighbours", "accounting"),
        fit=StackedRun(trust).fit,
        pools="whole" if several else "",
        spends=spends,
        matrix=False,
        # The cost of drawing the patients' rows, which all methods that ask for them share.
        cost=lambda d, k, providers: 3.0,
        scaling="unit",
        audit=audit,
    )


def estimate(bases: tuple[Array, ...], budget: Budget, std: float) -> Estimate:
    """Return the estimate of a run from its start and the basis after every round, (d, k) each."""
    (d, k), iterations = bases[-1].shape, len(bases) - 1
    return Estimate(
        bases[-1],
        iterates=bases,
        noise_std=std,
        bytes_sent=8 * d * k * iterations,
        spent=spends(budget, iterations=iterations),
    )


def spends(budget: Budget, *, iterations: int = ROUNDS, **_: object) -> tuple[Event, ...]:
    """Return the releases of one run: T adaptive Gaussian ones."""
    return (Release(math.sqrt(iterations) * gaussian.noise_multiplier(budget), iterations),)
