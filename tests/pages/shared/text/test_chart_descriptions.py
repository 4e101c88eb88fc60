"""Test that every chart has a description with its main finding and the numbers that are drawn."""

import ast

import numpy as np
import pandas as pd
import pytest

from dppca_core.auditing.membership import Rates
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.regime_map import RegimeMap
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.experiments.sweeps.recipe import METRICS
from dppca_core.privacy import Budget
from pages.explore.bounds import sentences as bounds_descriptions
from pages.explore.methods.model.measure import ComparisonMeasure
from pages.explore.methods.sentences import findings as methods_descriptions
from pages.hospitals.your_data import charts as own_charts
from pages.learn.papers import sentences as papers_descriptions
from pages.learn.privacy.model import Attack
from pages.learn.privacy.sentences import attack as privacy_sentences
from pages.shared import text
from pages.shared.charts import loadings
from pages.shared.figure import component
from pages.shared.settings import catalogue, to_experiment
from pages.shared.text import labels
from tests.test_layers import ROOT

# The keys of figures with frames: each of their frames has a sentence of its own.
FRAMED = {"live", "ring figure", "sees figure", "pair figure", "releases figure"}
SMALL = {"d": 30, "n": 10_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 2}


def silent(source):
    keys = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        words = {word.arg: word.value for word in call.keywords}
        if "alt_text" not in words and "name" in words and ast.unparse(call.func) == "Figure":
            keys.append(ast.unparse(words["name"]))
        if "alt_text" in words or "name" in words:
            continue
        if ast.unparse(call.func) == "Figure":  # a block begins with its key
            parts = (each.value.elts if isinstance(each, ast.Starred) else [each] for each in call.args)
            keys.append(next(ast.unparse(each) for part in parts for each in part))
        elif ast.unparse(call.func) in ("component.figure", "figure") and "key" in words:
            keys.append(ast.unparse(words["key"]))
    return keys


def test_every_figure_without_frames_is_given_something_to_say():
    keys = [key for path in (ROOT / "pages").rglob("*.py") for key in silent(path.read_text("utf-8"))]
    assert {ast.literal_eval(key) for key in keys} == FRAMED
    assert silent("Figure(name='new figure', payload=drawn)") == ["'new figure'"]
    assert silent("component.figure(drawn, key='new figure', save='x')") == ["'new figure'"]
    assert silent("Figure(*('new figure', drawn), 'title')") == ["'new figure'"]


def test_a_figure_that_says_nothing_is_refused():
    with pytest.raises(ValueError, match="must say its main finding"):
        component.figure({"data": [], "layout": {}, "frames": []}, key="new")


def test_markdown_is_not_read_aloud():
    assert text.unmarked("**Bold, *and* more.** Rest") == "Bold, and more. Rest"


def heat(name, rows):
    return {"name": name, "y": list(rows), "z": list(rows.values())}


def test_loadings_name_the_heaviest_rows_of_both_and_count_those_that_agree():
    true = heat("true", {"a": [0.9, 0], "b": [0, 0.8], "c": [0.3, 0.3], "d": [0, 0]})
    estimated = heat("found", {"a": [0.9, 0], "b": [0, 0.1], "c": [0, 0.2], "d": [0.5, 0]})
    description = loadings.description({"data": [true, estimated]})
    assert "true: a, b and c." not in description and "Heaviest in truth: a, b and c." in description
    assert "Heaviest found: a, d and c. 2 of 3 agree." in description
    assert "3 of 3 agree" in loadings.description({"data": [true, true | {"name": "found"}]})


def test_released_weights_keep_their_signs_and_names_of_any_letters():
    basis, words = np.array([[0.8, 0.0], [-0.6, 0.1], [0.0, 0.99]]), ("direction", "weight")
    drawn = own_charts.loadings(["<b>age", "chol & co", "bp"], basis, np.zeros((3, 2)), *words)
    description = own_charts.describe_loadings(drawn, "direction")
    assert "Direction 1: mostly <b>age 0.8, chol & co -0.6 and bp 0." in description
    assert "Direction 2: mostly bp 0.99" in description
    assert "Component 2" in own_charts.describe_loadings(drawn, "component")
    noise = np.array([[0.1, 0.1], [0.4, 0.1], [0.1, 0.5]])  # twice it is above all of the second direction
    drawn = own_charts.loadings(["a", "b", "c"], basis, noise, *words)
    hidden = own_charts.describe_loadings(drawn, "direction")
    assert "Direction 1: mostly a 0.8. Direction 2: none can be told from 0." in hidden
    single = own_charts.loadings(["bp"], np.array([[1.0]]), np.zeros((1, 1)), *words)
    assert "Direction 1: mostly bp 1.00." in own_charts.describe_loadings(single, "direction")


