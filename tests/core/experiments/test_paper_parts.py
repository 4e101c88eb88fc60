"""What figures of the papers are made of: summaries, claims, results and thinner recipes."""

import json
import math
import shutil

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dppca_core.experiments import Axis, Recipe, sweep, variant
from dppca_core.experiments.papers import FIGURES, __main__, beyond, claims, results
from dppca_core.experiments.papers.figure import Printed
from dppca_core.experiments.papers.summary import summary
from dppca_core.populations.spiked import SpikedModel
from tests.core.full_disk import full_disk

TINY = SpikedModel(d=8, k=2, s=3, spike=100.0, bulk=(0.1, 1.0))


def curve(label: str, means: dict[float, float], half: float = 0.1) -> pd.DataFrame:
    x = list(means)
    y = np.array(list(means.values()))
    return pd.DataFrame(
        {"label": label, "method": "pca", "x": x, "mean": y, "low": y - half, "high": y + half, "runs": 9}
    )


LOW = curve("low", {1.0: 2.0, 2.0: 1.0, 3.0: 0.5})
HIGH = curve("high", {1.0: 3.0, 2.0: 2.0, 3.0: 0.6})
BOTH = pd.concat([LOW, HIGH])
TURNING = curve("low", {1.0: 2.0, 2.0: 2.5, 3.0: 0.5})


@pytest.mark.parametrize(
    ("check", "curves", "holds"),
    [
        (claims.near("", (Printed("low", 1.0, 2.09),), 0.1), LOW, True),
        (claims.near("", (Printed("low", 1.0, 2.11),), 0.1), LOW, False),
        (claims.near("", (Printed("low", 9.0, 2.0),), 0.1), LOW, False),
        (claims.moves("", True), BOTH.iloc[:0], False),
        (claims.ranked("", ("low", "high"), (1.0, 2.0)), BOTH, True),
        (claims.ranked("", ("low", "high")), BOTH, False),  # intervals meet at 3
        (claims.ranked("", ("low", "other")), BOTH, False),
        (claims.moves("", True), BOTH, True),
        (claims.moves("", False), BOTH, False),
        (claims.moves("", True), TURNING, False),
        (claims.moves("", True, ("other",)), BOTH, False),
        (claims.lead("", "low", "high", 0.9, (1.0, 3.0)), BOTH, True),
        (claims.lead("", "low", "high", 0.9, (3.0,)), BOTH, False),
        (claims.against("", (), 3.1, "the level"), BOTH, True),
        (claims.against("", ("low",), 1.9, "the level"), BOTH, False),
        (claims.against("", ("low",), 0.4, "the level", above=True), BOTH, True),
        (claims.against("", ("low",), 0.6, "the level", above=True), BOTH, False),
        (claims.under("", lambda x: 3.2 - x / 20, "the level"), BOTH, True),  # 3.15 at 1, above 3 + .1
        (claims.under("", lambda x: 3.2 - x / 5, "the level"), BOTH, False),  # 3 at 1, within the interval
        (claims.under("", lambda x: 9.0, "the level"), BOTH.iloc[:0], False),
        (claims.slower("", lambda x: x, "x"), curve("up", {1.0: 2.0, 4.0: 4.0}), True),  # 4.1/1.9 = 2.16
        (claims.slower("", lambda x: x**0.55, "x^.55"), curve("up", {1.0: 2.0, 4.0: 4.0}), False),  # 2.14
        (claims.slower("", lambda x: x, "x"), LOW.iloc[:1], False),
        (claims.slower("", lambda x: x, "x"), curve("up", {1.0: 0.05, 4.0: 0.1}), False),  # from below 0
    ],
)
def test_claims_by_hand(check, curves, holds):
    assert check(curves, curves).holds == holds


def test_numbers_that_were_not_measured_are_counted():
    printed = (Printed("low", 1.0, 2.0), Printed("low", 9.0, 2.0), Printed("other", 1.0, 2.0))
    sentence = claims.near("", printed, 0.1)(LOW, LOW).sentence
    assert sentence.startswith("1 of 3 printed numbers were measured; 1 of 1 are met within 0.1; ")
    assert "were measured" not in claims.near("", printed[:1], 0.1)(LOW, LOW).sentence


def test_a_single_run_has_no_interval_in_a_sentence():
    """And no claim holds that needs an interval; what is not finite is a dash."""
    single = BOTH.assign(low=np.nan, high=np.nan, runs=1)
    under = claims.under("", lambda x: 9.0, "")
    for check in (claims.ranked("", ("low", "high")), claims.moves("", True), under):
        assert not check(single, single).holds
    assert "2 and 3" in claims.ranked("", ("low", "high"), (1.0,))(single, single).sentence
    assert "–" in claims.under("", lambda x: math.nan, "the level")(single, single).sentence


