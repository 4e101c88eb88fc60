"""Putting files together: one place's answer where there is no noise, the same for everybody, no bad file."""

import io
import itertools
import json
import runpy
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dppca_core import sin_theta, tables
from dppca_core.accounts.account import Limit
from dppca_core.joint import answer as answers
from dppca_core.joint import combine, document, forecast, in_words, strict_json
from dppca_core.numerics import linalg
from dppca_core.release import bundle
from dppca_core.release.projector import ON_A_GOOD_EVENT
from tests.core.joint import studies
from tests.core.joint.studies import NAMES, SCHEMA, N, frame, loud, plan
from tests.core.joint.test_take_part import KINDS

AGREED = plan()
ANSWERS = studies.answers(AGREED)
FILES = {answer.hospital.file_name: answer.to_json(AGREED) for answer in ANSWERS}


def encoded(agreed):
    parts = [studies.part_of(agreed, name).table.held.encoded for name in NAMES]
    return np.concatenate(parts)


def one_place(agreed):
    """Return the components of all patients in one place, without privacy."""
    rows = encoded(agreed)
    if agreed.rows == "public":
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        of_length_one = agreed.method == "own_noise_sparse"
        rows = rows / (lengths if of_length_one else np.maximum(lengths / agreed.dictionary.bound, 1))
        return linalg.top_eigenspace(rows.T @ rows, 2)
    covariance = np.cov(rows, rowvar=False)
    if agreed.rows == "standardised":
        covariance = np.corrcoef(rows, rowvar=False)
    return linalg.top_eigenspace(covariance, 2)


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in ("sparse", "directions", "projector")]
)
def test_with_hardly_any_noise_it_is_one_place(kind):
    """What is left is what shortening does to rows."""
    agreed = loud(plan(**KINDS[kind]))
    made = combine.combine(agreed, studies.answers(agreed, Limit(1e10, 1e-6)))
    assert sin_theta(made.components, one_place(agreed)) < 0.05
    alone = combine.combine(agreed, studies.answers(agreed, Limit(1e10, 1e-6))[:1])
    assert sin_theta(alone.components, one_place(agreed)) > 0.05
    assert made.shares == pytest.approx(1 / 5) and not made.missing
    np.testing.assert_allclose(made.components.T @ made.components, np.eye(2), atol=1e-7)


def test_differences_between_hospitals_are_in_it():
    """Means of hospitals differ by as much as patients do: without these, components would be others."""
    agreed, sent, rows = loud(plan()), [], []
    for name in NAMES:
        part = studies.part_of(agreed, name, studies.tables.from_frame(frame(name, shift=0.5), "ours"))
        sent.append(part.answer(studies.paying(part, limit=Limit(1e10, 1e-6))))
        rows.append(part.table.held.encoded)
    within = np.mean([combine.fitted_moment(agreed, each).moment for each in sent], axis=0)
    whole = linalg.top_eigenspace(np.cov(np.concatenate(rows), rowvar=False), 2)
    assert sin_theta(combine.combine(agreed, sent).components, whole) < 0.1
    assert sin_theta(linalg.top_eigenspace(within, 2), whole) > 0.2


def test_the_sparse_step_keeps_as_many_measurements_as_agreed():
    agreed = plan(s_hat=3)
    made = combine.combine(agreed, studies.answers(agreed))
    kept = made.components.any(axis=1)
    assert kept.sum() == 3 and not made.loading_std[~kept].any()


@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_files_gives_the_same_bytes(kind):
    agreed = plan(**KINDS[kind])
    files = {each.hospital.file_name: each.to_json(agreed) for each in studies.answers(agreed)}
    packed = set()
    for order in itertools.islice(itertools.permutations(files), 0, 120, 40):
        named = {f"{place}.json": files[name] for place, name in enumerate(order)}
        made = combine.combine(agreed, combine.read(agreed, named))
        packed.add(bundle.pack(document.files(made)))
    assert len(packed) == 1


