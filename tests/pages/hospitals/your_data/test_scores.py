"""The picture of patients on two components: free on the twin, paid for once, split, interrupted, refused."""

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA

from dppca_core import Budget, tables
from dppca_core.experiments.demonstrations import twin_scores
from dppca_core.release import discrete_gaussian, loading_noise, score_histogram
from dppca_core.release.request import Request
from dppca_core.release.score_histogram import Group, ScoreRequest
from dppca_core.tables import Column, Schema
from dppca_core.tables.encode import prepare
from dppca_core.tables.patients import A_TABLE_EACH, AVERAGED, IN_ONE_PLACE, MERGED
from pages.hospitals.your_data import (
    confirmation,
    owner_only_diagnostics,
    rehearsal,
    score_panel,
    score_rehearsal,
    score_text,
)
from pages.shared import text
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import (
    CANARY,
    WIDE,
    csv,
    limited,
    marked,
    patients,
    prepared,
    released,
)

PICTURE = "Release this picture"
MANY = 3000  # patients, of whom two components stand out of the noise at an epsilon of .5
TABLE = csv(patients(n=MANY))
LINK = {"own.scores_slice": "0.2", "own.scores_cells": "4"}


def picture(page):
    return page.state.last("scores").result


def test_it_is_free_on_the_twin_then_paid_for_once():
    page = limited(TABLE, WIDE, **LINK)
    assert "The twin, as released" in page.markdown and not page.has_button(PICTURE)
    before = page.spent
    page.release()
    page.release(PICTURE)
    result, table = picture(page), page.state.ready
    assert page.spent != before and len(page.payments) == 2
    request = page.state.last("scores").what.request
    exact = score_histogram.whole_counts(request, table.parts)[0].reshape(request.shape) * 2.0**-20
    assert exact.sum() == MANY and np.abs(result.counts - exact).max() < 6 * result.std
    listed = score_panel.cells(result.document)
    assert listed["count"].sum() == pytest.approx(result.counts.sum()) and len(listed) == 16
    assert text.unmarked(score_text.cost(result.document)) in text.unmarked(page.captions)


def split(page, name, words=None):
    box = next(box for box in page.app.selectbox if box.label == "Split by a public group")
    box.set_value(box.options.index(name))
    page.run()
    if words is not None:
        typed = next(box for box in page.app.text_input if box.label.startswith("Its groups"))
        typed.set_value(words)
        page.run()


def test_groups_are_of_the_dictionary_or_typed_and_never_read_from_rows():
    """A word that nobody typed counts as other, and is in no file; the age is a number, and no group."""
    frame = marked(MANY)
    page = released(csv(frame), WIDE, **LINK)
    split(page, "sex")
    page.release(PICTURE)
    assert picture(page).document["groups"] == ["f", "m", "other"]
    split(page, "clinic", "south, north,, ")
    page.release(PICTURE)
    document = picture(page).document
    assert document["groups"] == ["south", "north", "other"] and CANARY not in json.dumps(document)
    (codes,) = score_panel._codes(page.state.ready, Group("clinic", ("south", "north")))
    expected = frame["clinic"].map({"south": 0, "north": 1}).fillna(2)
    assert codes.tolist() == expected.tolist() and expected.max() == 2
    box = next(box for box in page.app.selectbox if box.label == "Split by a public group")
    assert "age" not in box.options and "clinic" in box.options


def test_one_patients_word_moves_no_other_into_another_group_or_hospital():
    """Decimals with a comma stay numbers beside a word."""
    ages = Schema(tuple(Column(name, "number", 0, 100) for name in ("age", "then")))

    def table(last):
        rows = "".join(f"{i},5;{i};0,5;{('1', '1,0', '2,5')[i % 3]}\n" for i in range(30))
        raw = tables.read(f"age;then;cdr;ward\n{rows}7;5;{last};north\n".encode(), "t")
        return prepare(raw, ages, "ward", 1)

    number, word = table("0,5"), table("unknown")
    assert number.sizes == word.sizes == (20, 10, 1)
    before, after = (
        np.concatenate(score_panel._codes(each, Group("cdr", ("0", "0.5")))) for each in (number, word)
    )
    assert (before == 1).all() and np.flatnonzero(before != after).tolist() == [30] and after[30] == 2


