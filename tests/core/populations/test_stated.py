"""Populations stated by eigenvalues or by correlations, and the text that they are read from."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dppca_core.experiments import Axis, Recipe, sweep, variant
from dppca_core.experiments.explorer import closed_forms
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe, from_dict
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.populations.spiked import SpikedModel
from dppca_core.populations.stated import StatedCorrelations, StatedEigenvalues, components_with_gap
from dppca_core.populations.stated_text import components, kept, numbers_of, of_kept, population, shown

# Correlations of five features, and their leading eigenvectors by numpy.
TABLE = np.array(
    [
        [1.0, 0.8, 0.7, 0.1, 0.0],
        [0.8, 1.0, 0.6, 0.0, 0.1],
        [0.7, 0.6, 1.0, 0.2, 0.1],
        [0.1, 0.0, 0.2, 1.0, 0.5],
        [0.0, 0.1, 0.1, 0.5, 1.0],
    ]
)
LOWER = tuple(TABLE[np.tril_indices(5, -1)].tolist())
SPECTRUM = StatedEigenvalues(d=12, k=2, s=5, values=(9.0, 4.0, 1.0), bulk=(0.0, 0.5), seed=1)


def test_a_stated_spectrum_is_the_covariances():
    values = np.linalg.eigvalsh(SPECTRUM.covariance())[::-1]
    np.testing.assert_allclose(values, SPECTRUM.eigenvalues, atol=1e-12)
    assert tuple(SPECTRUM.eigenvalues[:3]) == (9.0, 4.0, 1.0)
    assert (SPECTRUM.eigenvalues[3:] <= 0.5).all() and (SPECTRUM.eigenvalues[3:] >= 0).all()
    assert np.count_nonzero(SPECTRUM.basis.any(axis=1)) == 5
    np.testing.assert_allclose(
        SPECTRUM.covariance() @ SPECTRUM.basis, SPECTRUM.basis * [9.0, 4.0], atol=1e-12
    )
    whole = StatedEigenvalues(d=3, k=1, s=3, values=(3.0, 1.0, 0.0))
    np.testing.assert_allclose(np.linalg.eigvalsh(whole.covariance()), [0, 1, 3], atol=1e-12)


def test_a_stated_spectrum_as_a_spiked_models_is_that_model():
    spiked = SpikedModel(d=12, k=2, s=5, spike=(9.0, 4.0), bulk=(0.0, 0.5), seed=1)
    same = replace(SPECTRUM, values=(9.0, 4.0))
    np.testing.assert_array_equal(same.covariance(), spiked.covariance())


@pytest.mark.parametrize("k", [1, 2, 3])
def test_stated_correlations_are_the_covariance_and_its_eigenvectors_the_truth(k):
    model = StatedCorrelations(LOWER, k)
    assert (model.d, model.s) == (5, 5)
    np.testing.assert_allclose(model.covariance(), TABLE, atol=1e-14)
    values, vectors = np.linalg.eigh(TABLE)
    np.testing.assert_allclose(model.eigenvalues, values[::-1], atol=1e-14)
    assert np.linalg.norm(model.basis.T @ vectors[:, -k:]) == pytest.approx(np.sqrt(k))
    rows = np.concatenate(list(model.rows(100_000, np.random.default_rng(0))))
    np.testing.assert_allclose(rows.T @ rows / len(rows), TABLE, atol=0.02)
    assert hash(model) == hash(StatedCorrelations(LOWER, k)) and model == StatedCorrelations(LOWER, k)
    assert model != StatedCorrelations(LOWER, k, seed=1)


def test_a_table_that_was_rounded_loses_what_is_below_zero():
    """Three features that are one: .99 for 1, with correlations of a table printed to two decimals."""
    model = StatedCorrelations((1.0, 0.99, 0.98), 1)
    assert np.linalg.eigvalsh(model.covariance()).min() >= -1e-12
    np.testing.assert_allclose(model.covariance().diagonal(), 1.0, atol=0.02)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: StatedCorrelations((0.9, 0.9, -0.9), 1), "negative eigenvalue"),
        (lambda: StatedCorrelations((1.1,), 1), "correlation"),
        (lambda: StatedCorrelations((0.1, 0.2), 1), "numbers"),
        (lambda: StatedCorrelations((0.0, 0.0, 0.0), 1), "differ"),
        (lambda: StatedCorrelations((0.5, 0.5, 0.5), 2), "differ"),
        (lambda: StatedCorrelations((0.5,), 2), "k"),
        (lambda: StatedCorrelations((0.5,), 1, tails=2.0), "tails"),
        (lambda: replace(SPECTRUM, k=4), "values"),
        (lambda: replace(SPECTRUM, values=(4.0, 9.0)), "descending"),
        (lambda: replace(SPECTRUM, values=(9.0, 4.0, 4.0)), "differ"),
        (lambda: replace(SPECTRUM, values=(9.0, -1.0)), "value"),
        (lambda: replace(SPECTRUM, bulk=(0.0, 2.0)), "bulk"),
        (lambda: replace(SPECTRUM, d=2, s=2), "d"),
        (lambda: replace(SPECTRUM, tails=1.0), "tails"),
    ],
)
def test_what_no_population_has_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()


def test_components_are_told_apart_only_where_the_next_eigenvalue_is_smaller():
    assert components_with_gap(np.array([3.0, 3.0, 2.0, 0.0, 0.0])) == (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "9, 4, 1",
        "9 4 1",
        "4; 9; 1",
        "9\n4\n1\n",
        "9\t4\t1",
        " 9.0,4.0 , 1.0 ",
    ],
)
def test_a_list_is_read_in_every_way_that_people_write_it(text):
    assert numbers_of(text) == (9.0, 4.0, 1.0)


def test_decimal_commas_and_tables_are_read():
    assert numbers_of("2,5; 1,5") == (2.5, 1.5)
    assert numbers_of("2.5, 1.5") == (2.5, 1.5)
    assert numbers_of("3,5\n2,1\n1,2") == (3.5, 2.1, 1.2)
    assert numbers_of("\ufeff0,5;0,25") == (0.5, 0.25)
    assert numbers_of("1\n\u22120.5 1") == ((-0.5,),)
    expected = ((0.5,), (0.25, -0.125))
    square = "1 0.5 0.25\n0.5 1 -0.125\n0.25 -0.125 1"
    assert numbers_of(square) == expected
    assert numbers_of(square.replace(" ", "\t").replace(".", ",")) == expected
    assert numbers_of(square.replace(" ", ", ").replace("\n", "\r\n")) == expected
    assert numbers_of("1\n0.5 1\n0.25 -0.125 1") == expected
    assert numbers_of("\n".join(" ".join(map(str, row)) for row in TABLE.tolist()))[0] == (0.8,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no number yet"),
        ("9, four, 1", "Row 1 holds something that is no number"),
        ("nan, 1", "not finite"),
        ("-1, 2", "from 0 to a billion"),
        ("1,234\t900", "Row 1 holds a comma that may mark thousands"),
        ("1.234,5\t900,2", "both commas and points"),
        ("1,234.5\t900", "both commas and points"),
        ("3,5 2,1 1,2", "Commas and blanks both"),
        ("1,234.5 900.2", "Commas and blanks both"),
        ("0, 0", "above 0"),
        ("5, 5, 5", "no component stands out"),
        ("1 0.5\n0.5 1\n0.1 0.2", "as many numbers in each row"),
        ("1 0.5\n0.4 1", "symmetric, and row 2"),
        ("2 0.5\n0.5 1", "1 on its diagonal, and row 1"),
        ("1 1.5\n1.5 1", "between −1 and 1"),
        ("1\n0.9 1\n0.9 -0.9 1", "No patients have these"),
        ("1 0\n0 1", "no component stands out"),
        (" ".join(map(str, range(1, 2003))), "at most 2,000"),
        (
            "\n".join(" ".join("1" if i == j else "0" for j in range(i + 1)) for i in range(201)),
            "at most 200",
        ),
    ],
)
def test_other_text_is_refused_in_one_sentence_that_shows_no_cell(text, message):
    with pytest.raises(ValueError, match=message) as refused:
        numbers_of(text)
    assert "four" not in str(refused.value) and str(refused.value).endswith(".")


@pytest.mark.parametrize("text", ["9, 4.5, 1e-3", "1\n0.5 1\n0.25 -0.125 1"])
def test_numbers_are_kept_as_a_short_text_and_shown_again(text):
    value = kept(numbers_of(text))
    assert kept(of_kept(value)) == value and numbers_of(shown(value)) == numbers_of(text)


def test_kept_numbers_are_a_population():
    made = population("9,4,1", d=12, k=2, s=5, bulk=0.5, seed=1, tails=None)
    assert made == SPECTRUM
    assert population("9,4,1", d=12, k=2, s=5, bulk=50.0, seed=1, tails=3.0).bulk == (0.0, 1.0)
    table = population("r0.5_0.25,0.125", d=12, k=1, s=5, bulk=0.5, seed=0, tails=None)
    assert table == StatedCorrelations((0.5, 0.25, 0.125), 1)
    assert components("5,5,5,2,1") == (3, 4, 5) and components("r0.5_0.5,0.5") == (1,)
    with pytest.raises(ValueError, match="first 21"):
        kept((3.0,) * 25 + (1.0,))


POPULATIONS = (
    SPECTRUM,
    StatedCorrelations(LOWER, 2),
    SpikedModel(d=12, k=2, s=5, fall=0.5, correlation=0.3, tails=4.0),
)


@pytest.mark.parametrize("model", POPULATIONS, ids=lambda model: type(model).__name__)
def test_recipes_of_sweeps_and_figures_hold_them(model):
    recipe = Recipe(model, (variant("pca"), variant("two_stage")), (Axis("epsilon", (1.0, 9.0)),), n=2000)
    recipe = replace(recipe, repeats=2, s_hat=3)
    written = json.loads(json.dumps(recipe_file.to_dict(recipe)))
    assert recipe_file.from_dict(written) == recipe
    rows = sweep(recipe)
    assert (rows["failed"] == "").all() and (rows["sin_theta"] < 1.5).all()
    experiment = ExplorerExperiment(model, n=2000, k=2, s_hat=3, delta=1e-6)
    figure = FigureRecipe("explorer.loadings", {"experiment": experiment, "method": "pca", "epsilon": 1.0})
    assert from_dict(json.loads(json.dumps(figure.to_dict()))) == figure
    assert Results(experiment).cell("two_stage", 1.0, 0).sin[-1] < 1.5


def test_two_stages_that_leave_out_stated_features_have_no_closed_form():
    """They are predicted for features that matter alike; at ŝ = d none is left out."""
    model = StatedCorrelations(LOWER, 2)
    for s_hat, applies in ((3, False), (5, True)):
        experiment = ExplorerExperiment(model, n=20_000, k=2, s_hat=s_hat, delta=1e-6, providers=1)
        bound = closed_forms.evaluate(Results(experiment), "two_stage_prediction", 4.0)
        assert bound.applies == applies and applies != any("matter alike" in line for line in bound.failed)
    assert Results(experiment).support_size == 5 and not experiment.sparse


def test_a_model_with_its_former_fields_is_written_as_before():
    recipe = Recipe(
        SpikedModel(d=30, k=3, s=10), (variant("dps_pca"),), (Axis("epsilon", (0.1, 1.0)),), n=1000
    )
    assert recipe_file.to_dict(recipe)["population"] == {
        "d": 30, "k": 3, "s": 10, "spike": 100.0, "bulk": [0.0, 10.0], "seed": 0,
    }  # fmt: skip
    assert recipe_file.fingerprint(recipe, recipe.methods[0]) == "5d10247b"


def test_a_figures_model_with_its_former_fields_is_written_as_before():
    model = SpikedModel(d=30, k=3, s=10)
    experiment = ExplorerExperiment(model, n=2000, k=3, s_hat=10, delta=1e-6)
    figure = FigureRecipe("explorer.loadings", {"experiment": experiment, "method": "pca", "epsilon": 1.0})
    written = figure.to_dict()["arguments"]["experiment"]["population"]
    assert list(written) == ["d", "k", "s", "spike", "bulk", "seed"]


def test_only_what_a_population_has_is_swept():
    for model, name, values in ((SPECTRUM, "spike", (5.0,)), (POPULATIONS[1], "d", (5,))):
        with pytest.raises(ValueError, match=f"{name} cannot be swept"):
            Recipe(model, (variant("pca"),), (Axis(name, values),), n=100)
    rows = sweep(Recipe(SPECTRUM, (variant("pca"),), (Axis("k", (1, 2)),), n=1000, repeats=1))
    assert (rows["failed"] == "").all()
