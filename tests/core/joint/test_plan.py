"""The plan of a joint study: one digest for one content, words to read aloud, and no hostile plan."""

import json
from dataclasses import replace

import numpy as np
import pytest
from mnemonic import Mnemonic

from dppca_core.joint import forecast, strict_json
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.methods import METHODS
from tests.core.joint.studies import SCHEMA, plan

MOST_LETTERS = 400  # of a refusal
# A dictionary that leaves a patient out whose age is missing.
GAPS = SCHEMA.changed(columns=(SCHEMA.columns[0].changed(fill=None), *SCHEMA.columns[1:]))


@pytest.mark.parametrize("rows", ["centred", "standardised", "public"])
def test_a_file_holds_the_whole_plan(rows):
    agreed = plan(
        rows, s_hat=3, patient_column="id", counting="merged", neighbours="add-remove", dictionary=GAPS
    )
    again = JointPlan.from_json(agreed.to_json())
    assert again == agreed and again.digest == agreed.digest


def test_what_is_as_usual_is_not_written():
    assert set(json.loads(plan().to_json())) == {"name", "method", "rows", "k", "hospitals", "dictionary"}


def test_the_digest_is_of_the_content_and_not_of_the_bytes():
    agreed = plan()
    plain = json.loads(agreed.to_json())
    turned = {key: plain[key] for key in reversed(plain)}
    assert JointPlan.from_json(json.dumps(turned).encode()).digest == agreed.digest
    whole = json.loads(agreed.to_json().replace(b"2.0", b"2"))  # 2 and 2.0 are one number
    assert JointPlan.from_plain(whole).digest == agreed.digest


def changed_plans():
    agreed = plan()
    first, *others = agreed.hospitals
    yield replace(agreed, name="Six clinics")
    yield replace(agreed, k=1)
    yield replace(agreed, s_hat=3)
    yield replace(agreed, rows="standardised")
    yield replace(agreed, rows="public", method="dpdis_pca")
    yield replace(agreed, dictionary=GAPS)
    yield replace(agreed, dictionary=GAPS, neighbours="add-remove")
    yield replace(agreed, patient_column="id")
    yield replace(agreed, dictionary=SCHEMA.changed(bound=SCHEMA.bound * 1.01))
    yield replace(agreed, hospitals=tuple(others))
    yield replace(agreed, hospitals=(*others, first))
    for field, value in {"name": "Nord", "patients": 301, "epsilon": 2.1, "delta": 1e-7}.items():
        yield replace(agreed, hospitals=(replace(first, **{field: value}), *others))


def test_each_change_is_another_plan():
    plans = [plan(), *changed_plans()]
    assert len({each.digest for each in plans}) == len({each.words for each in plans}) == len(plans)


def test_the_words_are_of_the_digest_and_check_themselves():
    agreed = plan()
    assert len(agreed.words) == 12
    words = Mnemonic("english")
    assert words.check(" ".join(agreed.words))
    assert words.to_entropy(" ".join(agreed.words)) == bytes.fromhex(agreed.digest)[:16]


def test_a_hospital_is_found_by_its_name_in_any_case():
    assert plan().hospital(" east side ").file_name == "answer-East-Side.json"
    with pytest.raises(ValueError, match="the plan has no hospital 'Nowhere': it has North, South"):
        plan().hospital("Nowhere")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"method": "dps_pca"}, "method must be one of"),
        ({"method": "dpdis_pca"}, "rows must be public for dpdis_pca"),
        ({"rows": "public", "rank": 3}, "rank is stated for dpdis_pca alone"),
        ({"method": "dpdis_pca", "rows": "public", "s_hat": 3}, "s_hat is stated for own_noise_sparse alone"),
        ({"k": 5}, "k must be between 1 and 4"),  # sex takes a direction away
        ({"s_hat": 1}, "s_hat must be between 2 and 6"),
        ({"hospitals": ()}, "hospitals must be between 1 and 200"),
        ({"counting": "merged"}, "counting is stated where a patient_column is"),
        ({"name": "../plan"}, "name of the plan must be of letters"),
        ({"patient_column": "id\x1b[2J"}, "patient_column must be a name"),
    ],
)
def test_an_impossible_plan_is_refused(changed, says):
    with pytest.raises(ValueError, match=says):
        plan(**changed)


