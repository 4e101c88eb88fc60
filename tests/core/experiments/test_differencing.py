"""Test that two exact totals give a patient's record away, whoever the hospital is."""

import numpy as np
import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import draws
from dppca_core.experiments.demonstrations import differencing
from dppca_core.populations import clinical
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.differing import DifferingHospitals

CLINICAL, HEART = DifferingHospitals(columns=20), DifferingHospitals("heart")


@pytest.mark.parametrize(
    ("population", "n"),
    [
        (SpikedModel(d=30, k=2, s=6), 400),
        ("breast_cancer", 569),
        (CLINICAL.only(2), 400),
        (CLINICAL.only(0), 10**6),
        (HEART.only(1), 294),
        (HEART.only(3), 60),
    ],
)
def test_two_totals_give_the_record_away(population, n):
    totals = differencing.pair(population, n, 7, draws.PUBLIC, 3)
    rebuilt = totals.bound * differencing.rebuilt(totals.with_, totals.without)
    assert differencing.digits(totals.patient, rebuilt) >= 6
    assert np.linalg.eigvalsh(totals.without)[0] > -1e-9 * n


@pytest.mark.parametrize(("population", "n"), [(CLINICAL.only(2), 400), (HEART.only(1), 294)])
def test_the_patient_and_the_total_are_those_of_the_hospital_s_first_run(population, n):
    cohort = draws.cohort(population, (n,), draws.PUBLIC, 3, 0)
    totals = differencing.pair(population, n, n + 7, draws.PUBLIC, 3)
    np.testing.assert_allclose(totals.with_, n * cohort.pooled.dense(), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(
        totals.patient, differencing.pair(population, n, 7, draws.PUBLIC, 3).patient
    )
    if population.simulated:
        rows = clinical.draw(ClinicalModel(d=20), (n,), 3, 0, [2], most_rows=5000)[0].rows()
        printed = clinical.hospital(ClinicalModel(d=20), 2).printed
        np.testing.assert_allclose(totals.patient, (rows[7] - printed.centre) / printed.scale, atol=1e-12)


def test_several_real_hospitals_have_no_one_total():
    with pytest.raises(ValueError, match="hospitals must be"):
        differencing.pair(HEART, 303, 0, draws.PUBLIC, 0)
