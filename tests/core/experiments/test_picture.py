"""Test the plane of a run's largest angle against scipy and drawn patients, and which runs it shows."""

import math

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from dppca_core import SpikedModel
from dppca_core.experiments.explorer.experiment import DPS_PCA, ExplorerExperiment
from dppca_core.experiments.explorer.picture import NOISES, plane
from dppca_core.experiments.explorer.results import Results

MODEL = SpikedModel(d=30, k=3, s=8, spike=(120.0, 60.0, 30.0), bulk=(0.0, 10.0), seed=4)


def answer(error: float, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal((MODEL.d, MODEL.k))
    return np.linalg.qr(MODEL.basis + error * noise)[0]


@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.1, 10.0])
def test_the_angle_is_scipys_and_does_not_depend_on_the_basis(error):
    basis = answer(error)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    here, there = (plane(each, MODEL.basis, MODEL.variances) for each in (basis, basis @ turn))
    assert abs(here.angle) == pytest.approx(np.degrees(subspace_angles(basis, MODEL.basis).max()), rel=1e-6)
    assert there == pytest.approx(here, rel=1e-6)


def test_patients_drawn_in_the_space_itself_lie_in_the_plane_as_stated():
    """The sample covariance of 10^5 rows errs by 0.45 % (variances); five such errors are allowed.

    An error rate of 2e-6 for three normal numbers; the seed is fixed.
    """
    basis = answer(0.1)
    shown = plane(basis, MODEL.basis, MODEL.variances)
    # The plane by definition: the principal vectors of the smallest cosine.
    left, _, right = np.linalg.svd(MODEL.basis.T @ basis)
    v, u = MODEL.basis @ left[:, -1], basis @ right[-1]
    w = u - (u @ v) * v
    w /= np.linalg.norm(w)
    (rows,) = MODEL.rows(100_000, np.random.default_rng(5), chunk=100_000)
    sample = np.cov(rows @ np.column_stack([v, w]), rowvar=False, bias=True)
    stds = np.array([shown.along, shown.across])
    scaled = (sample / np.outer(stds, stds) - np.eye(2)) * math.sqrt(len(rows) / 2)
    assert np.abs(scaled).max() < 5
    assert u @ v == pytest.approx(math.cos(math.radians(shown.angle)))


def test_ends_are_a_right_angle_and_none():
    truth = MODEL.basis
    other = np.linalg.qr(np.column_stack([truth, np.eye(MODEL.d)[:, :6]]))[0][:, 3:6]
    assert abs(plane(other, truth, MODEL.variances).angle) == pytest.approx(90)
    exact = plane(truth, truth, MODEL.variances)
    assert exact.angle == pytest.approx(0, abs=1e-6) and exact.along > 0


def test_cells_keep_their_planes_and_more_runs_than_repeats_are_for_the_picture_alone():
    experiment = ExplorerExperiment(MODEL, n=10**9, k=3, s_hat=8, delta=1e-5, repeats=2)
    results = Results(experiment, methods=(DPS_PCA, "pca"))
    assert results.planes(10.0) == []
    for cell in results.wanted(10.0):
        results.try_cell(*cell)
    planes = results.planes(10.0)
    assert len(planes) == NOISES and len(results.planes(1.0)) == NOISES
    assert max(abs(each.angle) for each in planes) < 0.1  # without noise to speak of only sampling errs
    assert {each.angle > 0 for each in planes} == {True, False}
    assert len(results.measured(DPS_PCA, 10.0)) == 2 and results.table()["repeat"].max() == 1
    assert planes[0].along == pytest.approx(math.sqrt(results.truth.eigenvalues[:3].max()), rel=0.5)
    cell = Results(ExplorerExperiment("digits", 1797, 3, 64, 1e-5)).cell(DPS_PCA, 10.0, 0)
    assert cell.components.shape == (64, 3)
    assert cell.sin[-1] >= math.sin(math.radians(abs(cell.plane.angle))) > 0
