"""A hospital of the study: a process that answers the plan in a folder of its own."""

import multiprocessing
import os
import shutil
import sys
from contextlib import redirect_stdout
from multiprocessing.process import BaseProcess
from pathlib import Path

from dppca_core.join.__main__ import main as join
from dppca_core.joint.plan import PlannedHospital

HERE = Path(__file__).parent


def start(folder: Path, hospital: PlannedHospital, words: str) -> BaseProcess:
    """Give a hospital a folder with the plan and its own table, and start its process there."""
    folder.mkdir()
    for name in ("plan.json", f"{hospital.name}.csv"):
        shutil.copy(HERE / name, folder)
    context = multiprocessing.get_context("forkserver")
    # What all of them import is imported once.
    context.set_forkserver_preload([__name__, "dp_accounting", "opendp.prelude"])
    process = context.Process(target=answer, args=(folder, hospital, words))
    process.start()
    return process


def answer(folder: Path, hospital: PlannedHospital, words: str) -> None:
    """Answer the plan for a hospital, in its own folder and from its own book of accounts."""
    os.chdir(folder)
    os.environ["DPPCA_ACCOUNTS"] = str(folder / "book")
    given = ["plan.json", f"{hospital.name}.csv", "--hospital", hospital.name]
    given += ["--limit", f"{hospital.epsilon:g}", "--yes", "--words", words]
    with (folder / "said.txt").open("w", encoding="utf-8") as said, redirect_stdout(said):
        sys.exit(join(given))
