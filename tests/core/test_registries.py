"""The registries are dictionaries, and an unknown name or option is answered by the nearest one."""

import copy
import pickle

import numpy as np
import pytest
from joblib.externals.loky.backend import reduction

from dppca_core import METHODS, Budget, Cohort
from dppca_core.bounds import BOUNDS
from dppca_core.records import Registry

BUDGET = Budget(1.0, 1e-6)
ROWS = np.random.default_rng(0).normal(size=(60, 4))


@pytest.mark.parametrize(
    ("registry", "typo", "near"),
    [
        (METHODS, "dps_pac", "dps_pca"),
        (METHODS, "DPS_PCA".lower() + "s", "dps_pca"),
        (METHODS, "stacked_round", "stacked_rounds"),
        (BOUNDS, "ge_2018", "ge2018"),
        (BOUNDS, "gaussian_flor", "gaussian_floor"),
    ],
)
def test_an_unknown_name_is_answered_by_the_nearest(registry, typo, near):
    with pytest.raises(KeyError) as caught:
        registry[typo]
    words = str(caught.value)
    assert words.startswith(f"no {registry.kind} is named '{typo}': did you mean ") and words.endswith("?")
    assert near in words and len(words) < 120 and "\n" not in words


@pytest.mark.parametrize("name", ["typo", 3, ("dps_pca",), "x" * 1000])
def test_where_none_is_near_all_are_named(name):
    with pytest.raises(KeyError) as caught:
        METHODS[name]
    assert all(known in str(caught.value) for known in METHODS) and len(str(caught.value)) < 900


def test_a_registry_is_a_dictionary():
    assert isinstance(METHODS, dict) and list(METHODS) == sorted(METHODS)  # the order of the folder's files
    assert "pca" in METHODS and "typo" not in METHODS and METHODS.get("typo") is None
    assert {**METHODS} == dict(METHODS) == METHODS and len(METHODS | {"other": METHODS["pca"]}) == len(
        METHODS
    ) + 1
    assert copy.copy(METHODS) == METHODS


def test_a_registry_survives_pickling():
    registry = Registry("number", {"first": 1, "second": 2})
    back = pickle.loads(pickle.dumps(registry))  # noqa: S301
    assert back == registry and type(back) is Registry
    with pytest.raises(KeyError, match=r"no number is named 'secnd': did you mean second\?"):
        back["secnd"]
    methods = reduction.loads(reduction.dumps(METHODS))  # as loky sends what a task refers to
    estimate = methods["pca"].fit(cohort(), k=1, budget=BUDGET, rng=np.random.default_rng(1))
    assert list(methods) == list(METHODS) and estimate.basis.shape == (4, 1)


def cohort():
    return Cohort.from_rows([ROWS], 3.0)


@pytest.mark.parametrize(
    ("method", "option", "answer"),
    [
        ("dps_pca", "s_hatt", r"did you mean s_hat\?"),
        ("dps_pca", "iteration", r"did you mean iterations\?"),
        ("two_stage", "stage1", r"did you mean stage_one\?"),
        ("dps_pca", "signal", "there are burn_in, iterations, provider_noise, s_hat, scaling, start"),
        ("pca", "zzz", "there are scaling"),
    ],
)
def test_an_unknown_option_is_answered_by_the_nearest_of_the_method(method, option, answer):
    """`signal` is known only where a rule takes the number of rounds from it."""
    with pytest.raises(TypeError, match=f"^{method} takes no option '{option}': {answer}$"):
        METHODS[method].fit(cohort(), k=1, budget=BUDGET, rng=np.random.default_rng(1), **{option: 2})
    with pytest.raises(TypeError, match=f"^{method} takes no option '{option}'"):
        METHODS[method].fit(cohort(), k=1, budget=[BUDGET], rng=np.random.default_rng(1), **{option: 2})


def test_an_unknown_constant_is_answered_by_the_nearest_of_the_bound():
    model = METHODS["pca"].fit(cohort(), k=1, budget=BUDGET, rng=np.random.default_rng(1))
    assert model.basis.shape == (4, 1)
    for name, rule in BOUNDS.items():
        known = [*rule.constants, *rule.options]
        wrong = f"{known[0]}_" if known else "c"
        answer = r"did you mean " if known and len(known[0]) > 1 else ""
        with pytest.raises(ValueError, match=f"^{name} takes no constant '{wrong}': {answer}"):
            rule(None, **{wrong: 1.0})
