"""The synthetic clinical cohort: exact draws, differences that grow with strength, and none at zero.

Statistical checks err with probability ALPHA each (laws.py); planted bugs: n for n - 1 in the scatter, and
own means that do not vary.
"""

import numpy as np
import pytest
from scipy import stats

from dppca_core import sin_theta
from dppca_core.numerics.linalg import top_eigenspace
from dppca_core.populations import clinical
from dppca_core.populations.clinical import ClinicalModel
from dppca_core.populations.site_summaries import DrawnSite, gaussian_length
from tests.core.laws import follows

MODEL = ClinicalModel(d=20)
DRAWS = 2000
N = 100


def smallest_hospitals(model: ClinicalModel) -> list[DrawnSite]:
    """Return the last hospital (4 patients of 100, fewer than columns) in many draws."""
    return [clinical.draw(model, clinical.sizes(N), 7, repeat)[-1] for repeat in range(DRAWS)]


def test_the_common_population_has_unit_variances_and_its_factors_as_its_truth():
    covariance = MODEL.covariance()
    np.testing.assert_allclose(covariance.diagonal(), 1.0, atol=1e-12)
    loadings = MODEL.loadings()
    assert sin_theta(MODEL.basis(), loadings / np.linalg.norm(loadings, axis=0)) < 1e-12
    assert ClinicalModel().covariance().shape == (100, 100)


def test_means_and_scatters_have_their_exact_laws():
    hospital = clinical.hospitals(MODEL)[-1]
    drawn = smallest_hospitals(MODEL)
    n = drawn[0].n
    across = np.linspace(1.0, 2.0, MODEL.d)
    variance = across @ hospital.covariance @ across
    means = np.array([across @ (site.own_mean - hospital.mean) for site in drawn])
    scatters = np.array([n * across @ site.own_covariance @ across for site in drawn]) / variance
    assert n == 4
    assert follows(means / np.sqrt(variance / n), stats.norm())
    assert follows(scatters, stats.chi2(n - 1))
    assert not follows(scatters, stats.chi2(n))
    assert not follows(0.5 * means / np.sqrt(variance / n), stats.norm())
    assert all(np.linalg.matrix_rank(site.own_covariance, tol=1e-9) <= n - 1 for site in drawn[:20])


def test_without_strength_all_hospitals_are_one_population():
    for hospital in clinical.hospitals(ClinicalModel(d=30, strength=0.0)):
        np.testing.assert_allclose(hospital.covariance, ClinicalModel(d=30).covariance(), atol=1e-12)
        np.testing.assert_array_equal(hospital.mean, 0)
        np.testing.assert_array_equal(hospital.printed.scale, 1)


@pytest.mark.parametrize("difference", clinical.DIFFERENCES)
def test_each_difference_alone_changes_what_it_names(difference):
    common = clinical.hospitals(ClinicalModel(strength=0.0))[0]
    changed_hospital = clinical.hospitals(ClinicalModel(differences=(difference,)))[0]
    moved = max(
        sin_theta(top_eigenspace(hospital.covariance_without_effects, 3), ClinicalModel().basis())
        for hospital in clinical.hospitals(ClinicalModel(differences=(difference,)))
    )
    changed = {
        "shift": not np.allclose(changed_hospital.mean, common.mean),
        "scale": not np.allclose(changed_hospital.covariance, changed_hospital.covariance_without_effects),
        "support": (changed_hospital.covariance_without_effects.diagonal() == 0).any(),
        "case mix": bool(changed_hospital.covariance_without_effects.diagonal().max() > 1.01),
    }
    assert [name for name, yes in changed.items() if yes] == [difference]
    assert (moved > 0.3) == (difference == "support")


def test_differences_grow_with_strength_in_the_same_directions():
    models = [ClinicalModel(strength=strength, differences=("shift",)) for strength in (0.5, 2)]
    weak, strong = (clinical.hospitals(model)[1] for model in models)
    np.testing.assert_allclose(4 * weak.mean, strong.mean)


def test_sizes_add_up_and_every_hospital_can_have_a_scatter():
    for n in (100, 101, 12_345, 10**9):
        dealt = clinical.sizes(n)
        assert sum(dealt) == n and min(dealt) >= 2 and max(dealt) == dealt[0]


@pytest.mark.parametrize("shifted", [0.0, 1.5])
def test_the_length_is_exceeded_at_most_as_often_as_stated(shifted):
    """Chernoff: never too short, and within a third of what 20,000 rows show."""
    covariance = clinical.hospitals(MODEL)[2].covariance
    mean = np.full(MODEL.d, shifted)
    rows = np.random.default_rng(0).multivariate_normal(mean, covariance, size=20_000)
    lengths = np.linalg.norm(rows, axis=1)
    bound = gaussian_length(mean, covariance, 0.01)
    assert (lengths > bound).mean() <= 0.01
    assert bound < 1.3 * np.quantile(lengths, 0.99)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"d": 19}, "d must be"),
        ({"strength": 2.1}, "strength must lie between 0 and 2"),
        ({"strength": float("nan")}, "strength must lie"),
        ({"differences": ("weather",)}, "differences must be one of"),
    ],
)
def test_what_cannot_be_is_refused_by_name(wrong, says):
    with pytest.raises(ValueError, match=says):
        ClinicalModel(**wrong)
