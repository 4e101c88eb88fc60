"""The dictionary's twin: its marginals, its spectrum against the Gaussian's, and its truth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from dppca_core import sin_theta
from dppca_core.experiments import draws
from dppca_core.experiments.draws import Scaling
from dppca_core.numerics import linalg
from dppca_core.populations.dictionary_twin import CategoryCells, DictionaryTwin, NumberCells
from dppca_core.populations.spiked import SpikedModel

MIXED = (
    NumberCells(-1.0, 1.0),
    CategoryCells((0.25,) * 4),
    NumberCells(-0.5, 1.5),
    NumberCells(0.0, 2.0),  # a usual value at the end of its range
    CategoryCells((0.0, 1.0, 0.0)),
    CategoryCells((0.5,)),
    CategoryCells((1.0,)),
)
LATENT = SpikedModel(d=7, k=2, s=5, spike=(60.0, 25.0))
MIDDLES = (NumberCells(-1.0, 1.0),) * 12
WHOLE = 100.0  # a bound that no row reaches
RNG_ROWS = 40_000


def whole_rows(twin, n=RNG_ROWS, seed=0):
    """Return n encoded rows, (n, d), none of which is shortened."""
    return np.concatenate(list(twin.rows(n, np.random.default_rng(seed)))) * twin.bound


def even_and_usual(answers, shares):
    """Return the probability of counts at least as far from these shares: chi-square, Pearson."""
    counts = np.array([answers.sum(axis=0), (1 - answers).sum(axis=0)])
    expected = np.array([shares, 1 - shares]) * len(answers)
    return chi2.sf(((counts - expected) ** 2 / expected).sum(axis=0), 1)


def test_marginals_are_those_of_the_dictionary():
    """Ranges, medians at the usual values, one answer each, and shares: tests at 1e-4 each."""
    rows = whole_rows(DictionaryTwin(MIXED, WHOLE, LATENT))
    assert rows.shape == (RNG_ROWS, 1 + 4 + 1 + 1 + 3 + 1 + 1)
    numbers = rows[:, [0, 5, 6]]
    for column, (low, high) in zip(numbers.T, [(-1, 1), (-0.5, 1.5), (0, 2)], strict=True):
        assert low - 1e-9 <= column.min() and column.max() <= high + 1e-9
    above = (numbers > 0).mean(axis=0)
    assert np.abs(above - 0.5).max() < 4 * 0.5 / np.sqrt(RNG_ROWS)
    even, usual = rows[:, 1:5] + 0.25, rows[:, 7:10] + [0, 1, 0]
    for answers in (even, usual):
        assert np.allclose(answers.sum(axis=1), 1) and np.allclose(answers * (1 - answers), 0)
    single, single_usual = rows[:, 10:11] + 0.5, rows[:, 11:12] + 1
    p_values = [
        even_and_usual(even, np.full(4, 0.25)),
        even_and_usual(usual, np.array([0.125, 0.75, 0.125])),
        even_and_usual(single, np.array([0.5])),
        even_and_usual(single_usual, np.array([0.75])),
    ]
    assert min(map(np.min, p_values)) > 1e-4
    assert even_and_usual(even, np.array([0.28, 0.24, 0.24, 0.24])).min() < 1e-4  # a planted bias


def test_the_mean_square_of_rows_is_the_one_that_a_spread_is_chosen_by():
    """Each number adds (low^2 + high^2)/2 of its t^2, where no range cuts; categories add theirs exactly."""
    twin = DictionaryTwin(MIXED, WHOLE, LATENT, spread=0.1)
    squares = np.square(whole_rows(twin)).sum(axis=1)
    expected = 0.1**2 * twin.number_squares + twin.category_squares
    assert squares.mean() == pytest.approx(expected, abs=5 * squares.std() / np.sqrt(RNG_ROWS))


def test_narrow_numbers_have_the_correlations_of_the_spiked_model():
    """Ranges that cut nothing: the same rows but for columns' widths, and PCA of the correlation matrix."""
    spiked = SpikedModel(d=12, k=2, s=4, spike=60.0)
    twin = DictionaryTwin(MIDDLES, WHOLE, spiked, spread=0.01)
    covariance = spiked.covariance()
    stds = np.sqrt(covariance.diagonal())
    z = np.concatenate(list(spiked.rows(500, np.random.default_rng(1))))
    assert np.allclose(whole_rows(twin, 500, 1), z / stds * 0.01)
    expected = linalg.top_eigenspace(covariance / np.outer(stds, stds), 2)
    error = sin_theta(linalg.top_eigenspace(twin.moments(20_000).second, 2), expected)
    # 240,000 rows of 12 columns: sqrt(2 * 12/240,000) times about 1.
    assert error < 0.03
    assert sin_theta(linalg.top_eigenspace(covariance, 2), expected) > 0.3


@pytest.mark.parametrize(
    "columns",
    [MIXED, (CategoryCells((1 / 3,) * 3),) * 7, MIDDLES[:7]],
    ids=["mixed", "categories", "numbers"],
)
@pytest.mark.parametrize("centred", [False, True])
def test_without_noise_only_sampling_errs_and_ever_less(columns, centred):
    """PCA of 40,000 rows errs less than a third of PCA of 1,000: the truth is that of these very rows."""
    twin = DictionaryTwin(columns, 1.2, LATENT, centred)
    scaling = Scaling("clipped", bound=1.0)
    errors = []
    for n in (1000, 40_000):
        truth = draws.truth(twin, (n,), 1, scaling, 0).basis
        cohorts = (draws.cohort(twin, (n,), scaling, 0, draw) for draw in range(5))
        bases = (linalg.top_eigenspace(cohort.pooled.dense(), 1) for cohort in cohorts)
        errors.append(np.median([sin_theta(basis, truth) for basis in bases]))
    assert errors[1] < errors[0] / 3 < 0.2


def test_rows_that_are_kept_have_the_moment_of_those_that_are_not():
    """Both sizes of hospitals, centred, no longer than 1; of one recipe the same, of another draw another."""
    twin = DictionaryTwin(MIXED, 1.0, LATENT, centred=True)
    kept, summed, other = (
        draws.cohort(twin, (30, 70), scaling, 0, draw)
        for scaling, draw in ((Scaling(), 0), (Scaling("clipped", bound=1.0), 0), (Scaling(), 1))
    )
    for a, b, c in zip(kept, summed, other, strict=True):
        assert a.n == b.n and np.allclose(a.moment.dense(), b.moment.dense())
        assert not np.allclose(a.moment.dense(), c.moment.dense())
        assert np.trace(a.moment.dense()) <= 1
    assert kept.unit().features == twin.d and hash(twin) == hash(replace(twin))
