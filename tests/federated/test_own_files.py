"""A hospital's own files: Parquet and CSV say the same, and what is wrong in them is said by its name."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dppca_core import Budget, Cohort, datasets, tables
from dppca_core.federated.plan import Plan, PlannedColumn, columns_of
from dppca_core.federated.protocol import Noise
from dppca_core.mechanisms.paid_lengths import Layout
from dppca_core.tables import Column, Schema
from dppca_core.tables.layout import layout_of
from examples.flower import demo, demo_hospitals
from examples.flower.own_files import OwnFiles

PLAN = demo.plans(4.0)[0]
LIMIT = Budget(9.0, 1e-3)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    simulations = [{PLAN.run: {"seed": [1, 2]}}, {"other": {"silent": True}}, {}]
    dealt = demo_hospitals.write_breast_cancer(
        tmp_path, [PLAN], seed=demo.SEED, limit=LIMIT, simulations=simulations
    )
    return list(dealt.values())


def test_rows_become_the_moment_of_the_simulation(files):
    cohort = datasets.cohort(demo_hospitals.TABLE, demo.SIZES, demo.SEED)
    for hospital, path in enumerate(files):
        state = OwnFiles.read(path).state(PLAN.run)
        assert (state.hospital, state.limit) == (hospital, LIMIT)
        np.testing.assert_allclose(state.provider.moment.dense(), cohort[hospital].moment.dense(), atol=1e-12)


def test_noise_is_simulated_in_the_named_run_alone(files):
    assert OwnFiles.read(files[0]).state(PLAN.run).noise == Noise((1, 2))
    assert OwnFiles.read(files[1]).state(PLAN.run).noise == Noise()


def test_rows_are_read_again_when_they_change(files):
    assert OwnFiles.read(files[2]).state(PLAN.run).provider.n == demo.SIZES[2]
    rows = files[2].with_name("patients.csv")
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match="has 188 patients where the plan says 189"):
        OwnFiles.read(files[2]).state(PLAN.run)


def test_a_run_without_a_plan_of_its_own_is_refused(files):
    with pytest.raises(ValueError, match="Hospital 1 did not agree to run 'other'"):
        OwnFiles.read(files[0]).state("other")
    files[0].write_text(files[0].read_text().replace("Hospital 1", "Hospital 9"))
    with pytest.raises(ValueError, match="Hospital 9 is not one of the hospitals of run"):
        OwnFiles.read(files[0]).state(PLAN.run)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rows": "absent.csv"}, "absent.csv cannot be read"),
        ({"rows": "hospital.json"}, "must be a .csv or .parquet file, got hospital.json"),
        ({"rows": "hospital.csv"}, "hospital.csv has no column 'mean radius'"),
        ({"constants": "absent.json"}, "absent.json cannot be read"),
        ({"more": 1}, "hospital.json must have constants, keeps, name, plans, rows"),
        ({"simulation": {PLAN.run: {"noise": 0}}}, "simulation may have seed, shared and silent"),
        ({"limit": {"epsilon": -1.0, "delta": 1e-3}}, "epsilon must be positive"),
    ],
)
def test_what_is_wrong_is_named(files, changed, message):
    files[2].with_name("hospital.csv").write_text("age\n4\n")
    files[2].write_text(json.dumps(json.loads(files[2].read_text()) | changed))
    with pytest.raises(ValueError, match=message):
        OwnFiles.read(files[2]).state(PLAN.run)


@pytest.mark.parametrize("name", ["hospital.json", "constants.json", "patients.csv", "plan"])
def test_a_file_in_another_encoding_is_named(files, name):
    plan = files[2].parent / "plans" / f"{PLAN.run}.json"
    file = plan if name == "plan" else files[2].with_name(name)
    file.write_bytes(file.read_bytes() + "größe".encode("latin-1"))
    with pytest.raises(ValueError, match=rf"^{file.name} cannot be read: it is not in UTF-8$"):
        OwnFiles.read(files[2]).state(PLAN.run)


@pytest.mark.parametrize("cell", ["", "high", "inf"])
def test_a_cell_without_a_number_is_named_by_its_column(files, cell):
    rows = files[2].with_name("patients.csv")
    frame = pd.read_csv(rows, dtype=str)
    frame.loc[3, "mean texture"] = cell
    frame.to_csv(rows, index=False)
    with pytest.raises(ValueError, match="has cells without a number in column 'mean texture'"):
        OwnFiles.read(files[2]).state(PLAN.run)


def sexes(files: Path, plan: Plan) -> Schema:
    """Write a hospital's rows of two columns, their dictionary, and the plan; return the dictionary."""
    age = Column("age", "number", 0, 120, usual=70.0)
    schema = Schema((age, Column("sex", "category", categories=("female", "male"))), bound=0.8)
    rng, n = np.random.default_rng(0), demo.SIZES[0]
    frame = pd.DataFrame({"age": rng.integers(0, 120, n), "sex": rng.choice(["female", "male"], n)})
    frame.to_csv(files.with_name("rows.csv"), index=False)
    files.with_name("constants.json").write_text(schema.to_json())
    files.write_text(json.dumps(json.loads(files.read_text()) | {"rows": "rows.csv"}))
    demo_hospitals.write_plan(files.parent.parent, plan)
    return schema


