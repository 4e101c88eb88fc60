"""Every private method at its worst pair of neighbours, for `dppca_core.auditing.lower_bound` to audit.

`cases("dps_pca", budget)` lists the releases of a method with the claim that each is held to. A release is
drawn by the method's own `release` at the constants of its `fit`, and reduced to the number that tells the
two cohorts best apart.
"""

from collections.abc import Callable

from dppca_core import checks
from dppca_core.auditing.cases import exponential, gaps, moments, products, wishart
from dppca_core.auditing.cases.pairs import Case
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget

BUILDERS: dict[str, Callable[[Budget, int], tuple[Case, ...]]] = {
    "exponential.amin_cases": exponential.amin_cases,
    "exponential.ppca_cases": exponential.ppca_cases,
    "gaps.certified": gaps.certified,
    "gaps.spectrum_of_one": gaps.spectrum_of_one,
    "gaps.spiked": gaps.spiked,
    "moments.mod_sulq_cases": moments.mod_sulq_cases,
    "moments.one_hospital": moments.one_hospital,
    "moments.one_user": moments.one_user,
    "moments.pooled": moments.pooled,
    "moments.sulq_cases": moments.sulq_cases,
    "products.dps": products.dps,
    "products.oja": products.oja,
    "products.power": products.power,
    "wishart.cases": wishart.cases,
}


def cases(name: str, budget: Budget, k: int = 2) -> tuple[Case, ...]:
    """Return the releases of the method of this name at `budget`, each at its worst pair, in 2 to 4 features.

    k: columns of a product or a frame, 1 or 2. Raises ValueError for a method that names no case: its `audit`
    is a key of BUILDERS, of functions (budget, k) -> cases.
    """
    checks.one_of(METHODS, name=name)
    audit = METHODS[name].audit
    if audit not in BUILDERS:
        raise ValueError(f"audit of {name} must be one of {', '.join(BUILDERS)}, got {audit!r}")
    return BUILDERS[audit](budget, k)
