"""The registry of methods: every module of this folder that holds a METHOD. A new file is a new method.

`METHODS[name].fit(cohort, k=..., budget=..., rng=...)` checks the shared arguments, runs the method and
measures its time; each method's mathematics stands in its own module. Every method takes `scaling` besides
its own options: "inside", rows as the cohort holds them, or "unit", each row scaled to length 1. Both have
norm at most 1, so the sensitivities are the same.
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


def _checked(method: Method) -> Callable[..., Estimate]:
    """Return the method's `fit` with checked arguments and a measured running time."""
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
        **options: object,
    ) -> Estimate:
        checks.instance(Cohort, cohort=cohort)
        checks.whole(1, cohort.features - 1, k=k)
        if reason := method.skip(cohort.features):
            raise ValueError(reason)
        checks.instance(Budget, budget=budget)
        checks.instance(np.random.Generator, rng=rng)
        chosen = method.scaling if scaling is None else scaling
        checks.one_of(SCALINGS, scaling=chosen)
        if scales_itself:
            options["scaling"] = chosen
        elif chosen == "unit":
            cohort = cohort.unit()
        started = time.perf_counter()
        estimate = fit(cohort, k=k, budget=budget, rng=rng, **options)
        return replace(estimate, seconds=time.perf_counter() - started)

    return checked


def _load(name: str) -> Method:
    method: Method = replace(import_module(f"{__name__}.{name}").METHOD, name=name)
    return replace(method, fit=_checked(method))


METHODS: dict[str, Method] = {info.name: _load(info.name) for info in iter_modules(__path__)}
