"""PPCA (Chaudhuri, Sarwate & Sinha, NeurIPS 2012 / JMLR 14): the exponential mechanism for subspaces.

A trusted curator draws a frame V (d x k, orthonormal) with density prop. to

    exp(c u(V)),    u(V) = tr(V^T S V) = sum_i |V^T x_i|^2,    S = sum_i x_i x_i^T,  |x_i| <= 1.

Replacing a row moves u by | |V^T x|^2 - |V^T y|^2 | <= 1, so c = epsilon/2 is epsilon-private. Adding a row
moves it by |V^T x|^2 in [0, 1], up for every V: density and normaliser move the same way, so already
c = epsilon is epsilon-private under add/remove. As printed c = epsilon/2 (recalled; the journal page
itself was not read), which under add/remove truly is epsilon/2. delta is not used.

The guarantee is that of the exact law. For k = 1 the draw is exact. For k > 1 it is a Gibbs chain with exact
conditionals (`dppca_core.numerics.bingham`), which after finitely many scans has no proven guarantee.
"""

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.cohort import Cohort
from dppca_core.numerics import bingham, mcmc_diagnostics
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import Estimate, Method

MOST_SCANS = 1_000_000
APPROXIMATE = "approximate sampler: pure ε not guaranteed"


def strength(budget: Budget) -> float:
    """Return c, the factor of S in the exponent; the proof is in the module's text.

    It is epsilon/2, but epsilon under add/remove unless the accounting is as printed.
    """
    add_remove = budget.neighbours == "add-remove" and budget.accounting != "as-printed"
    return budget.epsilon if add_remove else budget.epsilon / 2


def release(
    cohort: Cohort, k: int, budget: Budget, scans: int, start: Array | None, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return the drawn frame V, (d, k), and its chain's energies after each scan, (scans,).

    This is the only step that reads private rows.

    The energy of a frame is minus the exponent c u(V), up to a constant: its trace shows whether the chain
    has mixed. k = 1 is one exact draw, without a chain. start: where the chain continues; None is the top k
    eigenvectors. The factor of the mean moment is held below what doubles resolve, by a public number: that
    only flattens the density.
    """
    # Rows have length 1 at most, so energies spread over no more than the factor.
    factor = min(strength(budget) * cohort.n, bingham.STRONGEST / 2)
    energies, axes = bingham.energies(factor * cohort.pooled.dense())
    if k == 1:
        # The exact law of a column that has no others beside it.
        alone = bingham.conditional(energies, others=np.empty((cohort.features, 0)))
        return axes @ alone.draw(1, rng), np.empty(0)
    # All draws are in coordinates of the eigenvectors, of which the unit vectors are the leading k.
    begin = np.eye(cohort.features, k) if start is None else axes.T @ start
    chain = bingham.chain(energies, begin, scans, rng)
    return axes @ chain.frame, chain.trace


def fit(
    cohort: Cohort,
    *,
    k: int,
    budget: Budget,
    rng: np.random.Generator,
    scans: int = 20,
    start: Array | None = None,
) -> Estimate:
    """Draw one frame of the exponential mechanism.

    Args:
        budget: Privacy budget; its delta is not used.
        rng: Source of the draws.
        scans: Sweeps of the chain for k > 1, at least 4; from its default start it has mixed after two in
            every spectrum tried.
        start: Orthonormal frame, (d, k), where the chain continues; default the top k eigenvectors.

    Returns:
        The basis, (d, k); for k > 1 `notes` says that the sampler is approximate, and `diagnostics` holds its
        split R-hat and autocorrelation time.

    Raises:
        ValueError: For fewer than 4 scans, or another start.
    """
    d = cohort.features
    checks.whole(4, MOST_SCANS, scans=scans)
    if start is not None:
        checks.orthonormal(d, k, start=start)
    basis, trace = release(cohort, k, budget, scans, start, rng)
    return Estimate(
        basis,
        bytes_sent=8 * d * (d + 1) // 2,
        spent=spends(budget),
        notes=() if k == 1 else (APPROXIMATE,),
        diagnostics={} if k == 1 else diagnose(trace[None]),
    )


def diagnose(traces: Array) -> dict[str, float]:
    """Return how well chains have mixed, by their energies after each scan, (chains, scans).

    Split R-hat near 1 and an autocorrelation time near 1 are good (`dppca_core.numerics.mcmc_diagnostics`).
    """
    return {
        "split R-hat": mcmc_diagnostics.split_r_hat(traces),
        "autocorrelation time": mcmc_diagnostics.autocorrelation_time(traces),
    }


def spends(budget: Budget, **_: object) -> tuple[Event, ...]:
    """Return one purely private draw: 2c for replace-one, c for add/remove."""
    factor = 2 if budget.neighbours == "replace-one" else 1
    return (Guarantee(factor * strength(budget)),)


def cost(d: int, k: int, providers: int) -> float:
    """Return the cost of one eigenproblem and of 20 scans, whose columns cost an eighth of one at d = 200."""
    return 1.0 if k == 1 else 1 + 20 * k * 0.13 * (200 / d) ** 1.5


METHOD = Method(
    title="PPCA",
    reference="Chaudhuri, Sarwate & Sinha, JMLR 2013",
    trust="central",
    guarantee="approximate sampler",
    uses=("epsilon", "d", "n", "k", "s", "neighbours", "accounting"),
    fit=fit,
    spends=spends,
    exact_at_one=True,
    cost=cost,
    audit="exponential.ppca_cases",
)
