"""Test Theorem 4.3 of Ge et al. 2018 against numbers worked out elsewhere."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget, Setting
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.ge2018 import contraction
from tests.core.problems import ROOMY

ge2018 = BOUNDS["ge2018"]

# theory.md, oracle 4: the published experiment on raw data, as printed.
RAW = Setting(
    d=1000,
    n=100_000,
    k=5,
    s=10,
    s_hat=50,
    providers=1,
    iterations=10,
    eigenvalues=np.repeat([100.0, 10.0], [5, 995]),
    budget=Budget(1.0, 0.3, accounting="as-printed"),
    tau=3.3,
)
# A second setting, worked out with 30 digits in mpmath from the formulas of theory.md section 1.3.
SCALED = replace(ROOMY, iterations=6)


def test_oracle_3_contraction():
    assert contraction(100.0, 10.0) == pytest.approx(130 / 310, rel=1e-15)


def test_oracle_4_theorem_on_raw_data():
    """The printed digits hold; every other assumption of the supplement fails, the noise is small."""
    bound = ge2018(RAW)
    q = bound.quantities
    assert q["alpha"] == pytest.approx(0.00073, abs=0.0000051)
    assert q["rho"] == pytest.approx(0.41966, abs=0.0000051)
    assert q["rho"] ** 0.25 == pytest.approx(0.80487, abs=0.0000051)
    assert bound.terms["stat"] == pytest.approx(0.1389, abs=0.000051)
    assert bound.terms["priv"] == pytest.approx(0.00649, abs=0.0000051)
    assert q["probability"] == pytest.approx(0.9119, abs=0.000051)
    assert q["s_hat_min"] == 680
    assert q["sigma"] == pytest.approx(57.963, abs=0.00051)
    assert not bound.applies
    assert any("B.4" in line and "680" in line for line in bound.failed)
    assert any("B.6" in line for line in bound.failed)


@pytest.mark.parametrize(
    ("mode", "alpha", "stat", "priv", "first", "last"),
    [
        ("independent", 2.555282658e-5, 0.008450190689, 0.0002484253232, 0.1892996346, 0.08731864893),
        ("shared", 5.110565316e-5, 0.008450513243, 0.0004968823088, 0.1892987194, 0.08732101597),
        ("secure-aggregation", 1.277641329e-5, 0.008450029425, 0.0001242087041, 0.1893000921, 0.08731746542),
    ],
)
def test_a_second_setting(mode, alpha, stat, priv, first, last):
    """Three noise modes at four hospitals are worked out; C1 = 2 doubles `stat` alone."""
    setting = replace(SCALED, provider_noise=mode)
    bound = ge2018(setting, c1=2.0)
    assert bound.quantities["alpha"] == pytest.approx(alpha, rel=1e-8)
    assert bound.terms["stat"] == pytest.approx(stat, rel=1e-8)
    assert bound.terms["priv"] == pytest.approx(priv, rel=1e-8)
    assert bound.terms["opt"][[0, -1]] == pytest.approx([first, last], rel=1e-8)
    assert bound.quantities["probability"] == pytest.approx(0.9859732932, rel=1e-8)
    np.testing.assert_allclose(bound.total, stat + priv + bound.terms["opt"], rtol=1e-8)
    assert ge2018(setting).terms["stat"] == pytest.approx(stat / 2, rel=1e-8)


def test_the_assumptions_of_the_second_setting():
    """B.3 and B.5 hold, B.4 (305 rows) and B.6 (a random start) do not; each can be met."""
    bound = ge2018(replace(SCALED, provider_noise="shared"))
    assert bound.quantities["s_hat_min"] == 305
    assert bound.quantities["psi"] == pytest.approx(0.0008566841883, rel=1e-8)
    assert [line.split(":")[0] for line in bound.failed] == ["B.4", "B.6"]
    assert any("B.6" in each.text and "at most 0.183" in each.text for each in bound.why)

    met = ge2018(replace(SCALED, start_error=0.18), c1_rows=20 / 305)
    assert met.applies
    assert not ge2018(replace(SCALED, start_error=0.19), c1_rows=20 / 305).applies
    assert not ge2018(replace(SCALED, start_error=0.18), c1_rows=20 / 305, c2=40.0).applies


def test_too_much_noise_is_void():
    """It has no terms, an infinite total, and a reason; so has the published experiment on scaled rows."""
    scaled = replace(RAW, eigenvalues=RAW.eigenvalues / 8319)
    bound = ge2018(scaled)
    assert bound.terms == {}
    assert bound.total == math.inf
    assert not bound.applies
    assert bound.quantities["alpha"] == pytest.approx(6.1, abs=0.051)  # theory.md section 1.5
    assert "noise: α" in bound.failed[0]


def test_just_below_the_edge_of_the_noise():
    """alpha is a rounding below 1 - gamma, so that rho is 1 and 1/(1 - rho^1/4) has no value."""
    edge = Setting(
        d=3,
        n=33_637_865,
        k=1,
        s=1,
        s_hat=1,
        providers=1,
        iterations=1,
        eigenvalues=np.array([0.7294965609839984, 0.6066357757671799, 0.5436249914654229]),
        budget=Budget(1.0, 1e-5),
        tau=289120.0963903451,
    )
    bound = ge2018(edge)
    assert bound.quantities["alpha"] == pytest.approx(1 - bound.quantities["gamma"], rel=1e-15)
    assert bound.total == math.inf
    assert not bound.applies


def test_no_gap_is_void():
    bound = ge2018(replace(SCALED, eigenvalues=np.full(100, 0.3)))
    assert bound.total == math.inf
    assert not bound.applies


def test_a_hopeless_probability_is_said():
    """It falls below zero for T = 10 and tau < 2.45 (theory.md, trap 6)."""
    bound = ge2018(replace(RAW, tau=2.4))
    assert bound.quantities["probability"] < 0
    assert any("the probability with which it holds" in line for line in bound.failed)
