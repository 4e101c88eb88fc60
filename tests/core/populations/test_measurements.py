"""Test the names of measurements: all different, in every population, and right for the factor."""

import numpy as np
import pytest

from dppca_core import SpikedModel
from dppca_core.datasets import TABLES
from dppca_core.populations import clinical
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.populations.measurements import BY_FACTOR, DICTIONARY, names

MODEL = SpikedModel(d=60, k=2, s=6)


def test_the_dictionary_has_fifty_short_names():
    assert len(set(DICTIONARY)) == len(DICTIONARY) == 50
    assert max(map(len, DICTIONARY)) <= 24
    assert [len(group) for group in BY_FACTOR] == [columns for _, columns, _ in clinical.FACTORS]


@pytest.mark.parametrize(
    "population",
    [DifferingHospitals(), DifferingHospitals(columns=120), DifferingHospitals("heart"), MODEL],
)
def test_every_measurement_has_a_name_of_its_own(population):
    given = names(population, population.d)
    assert len(set(given)) == len(given) == population.d
    beyond = {name for name in given if name.startswith("measurement ")}
    numbered = range(51, population.d + 1) if population != DifferingHospitals("heart") else ()
    assert beyond == {f"measurement {number}" for number in numbered}


def test_a_table_s_names_are_its_own():
    assert names("breast_cancer", 30) == TABLES["breast_cancer"].features
    assert "cholesterol" in names(DifferingHospitals("heart"), 22)


@pytest.mark.parametrize("seed", [0, 5])
def test_each_factor_loads_on_the_names_of_its_group(seed):
    given = names(DifferingHospitals(seed=seed), 50)
    for loadings, group in zip(ClinicalModel(d=50, seed=seed).loadings().T, BY_FACTOR, strict=True):
        assert {given[i] for i in np.flatnonzero(loadings)} == set(group)


def test_a_sparse_pattern_has_names_of_every_group():
    given = names(MODEL, 60)
    in_pattern = {given[i] for i in np.flatnonzero(MODEL.basis.any(axis=1))}
    assert in_pattern == {
        "systolic blood pressure",
        "diastolic blood pressure",
        "creatinine",
        "urea",
        "C-reactive protein",
        "age",
    }
