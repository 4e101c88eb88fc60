"""Recipes check themselves by name and survive JSON."""

import json

import pytest

from dppca_core import SpikedModel
from dppca_core.experiments import Axis, Recipe, variant
from dppca_core.experiments.sweeps import recipe_file

MODEL = SpikedModel(d=12, k=2, s=4, spike=100.0, bulk=(0.0, 5.0), seed=2)
RECIPE = Recipe(
    MODEL,
    (variant("pca"), variant("dps_pca", "as printed", accounting="as-printed", burn_in=0)),
    (Axis("epsilon", (0.1, 1.0)), Axis("s_hat", (4, 6))),
    n=1000,
    repeats=3,
    metrics=("sin", "energy"),
    seed=5,
)
TABLE = Recipe("digits", (variant("pca"),), (Axis("epsilon", (1.0,)),), k=3)
UNEQUAL = Recipe(
    SpikedModel(d=12, k=2, s=12, spike=(9.0, 7.5), bulk=(0.0, 0.5)),
    (variant("dpdis_pca", "alone", alone=True), variant("analyze_gauss", "pooled", providers=1)),
    (Axis("spike", (8.0, 10.0)),),
    n=1000,
    scaling="largest",
    metrics=("sin", "rounds", "covariance"),
)


def option(name: str, value: object, method: str = "dps_pca") -> dict[str, object]:
    return {"method": method, "options": {name: value}}


@pytest.mark.parametrize("recipe", [RECIPE, TABLE, UNEQUAL], ids=["synthetic", "table", "unequal"])
def test_json_gives_the_same_recipe_back(recipe, tmp_path):
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(recipe_file.to_dict(recipe)), encoding="utf-8")
    assert recipe_file.read(path) == recipe


def test_a_method_may_be_a_plain_word():
    plain = recipe_file.to_dict(RECIPE) | {"methods": ["pca"]}
    assert recipe_file.from_dict(plain).methods == (variant("pca"),)