@pytest.mark.parametrize(("named", "kept"), [(None, AVERAGED), ("id", AVERAGED), ("id", 2), ("id", MERGED)])
def test_patients_with_usual_answers_only_are_in_the_picture(named, kept):
    """Encoded as zeros they were in no cell; only the one without an answer, who is left out, is in none."""
    usual = Schema(tuple(Column(name, "category", categories=("no", "yes"), usual="no") for name in "ab"))
    frame = pd.DataFrame({"id": range(40), "a": "no", "b": ["yes", *["no"] * 38, None]})
    table = prepare(tables.from_frame(frame, "t"), usual, None, 1, named, kept)
    plain = dict.fromkeys(("at", "mean", "scales", "length after scaling", "eigenvalues"))
    asked = {"method": "analyze_gauss", "hospitals": [40], "features": list(usual.features)}
    release = plain | asked | {"components": np.eye(4)[:2].tolist(), "public": table.public}
    budget = Budget(1.0, 1e-5)
    request = ScoreRequest(release, score_histogram.grid(release, 4), budget, averaged=named is not None)
    counts = score_histogram.whole_counts(request, table.parts, present=table.present)
    assert counts.sum() * 2.0**-20 == pytest.approx(39, abs=1e-4)


def test_the_guarantee_of_a_table_each_hospital_is_within_a_hospital(monkeypatch):
    monkeypatch.setattr(score_histogram, "make", lambda *_, by_column, **__: by_column)
    order = SimpleNamespace(request=SimpleNamespace(group=None), account=None)
    table = prepared(dictionary=WIDE, **LINK).state.ready

    def by_column(way):
        dealt = replace(table, assignment=way)
        return score_panel.make(order, dealt, **confirmation.release_keywords(order, dealt, None, None))

    assert by_column(A_TABLE_EACH) and not by_column(IN_ONE_PLACE)


@pytest.mark.parametrize("words", ["north", "north, NA"])
def test_words_that_are_no_groups_are_refused(words):
    page = released(TABLE, WIDE, **LINK)
    split(page, "clinic", words)
    assert page.errors and not page.has_button(PICTURE)


def test_an_interrupted_picture_goes_on_in_another_session(folder, monkeypatch):
    draw = discrete_gaussian.add_noise
    page = released(TABLE, WIDE, **LINK)

    def stopping(*_):
        raise discrete_gaussian.StoppedError

    monkeypatch.setattr(discrete_gaussian, "add_noise", stopping)
    page.release(PICTURE)
    assert "You can go on with it for nothing" in page.warnings
    monkeypatch.setattr(discrete_gaussian, "add_noise", draw)
    other = prepared(TABLE, Schema(WIDE.columns, bound=0.5), **LINK)
    assert not other.has_button("Go on with it") and "It was begun with another dictionary" in other.warnings
    later = prepared(TABLE, WIDE, **LINK)
    before = later.spent
    later.press("Go on with it")
    later.state.last("scores").wait(60)
    later.run()
    assert picture(later).counts.shape == (1, 4, 4) and later.spent == before
    assert not later.has_button("Go on with it") and score_text.UNLIKE not in later.captions
    assert picture(prepared(TABLE, WIDE, **LINK)).document == picture(later).document


@pytest.mark.parametrize(("cells", "label"), [("40", "anyway"), ("4", "picture …")])
def test_a_picture_that_is_noise_on_the_twin_is_advised_against(cells, label):
    page = limited(TABLE, WIDE, **LINK | {"own.scores_cells": cells})
    page.release()
    (button,) = [button for button in page.app.button if button.label.startswith(PICTURE)]
    assert label in button.label
    assert ("of this picture is noise" in page.warnings) == (label == "anyway")


def test_no_picture_is_offered_on_axes_of_noise(monkeypatch):
    """Neither rehearsed, nor to be paid for, nor of the owner's patients; of clear axes all three are."""
    biplot = "Patients along two released directions"
    shown = {"own.shown": "true"}
    few = limited(dictionary=WIDE, **LINK | {"own.eps": "0.1"})
    assert score_text.ON_REHEARSED_NOISE in few.captions and "The twin, as released" not in few.markdown
    clear = released(TABLE, WIDE, **LINK | shown)
    assert not clear.state.releases[0].result.is_noise.any()
    assert clear.has_button(PICTURE) and "The twin, as released" in clear.markdown and biplot in clear.drawn
    assert score_text.ON_NOISE not in clear.captions
    second = np.array([0.0, 1.0])
    monkeypatch.setattr(loading_noise, "where_it_holds", lambda noise, *_: np.maximum(noise, second))
    noisy = released(TABLE, WIDE, **LINK | shown)
    assert noisy.state.releases[0].result.is_noise.tolist() == [False, True]
    assert not noisy.has_button(PICTURE) and "The twin, as released" not in noisy.markdown
    assert noisy.captions.count(score_text.ON_NOISE) == 2 and biplot not in noisy.drawn