def test_summary_is_students_t():
    """Against scipy's interval, with a failed cell left out, and curves distinguished by what is swept."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"label": "a", "method": "pca", "n": np.repeat([10, 20], 6), "k": np.tile([1, 2], 6), "repeat": 0}
    ).assign(sin_theta=rng.random(12), failed=[""] * 11 + ["no"])
    means = summary(table, "n", "sin_theta").set_index(["label", "x"])
    assert set(means.index) == {("k = 1", 10), ("k = 2", 10), ("k = 1", 20), ("k = 2", 20)}
    for (label, x), row in means.iterrows():
        kept = table[(table["n"] == x) & (table["k"] == int(label[-1])) & (table["failed"] == "")]
        expected = stats.ttest_1samp(kept["sin_theta"], 0).confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx(tuple(expected))
        assert row["mean"] == pytest.approx(kept["sin_theta"].mean())
        assert row["runs"] == len(kept)
    assert means.loc[("k = 2", 20), "runs"] == 2


def test_summary_covers_a_mean_as_often_as_it_says():
    """Four runs of a normal error, 4,000 times: 95 %, up to 4.9 standard errors; a normal quantile fails."""
    errors = np.random.default_rng(1).standard_normal((4000, 4)) + 5
    table = pd.DataFrame(
        {"label": "a", "method": "pca", "n": np.repeat(np.arange(4000), 4), "sin_theta": errors.ravel()}
    )
    means = summary(table, "n", "sin_theta")
    covered = ((means["low"] < 5) & (means["high"] > 5)).mean()
    slack = 4.9 * np.sqrt(0.95 * 0.05 / 4000)
    assert covered == pytest.approx(0.95, abs=slack)
    shrunk = stats.norm.ppf(0.975) / stats.t.ppf(0.975, 3)
    half = (means["high"] - means["mean"]) * shrunk
    assert ((means["mean"] - 5).abs() < half).mean() < 0.95 - slack


def test_one_run_has_no_interval():
    table = pd.DataFrame({"label": ["a"], "method": ["pca"], "n": [1], "sin_theta": [0.5]})
    point = summary(table, "n", "sin_theta").iloc[0]
    assert point["mean"] == 0.5
    assert np.isnan([point["low"], point["high"]]).all()


def test_thinned_keeps_the_ends_and_only_drops_cells():
    whole = Recipe(TINY, (variant("pca"),), (Axis("epsilon", (1, 2, 3, 4, 5)),), n=50, repeats=7)
    thin = results.thinned(whole, repeats=2, points=3)
    assert thin.swept[0].values == (1, 3, 5)
    assert set(thin.cells()) < set(whole.cells())
    assert results.thinned(whole, repeats=2, points=1).swept[0].values == (1,)
    assert results.thinned(whole, repeats=9, points=9) == whole
    with pytest.raises(ValueError, match="repeats must be at least 1, got 0"):
        results.thinned(whole, repeats=0)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    for folder in ("recipes", "results"):
        (tmp_path / folder).mkdir()
    shutil.copy(results.DATA / "recipes" / "cai-5-n.json", tmp_path / "recipes" / "small.json")
    monkeypatch.setattr(results, "DATA", tmp_path)
    thin = results.thinned
    read = results.recipe
    monkeypatch.setattr(results, "recipe", lambda name: thin(read(name), repeats=2, points=1))
    return tmp_path


def test_remade_results_are_read_back(elsewhere):
    """Six digits; seconds only where asked for; what is not needed for figures is left out."""
    assert __main__.main(["small", "--executor", "serial"]) == 0
    stored = results.stored("small")
    assert list(stored.table) == ["label", "method", "n", "repeat", "covariance_error", "failed"]
    whole = sweep(results.recipe("small"))
    np.testing.assert_allclose(stored.table["covariance_error"], whole["covariance_error"], rtol=1e-5)
    assert stored.fingerprint == results.fingerprint("small")
    results.remake("small", None, timed=True)
    assert (results.stored("small").table["seconds"] > 0).all()


def test_all_are_remade_but_what_cannot_be(elsewhere, capsys):
    plain = json.loads((elsewhere / "recipes" / "small.json").read_text())
    (elsewhere / "recipes" / "bad.json").write_text(json.dumps(plain | {"population": "iris"}))
    assert __main__.main(["--executor", "serial"]) == 0
    assert "error: bad: population must be one of" in capsys.readouterr().err
    assert results.stored("small").fingerprint == results.fingerprint("small")


def test_a_result_of_another_recipe_is_refused(elsewhere):
    with pytest.raises(ValueError, match="small must have a result in data/results: run python"):
        results.stored("small")
    results.remake("small", None, timed=False)
    path = elsewhere / "recipes" / "small.json"
    plain = json.loads(path.read_text())
    path.write_text(json.dumps(plain))
    results.stored("small")  # laid out otherwise, the same recipe
    path.write_text(json.dumps(plain | {"epsilon": 2.0}))
    with pytest.raises(ValueError, match="must be of its recipe, it is of another: run python"):
        results.stored("small")


SPOILT = {
    "cut short": (".csv", lambda data: data[:-40], "small.csv must be as it was written, it is not: run"),
    "a digit": (".csv", lambda data: data[:-3] + b"7" + data[-2:], "small.csv must be as it was written"),
    "half a note": (".json", lambda data: data[:60], "small.json must say what it is of, it is damaged: run"),
    "no letters": (".json", lambda data: b"\xff" + data, "small.json must say what it is of"),
    "a list": (".json", lambda data: b"[]", "small.json must say what it is of"),
    "nested": (".json", lambda data: b"[" * 100_000, "small.json must say what it is of"),
    "no versions": (
        ".json",
        lambda data: data.replace(b'"versions": {', b'"versions": null, "were": {'),
        "small.json must say what it is of",
    ),
    "no digest": (".json", lambda data: data.replace(b"sha256", b"sha"), "small.json must say what it is of"),
}


@pytest.mark.parametrize(("suffix", "spoil", "message"), SPOILT.values(), ids=list(SPOILT))
def test_a_damaged_result_is_refused_in_one_sentence(elsewhere, suffix, spoil, message):
    results.remake("small", None, timed=False)
    path = elsewhere / "results" / f"small{suffix}"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=message) as caught:
        results.stored("small")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["[" * 100_000, "[]", "{}", '{"repeats"'], ids=len)
def test_a_damaged_recipe_is_one_sentence(elsewhere, content):
    (elsewhere / "recipes" / "small.json").write_text(content)
    message = r"the file data/recipes/small\.json must hold a recipe, it is damaged: restore it"
    with pytest.raises(ValueError, match=message):
        results.stored("small")
    with pytest.raises(ValueError, match=message):
        results.repeats("small")


def test_a_full_disk_leaves_the_former_result(elsewhere):
    results.remake("small", None, timed=False)
    before = results.stored("small").table
    with full_disk(elsewhere / "nothing", 50), pytest.raises(OSError, match="large"):
        results.remake("small", None, timed=True)
    pd.testing.assert_frame_equal(results.stored("small").table, before)
    assert len(list((elsewhere / "results").iterdir())) == 2


def test_unknown_names_are_refused(capsys):
    with pytest.raises(ValueError, match=r"recipe must be one of cai-1-n, .* got 'ge-9'"):
        results.stored("ge-9")
    assert __main__.main(["ge-9"]) == 2
    assert "error: ge-9: recipe must be one of" in capsys.readouterr().err


def test_a_figure_without_its_table_says_so():
    figure = FIGURES["ge-3a"]
    with pytest.raises(ValueError, match=r"Figure 3\(a\) is drawn from a table: give the result of ge-3a"):
        figure.verdict(figure.runs[0])


def power_law(needed: dict[str, float]) -> pd.DataFrame:
    """Errors target sqrt(needed / n), without noise."""
    return pd.DataFrame(
        [
            {
                "label": label,
                "method": "pca",
                "n": n,
                "repeat": repeat,
                "sin_theta": 0.2 * np.sqrt(size / n),
            }
            for label, size in needed.items()
            for n in (100, 1000, 10_000)
            for repeat in range(3)
        ]
    )


def test_how_many_times_fewer_patients():
    """By hand: 6,000 over 300; one that never arrives needs at least the most that were measured, 10,000."""
    table = power_law({"many": 6000, "few": 300, "never": 1e9})
    assert beyond.fewer(table, "many", "few") == pytest.approx((20, 20, 20))
    assert beyond.fewer(table, "never", "few") == pytest.approx((np.inf, 10_000 / 300, np.inf))


def test_two_stages_are_counted_beside_dps_pca():
    """As stored; a planted error, three times as large, needs more than a tenth of the patients."""
    figure = FIGURES["two-stage-patients"]
    table = results.stored("two-stage-patients").table
    check = figure.runs[0].checks[0]
    finding = check(figure.curves(figure.runs[0], table), table)
    for count in ("one place 3,294", "own noise 8,700", "dense start 1,286,9", "exact 190,6"):
        assert count in finding.sentence
    worse = table.assign(sin_theta=3 * table["sin_theta"])
    assert finding.holds and not check(figure.curves(figure.runs[0], worse), worse).holds


def test_a_method_that_misses_the_target_is_described_in_words():
    """It never reached the target, or did and lost it; neither sentence has an infinite number in it."""
    names = ("DPS-PCA, noise of its proof", beyond._EXACT)
    figure = FIGURES["needed-patients"]
    check = figure.runs[0].checks[0]
    table = power_law(dict(zip(names, (1e9, 300), strict=True)))
    finding = check(figure.curves(figure.runs[0], table), table)
    assert finding.holds and "not reached by 10,000 patients, the most that were measured" in finding.sentence
    assert finding.sentence.endswith("at least 33 times as many to stay there")
    table.loc[(table["label"] == names[0]) & (table["n"] == 1000), "sin_theta"] = 0.1
    again = check(figure.curves(figure.runs[0], table), table)
    assert "reached and lost again by 10,000 patients" in again.sentence and "inf" not in again.sentence
    assert "(0.1 with 1,000, 63.2 with all)" in again.sentence
