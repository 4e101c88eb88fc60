"""Test how far one patient can move a release: Hypothesis searches beyond the stated sensitivities.

It takes the real path: rows up to 1e6 are clipped by `Cohort.from_rows`, and n times the moment (or n_i times
a hospital's product) of neighbouring data sets is compared.
"""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from dppca_core import Budget, Cohort
from dppca_core.arrays import Array
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import dps_pca
from dppca_core.numerics import linalg

D = 4
ROUNDING = 1e-12
BOUND = 3.0
REPLACE, ADD = Budget(1.0, 1e-5), Budget(1.0, 1e-5, "add-remove")
E1, E2, E3, E4 = np.eye(D)

entries = st.floats(-1e6, 1e6)
patients = st.lists(entries, min_size=D, max_size=D).map(np.array)
bounds = st.floats(1e-3, 1e6)
# n = 2 keeps rows, n = 4 a matrix: both kinds of moment.
others = st.integers(0, 2**31).flatmap(
    lambda seed: st.sampled_from((1, 3)).map(
        lambda m: np.random.default_rng(seed).standard_normal((m, D)) * 100
    )
)
blocks = st.integers(0, 2**31).flatmap(
    lambda seed: st.integers(1, 3).map(
        lambda k: linalg.orthonormalise(np.random.default_rng(seed).standard_normal((D, k)))
    )
)


def scatter(rows: Array, bound: float) -> Array:
    """Return n times the released quantity of the Analyze Gauss family."""
    return Cohort.from_rows([rows], bound).pooled.dense() * len(rows)


def product(rows: Array, bound: float, block: Array) -> Array:
    """Return n_i times what one hospital sends in DPS-PCA, beside a second hospital."""
    cohort = Cohort.from_rows([rows, np.ones((2, D))], bound)
    return cohort[0].moment.apply(block) * cohort[0].n


def frobenius(moved: Array) -> float:
    return float(np.linalg.norm(moved))


def triangle(moved: Array) -> float:
    """Return the l2 norm of the upper triangle with its diagonal, which mirrored noise covers."""
    return float(np.linalg.norm(moved[np.triu_indices(D)]))


NORMS = pytest.mark.parametrize("norm", [frobenius, triangle])


@NORMS
@given(x=patients, y=patients, rest=others, bound=bounds)
def test_replacing_a_patient_moves_the_moment_by_at_most_the_sensitivity(norm, x, y, rest, bound):
    moved = scatter(np.vstack([rest, x]), bound) - scatter(np.vstack([rest, y]), bound)
    assert norm(moved) <= symmetric_gaussian.sensitivity(REPLACE) * (1 + ROUNDING)


@NORMS
@given(x=patients, rest=others, bound=bounds)
def test_adding_a_patient_moves_the_moment_by_at_most_the_sensitivity(norm, x, rest, bound):
    moved = scatter(np.vstack([rest, x]), bound) - scatter(rest, bound)
    assert norm(moved) <= symmetric_gaussian.sensitivity(ADD) * (1 + ROUNDING)


@given(x=patients, y=patients, rest=others, bound=bounds, block=blocks)
def test_replacing_a_patient_moves_a_product_by_at_most_the_sensitivity(x, y, rest, bound, block):
    moved = product(np.vstack([rest, x]), bound, block) - product(np.vstack([rest, y]), bound, block)
    assert frobenius(moved) <= dps_pca.sensitivity(REPLACE, block.shape[1]) * (1 + ROUNDING)


@given(x=patients, rest=others, bound=bounds, block=blocks)
def test_adding_a_patient_moves_a_product_by_at_most_the_sensitivity(x, rest, bound, block):
    moved = product(np.vstack([rest, x]), bound, block) - product(rest, bound, block)
    assert frobenius(moved) <= dps_pca.sensitivity(ADD, block.shape[1]) * (1 + ROUNDING)


REST = np.full((3, D), 0.1)


def with_patient(x: Array) -> Array:
    return np.vstack([REST, 100 * x])  # long: clipping brings it to the bound


@NORMS
def test_the_moment_sensitivity_is_attained(norm):
    """Two orthogonal patients of full length attain it; one does for add/remove."""
    replaced = scatter(with_patient(E1), BOUND) - scatter(with_patient(E2), BOUND)
    added = scatter(with_patient(E1), BOUND) - scatter(REST, BOUND)
    assert norm(replaced) == pytest.approx(symmetric_gaussian.sensitivity(REPLACE), rel=ROUNDING)
    assert norm(added) == pytest.approx(symmetric_gaussian.sensitivity(ADD), rel=ROUNDING)


@pytest.mark.parametrize(
    ("block", "y"),
    [(np.column_stack([E1]), E2), (np.column_stack([E1, E2]), E2), (np.column_stack([E3, E1, E2]), E2)],
    ids=["k=1", "k=2", "k=3"],
)
def test_the_product_sensitivity_is_attained(block, y):
    """Orthogonal patients inside span Q attain it; k = 1 has room for one of them only."""
    k = block.shape[1]
    first = product(with_patient(E1), BOUND, block)
    replaced = first - product(with_patient(y), BOUND, block)
    added = first - product(REST, BOUND, block)
    assert frobenius(replaced) == pytest.approx(dps_pca.sensitivity(REPLACE, k), rel=ROUNDING)
    assert frobenius(added) == pytest.approx(dps_pca.sensitivity(ADD, k), rel=ROUNDING)


def test_the_search_refutes_a_planted_smaller_constant():
    """1.3 in place of sqrt 2, and .99 in place of 1, fail in the same random search."""

    def moved(pair: tuple[Array, Array]) -> Array:
        return scatter(with_patient(pair[0]), BOUND) - scatter(with_patient(pair[1]), BOUND)

    block = np.column_stack([E1, E2])
    any_pair = partial(
        find, st.tuples(patients, patients), settings=settings(max_examples=2000, phases=[Phase.generate])
    )
    any_pair(lambda pair: frobenius(moved(pair)) > 1.3)
    any_pair(lambda pair: triangle(moved(pair)) > 1.3)
    any_pair(lambda pair: frobenius(moved(pair) @ block) > 1.3)
    any_pair(lambda pair: frobenius(moved(pair) @ block[:, :1]) > 0.99)


@pytest.mark.parametrize(
    ("neighbours", "k", "expected"),
    [
        ("replace-one", 1, 1.0),
        ("replace-one", 2, math.sqrt(2)),
        ("replace-one", 7, math.sqrt(2)),
        ("add-remove", 1, 1.0),
        ("add-remove", 2, 1.0),
    ],
)
def test_constants_of_theory_section_6(neighbours, k, expected):
    budget = Budget(1.0, 1e-5, neighbours)
    assert dps_pca.sensitivity(budget, k) == expected
    assert symmetric_gaussian.sensitivity(budget) == (math.sqrt(2) if neighbours == "replace-one" else 1.0)