def fitted(*columns: PlannedColumn) -> Plan:
    """Return the plan of one component with a fitted bound, in which patients may be left out."""
    d = sum(len(column.middle) for column in columns)
    plan = replace(PLAN, method="dpdis_pca", options=(), d=d, k=1, fitted="centred", columns=columns)
    return replace(plan, complete=False)


def test_a_fitted_bound_takes_rows_that_nothing_has_shortened(files):
    """Only of a dictionary that encodes the columns which the plan states; plans without take them at 0.8."""
    number, category = PlannedColumn(0, True, (-1 / 6,)), PlannedColumn(2, True, (0.0, 0.0))
    plan = fitted(number, category)
    schema = sexes(files[0], plan)
    assert columns_of(layout_of(schema)) == plan.columns
    rows = OwnFiles.read(files[0]).state(PLAN.run).provider.moment.rows
    encoded = tables.encode(schema, tables.read(files[0].with_name("rows.csv"), "rows.csv").table).whole
    np.testing.assert_array_equal(rows, encoded)
    assert np.linalg.norm(rows, axis=1).max() > 1.0
    demo_hospitals.write_plan(files[0].parent.parent, replace(plan, fitted="", columns=(), complete=True))
    shortened = OwnFiles.read(files[0]).state(PLAN.run).provider.moment.rows
    assert np.linalg.norm(shortened, axis=1).max() <= 1.0
    for columns in ((category, number), (number._replace(middle=(0.0,)), category)):
        demo_hospitals.write_plan(files[0].parent.parent, fitted(*columns))
        with pytest.raises(ValueError, match=r"^constants\.json encodes other columns than the plan states$"):
            OwnFiles.read(files[0]).state(PLAN.run)


def test_a_fitted_bound_needs_a_dictionary(files):
    plan = fitted(*columns_of(Layout.of_numbers(PLAN.d)))
    demo_hospitals.write_plan(files[0].parent.parent, plan)
    with pytest.raises(ValueError, match=r"^constants\.json must be a data dictionary for a fitted bound$"):
        OwnFiles.read(files[0]).state(PLAN.run)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_data_dictionary_encodes_rows_as_the_page_does(files, suffix):
    """With categories, codes, other words, fills, and a row that is left out and counts as zeros."""
    schema = Schema(
        (
            Column("age", "number", 0, 120, missing_codes=("-1",)),
            Column("weight", "number", 30, 200, fill=80.0, missing_codes=("<5", "999")),
            Column("sex", "category", categories=("female", "male"), fill="", synonyms=(("m", "male"),)),
        ),
        bound=0.8,
    )
    rng = np.random.default_rng(0)
    n = demo.SIZES[0]
    frame = pd.DataFrame({"age": rng.integers(20, 90, n), "weight": rng.uniform(40, 120, n).astype(str)})
    frame["sex"] = rng.choice(["female", "M ", "male", "?"], n)
    frame.loc[3, "age"], frame.loc[4, "weight"], frame.loc[5, "weight"] = -1, "<5", "999.0"
    rows = files[0].with_name(f"rows.{suffix}")
    frame.to_csv(rows, index=False) if suffix == "csv" else frame.to_parquet(rows, index=False)
    files[0].with_name("constants.json").write_text(schema.to_json())
    files[0].write_text(json.dumps(json.loads(files[0].read_text()) | {"rows": rows.name}))
    plan = replace(PLAN, d=schema.d)
    demo_hospitals.write_plan(files[0].parent.parent, plan)
    encoded = tables.encode(schema, tables.from_frame(frame, "rows").table)
    assert (encoded.owner.dropped, encoded.owner.missing[:2]) == (1, (1, 2))
    expected = Cohort.from_rows([encoded.whole], schema.bound)[0]
    provider = OwnFiles.read(files[0]).state(PLAN.run).provider
    assert provider.n == expected.n == n
    np.testing.assert_array_equal(provider.moment.dense(), expected.moment.dense())
