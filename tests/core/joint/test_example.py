"""The example of five invented hospitals: its files are what its programs write, and it runs to its end."""

import multiprocessing

import pandas as pd

from dppca_core import sin_theta
from dppca_core.plan.__main__ import main as write_plan
from examples.by_mail import hospitals, patients, study


def test_its_tables_are_invented_by_its_program():
    for name, table in patients.tables().items():
        pd.testing.assert_frame_equal(pd.read_csv(study.HERE / f"{name}.csv"), table)


def test_its_plan_is_that_of_the_documentation(tmp_path, capsys):
    agreed = study.plan()
    given = [
        f"--hospital={each.name}:{each.patients}:{each.epsilon:g}:{each.delta:g}" for each in agreed.hospitals
    ]
    given += ["--name", agreed.name, "--rows", agreed.rows, "--out", str(tmp_path / "plan.json")]
    assert write_plan([str(study.HERE / "dictionary.json"), *given]) == 0
    assert (tmp_path / "plan.json").read_bytes() == (study.HERE / "plan.json").read_bytes()
    assert {each.name: each.patients for each in agreed.hospitals} == patients.HOSPITALS
    capsys.readouterr()


def test_it_runs_to_its_end(tmp_path, monkeypatch, capfd):
    """Five processes; runs err .07 to .2, and a guess 1.3."""
    fork = multiprocessing.get_context("fork")  # what is imported here need not be imported again
    monkeypatch.setattr(hospitals.multiprocessing, "get_context", lambda kind: fork)
    assert study.run(tmp_path) == 0
    assert "All 5 hospitals have answered." in capfd.readouterr().out
    assert sin_theta(study.in_one_place(study.plan()), study.components(tmp_path)) < 0.6
