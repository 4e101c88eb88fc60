"""Every private method at its worst pair of neighbours: what `dppca_core.auditing.lower_bound` runs on it.

`cases("dps_pca", budget)` lists the releases of a method with the claim that each is held to. A release is
drawn by the method's own `release` at the constants of its `fit`, and reduced to the number that tells the
two cohorts best apart.
"""

from collections.abc import Callable

from dppca_core.auditing.cases import exponential, gaps, moments, products, wishart
from dppca_core.auditing.cases.pairs import Case
from dppca_core.privacy import Budget

CASES: dict[str, Callable[[Budget, int], tuple[Case, ...]]] = {
    "amin": exponential.amin_cases,
    "analyze_gauss": moments.pooled,
    "analyze_gauss_gap": gaps.certified,
    "analyze_gauss_sparse": moments.pooled,
    "cape": moments.pooled,
    "dp_oja": products.oja,
    "dpdis_pca": moments.one_hospital,
    "dps_pca": products.dps,
    "federated_projector": gaps.spectrum_of_one,
    "ldp_pca": moments.one_user,
    "ldp_sparse_pca": moments.one_user,
    "mod_sulq": moments.mod_sulq_cases,
    "noisy_power": products.power,
    "ppca": exponential.ppca_cases,
    "spiked_projector": gaps.spiked,
    "sulq": moments.sulq_cases,
    "wishart": wishart.cases,
}


def cases(name: str, budget: Budget, k: int = 2) -> tuple[Case, ...]:
    """The releases of the method of this name at `budget`, each at its worst pair, in 2 to 4 features.

    k: columns of a product or a frame, 1 or 2. Raises ValueError for a method that has none: a new private
    method needs an entry here, a function (budget, k) -> cases.
    """
    if name not in CASES:
        raise ValueError(
            f"method must have an audit case in dppca_core/auditing/cases/__init__.py, got {name!r}"
        )
    return CASES[name](budget, k)