def test_two_hospitals_of_one_file_are_refused():
    twice = (PlannedHospital("East Side", 9, 1.0, 1e-6), PlannedHospital("east-side", 9, 1.0, 1e-6))
    with pytest.raises(ValueError, match="hospitals must have different names"):
        replace(plan(), hospitals=twice)


ODD = (
    None,
    True,
    -1,
    0,
    0.5,
    1e308,
    10**400,
    "",
    "x" * 500,
    "\x00",
    "<script>",
    [],
    {},
    [[]],
    ["a"],
    "NaN",
    "inf",
)


def hostile_plans():
    """Yield 100 bytes that are no plan: odd values in each place, and damage that no JSON survives."""
    rng = np.random.default_rng(0)
    places = [("name",), ("method",), ("rows",), ("k",), ("s_hat",), ("rank",), ("neighbours",)]
    places += [("hospitals",), ("hospitals", 0), ("dictionary",), ("counting",), ("patient_column",)]
    places += [("hospitals", 1, name) for name in ("name", "patients", "epsilon", "delta")]
    places += [("dictionary", "fields"), ("dictionary", "fields", 0), ("dictionary", "bound")]
    places += [("dictionary", "fields", 0, name) for name in ("name", "type", "constraints", "fill")]
    whole = plan().to_json()
    yield from (b"", b"[]", b"null", b"\xff\xfe", b"{", b"[" * 100_000, b'{"a":' * 5_000, b'{"k":NaN}')
    yield whole.replace(b'"k": 2', b'"k": 2, "k": 3')
    yield whole.replace(b'"k": 2', b'"k": 2, "more": 3')
    yield whole.replace(b'"k": 2,', b"")
    yield whole.replace(b"2.0", b"1e999", 1)
    yield whole.replace(b'"delta"', b'"Delta"', 1)
    yield b" " * (strict_json.MOST_BYTES + 1)
    while True:
        json_value = json.loads(whole)
        *path, last = places[rng.integers(len(places))]
        target = json_value
        for step in path:
            target = target[step]
        target[last] = ODD[rng.integers(len(ODD))]
        yield json.dumps(json_value).encode()


def test_a_hundred_hostile_plans_are_refused_in_one_sentence_each():
    refused, source = 0, hostile_plans()
    while refused < 100:
        data = next(source)
        try:
            JointPlan.from_json(data)
        except ValueError as reason:
            sentence = strict_json.one_sentence(reason)
            assert sentence and "\n" not in sentence and len(sentence) <= MOST_LETTERS
            refused += 1


def test_the_method_is_asked_of_the_one_recommendation():
    agreed = plan(epsilon=1.0)
    at = forecast.forecast(agreed)
    assert at.advised.method in METHODS and METHODS[at.advised.method].trust == "untrusted server"
    assert 0 < at.error < at.guess and sum(at.shares) == pytest.approx(1)
    fewer = forecast.forecast(agreed, agreed.hospitals[:2])
    assert fewer.error > at.error
    louder = forecast.forecast(plan(epsilon=4.0))
    assert louder.error < at.error
    assert forecast.forecast(plan("public", method="federated_projector")).error is None


def test_more_privacy_at_one_hospital_lowers_its_weight():
    agreed = plan()
    first, *others = agreed.hospitals
    strict = replace(agreed, hospitals=(replace(first, epsilon=0.5), *others))
    shares = forecast.forecast(strict).shares
    assert shares[0] < 0.5 * shares[1] and len({round(share, 12) for share in shares[1:]}) == 1


def test_a_guarantee_that_no_row_can_have_is_refused():
    """Where every missing cell is filled, a patient who is emptied has the row of the fills, not of zeros."""
    with pytest.raises(ValueError, match="neighbours must be replace-one: the dictionary fills every"):
        plan(neighbours="add-remove")


def test_patients_of_several_rows_are_averaged_or_merged_where_a_bound_is_fitted():
    """Else the moment of a patient with one row is smaller than their part of the mean."""
    with pytest.raises(ValueError, match="counting must be averaged or merged"):
        plan(patient_column="id", counting=3)
    assert plan("public", patient_column="id", counting=3).counting == 3
