"""Test every bound of the registry: numbers or void, never NaN, and reasons that match."""

import math
from dataclasses import replace
from inspect import cleandoc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from dppca_core import METHODS, Budget, Setting
from dppca_core.bounds import BOUNDS
from dppca_core.privacy import ACCOUNTINGS
from dppca_core.records import Bound

EVERY = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())


@st.composite
def settings(draw: st.DrawFn) -> Setting:
    """Draw settings far wider than any screen offers; eigenvalues may repeat or vanish."""
    d = draw(st.integers(2, 40))
    k = draw(st.integers(1, d - 1))
    values = draw(st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1.0)), min_size=d, max_size=d))
    return Setting(
        d=d,
        n=draw(st.integers(1, 10**15)),
        k=k,
        s=draw(st.integers(k, d)),
        s_hat=draw(st.integers(k, d)),
        providers=draw(st.integers(1, 1000)),
        iterations=draw(st.integers(1, 50)),
        eigenvalues=np.sort(np.array(values))[::-1],
        budget=Budget(
            draw(st.floats(1e-3, 1e3)),
            draw(st.floats(1e-12, 0.99)),
            accounting=draw(st.sampled_from(ACCOUNTINGS)),
        ),
        tau=draw(st.floats(1e-3, 100)),
        provider_noise=draw(st.sampled_from(("independent", "shared", "secure-aggregation"))),
        burn_in=draw(st.integers(0, 5)),
        start_error=draw(st.one_of(st.none(), st.floats(0, 2))),
    )


def check_record(bound: Bound) -> None:
    total = np.asarray(bound.total)
    assert not np.isnan(total).any()
    assert (total >= 0).all()
    assert not any(np.isnan(np.asarray(value)).any() for value in bound.terms.values())
    assert not any(math.isnan(value) for value in bound.quantities.values())
    assert bound.applies == all(each.holds for each in bound.why)
    assert bound.why and all(each.text for each in bound.why)
    if not bound.terms:
        assert (total == math.inf).all()
        assert not bound.applies
    else:
        assert np.isfinite(total).all()


@EVERY
@profile(max_examples=10)
@given(setting=settings(), factor=st.sampled_from((1.0, 1e-6, 1e6)), q=st.sampled_from((1.0, 2.0, math.inf)))
def test_a_bound_is_a_number_or_void(bound, setting, factor, q):
    """No number is NaN, the terms (their squares in predictions) add up, `applies` agrees with `why`."""
    constants = {name: factor * default for name, default in bound.constants.items()}
    options = {"q": q} if "q" in bound.options else {}
    result = bound(setting, **constants, **options)
    check_record(result)
    if result.terms:
        power = 2 if bound.kind == "prediction" else 1
        total = sum(np.asarray(term) ** power for term in result.terms.values())
        np.testing.assert_allclose(np.asarray(result.total) ** power, total, rtol=1e-9)


def small(eigenvalues: list[float], s_hat: int) -> Setting:
    return Setting(
        d=3,
        n=10**7,
        k=1,
        s=2,
        s_hat=s_hat,
        providers=1,
        iterations=3,
        eigenvalues=np.array(eigenvalues),
        budget=Budget(1.0, 1e-5),
    )


TINY = 1e-18  # what eigvalsh leaves of a zero eigenvalue, on either side
SINGULAR = pytest.mark.parametrize(
    ("eigenvalues", "s_hat"),
    [([0.5, -TINY, -2 * TINY], 2), ([TINY, -TINY, -2 * TINY], 3), ([0.0] * 3, 2)],
    ids=["rank k", "rank below k", "nothing at all"],
)


@EVERY
@SINGULAR
def test_the_spectrum_of_a_singular_table(bound, eigenvalues, s_hat):
    """A table with constant columns (digits has three) has eigenvalues that are rounding, below zero too."""
    check_record(bound(small(eigenvalues, s_hat)))


@EVERY
def test_a_table_without_sparsity(bound):
    """s = s_hat = d, as for every real table, gives numbers, or says that sparsity is needed."""
    table = Setting(
        d=30,
        n=569,
        k=2,
        s=30,
        s_hat=30,
        providers=3,
        iterations=10,
        eigenvalues=np.geomspace(0.4, 1e-6, 30),
        budget=Budget(1.0, 1e-5),
    )
    check_record(bound(table))
    assert bound(table).terms or bound.name == "ge2018"


@EVERY
def test_a_rule_describes_itself(bound):
    """It has a formula, methods that exist, a source, a documented function, and its constants' values."""
    assert BOUNDS[bound.name] is bound
    assert bound.title
    assert "\\" in bound.formula
    assert set(bound.methods) <= set(METHODS)
    assert bool(bound.methods) or bound.kind == "lower"
    docstring = cleandoc(bound.compute.__doc__)
    assert "\nReturns:\n" in docstring
    assert all(f"    {name}: " in docstring for name in bound.constants | bound.options)
    result = bound(small([0.5, 0.1, 0.1], 2))
    assert len(result.source) > 20
    assert result.constants == {bound.symbols[name]: value for name, value in bound.constants.items()}
    for name in bound.constants:
        changed = bound(small([0.5, 0.1, 0.1], 2), **{name: 3.0})
        assert changed.constants[bound.symbols[name]] == 3.0


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"c9": 1.0}, r"ge2018 takes no constant 'c9': there are c1, c1_rows, c2"),
        *(({"c2": value}, "c2 must be positive") for value in (0.0, -1.0, math.nan, math.inf)),
    ],
)
def test_a_wrong_constant_is_refused_by_name(constants, message):
    """The rule checks them for every bound, not the bound."""
    with pytest.raises(ValueError, match=message):
        BOUNDS["ge2018"](small([0.5, 0.1, 0.1], 2), **constants)


def test_the_registry_is_what_the_design_names():
    named = {
        *("ge2018", "sparse_minimax", "wang_xu_low", "wang_xu_low_lower", "wang_xu_sparse"),
        *("wang_xu_sparse_lower", "cai_projector", "cai_projector_lower", "analyze_gauss", "ppca_laplace"),
        *("noisy_power", "dps_prediction", "projector_prediction"),
    }
    assert named <= set(BOUNDS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "guess"}, "kind must be one of"),
        ({"measure": "cosine"}, "measure must be one of"),
        ({"fits": "c7"}, "fits must be one of"),
        ({"symbols": {"c9": "C"}}, "symbols must name"),
    ],
    ids=str,
)
def test_a_wrong_rule_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        replace(BOUNDS["ge2018"], **changed)