def test_it_goes_on_with_fewer_and_says_what_that_costs():
    made = combine.combine(AGREED, ANSWERS[:3])
    assert [hospital.name for hospital in made.missing] == ["West", "Mid"]
    sentences = in_words.missing(made)
    assert sentences[0] == "3 of 5 hospitals have answered; missing: West, Mid."
    fewer, whole = forecast.forecast(AGREED, made.there).error, forecast.forecast(AGREED).error
    assert sentences[1] == f"The predicted error is {fewer:.2g} with these, and {whole:.2g} with all."
    assert fewer > whole and made.shares.sum() == pytest.approx(1)
    alone = combine.combine(AGREED, ANSWERS[4:])
    assert alone.turned is None and alone.shares.tolist() == [1.0]
    with pytest.raises(ValueError, match="no hospital has answered yet"):
        combine.combine(AGREED, [])


def test_a_hospital_that_is_there_twice_is_refused():
    twice = FILES | {"answer-South (2).json": FILES["answer-South.json"]}
    with pytest.raises(ValueError, match=r"answer-South \(2\)\.json and answer-South\.json are both"):
        combine.read(AGREED, twice)
    with pytest.raises(ValueError, match="a hospital is there twice"):
        combine.combine(AGREED, [*ANSWERS, ANSWERS[0]])


def test_one_who_answers_for_two_is_refused():
    copied = FILES | {"answer-West.json": redone(FILES["answer-South.json"], hospital="West")}
    says = r"answer-South\.json and answer-West\.json hold the same numbers: one hospital answered for two"
    with pytest.raises(ValueError, match=says):
        combine.read(AGREED, copied)


def test_an_answer_to_another_plan_is_refused():
    other = replace(AGREED, name="Another study")
    first, second = AGREED.words[:2]
    with pytest.raises(ValueError, match=f"answers another plan, whose words begin with '{first} {second}'"):
        combine.read(other, FILES)


def redone(data, **changed):
    """Return a file with other fields, and a digest that is right for them."""
    plain = json.loads(data) | changed
    plain.pop("digest", None)
    return strict_json.indented(plain | {"digest": strict_json.digest(plain)})


def with_numbers(name, change):
    plain = json.loads(FILES["answer-South.json"])
    arrays = answers.from_json(AGREED, FILES["answer-South.json"]).arrays
    changed = answers.message.array_to_json(change(arrays[name].copy()))
    return redone(FILES["answer-South.json"], arrays=plain["arrays"] | {name: changed})


def hostile_files():
    """Yield files that must be refused: damage by hand, whole files of liars, and a hundred bytes changed."""
    whole = FILES["answer-South.json"]
    yield from (b"", b"[]", b"{}", b"\xff", b"[" * 100_000, whole[:-40], whole + b"x", AGREED.to_json())
    for depth in range(900, 1000, 10):  # what can be read may be too deep to be written again
        yield whole.replace(json.dumps(json.loads(whole)["words"]).encode(), b"[" * depth + b"]" * depth)
    yield redone(whole, patients=10**9)
    yield redone(whole, patients=100)
    yield redone(whole, patients=300.5)
    yield redone(whole, hospital="Nowhere")
    yield redone(whole, epsilon=0.1)
    yield redone(whole, promise="ε")
    yield redone(whole, words="abandon " * 12)
    yield redone(whole, more=1)
    yield redone(whole, arrays={})
    yield redone(whole, arrays=[1])
    yield redone(whole, arrays=json.loads(whole)["arrays"] | {"more": {}})
    yield redone(whole, format="dppca joint answer 2")
    yield with_numbers("moment", lambda moment: moment * 1e6)
    yield with_numbers("moment", lambda moment: moment * np.nan)
    yield with_numbers("moment", lambda moment: moment[:-1])
    yield with_numbers("moment", lambda moment: np.where(moment > 0.0, -0.5, -0.5) * 4)
    yield with_numbers("squares", lambda squares: squares + 500)
    yield with_numbers("tails", lambda tails: tails - 500)
    yield with_numbers("mean", lambda mean: mean * 1e9)
    yield with_numbers("mean", lambda mean: mean.astype(int))
    rng = np.random.default_rng(2)
    for _ in range(100):
        changed = bytearray(whole)
        place = int(rng.integers(len(changed)))
        changed[place] = (changed[place] + int(rng.integers(1, 256))) % 256
        # Blanks between the fields are the only bytes that do not count.
        if strict_json_of(bytes(changed)) != strict_json_of(whole):
            yield bytes(changed)


def strict_json_of(data):
    try:
        return strict_json.parse(data, "it")
    except ValueError:
        return None