def test_one_component_has_none():
    page = released(dictionary=WIDE, **LINK | {"own.k": "1"})
    assert score_text.ONE_COMPONENT in page.captions and not page.has_button(PICTURE)


def shares(lost):
    """Return a table of losses as numbers: (lines, 3) of released components, of the best, of a guess."""
    return lost[["released", "no privacy", "guess"]].to_numpy()


def test_what_is_lost_is_scikit_learns_on_the_same_rows():
    """Reconstruction and captured spread against PCA's own inverse_transform, for released components too."""
    page = released(dictionary=WIDE, **{"own.shown": "true"})
    table, basis = page.state.ready, page.state.releases[0].result.basis
    rows, pca = table.held.rows, PCA(2).fit(table.held.rows)
    truths = owner_only_diagnostics.truths(table)
    best = np.linalg.svd(rows - rows.mean(axis=0))[2][:2].T
    captured, unexplained = shares(score_rehearsal.losses(truths.covariance.matrix, basis, best))
    centred, given_back = rows - rows.mean(axis=0), pca.inverse_transform(pca.transform(rows)) - rows
    whole = np.square(centred).sum()
    assert unexplained[1] == pytest.approx(np.square(given_back).sum() / whole)
    left = centred - centred @ basis @ basis.T
    assert unexplained[0] == pytest.approx(np.square(left).sum() / whole)
    held, most = (1 - share for share in unexplained[:2])
    assert captured[0] == pytest.approx(held / most)
    shown = [frame.value for frame in page.app.dataframe if "no privacy" in frame.value][-1]
    assert shown["released"].tolist() == pytest.approx([captured[0], unexplained[0]])
    page.press("Measure it")
    frames = [frame.value for frame in page.app.dataframe]
    shown = [frame for frame in frames if "no privacy" in frame][-1].iloc[2]
    right = frames[-1]["right"]
    assert shown.tolist() == ["Right about clinic", right[0], right[1], right[4]]


def rehearsed(epsilon, n=2000):
    schema = Schema(tuple(Column(f"c{i}", "number", -1, 1) for i in range(12)))
    request = Request("analyze_gauss", schema.d, 2, Budget(epsilon, 1e-6))
    twin = rehearsal.rehearse(request, schema, (n,), catalogue.defaults())
    return score_rehearsal.run(twin)


def test_on_the_twin_a_use_loses_what_noise_takes():
    """With hardly any noise nothing; the label is told in 1/2 + arcsin(sqrt 1/2)/pi = 3/4 of all cases."""
    sharp, blurred = (shares(rehearsed(epsilon).losses) for epsilon in (10.0, 0.01))
    (captured, unexplained, right), (captured_blurred, unexplained_blurred, right_blurred) = sharp, blurred
    assert captured[0] > 0.95 > captured_blurred[0] and unexplained[0] < unexplained_blurred[0]
    assert right[1] == pytest.approx(0.75, abs=0.02) and right[2] == pytest.approx(0.5, abs=0.02)
    assert right[0] > right[1] - 0.02 > right_blurred[0]
    guess = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 12, 2)))[0]
    square = np.diag(np.arange(12.0))
    drawn = np.array([shares(score_rehearsal.losses(square, each, np.eye(12)[:, -2:])) for each in guess])
    assert drawn[0, 0, 2] == pytest.approx(drawn[:, 0, 0].mean(), abs=0.05)


def test_the_twins_picture_has_the_noise_of_the_release_and_all_patients():
    """A group's picture has its share of the patients; more noise puts more of it in wrong cells."""
    run = rehearsed(1.0)
    picture = partial(twin_scores.picture, run.scores, run.eigenvalues)
    whole, part, noisy = (picture(n, 8, std) for n, std in ((2000, 3), (500, 3), (2000, 60)))
    assert whole.exact.sum() == pytest.approx(2000) and part.exact.sum() == pytest.approx(500)
    assert np.std(noisy.noisy - noisy.exact) == pytest.approx(60, rel=0.3)  # of 64: four of its stds
    assert 0 < whole.distance < part.distance < noisy.distance < 1
    assert picture(200_000, 8, 3).exact.sum() == pytest.approx(200_000)
