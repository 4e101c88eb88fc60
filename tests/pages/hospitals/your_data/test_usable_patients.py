"""Rehearsals count usable patients: a stated share where all may see, their number for the owner alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dppca_core.release.private_release import USABLE_SHARE
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import (
    analyst_text,
    owner_only_document,
    rehearsal,
    release_request,
    twin_runs,
    usable_patients,
)
from pages.hospitals.your_data.settings import UNKNOWN
from pages.shared.background import cache
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import csv, limited, prepared

N, D = 6_000, 12
NAMES = [f"m{i}" for i in range(D)]
SCHEMA = Schema(tuple(Column(name, "number", 0, 100) for name in NAMES))
FILLED = Schema(tuple(Column(name, "number", 0, 100, fill=50.0) for name in NAMES))


def measured(lost: float) -> pd.DataFrame:
    """Return two strong patterns in 9 of 12 measurements, of which a share of all cells was lost."""
    rng = np.random.default_rng(3)
    loadings = np.zeros((2, D))
    loadings[0, :5], loadings[1, 5:9] = 9, 7
    rows = rng.normal(size=(N, 2)) @ loadings + rng.normal(size=(N, D)) * 5 + 50
    rows = np.where(rng.random(rows.shape) < lost, np.nan, rows.clip(0, 100).round(1))
    return pd.DataFrame(rows, columns=NAMES)


WITH_GAPS, WHOLE = csv(measured(0.2)), csv(measured(0))


def settings(share):
    return catalogue.defaults() | {"own.usable": share}


def test_a_rehearsal_of_a_share_is_that_of_so_many_patients():
    """To the recipe of its runs, for every hospital; filled-in cells leave nobody out."""
    for share, sizes in ((0.07, (280, 140)), (1.0, (4_000, 2_000)), (UNKNOWN, (4_000, 2_000))):
        request = release_request.requested(
            settings(UNKNOWN), prepared(WITH_GAPS, SCHEMA).state.ready, None, rows=1
        )
        asked = rehearsal.rehearse(request, SCHEMA, (4_000, 2_000), settings(share))
        plain = rehearsal.rehearse(request, SCHEMA, sizes, settings(UNKNOWN))
        for each, other in zip(asked.rehearsed, plain.rehearsed, strict=True):
            fitted = each.experiment.fitted  # which reckons by all patients
            assert each.experiment == replace(other.experiment, fitted=fitted)
            assert (each.experiment.n, fitted.n) == (sum(sizes), 6_000)
    assert usable_patients.sizes(FILLED, (4_000, 2_000), settings(0.07)) == (4_000, 2_000)
    assert usable_patients.sizes(SCHEMA, (3, 2_000), settings(0.01)) == (1, 20)


def test_without_a_stated_share_the_stop_sign_says_that_it_cannot_know(built):
    """Of one component, which a rehearsal of all 6,000 patients finds well; 435 of them are usable."""
    page = limited(WITH_GAPS, SCHEMA, **{"own.k": "1"})
    assert analyst_text.cannot_know(1) in page.warnings and "would be" not in page.warnings
    assert page.has_button("Release anyway")
    assert "so the rehearsal counts all 6,000." in page.captions
    assert dict(built().frame().settings)["Usable patients"] == "not stated"
    page.release("Release anyway")
    assert page.state.releases[0].result.document[USABLE_SHARE] is None


def test_a_stated_share_is_what_headline_stop_sign_and_advice_count(built):
    page = limited(WITH_GAPS, SCHEMA, **{"own.usable": "0.07"})
    assert "The rehearsal counts 420 of 6,000 patients: the share that you state" in page.captions
    assert "as many (420) and with as many measurements (12) as your usable ones" in page.captions
    assert analyst_text.cannot_know(1) not in page.warnings and page.has_button("Release anyway")
    assert "420 patients" in page.warnings
    assert page.warnings.count("Only usable patients are counted.") == 1
    assert "**Ready:** 6,000 patients" in page.everything
    page.release("Release anyway")
    document = page.state.releases[0].result.document
    assert document["hospitals"] == [N] and document[USABLE_SHARE] == 0.07
    assert dict(built().frame().settings)["Usable patients"] == "7 %, as stated"


def test_a_share_that_is_changed_after_a_release_leaves_its_report(built):
    page = limited(WITH_GAPS, SCHEMA, **{"own.usable": "0.07"})
    page.release("Release anyway")
    box = next(box for box in page.app.selectbox if box.label.startswith("Usable patients"))
    box.set_value(box.options[box.options.index("100 %")])
    page.run()
    assert "counts 6,000 of 6,000 patients" in page.captions
    assert dict(built().frame().settings)["Usable patients"] == "7 %, as stated"


@pytest.mark.parametrize("link", [{}, {"own.usable": "0.9"}], ids=["unknown", "stated"])
def test_what_all_may_see_does_not_depend_on_which_cells_are_missing(built, link):
    shown, link = [], link | {"own.k": "1"}
    for data in (WITH_GAPS, WHOLE):
        page = limited(data, SCHEMA, **link)
        shown.append((page.warnings, page.notices, built().html()))
    assert shown[0] == shown[1]
    filled = limited(WITH_GAPS, FILLED, **link)
    assert not filled.warnings.startswith("**") and filled.has_button("Release …")
    assert not any(box.label.startswith("Usable patients") for box in filled.app.selectbox)
    assert "Usable patients" not in dict(built().frame().settings)


@pytest.mark.parametrize("view", ["full", "plain"])
def test_the_owners_part_rehearses_for_the_patients_that_are_usable(monkeypatch, view):
    """In a store of its own: no recipe of another visitor holds their number.

    The rehearsal's noise is not seeded. Its median of the worst pattern errs by .8 of a guess, and was below
    a half in none of 300 draws.
    """
    asked = []
    kept = cache.results
    monkeypatch.setattr(cache, "results", lambda experiment: asked.append(experiment.n) or kept(experiment))
    page = prepared(WITH_GAPS, SCHEMA, **{"own.shown": "true", "view": view})
    usable = int(measured(0.2).notna().all(axis=1).sum())
    assert page.state.ready.usable == usable == 435
    assert owner_only_document.usable(N, usable, 1, None) in page.markdown
    owners_twin = next(value for key, value in page.state.diagnostics.items() if key[0] == "usable")
    assert owners_twin.experiment.n == usable and set(asked) == {N}
    share = twin_runs.share_of_guess(owners_twin)
    assert share > 0.5
    sentence = owner_only_document.rehearsed_for_usable(usable, share, owners_twin.pattern.title, 1)
    assert sentence in page.markdown and sentence.endswith("**That is of little use.**")
    if view == "plain":
        assert "With your 435 usable patients a release would recover" in page.markdown
        assert page.markdown.count("**That is of little use.**") == 2
    page.run()
    assert owners_twin in page.state.diagnostics.values()  # it is rehearsed once
    hidden = prepared(WITH_GAPS, SCHEMA, view=view)
    assert "usable:**" not in hidden.markdown and "usable" not in str(list(hidden.state.diagnostics))
    whole = prepared(WHOLE, SCHEMA, **{"own.shown": "true", "view": view})
    assert "usable:**" not in whole.markdown
