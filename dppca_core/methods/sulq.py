"""SULQ (Blum, Dwork, McSherry & Nissim, PODS 2005), as Chaudhuri, Sarwate & Sinha (JMLR 14) state it.

The pooled second moment plus a full matrix N of i.i.d. N(0, beta^2),

    beta = 2 sqrt(2) d ln(d/delta) / (n epsilon).

As recalled; the constants are not checked against the papers. N is not symmetric, so the sum can have complex
eigenvalues; (N + N^T)/2 is post-processing of it and is what is decomposed here. Replacing a row moves the
moment by at most sqrt 2 / n in Frobenius norm (`dppca_core.mechanisms.symmetric_gaussian`, with its proof).
So beta is larger than the guarantee needs by a factor that grows with d: `true_epsilon` returns its true
epsilon. Only for epsilon above about 8 d^2 ln^2(d/delta) beta is too small, as the need falls with sqrt
epsilon.
"""

import math

from dppca_core.mechanisms import noisy_moment
from dppca_core.privacy import Budget
from dppca_core.records import Method


def sum_noise_std(budget: Budget, d: int) -> float:
    """Return n beta, the std of each entry of n N, the noise in sum x x^T; beta is in the module's text."""
    return 2 * math.sqrt(2) * d * math.log(d / budget.delta) / budget.epsilon


_MOMENT = noisy_moment.PrintedMoment(sum_noise_std, "isotropic")
release, spends = _MOMENT.release, _MOMENT.spends

METHOD = Method(
    title="SULQ",
    reference="Blum, Dwork, McSherry & Nissim, PODS 2005 (constants as recalled)",
    trust="central",
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "neighbours"),
    fit=_MOMENT.fit,
    spends=spends,
    audit="moments.sulq_cases",
)
