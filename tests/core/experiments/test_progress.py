"""Bars are drawn in terminals alone, and Ctrl-C ends a command in one line."""

import json
import os
import signal
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from dppca_core import Budget, SpikedModel
from dppca_core.experiments import Axis, Recipe, progress, studies, variant
from dppca_core.experiments import __main__ as headless
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.papers import __main__ as papers
from dppca_core.experiments.papers import results
from dppca_core.experiments.sweeps import executors, recipe_file
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[3]
MODEL = SpikedModel(d=12, k=2, s=4)
SMALL = Recipe(MODEL, (variant("pca"),), (Axis("epsilon", (0.5, 1.0)),), n=500, repeats=3)
# Some minutes of work.
LONG = Recipe(SpikedModel(d=200, k=2, s=9), (variant("pca"),), (Axis("n", (500, 600)),), repeats=20_000)


def start(recipe: Recipe, folder: Path, executor: str, error: int) -> subprocess.Popen[str]:
    path = folder / "recipe.json"
    path.write_text(json.dumps(recipe_file.to_dict(recipe)), encoding="utf-8")
    words = [sys.executable, "-m", "dppca_core.experiments", str(path), "--out", str(folder / "out.csv")]
    return subprocess.Popen(
        [*words, "--executor", executor], cwd=ROOT, stderr=error, text=True, start_new_session=True
    )


def test_a_terminal_has_a_bar(tmp_path):
    terminal, other_end = os.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    with start(SMALL, tmp_path, "serial", other_end) as command:
        os.close(other_end)
        shown = b""
        with suppress(OSError):  # Linux's answer once the other end is closed
            while part := os.read(terminal, 4096):
                shown += part
        assert command.wait(PATIENCE_SECONDS) == 0
    os.close(terminal)
    assert b"6/6" in shown and b"cells" in shown and shown.count(b"\n") == 1


def test_a_log_has_no_bar(capfd):
    with progress.bar("runs") as report:
        report(0, 4)
        report(4, 4)
    studies.compare(MODEL, ["pca"], Budget(1.0, 1e-6), n=500, values=(), repeats=1)
    assert capfd.readouterr() == ("", "")


def test_a_command_ends_in_one_line_when_it_is_stopped(tmp_path):
    """Ctrl-C reaches the workers of the terminal's group too, which say nothing."""
    with start(LONG, tmp_path, "cores", subprocess.PIPE) as command:
        while not command.stderr.readline().startswith("0 of 40,000 cells"):
            assert command.poll() is None
        while "cells" not in command.stderr.readline():  # a task has ended, so workers run
            assert command.poll() is None
        os.killpg(command.pid, signal.SIGINT)
        lines = command.stderr.read().splitlines()
        assert command.wait(PATIENCE_SECONDS) == progress.STOPPED == 130
    assert lines[-1].startswith(f"stopped: {tmp_path}/out.csv has ") and lines[-1].endswith("from there")
    assert [line for line in lines[:-1] if " of 40,000 cells" not in line] == []


def interrupt(*_: object, **__: object):
    raise KeyboardInterrupt


def test_a_figure_and_a_paper_end_in_one_line_too(tmp_path, monkeypatch, capsys):
    path = tmp_path / "recipe.json"
    path.write_text('{"figure": "bounds.figure_2", "arguments": {}}', encoding="utf-8")
    monkeypatch.setattr(FigureRecipe, "table", interrupt)
    monkeypatch.setattr(results, "remake", interrupt)
    kept = []
    monkeypatch.setattr(executors.Cores, "kill", lambda self: kept.append(self))
    for main in (headless.main, papers.main):
        arguments = [str(path), "--out", str(tmp_path / "out.csv")] if main is headless.main else ["ge-3a"]
        assert progress.stoppable(lambda main=main, arguments=arguments: main(arguments)) == 130
        assert capsys.readouterr() == ("", "stopped\n")
    assert not (tmp_path / "out.csv").exists()
    assert len(kept) == 1  # the paper's pool, for whose tasks the program would wait
    assert progress.stoppable(lambda: 2) == 2 and progress.stoppable(lambda: None) == 0


def test_other_errors_are_not_hidden():
    with pytest.raises(ZeroDivisionError):
        progress.stoppable(lambda: 1 // 0)
