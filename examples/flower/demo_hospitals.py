"""Hospitals on this machine, to demonstrate: a folder for each, with what would be its own in earnest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dppca_core.arrays import Array
from dppca_core.federated.plan import Plan, to_dict
from dppca_core.paths import DATA
from dppca_core.privacy import Budget

TABLE = "breast_cancer"


def write_breast_cancer(
    folder: Path, plans: Sequence[Plan], *, seed: int, limit: Budget, **options: Any
) -> dict[str, Path]:
    """Call `write_hospitals` with the breast-cancer table, divided as `datasets.cohort` does at this seed."""
    constants = json.loads((DATA / f"{TABLE}.json").read_text(encoding="utf-8"))
    values, _ = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(values))
    parts = np.split(values[order], np.cumsum(plans[0].sizes)[:-1])
    return write_hospitals(folder, plans, parts, constants, limit=limit, **options)


def write_hospitals(
    folder: Path,
    plans: Sequence[Plan],
    parts: Sequence[Array],
    constants: Mapping[str, Any],
    *,
    limit: Budget,
    simulations: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Path]:
    """Write each hospital's folder and the server's plans; return every hospital.json by its hospital's name.

    parts: hospitals' rows, each (n_i, d). constants: as for `own_files`. limit: what all runs together may
    spend. simulations: what replaces each hospital's true noise. The last hospital keeps CSV, the others
    Parquet. All plans are of the same hospitals.
    """
    names = plans[0].names
    columns = [feature["name"] for feature in constants["features"]]
    files = {}
    for number, (name, part) in enumerate(zip(names, parts, strict=True)):
        hospital_folder = folder / name
        (hospital_folder / "plans").mkdir(parents=True)
        frame = pd.DataFrame(part, columns=columns)
        rows = "patients.csv" if number == len(parts) - 1 else "patients.parquet"
        save = frame.to_csv if rows == "patients.csv" else frame.to_parquet
        save(hospital_folder / rows, index=False)
        (hospital_folder / "constants.json").write_text(json.dumps(constants), encoding="utf-8")
        settings: dict[str, Any] = {
            "name": name,
            "plans": "plans",
            "rows": rows,
            "constants": "constants.json",
        }
        settings |= {"keeps": "kept", "limit": asdict(limit)}
        settings |= {"simulation": simulations[number]} if simulations else {}
        files[name] = hospital_folder / "hospital.json"
        files[name].write_text(json.dumps(settings), encoding="utf-8")
    (folder / "server").mkdir()
    for plan in plans:
        write_plan(folder, plan)
    return files


def write_plan(folder: Path, plan: Plan) -> None:
    text = json.dumps(to_dict(plan), indent=1)
    (folder / "server" / f"{plan.run}.json").write_text(text, encoding="utf-8")
    for name in plan.names:
        (folder / name / "plans" / f"{plan.run}.json").write_text(text, encoding="utf-8")


def write_agenda(
    folder: Path, plans: Sequence[Plan], *, seed: int, policies: Mapping[str, Mapping[str, Any]] | None = None
) -> Path:
    """Write what the ServerApp shall do: plans in turn, recorded in server/RUN.jsonl. policies: by run."""
    items = [
        {
            "plan": f"{plan.run}.json",
            "record": f"{plan.run}.jsonl",
            "seed": seed,
            "policy": dict((policies or {}).get(plan.run, {})),
        }
        for plan in plans
    ]
    path = folder / "server" / "agenda.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return path