def test_damaged_and_hostile_files_are_refused_in_one_sentence_each():
    refused = 0
    for data in hostile_files():
        with pytest.raises(ValueError, match=r"^it\.json ") as reason:
            combine.read(AGREED, {"it.json": data})
        assert len(strict_json.one_sentence(reason.value)) <= 400
        refused += 1
    assert refused >= 120


def test_no_honest_file_is_refused_as_too_large():
    """Ranges that rows fill to their ends, and rare answers, with hardly any noise and with much."""
    rng = np.random.default_rng(8)
    for trial in range(12):
        share = 0.02 + 0.08 * trial
        ends = rng.choice([-4.0, 4.0], (N, len(studies.NUMBERS)), p=[share, 1 - share])
        table = pd.DataFrame(ends, columns=list(studies.NUMBERS))
        table["sex"] = np.where(rng.random(N) < 0.05 * trial, "f", "m")
        for agreed in (plan(), loud(plan()), plan("standardised", epsilon=0.3)):
            part = studies.part_of(agreed, "South", studies.tables.from_frame(table, "ours"))
            sent = part.answer(studies.paying(part, limit=Limit(1e10, 1e-6)))
            answers.from_json(agreed, sent.to_json(agreed))


def test_the_bundle_scores_new_rows(tmp_path, monkeypatch):
    """`apply.py` centres at the pooled mean and divides by the pooled scales."""
    agreed = loud(plan("standardised"))
    made = combine.combine(agreed, studies.answers(agreed, Limit(1e10, 1e-6)))
    with zipfile.ZipFile(io.BytesIO(bundle.pack(document.files(made)))) as archive:
        archive.extractall(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"README.txt", "report.md", "plan.json", "components.csv", "apply.py", "apply.R"} <= names
    assert (tmp_path / "plan.json").read_bytes() == agreed.to_json()
    frame("South").to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["apply.py", "new.csv", "scores.csv"])
    runpy.run_path("apply.py")
    scores = pd.read_csv(tmp_path / "scores.csv").to_numpy()
    rows = studies.part_of(agreed, "South").table.held.encoded
    expected = (rows - made.mean) / made.divisors @ made.components
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_the_report_says_what_was_promised_to_whom():
    made = combine.combine(AGREED, ANSWERS)
    text = document.report(made)
    assert " ".join(AGREED.words) in text and "North: ε = 2, δ = 1e-06" in text
    assert "All 5 hospitals have answered." in text
    projectors = plan(**KINDS["projector"])
    study = combine.combine(projectors, studies.answers(projectors))
    assert ON_A_GOOD_EVENT in document.report(study)
    assert document.document(study)["promise"] == "on a good event"


@pytest.mark.parametrize("method", ["own_noise_sparse", "dpdis_pca"])
def test_no_hospital_is_louder_than_patients_of_length_1(method):
    """With rows about public middles too: all ones have trace d, where rows of length 1 have 1."""
    agreed = plan("public", method=method)
    answer = studies.answers(agreed)[1]
    (name,) = answer.arrays
    answers.check_arrays(agreed, answer.hospital, answer.patients, answer.arrays)
    with pytest.raises(ValueError, match="sent a moment that no patients can give"):
        answers.check_arrays(
            agreed, answer.hospital, answer.patients, {name: np.ones_like(answer.arrays[name])}
        )


def test_hospitals_that_leave_patients_out_are_named():
    """A tenth of South's ages are missing, and its dictionary has no fill: released shares say so."""
    age, *others = SCHEMA.columns
    agreed = plan(dictionary=SCHEMA.changed(columns=(age.changed(fill=None), *others)), epsilon=1e6)
    tables_of = {name: frame(name) for name in NAMES}
    tables_of["South"].loc[::10, "age"] = np.nan
    received = []
    for name, table in tables_of.items():
        part = studies.part_of(agreed, name, tables.from_frame(table, name))
        received.append(part.answer(studies.paying(part, limit=Limit(1e7, 1e-6))))
    made = combine.combine(agreed, received)
    assert made.usable[agreed.hospitals.index(agreed.hospital("South"))] == pytest.approx(0.9, abs=0.005)
    assert in_words.left_out(made)[0].startswith("Share of patients with all cells: South 90 %.")
    assert in_words.left_out(combine.combine(AGREED, list(combine.read(AGREED, FILES)))) == []
