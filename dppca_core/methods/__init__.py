"""The registry of methods: every module of this folder that holds a METHOD. A new file is a new method.

`METHODS[name].fit(cohort, k=..., budget=..., rng=...)` checks the shared arguments, runs the method and
measures its time; each method's mathematics stands in its own module. Every method takes `scaling` besides
its own options: "inside", rows as the cohort holds them, or "unit", each row scaled to length 1. Both have
norm at most 1, so the sensitivities are the same. Where a method has a rule for its rounds,
`iterations="tuned"` takes them from public numbers and the declared `signal`. Methods that average the sums
of hospitals take a sequence of budgets, one for each (`dppca_core.mechanisms.hospital_budgets`). An unknown
name raises a KeyError, and an unknown option a TypeError, that names the nearest. `register` adds a method
of a script's or a notebook's own, for its process.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from importlib import import_module
from inspect import cleandoc, signature
from pkgutil import iter_modules
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import hospital_budgets
from dppca_core.privacy import Budget
from dppca_core.records import SCALINGS, TUNED, Estimate, Method, Registry

# What parameters of `fit` mean that all methods or several take: a method's own docstring leaves them out.
SHARED = {
    "cohort": "The hospitals' second moments, d features.",
    "k": "Number of components, below d.",
    "budget": "Privacy budget.",
    "rng": "Source of the noise.",
    "s_hat": "Number of features, rows of the basis, that are kept; default d.",
    "noise": '"isotropic", or "mirrored" (the upper triangle reflected, as in the paper). None is "mirrored" '
    'where the budget\'s accounting is as printed, else "isotropic".',
    "shrink": "True shrinks the rows of the basis, one per feature, at the end "
    "(`dppca_core.numerics.row_shrinkage`).",
    "spike": "Public l, in units of the scaled rows; released where not given.",
    "variance": "Public v, in units of the scaled rows; released where not given.",
    "constant": "C of the good event; default 2 for n >= d and 3 below.",
    "start": "Orthonormal start, (d, k); default uniformly random.",
}
_GIVEN_TO_ALL = {"cohort", "k", "budget", "rng"}
_OF_RULES = {"signal", "declared_n"}  # options of a rule for the number of rounds, which `fit` need not take
_NOT_PRIVATE = SHARED | dict.fromkeys(("budget", "rng"), "Not used.")


def with_tuned_rounds(
    method: Method, budget: Budget, options: Mapping[str, Any], d: int, n: int, k: int, providers: int
) -> dict[str, Any]:
    """Return a method's options, in which a number of rounds replaces `iterations="tuned"`.

    The method's rule gives it from public numbers: the arguments here, the other options, and `signal`,
    the declared share of the variance that the components hold, which `fit` does not take. n: patients, which
    is public only where neighbours replace a row; else the option `declared_n` takes its place. Raises
    ValueError where the method has no rule, or where n is protected and none is declared.
    """
    if options.get("iterations") != TUNED:
        return dict(options)  # the caller gave a number, or leaves it to the method's default
    if method.tuned is None:
        raise ValueError(f"iterations must be a number: {method.name} has no rule")
    others = {name: value for name, value in options.items() if name not in ("iterations", "declared_n")}
    public_n = n if budget.neighbours == "replace-one" else options.get("declared_n")
    if public_n is None:
        raise ValueError("declared_n must be given: add or remove protects the number of patients")
    rounds = method.tuned(budget, d=d, n=public_n, k=k, providers=providers, **others)
    others.pop("signal", None)  # only the rule takes it
    return others | {"iterations": rounds}


def _checked(method: Method) -> Callable[..., Estimate]:
    """Return the method's `fit` with checked arguments and a measured running time.

    It also takes what the methods themselves do not know: `scaling`, tuned rounds, and a budget for each
    hospital.
    """
    fit = method.fit
    options_of_fit = set(signature(fit).parameters) - _GIVEN_TO_ALL
    scales_itself = "scaling" in options_of_fit

    @wraps(fit)
    def checked(
        cohort: Cohort,
        *,
        k: int,
        budget: Budget | Sequence[Budget],
        rng: np.random.Generator,
        scaling: str | None = None,
        **options: object,
    ) -> Estimate:
        checks.instance(Cohort, cohort=cohort)
        checks.whole(1, cohort.features - 1, k=k)
        if reason := method.skip(cohort.features):
            raise ValueError(reason)
        checks.instance(np.random.Generator, rng=rng)
        known = options_of_fit | {"scaling"} | (_OF_RULES if options.get("iterations") == TUNED else set())
        for name in options.keys() - known:
            raise TypeError(
                f"{method.name} takes no option {checks.shown(name)}: {checks.meant(name, known)}"
            )
        # `_fit_each` calls this function again, with one budget for all hospitals.
        if isinstance(budget, Sequence):
            return _fit_each(checked, method, cohort, k, tuple(budget), rng, scaling=scaling, **options)
        checks.instance(Budget, budget=budget)
        chosen = method.scaling if scaling is None else scaling
        checks.one_of(SCALINGS, scaling=chosen)
        options = with_tuned_rounds(method, budget, options, cohort.features, cohort.n, k, len(cohort))
        if scales_itself:
            options["scaling"] = chosen
        elif chosen == "unit":
            cohort = cohort.unit()
        started = time.perf_counter()
        estimate = fit(cohort, k=k, budget=budget, rng=rng, **options)
        return replace(estimate, seconds=time.perf_counter() - started, features=cohort.columns)

    checked.__doc__ = _documented(method)
    return checked


def _documented(method: Method) -> str:
    """Return the docstring of a method's `fit` with the parameters that others share, and its source."""
    meanings = SHARED if method.private else _NOT_PRIVATE
    before, heading, returns = cleandoc(method.fit.__doc__ or "").partition("\nReturns:\n")
    head, _, listed = before.partition("\nArgs:\n")
    entries = dict(re.findall(r"^    (\w+): (.*\n(?: {5,}.*\n)*)", listed, re.MULTILINE))
    names = [name for name in signature(method.fit).parameters if name in entries or name in meanings]
    lines = "".join(f"    {name}: {entries.get(name) or meanings[name] + chr(10)}" for name in names)
    return f"{head}\nArgs:\n{lines}{heading}{returns}\n\nReferences:\n    {method.reference}."


