"""Test hospitals that measure differently: their patients, who stays who, and whose pattern it is."""

import numpy as np
import pytest

from dppca_core import sin_theta
from dppca_core.experiments import draws
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.populations import clinical, differing, heart_disease, standardisation
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.differing import DifferingHospitals

CLINICAL, HEART = DifferingHospitals(columns=20), DifferingHospitals("heart")
SIZES = (500, 300, 200)


def raw(cohort, hospital):
    """Return a hospital's second moment, standardised but not divided by the public bound."""
    return cohort[hospital].moment.dense() * cohort.bound**2


def test_simulated_patients_are_the_clinical_cohort_s_by_printed_ranges():
    model = ClinicalModel(d=20)
    patients = clinical.draw(model, SIZES, 3, 2)
    printed = [clinical.hospital(model, i).printed for i in range(3)]
    drawn = CLINICAL.draw(SIZES, seed=3, draw=2, failure=0.01)
    expected = standardisation.cohort(patients, printed, 0.01 / 1000)
    assert drawn.bound == expected.bound
    for hospital, other in zip(drawn, expected, strict=True):
        np.testing.assert_array_equal(hospital.moment.dense(), other.moment.dense())
    assert [provider.n for provider in drawn] == list(SIZES)


@pytest.mark.parametrize(("population", "sizes"), [(CLINICAL, SIZES), (HEART, (100, 294, 150, 80))])
def test_who_leaves_changes_nobody_else(population, sizes):
    """Reject a planted bug: those who are left count from 0 again."""
    everyone, left = population.draw(sizes, 1, 2, 0.01), population.without(0, len(sizes))
    fewer = left.draw(sizes[1:], 1, 2, 0.01)
    for i in range(len(sizes) - 1):
        np.testing.assert_allclose(raw(fewer, i), raw(everyone, i + 1), rtol=1e-12, atol=1e-14)
        single = left.only(i).draw(sizes[i + 1 : i + 2], 1, 2, 0.01)
        np.testing.assert_allclose(raw(single, 0), raw(everyone, i + 1), rtol=1e-12, atol=1e-14)
    assert left.names(2) == population.names(3)[1:]
    planted = DifferingHospitals(population.data, columns=20, sites=tuple(range(len(sizes) - 1)))
    assert not np.allclose(raw(planted.draw(sizes[1:], 1, 2, 0.01), 0), raw(everyone, 1))


def test_without_strength_every_hospital_has_the_common_pattern():
    alike = DifferingHospitals(strength=0.0, columns=20)
    for i in range(3):
        basis = top_eigenspace(alike.only(i).second_moment(), alike.k)
        assert sin_theta(basis, ClinicalModel(d=20).basis()) < 1e-7
    drawn = alike.draw((10**9, 10**9), 0, 0, 0.01)
    assert sin_theta(top_eigenspace(drawn.pooled.dense(), 3), alike.public_model.basis()) < 1e-3


def test_a_pattern_is_a_hospital_s_own():
    """Own patients in the limit find it, without shift, scale and shortening; another's is far away."""
    population = DifferingHospitals(columns=20, strength=2.0)
    patterns = [draws.truth(population.only(i), (9,), 3, draws.PUBLIC, 0).basis for i in range(3)]
    for i, pattern in enumerate(patterns):
        drawn = population.only(i).draw((10**9,), 0, 0, 0.01).pooled.dense()
        assert sin_theta(top_eigenspace(drawn, 3), pattern) < 0.15
        assert sin_theta(patterns[i - 1], pattern) > 0.3


def test_a_real_hospital_s_pattern_is_plain_pca_of_its_rows():
    for i, rows in enumerate(heart_disease.rows().values()):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        inside = rows / np.maximum(lengths / heart_disease.TABLE.bound, 1)
        truth = draws.truth(HEART.only(i), (9,), 2, draws.PUBLIC, 0)
        assert sin_theta(truth.basis, top_eigenspace(inside.T @ inside, 2)) < 1e-7
        assert truth.bound == heart_disease.TABLE.bound


def test_fewer_real_patients_are_a_random_part():
    rows = heart_disease.rows()["Zurich/Basel"] / heart_disease.TABLE.bound
    first, second = (HEART.only(3).draw((50,), 0, draw, 0.01)[0].moment.rows for draw in (0, 1))
    for part in (first, second):
        inside = part[np.linalg.norm(part, axis=1) < 1 - 1e-9]  # as recorded: not shortened
        assert len(inside) > 25
        assert (np.abs(inside[:, None] - rows).max(axis=2).min(axis=1) < 1e-12).all()
    assert not np.array_equal(first, second)
    whole = [HEART.draw(HEART.most, 0, draw, 0.01)[3].moment.rows for draw in (0, 1)]
    np.testing.assert_array_equal(*whole)
    assert HEART.always_same(HEART.most) and not HEART.always_same((303, 294, 200, 122))


def test_usual_sizes_and_names():
    assert CLINICAL.sizes(10_000) == (4000, 2500, 1500, 1000, 600, 400)
    assert HEART.sizes(10_000) == HEART.most == (303, 294, 200, 123)
    assert HEART.names(4) == ("Cleveland", "Budapest", "Long Beach", "Zurich/Basel")
    assert CLINICAL.names(28)[24:] == ("Y", "Z", "AA", "AB")
    assert len(set(CLINICAL.names(200))) == 200
    assert (CLINICAL.k, CLINICAL.d, HEART.k, HEART.d) == (3, 20, 2, 22)
    assert CLINICAL.most is None and HEART.public_model is None
    assert HEART.without(1, 4).most == (303, 200, 123)


def test_fewer_rows_stand_in_for_many_patients_with_their_moment():
    patients = clinical.draw(ClinicalModel(d=20), (10**6,), 0, 0, most_rows=differing.MOST_ROWS)[0]
    rows = patients.rows()
    assert len(rows) == differing.MOST_ROWS
    second = patients.own_covariance + np.outer(patients.own_mean, patients.own_mean)
    np.testing.assert_allclose(rows.T @ rows / len(rows), second, atol=1e-9)


def test_a_single_patient_is_a_hospital():
    drawn = CLINICAL.draw((1, 2), 0, 0, 0.01)
    assert np.linalg.matrix_rank(drawn[0].moment.dense(), tol=1e-9) == 1
    assert np.trace(drawn[0].moment.held_rows().unit().dense()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"data": "weather"}, "data must be one of"),
        ({"strength": 2.5}, "strength must lie"),
        ({"columns": 19}, "d must be"),
        ({"sites": (0, 0)}, "sites must be different"),
        ({"data": "heart", "sites": (4,)}, "sites must be between 0 and 3"),
    ],
)
def test_what_cannot_be_is_refused_by_name(wrong, says):
    with pytest.raises(ValueError, match=says):
        DifferingHospitals(**wrong)


@pytest.mark.parametrize("sizes", [(303, 294, 200), (304, 294, 200, 123), (0, 1, 1, 1)])
def test_real_hospitals_are_four_and_have_no_more_patients(sizes):
    with pytest.raises(ValueError, match="must be"):
        HEART.draw(sizes, 0, 0, 0.01)


def test_several_hospitals_have_no_one_pattern():
    with pytest.raises(ValueError, match="hospitals whose pattern is asked for must be"):
        draws.truth(CLINICAL, SIZES, 3, draws.PUBLIC, 0)
    with pytest.raises(ValueError, match="scaling must be by a bound that n sets"):
        draws.cohort(CLINICAL, SIZES, draws.Scaling("unit"), 0, 0)
