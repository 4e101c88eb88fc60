"""Test recipes of figures: what JSON holds is what runs, and what is wrong in it is named."""

import ast
import inspect
import json
import re

import numpy as np
import pandas as pd
import pytest

from dppca_core import Budget
from dppca_core.experiments import __main__ as command
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.experiments.figure_tables import FIGURE_TABLES
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe, from_dict

RELEASES = {"figure": "privacy.releases", "arguments": {"budget": {"epsilon": 1, "delta": 1e-6}, "seed": 3}}


def changed(**arguments):
    return {"figure": "privacy.releases", "arguments": RELEASES["arguments"] | arguments}


def test_json_gives_the_same_recipe():
    recipe = FigureRecipe("privacy.releases", {"budget": Budget(1.0, 1e-6), "seed": 3})
    assert from_dict(RELEASES) == recipe
    assert from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_the_command_writes_the_figure(tmp_path):
    written, out = tmp_path / "recipe.json", tmp_path / "table.csv"
    written.write_text(json.dumps(RELEASES))
    assert command.main([str(written), "--out", str(out)]) == 0
    read = [release.reading for release in picture(Budget(1.0, 1e-6), seed=3).with_patient]
    np.testing.assert_allclose(pd.read_csv(out)["with the patient"], read)


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ({"figure": "privacy.nothing", "arguments": {}}, "figure must be one of"),
        ({"figure": ["privacy.releases"]}, "figure must be one of"),
        ({"figure": "privacy.releases", "arguments": {"seed": 3}}, "exactly budget, seed"),
        (RELEASES | {"more": 1}, "exactly budget, seed"),
        (changed(seed="3"), "seed of privacy.releases is unsuitable"),
        (changed(budget={"epsilon": 1.0, "delta": 1e-6, "spent": 0}), "budget.spent of privacy.releases"),
        (changed(budget={"epsilon": -1.0, "delta": 1e-6}), "epsilon"),
        (changed(budget={"epsilon": 1.0, "delta": 1e-6, "accounting": "kind"}), "budget.accounting"),
    ],
    ids=["unknown", "no name", "missing", "beyond", "text", "unknown field", "range", "word"],
)
def test_what_is_wrong_is_named(plain, words, tmp_path, capsys):
    with pytest.raises(ValueError, match=re.escape(words)):
        from_dict(plain)
    written = tmp_path / "recipe.json"
    written.write_text(json.dumps(plain))
    assert command.main([str(written), "--out", str(tmp_path / "table.csv")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"figure": "own_table.released", "arguments": {"release": "named"}}, "a file that the recipe names"),
        (
            {
                "figure": "own_table.rehearsal",
                "arguments": {
                    "dictionary": "named",
                    "twins": [],
                    "epsilons": [],
                    "metric": "sin",
                },
            },
            "The dictionary",
        ),
    ],
    ids=["release", "dictionary"],
)
def test_a_named_file_in_another_encoding_is_said_so(recipe, words, tmp_path, capsys):
    (tmp_path / "named").write_bytes('{"features": ["Größe"]}'.encode("latin-1"))
    names = (key for key, value in recipe["arguments"].items() if value == "named")
    recipe["arguments"] |= dict.fromkeys(names, str(tmp_path / "named"))
    written = tmp_path / "recipe.json"
    written.write_text(json.dumps(recipe))
    assert command.main([str(written), "--out", str(tmp_path / "table.csv")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {words} is not in UTF-8")


@pytest.mark.parametrize("name", FIGURE_TABLES)
def test_every_table_is_returned_by_its_last_statement_alone(name):
    """A page's code of a figure is the function's body, which prints the table instead of returning it."""
    function = ast.parse(inspect.getsource(FIGURE_TABLES[name])).body[0]
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    assert returns == [function.body[-1]] and returns[0].value is not None
