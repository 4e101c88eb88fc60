"""Every bound of the registry: numbers or void, never NaN, and reasons that match."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core import Budget, Setting
from dppca_core.bounds import BOUNDS
from dppca_core.types import ACCOUNTINGS, Bound

EVERY = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS.keys())


@st.composite
def settings(draw: st.DrawFn) -> Setting:
    """Far wider than any screen offers; eigenvalues may repeat or vanish."""
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


def check_record(found: Bound) -> None:
    total = np.asarray(found.total)
    assert not np.isnan(total).any()
    assert (total >= 0).all()
    assert not any(np.isnan(np.asarray(value)).any() for value in found.terms.values())
    assert not any(math.isnan(value) for value in found.quantities.values())
    assert all(line.startswith(("holds: ", "fails: ")) for line in found.why)
    assert found.applies == all(line.startswith("holds: ") for line in found.why)
    assert found.why
    if not found.terms:
        assert (total == math.inf).all()
        assert not found.applies
    else:
        assert np.isfinite(total).all()


@EVERY
@given(setting=settings())
def test_a_bound_is_a_number_or_void(bound, setting):
    """Never NaN; the terms add up to something finite; `applies` is what `why` says."""
    check_record(bound(setting))


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
    "eigenvalues",
    [[0.5, -TINY, -2 * TINY], [TINY, -TINY, -2 * TINY], [0.0, -TINY, -TINY], [0.0, 0.0, 0.0]],
    ids=["rank k", "rank below k", "zero and rounding", "nothing at all"],
)


@EVERY
@SINGULAR
@pytest.mark.parametrize("s_hat", [2, 3])
def test_the_spectrum_of_a_singular_table(bound, eigenvalues, s_hat):
    """A table with constant columns (digits has three) has eigenvalues that are rounding, below zero too."""
    check_record(bound(small(eigenvalues, s_hat)))


@EVERY
def test_a_bound_names_its_source(bound):
    found = bound(small([0.5, 0.1, 0.1], 2))
    assert len(found.source) > 20
    assert len(bound.__doc__ or "") > 40
