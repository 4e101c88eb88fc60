"""A patient counts once, whatever rows they have: what a release gets where a column names patients."""

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import Column, Schema, patients
from dppca_core.tables.encode import prepare
from dppca_core.tables.patients import AVERAGED, MERGED
from tests.core.release.summing import sum_rows

D, N = 4, 700
NAMES = [f"c{i}" for i in range(D)]
SCHEMA = Schema(tuple(Column(name, "number", -3, 3, fill=0.5 if i else None) for i, name in enumerate(NAMES)))


def visits():
    """Return rows of 700 patients, scattered; some have missing cells, some no row without."""
    rng = np.random.default_rng(3)
    who = rng.permutation(np.repeat(np.arange(N), rng.integers(1, 7, N)))
    visit = 0.2 * rng.standard_normal((len(who), D)) + 0.5
    values = rng.standard_normal((N, D))[who] * [2, 1.2, 0.4, 0.3] + visit
    frame = pd.DataFrame(np.where(rng.random((len(who), D)) < 0.2, np.nan, values), columns=NAMES)
    frame["who"], frame["where"] = [f" Rec-{i} " for i in who], rng.choice(["N", "S", "7"], len(who))
    return frame


def table(frame, by=None, column="who", counting=AVERAGED, schema=SCHEMA):
    raw = tables.read(frame.to_csv(index=False).encode(), "t")
    return prepare(raw, schema, by, 1, column, counting)


@pytest.mark.parametrize(
    ("counting", "stated"),
    [(AVERAGED, "averaged"), (MERGED, "merged"), (5, "at most 5")],
)
def test_a_release_states_how_rows_of_a_patient_count_where_a_column_names_patients(counting, stated):
    public = table(visits(), counting=counting).public
    assert public["rows of a patient"] == stated
    assert public.get("rows kept of a patient") == (5 if counting == 5 else None)
    nobody = table(visits().drop(columns="who").fillna(0.5), "where", None, counting).public
    assert public.keys() - nobody.keys() == {key for key in public if key.startswith("rows")}


@pytest.mark.parametrize("counting", [AVERAGED, 3])
def test_all_rows_of_a_patient_move_the_sum_no_more_than_one_row_could(counting, monkeypatch):
    """By sqrt 2 of a row's greatest, here nearly reached; with weights of 1 by more."""
    others = pd.DataFrame(np.zeros((600, D)), columns=NAMES).assign(who=np.arange(600))
    mine, theirs = np.zeros((2, 40, D))
    mine[:, 0], theirs[:, 1] = 3.0, 3.0

    def moved():
        sums = []
        for rows in (mine, theirs):
            patient = pd.DataFrame(rows, columns=NAMES).assign(who=600)
            frame = pd.concat([others, patient]).sample(frac=1, random_state=0)
            (part,) = table(frame, counting=counting, schema=Schema(SCHEMA.columns, bound=0.5)).parts
            total = sum_rows([part], D)
            sums.append(total.total / 4.0**total.bits)
        return np.linalg.norm(sums[0] - sums[1])

    assert 1.35 < moved() <= np.sqrt(2)
    monkeypatch.setattr(patients, "row_weights", lambda counted, most=None: np.ones((len(counted), 1)))
    assert moved() > 2 * np.sqrt(2)


def with_nameless(frame):
    return frame.assign(who=frame["who"].where(np.arange(len(frame)) != len(frame) - 2))


REFUSED = {
    "nameless": (with_nameless, {}, "'who' names no patient"),
    "measurement": (lambda frame: frame, {"column": "c1"}, "'c1' names the patients and cannot count"),
    "none left": (lambda frame: frame.assign(c0=np.nan), {}, "Fewer than two patients"),
    "no first row": (
        lambda frame: pd.concat([frame, frame.assign(where="Z")], ignore_index=True),
        {"by": "where"},
        "A hospital has only patients who were in another",
    ),
}


@pytest.mark.parametrize(("change", "asked", "says"), REFUSED.values(), ids=list(REFUSED))
def test_what_does_not_fit_is_one_sentence(change, asked, says):
    with pytest.raises(ValueError, match=r"^[^\n]+\.$") as no:
        table(change(visits()), **asked)
    assert says in str(no.value) and "Rec-" not in str(no.value)


@pytest.mark.parametrize("counting", ["median", 0])
def test_rows_of_a_patient_count_in_no_other_way(counting):
    with pytest.raises(ValueError, match="counting must be"):
        table(visits(), counting=counting)


@pytest.mark.parametrize("counting", [AVERAGED, MERGED, 2])
def test_a_patient_with_several_rows_is_usable_if_one_row_is(counting):
    """And where at most M rows count, each is 1/M of a patient. Of the columns only c0 has no fill."""
    frame = visits()
    held = table(frame, counting=counting)
    usable = frame.dropna(subset=["c0"]).groupby("who").size()
    expected = usable.clip(upper=2).sum() / 2 if counting == 2 else len(usable)
    assert held.usable == int(expected + 0.5) < held.n
