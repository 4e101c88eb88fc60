"""A demonstration: the breast-cancer table dealt to folders, one for each hospital, as if it were theirs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dppca_core import datasets
from dppca_core.federated.plan import Plan, to_dict
from dppca_core.types import Budget

TABLE = "breast_cancer"
_CONSTANTS = Path(datasets.__file__).resolve().parents[1] / "data" / f"{TABLE}.json"


def deal(
    folder: Path,
    plans: Sequence[Plan],
    *,
    seed: int,
    limit: Budget,
    simulations: Sequence[Mapping[str, Any]] | None = None,
) -> dict[str, Path]:
    """Write each hospital's folder and the server's plans; each hospital's name and hospital.json.

    The first hospital keeps Parquet, the others CSV; patients are those of `datasets.cohort` at this seed.
    limit: what all runs together may spend. simulations: what replaces each hospital's true noise. All plans
    are of the same hospitals.
    """
    names, sizes = plans[0].names, plans[0].sizes
    public = json.loads(_CONSTANTS.read_text(encoding="utf-8"))
    columns = [feature["name"] for feature in public["features"]]
    values, _ = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(values))
    found = {}
    for number, (name, end, size) in enumerate(zip(names, np.cumsum(sizes), sizes, strict=True)):
        own = folder / name
        (own / "plans").mkdir(parents=True)
        frame = pd.DataFrame(values[order[end - size : end]], columns=columns)
        if number == 0:
            frame.to_parquet(own / "patients.parquet")
        else:
            frame.to_csv(own / "patients.csv", index=False)
        (own / "constants.json").write_text(json.dumps(public), encoding="utf-8")
        says: dict[str, Any] = {
            "name": name,
            "plans": "plans",
            "rows": "patients.parquet" if number == 0 else "patients.csv",
            "constants": "constants.json",
            "keeps": "kept",
            "limit": asdict(limit),
        }
        if simulations is not None:
            says["simulation"] = simulations[number]
        found[name] = own / "hospital.json"
        found[name].write_text(json.dumps(says), encoding="utf-8")
    (folder / "server").mkdir()
    for plan in plans:
        agree(folder, plan)
    return found


def agree(folder: Path, plan: Plan) -> None:
    """Give server and hospitals a copy of a plan each."""
    text = json.dumps(to_dict(plan), indent=1)
    (folder / "server" / f"{plan.run}.json").write_text(text, encoding="utf-8")
    for name in plan.names:
        (folder / name / "plans" / f"{plan.run}.json").write_text(text, encoding="utf-8")


def agenda(
    folder: Path, plans: Sequence[Plan], *, seed: int, policies: Mapping[str, Mapping[str, Any]] | None = None
) -> Path:
    """Write what the ServerApp shall do: each plan in turn, recorded in server/RUN.jsonl. policies: by run."""
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
