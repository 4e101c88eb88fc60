"""Test the arithmetic of the scale benchmark: exponents of planted power laws, and alarms above theory."""

import numpy as np
import pytest

from benchmarks import scale
from benchmarks.scale import Curve, Effort, Law
from dppca_core import METHODS

SIZES = [100, 200, 400, 800, 1600, 3200]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5, 3.0])
def test_an_exact_power_law_has_its_exponent_and_no_error(exponent):
    fit = scale.slope(SIZES, [7.0 * size**exponent for size in SIZES])
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.error < 1e-9


def test_a_constant_part_counts_only_where_it_is_large():
    """1 + (d/1000)^3 is flat at first, and nearly d^3 over the last four of these points."""
    sizes = [*SIZES, 6400, 12800, 25600]
    values = [1 + (size / 1000) ** 3 for size in sizes]
    assert scale.slope(sizes, values).exponent == pytest.approx(3, abs=0.1)
    assert scale.slope(sizes[:4], values[:4]).exponent < 0.5


def test_the_standard_error_is_that_of_least_squares():
    """Over 2,000 draws of log-normal noise, its mean square is the exponents' variance, to 10 %."""
    rng = np.random.default_rng(0)
    noise = np.exp(0.1 * rng.standard_normal((2000, len(SIZES))))
    fits = [scale.slope(SIZES, np.array(SIZES) ** 2.0 * row) for row in noise]
    variance = np.var([fit.exponent for fit in fits])
    assert np.mean([fit.error**2 for fit in fits]) == pytest.approx(variance, rel=0.1)
    assert np.mean([fit.exponent for fit in fits]) == pytest.approx(2.0, abs=0.01)


def test_too_few_points_are_refused():
    with pytest.raises(ValueError, match="sizes must hold at least 3 points, got 2"):
        scale.slope([1, 2], [1.0, 2.0])


@pytest.mark.parametrize(("planted", "above"), [(2.0, 0), (2.19, 0), (2.21, 1), (3.0, 1), (1.0, 0)])
def test_what_grows_faster_than_it_may_is_named(planted, above):
    law, linear = Law(2, 1, ""), [float(size) for size in SIZES]
    curve = Curve("a method", "d", law, SIZES, [size**planted for size in SIZES], linear)
    assert len(curve.above()) == above
    assert all("a method: time grows as d^" in line for line in curve.above())
    heavy = Curve("a method", "d", law, SIZES, linear, [size**2.0 for size in SIZES])
    assert heavy.above() == ["a method: memory grows as d^2.00, theory 1"]


def test_a_curve_ends_before_the_point_that_would_take_too_long():
    """10 ms at 100 grow as d^3 to 640 ms at 400."""
    curve = Curve("a method", "d", Law(3, 2, ""), [100], [10.0], [1.0])
    assert curve.within(400, 0.7) and not curve.stopped
    assert not curve.within(400, 0.6) and "at d = 400" in curve.stopped
    assert not curve.within(401, 100.0)  # nor does it begin again


def test_memory_is_the_most_held_at_once():
    """Two arrays of a megabyte need one megabyte in turn, and two at once."""

    def in_turn() -> None:
        np.ones(125_000)
        np.ones(125_000)

    assert scale.peak(in_turn) == pytest.approx(1e6, rel=0.05)
    assert scale.peak(lambda: (np.ones(125_000), np.ones(125_000))) == pytest.approx(2e6, rel=0.05)
    with pytest.raises(ZeroDivisionError):
        scale.peak(lambda: 1 / 0)


def test_points_are_measured_in_turn():
    law = {"one": Law(1, 1, "")}
    curves = scale.along("d", (10, 20), lambda d: {"one": lambda: np.ones(d)}, law, Effort(1, 0))
    assert curves[0].sizes == [10, 20] and len(curves[0].ms) == len(curves[0].bytes) == 2


def test_every_method_has_its_theory():
    """Only methods that promise to form no d x d matrix have less than d^2 bytes."""
    assert set(scale.THEORY) == set(METHODS)
    for name, laws in scale.THEORY.items():
        assert laws.features.bytes == (2 if METHODS[name].matrix else 1)
