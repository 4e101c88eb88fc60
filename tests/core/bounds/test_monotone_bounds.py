"""Test that more patients, more epsilon or a wider gap never give a larger bound; void is infinite.

There are two exceptions, both in the papers' formulas. xi_opt of Ge et al. is not monotone: it holds
sqrt(rho (1 - sqrt rho)), largest at rho = 4/9, so less noise can raise it; tested are stat and priv. And the
spike above a smaller bulk is larger, so the covariance rates, absolute ones, fall with n and epsilon only.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from dppca_core import Budget, Setting
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.ge2018 import error_terms

EVERY = pytest.mark.parametrize("name", BOUNDS)
ROUNDING = 1 + 1e-9


@st.composite
def settings(draw: st.DrawFn) -> Setting:
    d = draw(st.integers(4, 30))
    k = draw(st.integers(1, d - 2))
    s = draw(st.integers(k, d))
    values = np.sort(draw(st.lists(st.floats(1e-6, 0.5), min_size=d, max_size=d)))[::-1].copy()
    values[:k] += draw(st.floats(1e-6, 0.5))
    return Setting(
        d=d,
        n=draw(st.integers(2, 10**12)),
        k=k,
        s=s,
        s_hat=draw(st.sampled_from((s, d))),
        providers=draw(st.integers(1, 50)),
        iterations=draw(st.integers(1, 30)),
        eigenvalues=values,
        budget=Budget(
            draw(st.floats(1e-2, 1e2)),
            draw(st.sampled_from((1e-9, 1e-5, 0.01, 0.3))),
            accounting=draw(st.sampled_from(("exact", "as-printed"))),
        ),
        tau=4.0,
    )


def size(name: str, setting: Setting) -> float:
    bound = BOUNDS[name](setting)
    if name == "ge2018" and bound.terms:
        return float(bound.terms["stat"] + bound.terms["priv"])
    return bound.final


MORE = st.floats(1.0, 1e3)


@EVERY
@profile(max_examples=10)
@given(setting=settings(), more=MORE)
def test_more_patients(name, setting, more):
    larger = replace(setting, n=int(setting.n * more) + 1)
    if name == "gaussian_floor" and BOUNDS[name](larger).final > BOUNDS[name](setting).final:
        # Only where more patients make room for more pairs.
        pairs = [BOUNDS[name](each).quantities["pairs"] for each in (setting, larger)]
        assert pairs[0] < pairs[1]
        return
    assert size(name, larger) <= size(name, setting) * ROUNDING


@EVERY
@profile(max_examples=10)
@given(setting=settings(), more=MORE)
def test_more_epsilon(name, setting, more):
    larger = replace(setting, budget=replace(setting.budget, epsilon=setting.budget.epsilon * more))
    if name.startswith("two_stage") and not (BOUNDS[name](setting).applies and BOUNDS[name](larger).applies):
        return  # where it does not hold: less noise lets sampling choose the rows, and they err more
    assert size(name, larger) <= size(name, setting) * ROUNDING


@pytest.mark.parametrize("name", [name for name, rule in BOUNDS.items() if rule.measure == "sin"])
@profile(max_examples=10)
@given(setting=settings(), less=st.floats(0.01, 1.0))
def test_a_wider_gap(name, setting, less):
    """The bulk shrinks beneath the same top."""
    values = setting.eigenvalues.copy()
    values[setting.k :] *= less
    assert size(name, replace(setting, eigenvalues=values)) <= size(name, setting) * ROUNDING


def test_the_optimisation_term_is_not_monotone():
    """A smaller rho, so less noise or a wider gap, gives a larger xi_opt at the first iterate."""
    first = [
        error_terms(rho, 0.0, sampling=0.0, selection=1.0, iterations=1)["opt"][0] for rho in (0.9, 4 / 9)
    ]
    assert first == pytest.approx([0.107444, 0.192450], rel=1e-4)
