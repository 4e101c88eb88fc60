"""Test Figure 2 of Ge et al. as fitted: the statements of theory.md section 1.5, by the theorem's formula."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget, Setting
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.ge2018 import contraction, noise_room
from dppca_core.bounds.ge_figure2 import DELTA, EPSILONS, curves

ACROSS = np.linspace(*EPSILONS, 37)


def test_the_published_features():
    """The overall error falls from 7.3 at epsilon = .2, far above sqrt 5; privacy stays below sampling."""
    terms = curves(ACROSS)
    assert terms["total"][0] == pytest.approx(7.3)
    assert (np.diff(terms["total"]) < 0).all()
    assert (terms["priv"] < terms["stat"]).all()
    assert (terms["total"] > np.sqrt(5)).all()
    np.testing.assert_allclose(terms["total"], terms["stat"] + terms["priv"] + terms["opt"])


def test_alpha_by_hand():
    """alpha is .0513/.2 = .2565, rho is .356/.7435, priv is 3/sqrt 3 / (1 - rho^1/4) * .2565/.7435."""
    terms = curves([0.2])
    assert terms["alpha"][0] == pytest.approx(0.2565)
    assert terms["rho"][0] == pytest.approx(0.478816, abs=1e-6)
    assert terms["priv"][0] == pytest.approx(3.5535, abs=1e-4)


def test_no_k_meets_the_assumption_on_noise():
    """B.3 asks least at k = 1, where alpha/(1 - alpha) is .345 to .026 and .009 to .012 is allowed."""
    terms = curves(ACROSS)
    noise = terms["alpha"] / (1 - terms["alpha"])
    allowed = np.array([noise_room(rho, 1) for rho in terms["rho"]])
    assert (noise > 2 * allowed).all()
    assert (noise[0], noise[-1]) == pytest.approx((0.344990, 0.026325), rel=1e-4)


def test_a_setting_with_that_gamma_and_alpha_lies_on_the_curve():
    """The curve is the theorem's, not a copy of it."""
    top = (3 - 0.356) / (3 * 0.356 - 1)  # contraction(top, 1) = .356
    values = np.repeat([top, 1.0], [5, 95]) / (100 * top)
    setting = Setting(
        d=100,
        n=10**6,
        k=5,
        s=10,
        s_hat=50,
        providers=1,
        iterations=10,
        eigenvalues=values,
        budget=Budget(1.0, DELTA, accounting="as-printed"),
    )
    assert contraction(top, 1.0) == pytest.approx(0.356)
    theorem = BOUNDS["ge2018"]
    scale = theorem(setting).quantities["alpha"] / 0.0513
    bound = theorem(replace(setting, n=round(setting.n * scale)))
    expected = curves([1.0])
    assert bound.terms["priv"] == pytest.approx(expected["priv"][0], rel=1e-4)
    assert bound.terms["opt"][-1] == pytest.approx(expected["opt"][0], rel=1e-4)
