"""Packages beside ours: the stored measurement, its chart, and sentences that are computed from it."""

import copy
import math
import re

import pytest

from dppca_core.privacy import NEIGHBOURS
from pages.explore.methods import charts, document
from pages.explore.methods.model import packages
from pages.explore.methods.sentences import findings, notes

BOTH = pytest.mark.parametrize("neighbours", NEIGHBOURS)
OURS, RIVAL = "Analyze Gauss + sparse step", "OpenDP Gaussian + eigh"


def largest(neighbours):
    rows = packages.stored().errors
    rows = rows[(rows["population"] == "sparse population") & rows["neighbours"].isin(["", neighbours])]
    return rows[rows["d"] == rows["d"].max()].set_index("recipe")["error"]


@BOTH
def test_factors_multiply_to_what_lies_between(neighbours):
    error = largest(neighbours)
    words = findings.against_packages(neighbours).split(" On the ")[0]
    factors = re.findall(r"(?:That is|sparsity|directions|accounting) (\d+\.\d+)", words)
    whole, *parts = map(float, factors)
    assert whole == pytest.approx(error[RIVAL] / error[OURS], abs=0.006)
    assert len(parts) == 3 and math.prod(parts) == pytest.approx(whole, rel=0.02)


WHOLE = packages._FILE.read_text(encoding="utf-8")
DAMAGED = {
    "cut": WHOLE[:500],
    "nothing": "{}",
    "a list": "[]",
    "null": "null",
    "nested": "[" * 100_000,
    "no places": WHOLE.replace('"places"', '"place"'),
    "no settings": WHOLE.replace('"settings"', '"setting"'),
    "no versions": re.sub(r'"versions": \{[^}]*\}', '"versions": 3', WHOLE),
    "no last releases": WHOLE.replace('"last_releases"', '"last"'),
    "words for a number": re.sub(r'"limit_seconds": [\d.]+', '"limit_seconds": "long"', WHOLE),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=list(DAMAGED))
def test_what_is_not_the_measurement_is_refused(content, tmp_path, monkeypatch):
    assert content != WHOLE
    damaged = tmp_path / "peers.json"
    damaged.write_text(content, encoding="utf-8")
    monkeypatch.setattr(packages, "_FILE", damaged)
    packages.stored.cache_clear()
    with pytest.raises(ValueError, match=r"data/peers\.json cannot be read: restore it"):
        packages.stored()
    packages.stored.cache_clear()


def test_a_damaged_file_is_one_sentence_of_the_page(screen, tmp_path, monkeypatch):
    damaged = tmp_path / "peers.json"
    damaged.write_text(DAMAGED["nothing"])
    monkeypatch.setattr(packages, "_FILE", damaged)
    packages.stored.cache_clear()
    document._with_packages.cache_clear()
    page = screen("explore/methods/page.py", d="20", n="1000", k="2", s="5", shat="10", repeats="1")
    packages.stored.cache_clear()
    assert "Nothing to compare with here: data/peers.json cannot be read: restore it" in page.notices
    assert "**Try this:**" in page.markdown


def test_the_most_owed_part_is_the_largest(monkeypatch):
    """Where the packages' error is ten times as large, most of it is owed to accounting."""
    changed = copy.deepcopy(packages.stored().record)
    for place in changed["places"]:
        for row in place["rows"]:
            if row["recipe"] == RIVAL and "error" in row:
                row["error"]["median"] *= 10
    monkeypatch.setattr(packages, "stored", lambda: packages.measurement(changed))
    assert "Most is due to exact accounting." in findings.against_packages("replace-one")


def test_no_answer_has_no_point_and_is_told(monkeypatch):
    changed = copy.deepcopy(packages.stored().record)
    for place in changed["places"]:
        for row in place["rows"]:
            if row["recipe"] == RIVAL:
                row.pop("error", None)
    monkeypatch.setattr(packages, "stored", lambda: packages.measurement(changed))
    names = [trace["name"] for trace in charts.against_packages("replace-one")["data"]]
    assert RIVAL not in names and OURS in names
    assert "had no answer" in findings.against_packages("replace-one")
    assert f"{RIVAL}: no answer" in notes.of_packages("replace-one")


@BOTH
def test_every_point_is_a_stored_error(neighbours):
    table = packages.stored().errors
    for trace in charts.against_packages(neighbours)["data"][:-1]:
        rows = table[(table["recipe"] == trace["name"]) & (table["population"] == "sparse population")]
        kept = rows[rows["neighbours"].isin(["", neighbours])].dropna(subset="error").sort_values("d")
        assert [y for y in trace["y"] if y] == pytest.approx(kept["error"].tolist(), rel=1e-3)
        assert len([y for y in trace["y"] if y is None]) == kept["n"].nunique()  # a line for each n
        assert [x for x in trace["x"] if x] == kept["d"].tolist()
