"""Which tables are alike: what was done to a table of the same patients is noticed, and chance alone is not.

All draws are seeded. The rates are those of `sketches`, and each statistical test states what it may miss.
"""

import numpy as np
import pandas as pd
import pytest

from dppca_core import tables
from dppca_core.tables import content
from dppca_core.tables.sketches import KEPT, Sketch, Sketcher, siphash

SECRET, N = bytes(range(32)), 500


def patients(seed: int = 0, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(50, 9, (n, 5)).round(2), columns=["age", "bmi", "pulse", "crea", "hb"])
    names = [f"p{number}" for number in rng.integers(0, 2**60, n)]
    return frame.assign(sex=rng.choice(["f", "m"], n), clinic=rng.choice(["a", "b", "c"], n), name=names)


def sketch(frame: pd.DataFrame, column: str | None = None, secret: bytes = SECRET) -> Sketch:
    sketcher = Sketcher(secret, column)
    content.content_keys(frame, sketcher)
    return sketcher.sketch


def renamed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={name: f"{name} of the patient" for name in frame.columns})


def test_the_digest_is_siphash():
    """The authors' own vector of eight bytes."""
    words = np.frombuffer(bytes(range(8)), "<u8").astype(np.uint64)
    assert siphash(np.repeat(words, 3), bytes(range(16))).tolist() == [0x93F5F5799A932462] * 3


PLANTED = {
    "a row fewer": ("rows", lambda t: t.iloc[1:]),
    "a duplicate row": ("rows", lambda t: pd.concat([t, t.iloc[:1]])),
    "all rows twice": ("rows", lambda t: pd.concat([t, t])),
    "a column dropped": ("rows", lambda t: t.drop(columns="bmi")),
    "other units": ("rows", lambda t: t.assign(bmi=t["bmi"] * 2.2)),
    "one cell": ("rows", lambda t: t.assign(bmi=[1.0, *t["bmi"][1:]])),
    "capitals": ("rows", lambda t: t.assign(clinic=t["clinic"].str.upper())),
    "capitals, renamed": ("rows", lambda t: renamed(t.assign(clinic=t["clinic"].str.upper()))),
    "two columns, renamed": ("columns", lambda t: renamed(t.assign(sex="f", bmi=t["bmi"] * 2.2))),
    "other units, and a quarter of the rows gone": ("rows", lambda t: t.assign(bmi=t["bmi"] * 2.2)[125:]),
    "a column dropped, and a quarter of the rows gone": ("rows", lambda t: t.drop(columns="bmi")[125:]),
    "a column replaced, and a quarter of the rows gone": (
        "rows",
        lambda t: t.drop(columns="bmi").assign(visit=np.arange(len(t)) * np.pi)[125:],
    ),
    "a row fewer, renamed": ("rows", lambda t: renamed(t.iloc[1:])),
    "a fresh draw of the same form": ("shape", lambda t: patients(1, 480)),
    "all units": ("shape", lambda t: (t.select_dtypes("number") * 2).assign(sex="f", clinic="a")),
}


@pytest.mark.parametrize(("kind", "edit"), PLANTED.values(), ids=list(PLANTED))
def test_a_table_of_the_same_patients_is_noticed(kind, edit):
    frame = patients().drop(columns="name")
    edited = edit(frame).sample(frac=1, random_state=1)
    alike = sketch(edited).likeness(sketch(frame))
    assert alike is not None and alike.kind == kind
    assert tables.content_key(edited) != tables.content_key(frame)


@pytest.mark.parametrize("n", [N, 20_000])
def test_shared_patients_are_noticed_by_their_names(n):
    """5 % of them, in a table of another form: missed with a chance of 10^-11."""
    first, second, shared = patients(1, n), patients(2, n), n // 20
    second.loc[: shared - 1, "name"] = first["name"].sample(shared, random_state=3).to_numpy()
    other = renamed(second.drop(columns=["age", "hb"]))
    assert sketch(first).likeness(sketch(other)) is None  # nobody said which column names the patients
    alike = sketch(first, "name").likeness(sketch(other, "name of the patient"))
    assert alike is not None and alike.kind == "patients"
    assert alike.share == pytest.approx(0.05, abs=0.04)  # four standard deviations of the sample


@pytest.mark.parametrize(("shared", "missed"), [(100, range(1)), (4, range(15, 21))])
def test_how_often_shared_rows_are_missed(shared, missed):
    """Of 2,000: 5 %, missed once in a million, and 0.2 %, where 5 of 512 are needed and 1 is expected."""
    count = 0
    for seed in range(20):
        rng = np.random.default_rng((seed, shared))
        first, second = rng.normal(size=(2000, 3)), rng.normal(size=(2000, 3))
        second[:shared] = first[rng.choice(2000, shared, replace=False)]
        mine = sketch(pd.DataFrame(first, columns=list("abc")))
        count += mine.likeness(sketch(pd.DataFrame(second, columns=list("xyz")))) is None
    assert count in missed


def test_unrelated_tables_of_another_form_are_not_alike():
    """Chance: 64-bit digests of continuous rows, 100 pairs, where a false alarm has less than 10^-10."""
    made = [sketch(renamed(patients(seed)) if seed % 2 else patients(seed)) for seed in range(20)]
    pairs = [first.likeness(second) for first in made[::2] for second in made[1::2]]
    assert len(pairs) == 100 and not any(pairs)
    assert sketch(patients(0)).likeness(sketch(patients(1, 700))) is None  # names agree, the size does not


def test_coarse_columns_do_not_make_tables_alike():
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 4, (n, 2)) for n in (900, 901))
    mine, theirs = pd.DataFrame(first, columns=["a", "b"]), pd.DataFrame(second, columns=["c", "d"])
    assert sketch(mine).likeness(sketch(theirs)) is None


def test_a_sketch_needs_its_secret_and_comes_back_from_a_file():
    frame = patients()
    made = sketch(frame, "name")
    again = Sketch.from_plain(made.to_plain())
    assert again.likeness(made) == ("patients", 1.0)
    assert max(map(len, made.sets.values())) <= KEPT
    assert made.likeness(sketch(frame, "name", SECRET[::-1])) is None
    for plain in ({}, {"rows": 3, "sets": {"rows": "!"}}, {"rows": 3, "sets": {"rows": "AAAA"}}):
        with pytest.raises((KeyError, ValueError)):
            Sketch.from_plain(plain)


def test_batches_do_not_matter():
    frame = patients(3, 20_000)
    whole, shuffled = sketch(frame, "name"), sketch(frame.sample(frac=1, random_state=1), "name")
    assert all((whole.sets[name] == shuffled.sets[name]).all() for name in whole.sets)