def test_cells_are_methods_then_points_then_repeats():
    cells = RECIPE.cells()
    assert len(cells) == len(set(cells)) == 2 * 2 * 2 * 3
    assert cells[0] == ("pca", (0.1, 4), 0) and cells[-1] == ("as printed", (1.0, 6), 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": -1}, "epsilon must be positive"),
        ({"delta": 2}, "delta must lie"),
        ({"colour": 1}, "recipe has no 'colour'"),
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"providers": "5"}, "providers must be a whole number"),
        ({"k": 3}, "k must be the population's"),
        ({"n": None}, "n must be a whole number"),
        ({"metrics": ["speed"]}, "metrics must be one of"),
        ({"metrics": "sin"}, "metrics must be a list"),
        ({"metrics": []}, "metrics must be a tuple of one or more"),
        ({"methods": ["magic"]}, "method must be one of"),
        ({"methods": ["pca", "pca"]}, "labels must differ"),
        ({"methods": [{"method": "pca", "options": {"burn_in": 1}}]}, "options of pca must be one of"),
        ({"methods": [{"method": "dps_pca", "options": {"start": 1}}]}, "options of dps_pca must be one of"),
        ({"methods": [{"method": "dps_pca", "options": {"s_hat": [1]}}]}, "s_hat of dps_pca must be"),
        ({"methods": [option("providers", None)]}, "providers of dps_pca must be a whole number"),
        ({"methods": [option("alone", "false")]}, "alone of dps_pca must be a bool"),
        (
            {"methods": [option("known", "no", "spiked_projector")]},
            "known of spiked_projector must be",
        ),
        ({"methods": [option("iterations", True)]}, "iterations of dps_pca must be a whole number"),
        ({"methods": [option("s_hat", 0)]}, "s_hat of dps_pca must be at least 1"),
        ({"methods": [option("burn_in", -1)]}, "burn_in of dps_pca must be at least 0"),
        ({"methods": [option("provider_noise", "none")]}, "provider_noise of dps_pca must be one of"),
        ({"methods": [option("accounting", True)]}, "accounting of dps_pca must be one of"),
        ({"methods": [option("neighbours", float("nan"))]}, "neighbours of dps_pca must be one of"),
        ({"provider_noise": "none"}, "provider_noise must be one of"),
        ({"burn_in": True}, "burn_in must be a whole number"),
        ({"s_hat": 0}, "s_hat must be at least 1"),
        ({"repeats": 10**18}, "number of cells .* must be between 1 and 10000000, got 2000000000000000000"),
        ({"methods": [{"name": "pca"}]}, "methods has no 'name'"),
        ({"methods": [{"method": "pca", "label": "two\nlines"}]}, "label must be one line"),
        ({"swept": {"seed": [1]}}, "swept must be one of"),
        ({"swept": {"epsilon": []}}, "values of epsilon"),
        ({"swept": {"epsilon": [1, 1.0]}}, "values of epsilon"),
        ({"swept": {"n": [10.5]}}, "n must be a whole number"),
        ({"swept": {"epsilon": [1], "delta": [0.1], "n": [9]}}, "number of swept parameters"),
        ({"population": "iris", "n": None}, "population must be one of"),
        ({"population": {"d": 12, "k": 2}}, "population must have s"),
        ({"population": {"d": 12, "k": 2, "s": 4, "eval": "1"}}, "population has no 'eval'"),
        ({"population": "digits", "n": None, "k": 3, "swept": {"d": [5]}}, "d can be swept for a synthetic"),
        ({"population": "digits", "n": 5000, "k": 3}, "n must lie between|n must be"),
        ({"population": "digits", "n": None, "k": 3, "bound": 1.0}, "bound must be left out"),
        ({"population": "digits", "n": None, "k": 3, "swept": {"spike": [5]}}, "spike can be swept for a"),
        ({"population": {"d": 12, "k": 2, "s": 4, "spike": [9.0]}}, "spike must be one number or k = 2"),
        ({"scaling": "unit"}, "metrics cannot be energy"),
        ({"scaling": "longest"}, "scaling must be one of"),
        ({"scaling": "largest", "bound": 2.0}, "bound must be left out where scaling"),
        ({"population": "digits", "n": None, "k": 3, "metrics": ["support"]}, "s_hat must be given"),
    ],
    ids=lambda value: json.dumps(value)[:50] if isinstance(value, dict) else "",
)
def test_a_wrong_field_is_named(changed, message):
    plain = {"swept": {"epsilon": [1.0]}}
    plain = recipe_file.to_dict(RECIPE) | {"k": None} | plain | changed
    with pytest.raises(ValueError, match=message):
        recipe_file.from_dict(plain)


@pytest.mark.parametrize("name", ["population", "methods", "swept"])
def test_a_missing_field_is_named(name):
    plain = recipe_file.to_dict(RECIPE)
    del plain[name]
    with pytest.raises(ValueError, match=f"recipe must have {name}"):
        recipe_file.from_dict(plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "must hold JSON"),
        (b'{"label": "M\xfcnchen"}', "must hold JSON: it is not in UTF-8"),
        (b'{"repeats": ' + b"1" * 5000 + b"}", "must hold JSON: it has a number"),
        (b"[" * 100_000, "must hold a recipe, got .* nested too deeply"),
    ],
    ids=["cut", "bytes", "digits", "nested"],
)
def test_a_file_that_is_not_json_is_named(tmp_path, text, message):
    path = tmp_path / "recipe.json"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=rf"recipe\.json {message}"):
        recipe_file.read(path)


def test_an_option_may_leave_s_hat_to_the_method():
    assert variant("dps_pca", s_hat=None).options == (("s_hat", None),)


def test_the_size_is_the_number_of_cells():
    assert RECIPE.size == len(RECIPE.cells())