def stack(*values):
    names = ("sampling ξ_stat", "+ privacy ξ_priv", "+ optimisation ξ_opt")
    rows = zip(names, np.cumsum(values), strict=True) if values else ()
    return [{"name": name, "y": [9.0, float(value)]} for name, value in rows]


def test_terms_say_each_term_or_that_there_is_none():
    guess = [{"name": "random guess", "y": [1.7, 1.7]}]
    measured = [{"name": "DPS-PCA, measured", "y": [1.7, 0.4, 0.06]}]
    drawn = {"data": [*stack(0.25, 0.5, 0.125), *measured, *guess]}
    description = bounds_descriptions.terms(drawn, True)
    assert (
        "fails" not in description
        and "an assumption fails here, in the last" in bounds_descriptions.terms(drawn, False)
    )
    assert "sampling 0.25, privacy 0.5 and optimisation 0.12, together 0.88." in description
    void = bounds_descriptions.terms({"data": guess}, False)
    assert void == "Theorem 4.3 says nothing here."


def test_regions_have_their_shares_and_this_setting_its_region():
    patients, epsilons = np.array([1e2, 1e5, 1e8]), np.array([0.1, 1.0])
    codes = np.array([[2, 2, 1], [2, 1, 0]])
    description = bounds_descriptions.regimes(RegimeMap(patients, epsilons, codes), 90_000, 1.1)
    assert (
        "privacy is free here in 17 % of it; privacy costs in 33 % of it; hopeless in 50 % of it"
        in description
    )
    assert description.endswith("90,000 patients at ε = 1.1: privacy costs.") and "silent" not in description
    lost = RegimeMap(patients, epsilons, np.full((2, 3), REGIONS.index("hopeless")))
    described = bounds_descriptions.regimes(lost, 100, 0.1)
    assert "hopeless in 100 % of it" in described and described.endswith("ε = 0.1: hopeless.")


@pytest.fixture(scope="module")
def results():
    return Results(to_experiment.from_settings(catalogue.defaults() | SMALL)[0])


def rows(**errors):
    each = [(name, value) for name, values in errors.items() for value in values]
    frame = pd.DataFrame(each, columns=["method", METRICS["sin"]])
    return frame.assign(seconds=0.002, bytes_sent_per_hospital=4000.0)


def test_methods_compared_have_a_finding_also_where_there_is_little_to_compare(results):
    settings = catalogue.defaults() | SMALL | {"compare.panel": "error"}

    def described(table, **options):
        now = settings | options
        measure = ComparisonMeasure(results, now, now["compare.panel"])
        values = {name: quantiles(measure.values(runs)) for name, runs in table.groupby("method")}
        return methods_descriptions.compared(measure, values, "epsilon", 1.0)

    assert described(rows()) == labels.MEASURING
    assert described(rows(dps_pca=[0.1, 0.2, 0.3])).endswith(
        "DPS-PCA: error 0.2 (0.12 to 0.28 in 8 of 10 runs)."
    )
    two = described(rows(analyze_gauss=[0.3], wishart=[0.5]))
    assert "Analyze Gauss errs least (0.3" in two
    assert "none is a tenth better" in described(rows(analyze_gauss=[1.36], wishart=[1.37]))
    panels = {"time": "a fit takes 2 ms", "bytes": "a hospital sends 4 kB"}
    for panel, words in panels.items():
        assert words in described(rows(dps_pca=[0.1]), **{"compare.panel": panel})


def test_a_papers_figure_says_its_verdict_and_every_curve():
    curves = pd.DataFrame({"label": ["a", "a", "b"], "x": [2.0, 0.5, 1.0], "mean": [0.25, 1.5, 0.125]})
    description = papers_descriptions.paper("Figure 9: holds", curves, "error ‖sin Θ‖<sub>F</sub>")
    assert description == "Figure 9: holds. error ‖sin Θ‖F: a from 1.50 at 0.5 to 0.25 at 2; b 0.12 at 1."
    assert papers_descriptions.paper("Figure 9: not run here", curves[:0], "bound").endswith(
        "Nothing is stored."
    )


def test_the_attack_is_told_by_calculation_and_as_measured():
    """At epsilon = 1, delta = 0.1 and 20 % false alarms the promise demands 1 - 0.1 - 0.2 e = 35.6 %."""
    seen = Rates(0.19, 0.7, (0.1, 0.3), (0.6, 0.8))
    attack = Attack(0.5, 0.2, 0.84, 0.633, np.zeros(1), np.zeros(1), seen, seen)
    description = privacy_sentences.chosen(attack, Budget(1.0, 0.1))
    assert "and 0.5 with the patient, in units" in description
    assert "to 0.84, for 20 % false alarms. Then every test misses 63.3 % or more" in description
    assert description.endswith("The promise alone demands 35.6 %.")
    assert "19.0 % (10.0 to 30.0 %) false alarms, 70.0 %" in privacy_sentences.measured(attack)
