"""MOD-SULQ (Chaudhuri, Sarwate & Sinha, NeurIPS 2012 / JMLR 14, Algorithm 1).

The pooled second moment plus a symmetric matrix of entries i.i.d. N(0, beta^2) with

    beta = (d+1)/(n epsilon) sqrt(2 ln((d^2+d)/(2 sqrt(2 pi) delta))) + 1/(n sqrt epsilon),

then its top eigenvectors. beta is the standard deviation (as in the authors' public code; the journal page
itself was not read). Replacing a row moves the upper triangle by at most sqrt 2 / n in l2 norm
(`dppca_core.mechanisms.symmetric_gaussian`). So beta is larger than the guarantee needs by a factor that
grows with d: `true_epsilon` returns the epsilon that it truly gives.
"""

import math

from dppca_core.mechanisms import noisy_moment
from dppca_core.privacy import Budget
from dppca_core.records import Method


def sum_noise_std(budget: Budget, d: int) -> float:
    """Return n beta, the std of each entry of the noise in sum x x^T; beta is in the module's text."""
    inside = (d * d + d) / (2 * math.sqrt(2 * math.pi) * budget.delta)
    lead = (d + 1) / budget.epsilon * math.sqrt(2 * math.log(inside))
    return lead + 1 / math.sqrt(budget.epsilon)


_MOMENT = noisy_moment.PrintedMoment(sum_noise_std, "mirrored")
release, spends = _MOMENT.release, _MOMENT.spends

METHOD = Method(
    title="MOD-SULQ",
    reference="Chaudhuri, Sarwate & Sinha, JMLR 2013",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours"),
    fit=_MOMENT.fit,
    spends=spends,
    audit="moments.mod_sulq_cases",
)
