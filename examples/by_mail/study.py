"""Run a joint study by mail: five hospitals, each a process with a folder and a book of accounts of its own.

    make joint-study
    python -m examples.by_mail.study

Nobody listens on a port. Each hospital gets the plan and its own table and runs `python -m dppca_core.join`;
then `python -m dppca_core.combine` puts the files together. As the patients are invented, the result is
compared with all tables in one place, without privacy. All is in a temporary folder, and nothing is left.
"""

import json
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from dppca_core import tables
from dppca_core.arrays import Array
from dppca_core.combine.__main__ import main as combine
from dppca_core.joint.plan import JointPlan
from dppca_core.numerics import linalg, subspace_metrics
from examples.by_mail import hospitals
from examples.by_mail.hospitals import HERE


def plan() -> JointPlan:
    return JointPlan.from_json((HERE / "plan.json").read_bytes())


def components(folder: Path) -> Array:
    with zipfile.ZipFile(folder / "joint-study.zip") as archive:
        return np.array(json.loads(archive.read("release.json"))["components"]).T


def in_one_place(agreed: JointPlan) -> Array:
    """Return the components of all tables in one place, without privacy, (d, k)."""
    parts = []
    for hospital in agreed.hospitals:
        table = tables.read(HERE / f"{hospital.name}.csv", hospital.name)
        parts.append(tables.encode(agreed.dictionary, table.table, table.marks).rows)
    return linalg.top_eigenspace(np.corrcoef(np.concatenate(parts), rowvar=False), agreed.k)


def run(folder: Path) -> int:
    """Run the study in a folder; return the exit code of the first command that fails, or 0."""
    agreed = plan()
    words = " ".join(agreed.words[:2])
    running = [hospitals.start(folder / hospital.name, hospital, words) for hospital in agreed.hospitals]
    files = []
    for hospital, process in zip(agreed.hospitals, running, strict=True):
        process.join()
        if process.exitcode:
            return process.exitcode
        files.append(folder / hospital.name / hospital.file_name)
        size = files[-1].stat().st_size
        print(f"{hospital.name} has paid ε = {hospital.epsilon:g}, and sends {size:,} bytes")
    return combine([str(HERE / "plan.json"), *map(str, files), "--out", str(folder / "joint-study.zip")])


def main() -> int:
    agreed = plan()
    with tempfile.TemporaryDirectory(prefix="joint-study-") as folder:
        if code := run(Path(folder)):
            return code
        distance = subspace_metrics.sin_theta(in_one_place(agreed), components(Path(folder)))
    guess = subspace_metrics.random_guess(agreed.d, agreed.k)
    print(f"Distance to all tables in one place, without privacy: {distance:.2f}. A guess has {guess:.2f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
