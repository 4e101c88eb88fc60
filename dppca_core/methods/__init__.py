"""The registry: every module of this folder that holds a METHOD. A new file is a new method.

Every method takes `scaling` besides its own options: "inside", rows as the cohort holds them, or "unit", each
row scaled to length 1. Both have norm at most 1, so the sensitivities are the same.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules

import numpy as np

from dppca_core import checks
from dppca_core.cohort import Cohort
from dppca_core.privacy import Budget
from dppca_core.records import SCALINGS, Estimate, Method


def _check(method: Method, cohort: Cohort, k: int) -> None:
    """Check the arguments that all methods share, by name, and refuse what cannot run."""
    checks.instance(Cohort, cohort=cohort)
    checks.whole(1, cohort.features - 1, k=k)
    if reason := method.skip(cohort.features):
        raise ValueError(reason)


def _checked(method: Method) -> Callable[..., Estimate]:
    """One run, its arguments checked, timed."""
    fit = method.fit
    scales_itself = "scaling" in signature(fit).parameters

    @wraps(fit)
    def checked(
        cohort: Cohort,
        *,
        k: int,
        budget: Budget,
        rng: np.random.Generator,
        scaling: str | None = None,
        **own: object,
    ) -> Estimate:
        _check(method, cohort, k)
        checks.instance(Budget, budget=budget)
        checks.instance(np.random.Generator, rng=rng)
        chosen = method.scaling if scaling is None else scaling
        checks.one_of(SCALINGS, scaling=chosen)
        if scales_itself:
            own["scaling"] = chosen
        elif chosen == "unit":
            cohort = cohort.unit()
        started = time.perf_counter()
        found = fit(cohort, k=k, budget=budget, rng=rng, **own)
        return replace(found, seconds=time.perf_counter() - started)

    return checked


def _found() -> dict[str, Method]:
    modules = (import_module(f"{__name__}.{info.name}") for info in iter_modules(__path__))
    methods = (module.METHOD for module in modules)
    return {method.name: replace(method, fit=_checked(method)) for method in methods}


METHODS: dict[str, Method] = _found()
