"""The registry: every module of this folder that holds a METHOD. A new file is a new method."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules

import numpy as np

from dppca_core import checks
from dppca_core.types import Budget, Cohort, Estimate, Method


def _checked(method: Method) -> Callable[..., Estimate]:
    """Check the arguments that all methods share, by name, refuse what cannot run, and time the run."""
    fit = method.fit

    @wraps(fit)
    def checked(
        cohort: Cohort, *, k: int, budget: Budget, rng: np.random.Generator, **own: object
    ) -> Estimate:
        checks.instance(Cohort, cohort=cohort)
        checks.instance(Budget, budget=budget)
        checks.instance(np.random.Generator, rng=rng)
        checks.whole(1, cohort.features - 1, k=k)
        if reason := method.skip(cohort.features):
            raise ValueError(reason)
        started = time.perf_counter()
        found = fit(cohort, k=k, budget=budget, rng=rng, **own)
        return replace(found, seconds=time.perf_counter() - started)

    return checked


def _found() -> dict[str, Method]:
    modules = (import_module(f"{__name__}.{info.name}") for info in iter_modules(__path__))
    methods = (module.METHOD for module in modules)
    return {method.name: replace(method, fit=_checked(method)) for method in methods}


METHODS: dict[str, Method] = _found()
