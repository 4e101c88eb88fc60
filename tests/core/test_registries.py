"""The registries are dictionaries, and an unknown name or option is answered by the nearest one."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from joblib.externals.loky.backend import reduction

from dppca_core import METHODS, Budget, Cohort, SpikedModel
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import studies
from dppca_core.methods import analyze_gauss, register
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


@pytest.fixture
def added():
    """Register Analyze Gauss under another name, and forget it again."""
    yield register("my_pca", replace(analyze_gauss.METHOD, title="My PCA"))
    METHODS.added.clear()


def test_a_registered_method_is_there_by_name_and_in_no_list(added):
    assert METHODS["my_pca"] is added and added.name == "my_pca" and "my_pca" in METHODS
    assert "my_pca" not in list(METHODS) and "my_pca" not in dict(METHODS)
    fits = (METHODS[name].fit for name in ("my_pca", "analyze_gauss"))
    mine, known = (fit(cohort(), k=1, budget=BUDGET, rng=np.random.default_rng(1)).basis for fit in fits)
    np.testing.assert_array_equal(mine, known)
    with pytest.raises(TypeError, match=r"my_pca takes no option 'nois': did you mean noise\?"):
        added.fit(cohort(), k=1, budget=BUDGET, rng=np.random.default_rng(1), nois=None)
    with pytest.raises(KeyError, match=r"did you mean my_pca\?"):
        METHODS["my_pcb"]


def test_a_registered_method_is_compared_as_any_other_in_this_process(added):
    settings = {"n": 5000, "values": (0.5,), "repeats": 2, "progress": False}
    names = ["my_pca", "analyze_gauss"]
    study = studies.compare(SpikedModel(d=20, k=2, s=5), names, BUDGET, **settings)
    assert not study.runs["failed"].any()
    alone = studies.compare(SpikedModel(d=20, k=2, s=5), names[1:], BUDGET, **settings)
    np.testing.assert_array_equal(  # which streams of random numbers do not notice
        study.runs.query("method == 'analyze_gauss'")["sin_theta"], alone.runs["sin_theta"]
    )
    with pytest.raises(ValueError, match="executor must be left out: only this process knows my_pca"):
        studies.compare(SpikedModel(d=20, k=2, s=5), names, BUDGET, executor="cores", **settings)


def test_what_is_registered_can_be_replaced_and_a_file_cannot(added):
    again = register("my_pca", replace(added, title="Again"))
    assert METHODS["my_pca"] is again and list(METHODS.added) == ["my_pca"]
    with pytest.raises(ValueError, match="another than dps_pca, the method of dppca_core"):
        register("dps_pca", added)
    for name in ("my pca", "", 3):
        with pytest.raises(ValueError, match="name must be one as Python has them"):
            register(name, added)
    with pytest.raises(ValueError, match="method must be a Method, got 3"):
        register("other", 3)