def _fit_each(
    checked: Callable[..., Estimate],
    method: Method,
    cohort: Cohort,
    k: int,
    budgets: tuple[Budget, ...],
    rng: np.random.Generator,
    **options: Any,
) -> Estimate:
    """Run a method in which every hospital has a budget of its own.

    The method runs once, on hospitals weighted so that their noise is that of one common budget
    (`hospital_budgets.pool`). checked: its checked `fit`. budgets: one for each hospital. The events of the
    estimate are those of the hospital with the largest epsilon, and `spent_each` holds those of each.
    """
    checks.instance(Budget, **{f"budget[{i}]": budget for i, budget in enumerate(budgets)})
    if not method.pools:
        raise ValueError(f"budget must be one for all hospitals: {method.name} pools no sums of hospitals")
    trust = hospital_budgets.trust_of(options.get("provider_noise"), method.trust)
    # Noise and sampling are weighed on the rows that are kept, where their number is known beforehand.
    kept = options.get("s_hat") if method.pools == "restricted" else None
    sampling = hospital_budgets.sampling_ratio(cohort.features, k, kept if isinstance(kept, int) else None)
    pooled, common = hospital_budgets.pool(cohort, budgets, trust, sampling)
    options = with_tuned_rounds(method, common, options, cohort.features, cohort.n, k, len(cohort))
    estimate = checked(pooled, k=k, budget=common, rng=rng, **options)
    assert method.spends is not None
    each = tuple(method.spends(budget, d=cohort.features, k=k, **options) for budget in budgets)
    weakest = max(range(len(budgets)), key=lambda i: budgets[i].epsilon)  # the largest epsilon protects least
    notes = (*estimate.notes, hospital_budgets.guarantees(budgets))
    return replace(estimate, spent=each[weakest], spent_each=each, notes=notes)


def _entry(name: str, method: Method) -> Method:
    """Return a method as the registry holds it, with its name and a `fit` that checks its arguments."""
    named = replace(method, name=name)
    return replace(named, fit=_checked(named))


def _load(name: str) -> Method:
    return _entry(name, import_module(f"{__name__}.{name}").METHOD)


METHODS: Registry[Method] = Registry(
    "method", {info.name: _load(info.name) for info in iter_modules(__path__)}
)


def register(name: str, method: Method) -> Method:
    """Add a method of a script's or notebook's own to METHODS, in this process and until it ends.

    `METHODS[name]` is then this method, which can be compared as any other. Lists of METHODS leave it out, so
    that pages, links and other methods' random streams are as before. Other processes do not know it: a sweep
    of it takes no executor.

    Args:
        name: Its key, a name as Python has them, which no file of this folder has. The same name again
            replaces what was registered before.
        method: The method, as a file of this folder would hold it.

    Returns:
        The method as METHODS holds it, whose `fit` checks its arguments and takes `scaling` too.

    Raises:
        ValueError: For what is not a method, and for another name.
    """
    checks.instance(Method, method=method)
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"name must be one as Python has them, as my_pca, got {checks.shown(name)}")
    if name in METHODS and name not in METHODS.added:
        raise ValueError(f"name must be another than {name}, the method of dppca_core/methods/{name}.py")
    METHODS.added[name] = _entry(name, method)
    return METHODS[name]
