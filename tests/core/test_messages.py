"""No error prints the numbers of an array: messages go into logs, and rows are private.

Each public constructor and function gets an array, a data frame, a long list and nested lists in the place of
each of its arguments, all of one number. An error may have it once, for an entry that it refuses.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import pytest

from dppca_core import (
    METHODS,
    Bound,
    Budget,
    Cohort,
    Provider,
    Release,
    Setting,
    SpikedModel,
    checks,
    sin_theta,
)
from dppca_core.bounds import BOUNDS, fit_constant
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.draws import Scaling
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.sklearn import PrivatePCA

CELL = 7654.321
MARK = "7654"
ARRAY = np.full((3, 3), CELL)
VALUES = [
    ARRAY,
    ARRAY[0],
    np.array(CELL),
    pd.DataFrame(ARRAY),
    pd.Series(ARRAY[0]),
    [CELL] * 40,
    [[CELL] * 6] * 2,
]
VALUES += [(ARRAY,), {"rows": ARRAY}, Provider(3, METHODS), Cohort.from_rows([ARRAY], 3 * CELL)]
BUDGET = Budget(1.0, 1e-6)
MODEL = SpikedModel(d=12, k=2, s=4)
COHORT = MODEL.draw(n=500, providers=2, rng=np.random.default_rng(0))
SETTING = {"d": 6, "n": 100, "k": 2, "s": 4, "s_hat": 4, "providers": 2, "iterations": 3}
SETTING |= {"eigenvalues": np.array([0.5, 0.4, 0.1, 0.1, 0.1, 0.1]), "budget": BUDGET}
RECIPE = {"population": MODEL, "methods": (variant("pca"),), "swept": (Axis("epsilon", (1.0,)),), "n": 100}
TABLE = pd.DataFrame({"label": "a", "method": "pca", "n": [10, 20], "repeat": 0, "sin_theta": [1.0, 0.1]})


def fitted(**parameters: object) -> PrivatePCA:
    return PrivatePCA(**parameters).fit(np.eye(6)[:5])


def calls() -> Iterator[tuple[str, Callable[..., object], dict[str, object], list[str]]]:
    """Yield a name, what is called, its good arguments, and the names of those that are made bad."""
    rng = np.random.default_rng(0)
    for kind, good in ((Budget, {"epsilon": 1.0, "delta": 1e-6}), (Setting, SETTING), (Recipe, RECIPE)):
        yield kind.__name__, kind, good, [field.name for field in fields(kind)]
    yield "SpikedModel", SpikedModel, {"d": 12, "k": 2, "s": 4}, [field.name for field in fields(SpikedModel)]
    yield "Scaling", Scaling, {}, [field.name for field in fields(Scaling)]
    yield "Provider", Provider, {"n": 3, "moment": COHORT.pooled}, ["n", "moment"]
    yield "Cohort", Cohort, {"providers": COHORT.providers, "pooled": COHORT.pooled}, ["bound", "columns"]
    yield "from_rows", Cohort.from_rows, {"rows": [ARRAY], "bound": 1.0}, ["rows", "bound"]
    yield "draw", MODEL.draw, {"n": 50, "providers": 2, "rng": rng}, ["n", "providers", "rng"]
    yield "Axis", Axis, {"name": "n", "values": (1,)}, ["name", "values"]
    yield "sin_theta", sin_theta, {"basis": np.eye(3)[:, :1], "truth": np.eye(3)[:, :1]}, ["basis", "truth"]
    needed = {"table": TABLE, "target": 0.1, "level": 0.8, "seed": 0}
    yield "patients_needed", patients_needed, needed, list(needed)[1:]
    constant = {
        "rule": BOUNDS["wang_xu_low"],
        "settings": [Setting(**SETTING)],
        "measured": [[1.0]],
        "rng": rng,
    }
    yield "fit_constant", fit_constant.fit_constant, constant, ["measured"]
    for name, method in METHODS.items():
        good = {"cohort": COHORT, "k": 2, "budget": BUDGET, "rng": rng}
        good |= {"support": (0, 1, 2, 3)} if name == "oracle_pca" else {}
        yield name, method.fit, good, [*signature(method.fit).parameters, "scaling", "unknown"]
        of_variant = [word for word in signature(method.fit).parameters if word not in good]
        yield f"variant {name}", partial(variant, name), {}, [*of_variant, "scaling", "label", "unknown"]
    pca = {"epsilon": 3.0, "center": 0, "random_state": 0}
    yield "PrivatePCA", fitted, pca, list(signature(PrivatePCA).parameters)
    bounded = {"center": 0, "scale": 1, "bound": "private", "epsilon": 3.0, "random_state": 0}
    yield "PrivatePCA, private bound", fitted, bounded, list(signature(PrivatePCA).parameters)
    named = pca | {"method": "two_stage"}
    yield "PrivatePCA, named method", fitted, named, ["n_components", "params", "explained_variance"]
    for name, rule in BOUNDS.items():
        yield name, rule, {"setting": Setting(**SETTING)}, [*rule.constants, *rule.options, "unknown"]


CALLS = {name: rest for name, *rest in calls()}


def messages(name: str) -> list[str]:
    """Return all that the errors of bad arguments say, with what they were raised from."""
    called, good, arguments = CALLS[name]
    texts = []
    for argument in arguments:
        for value in VALUES:
            try:
                called(**good | {argument: value})
            except Exception as error:
                causes = [error, error.__cause__]
                texts += [str(cause) for cause in causes if cause is not None]
    return texts


def printed(name: str) -> list[str]:
    return [text for text in messages(name) if text.count(MARK) > 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_no_error_prints_an_array(name):
    assert printed(name) == []


def test_a_printed_array_is_seen(monkeypatch):
    monkeypatch.setattr(checks, "shown", repr)
    for name in ("Budget", "Setting", "dps_pca", "ge2018", "variant dps_pca", "Axis", "PrivatePCA"):
        assert printed(name), name


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "3"),
        (np.float64(2.5), "np.float64(2.5)"),
        (None, "None"),
        ("word", "'word'"),
        ("x" * 100, f"'{'x' * 80}...'"),
        ((1.0, 2.0), "(1.0, 2.0)"),
        ({"s_hat": 3}, "{'s_hat': 3}"),
        ([1] * 6, "list of length 6"),
        ([("iterations", 3)], "[('iterations', 3)]"),
        ([[1, 2, 3], [4, 5, 6]], "list of length 2"),
        ([np.zeros(3)], "list of length 1"),
        (np.zeros((2, 3)), "ndarray of shape (2, 3)"),
        (np.array(1.0), "ndarray of shape ()"),
        (pd.DataFrame({"a": [1]}), "DataFrame of shape (1, 1)"),
        (pd.Series([1]), "Series of shape (1,)"),
        (COHORT, "Cohort"),
        (Release(1.0), "Release"),
        (Bound({}, 1.0, True, ()), "Bound"),
    ],
)
def test_a_value_is_shown_by_what_it_is(value, words):
    assert checks.shown(value) == words
