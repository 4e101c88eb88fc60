"""Every private method at its worst pair of neighbours, for `dppca_core.auditing.lower_bound` to audit.

`cases("dps_pca", budget)` lists the releases of a method with the claim that each is held to. A release is
drawn by the method's own `release` at the constants of its `fit`, and reduced to the number that tells the
two cohorts best apart.
"""

from collections.abc import Callable
from operator import attrgetter
from types import SimpleNamespace

from dppca_core import checks
from dppca_core.auditing.cases import exponential, gaps, moments, products, stages, wishart
from dppca_core.auditing.cases.pairs import Case
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget

_MODULES = SimpleNamespace(
    exponential=exponential, gaps=gaps, moments=moments, products=products, stages=stages, wishart=wishart
)
Builder = Callable[[Budget, int], tuple[Case, ...]]


def builder(audit: str, method: str) -> Builder:
    """Return the function that a method's `audit` names; ValueError with the nearest where there is none."""
    try:
        named: Builder = attrgetter(audit)(_MODULES)
    except AttributeError:
        others = {other.audit for other in METHODS.values() if other.private} - {audit}
        raise ValueError(
            f'audit of {method} must be "module.function" of dppca_core/auditing/cases, got {audit!r}: '
            + checks.meant(audit, others)
        ) from None
    return named


# The functions that methods' `audit` names, as "module.function" of the modules here.
BUILDERS: dict[str, Builder] = {
    audit: builder(audit, name)
    for audit, name in sorted(
        {method.audit: method.name for method in METHODS.values() if method.private}.items()
    )
}


def cases(name: str, budget: Budget, k: int = 2) -> tuple[Case, ...]:
    """Return the releases of the method of this name at `budget`, each at its worst pair, in a few features.

    k: columns of a product or a frame, 1 or 2. Raises ValueError for a method that names no case.
    """
    checks.one_of(METHODS, name=name)
    audit = METHODS[name].audit
    if audit not in BUILDERS:
        raise ValueError(f"audit of {name} must be one of {', '.join(BUILDERS)}, got {audit!r}")
    return BUILDERS[audit](budget, k)
