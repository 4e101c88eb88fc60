"""A hospital by its rows and by its moments is the same hospital."""

import numpy as np
import pytest

from dppca_core.populations.site_summaries import DrawnSite, RowSite

ROWS = np.random.default_rng(2).standard_normal((50, 4)) + np.array([0.5, 0.0, -1.0, 2.0])
LONG = 100.0  # nothing is clipped
CENTRE, SCALE = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2.0, 0.5, 1.5])


def drawn() -> DrawnSite:
    mean = ROWS.mean(axis=0)
    scatter = (ROWS - mean).T @ (ROWS - mean) / len(ROWS)
    return DrawnSite(len(ROWS), mean, scatter, mean, scatter, np.random.SeedSequence(0))


def test_both_have_the_same_means_and_moments():
    rows, moments = RowSite(ROWS, LONG), drawn()
    for from_rows, from_moments in zip(rows.means(LONG), moments.means(LONG), strict=True):
        np.testing.assert_allclose(from_rows, from_moments, atol=1e-12)
    dense_of_rows, dense_of_moments = (site.moment(CENTRE, SCALE, LONG).dense() for site in (rows, moments))
    np.testing.assert_allclose(dense_of_rows, dense_of_moments, atol=1e-12)
    assert (rows.n, rows.features) == (moments.n, moments.features) == (50, 4)


def test_rows_beyond_the_bound_are_clipped_to_it():
    site = RowSite(ROWS, 1.0)
    lengths = np.linalg.norm(ROWS, axis=1, keepdims=True)
    np.testing.assert_allclose(site.means(1.0)[0], (ROWS / np.maximum(lengths, 1.0)).mean(axis=0), atol=1e-12)
    assert np.trace(site.moment(CENTRE, SCALE, 1.0).dense()) <= 1.0
    assert site.bound(CENTRE, SCALE, 1e-9) == 1.0


def test_a_smaller_chance_needs_a_longer_bound():
    site = drawn()
    lengths = [site.bound(CENTRE, SCALE, tail) for tail in (1e-1, 1e-3, 1e-9)]
    assert lengths == sorted(lengths) and lengths[0] < lengths[-1]
    farther = site.bound(CENTRE - 3.0, SCALE, 1e-3)
    assert farther > lengths[1] == pytest.approx(site.bound(CENTRE, SCALE, 1e-3))


def test_rows_of_a_drawn_hospital_have_its_mean_and_its_scatter():
    site = drawn()
    rows = site.rows()
    assert rows is site.rows()
    np.testing.assert_allclose(rows.mean(axis=0), site.own_mean, atol=1e-12)
    np.testing.assert_allclose(
        (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) / site.n, site.own_covariance, atol=1e-12
    )
    moment = site.moment(CENTRE, SCALE, LONG)
    scaled = (rows - CENTRE) / SCALE
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    np.testing.assert_allclose(moment.unit().dense(), scaled.T @ scaled / site.n, atol=1e-12)


def test_drawn_rows_have_the_law_of_patients():
    """A mean of length-1 rows over 600 draws of 5 patients: within 4.5 errors; without its mean it is not."""
    mean, root = np.array([1.0, 0.0, -0.5]), np.diag([1.0, 2.0, 0.5])
    rng = np.random.default_rng(5)

    def statistic(rows: np.ndarray) -> float:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return float((unit[0] @ unit[1]) ** 2)  # of two patients: it depends on more than their moment

    direct, given = [], []
    for draw in range(600):
        rows = mean + rng.standard_normal((5, 3)) @ root
        direct.append(statistic(rows))
        other = mean + rng.standard_normal((5, 3)) @ root
        centre = other.mean(axis=0)
        scatter = (other - centre).T @ (other - centre) / 5
        site = DrawnSite(5, centre, scatter, mean, root**2, np.random.SeedSequence(draw))
        given.append([statistic(site.rows()), statistic(site.rows() - centre)])
    error = np.std(direct) * np.sqrt(2 / 600)
    off = np.abs(np.mean(given, axis=0) - np.mean(direct)) / error
    assert off[0] < 4.5 < off[1], off
