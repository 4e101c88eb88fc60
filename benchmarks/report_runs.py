"""Measure what docs/report.md states beyond the papers' stored results, and keep it in data/report.json.

    python -m benchmarks.report_runs [PART ...]

Without a PART all are measured, in some six minutes of one processor; with some, the others stay as they are.
All at epsilon = 1, delta = 1e-5, one patient replaced. Seeds are fixed. Errors are medians of |sin Theta|_F.

    cases    the closed form of two stages and the chance of keeping all features, against RUNS runs each
    steps    which step of two stages gains what
    weak     signals in every column: one moment, two stages, stacked rounds
    skewed   what rows of length 1 err without noise where residuals are skewed
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks import two_stages
from dppca_core import METHODS, Budget, SpikedModel, sin_theta
from dppca_core.arrays import Array
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.paths import DATA

FILE = DATA / "report.json"
RUNS, FEW = 20, 7
BUDGET = Budget(1.0, 1e-5)
Records = list[dict[str, Any]]
STEPS_AT = ({"d": 400, "s_hat": 30, "n": 10_000}, {"d": 1000, "s_hat": 50, "n": 5_000})
K, SPARSITY = 5, 10  # of STEPS_AT
# The words of the report, the method, and its options; None for s_hat, or True for support, is filled in.
STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("one moment, public bound", "analyze_gauss", {}),
    ("one moment, rows of length 1", "analyze_gauss", {"scaling": "unit"}),
    ("one moment, public bound, sparse step", "analyze_gauss_sparse", {"s_hat": None}),
    ("one moment, rows of length 1, sparse step", "analyze_gauss_sparse", {"s_hat": None, "scaling": "unit"}),
    (
        "two moments, public bound",
        "two_stage",
        {"s_hat": None, "stage_one": "moment", "scaling": "inside", "shrink": False},
    ),
    ("two moments, rows of length 1", "two_stage", {"s_hat": None, "stage_one": "moment", "shrink": False}),
    ("rounds, then a moment", "two_stage", {"s_hat": None, "shrink": False}),
    ("rounds, then a moment, shrunk: two stages", "two_stage", {"s_hat": None}),
    ("sparse PCA, no privacy", "sparse_pca", {"s_hat": None}),
    ("sparse PCA, shrunk, no privacy", "sparse_pca_shrunk", {"s_hat": None}),
    ("true features known, no privacy", "oracle_pca", {"support": True}),
)
SPIKES, WEAK_ROWS = (8.0, 4.0, 3.0), 20_000
WEAK = (
    ("one moment", "analyze_gauss", {"scaling": "unit"}),
    ("two stages", "two_stage", {"s_hat": 50}),
    ("stacked rounds", "stacked_rounds", {}),
)
# Rows are x = sqrt(20) u z + sqrt(5) e, z normal, e residuals of mean 0 and variance 1 for each feature.
SKEWED_ROWS, SKEWED_FEATURES, SKEWED_SPIKE, SKEWED_BULK = 400_000, 8, 20.0, 5.0
Residuals = Callable[[np.random.Generator, tuple[int, int]], Array]
RESIDUALS: dict[str, Residuals] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    # Of mean e^(1/2) and variance e (e - 1).
    "lognormal": lambda rng, shape: (rng.lognormal(size=shape) - np.exp(0.5)) / np.sqrt(np.e * (np.e - 1)),
}


def cases() -> Records:
    """Return each case of `benchmarks.two_stages`, with what is predicted of it and what was seen."""
    records = []
    for case in two_stages.CASES:
        (error, chance), (median, share) = case.predicted(), case.seen(RUNS)
        seen = {"predicted": error, "chance": chance, "seen": median, "share": share}
        records.append({**asdict(case), **seen})
        print(records[-1], flush=True)
    return records


def steps() -> Records:
    records: Records = [{"words": words, "seen": []} for words, _, _ in STEPS]
    for sizes in STEPS_AT:
        errors: dict[str, list[float]] = {words: [] for words, _, _ in STEPS}
        for run in range(RUNS):
            model = SpikedModel(d=sizes["d"], k=K, s=SPARSITY, seed=run)
            cohort = model.draw(sizes["n"], 1, np.random.default_rng([run, 1]))
            known = {"s_hat": sizes["s_hat"], "support": np.flatnonzero(model.basis.any(axis=1))}
            for words, name, chosen in STEPS:
                options = chosen | {key: known[key] for key in chosen if key in known}
                rng = np.random.default_rng([run, 2])
                fit = METHODS[name].fit(cohort, k=K, budget=BUDGET, rng=rng, **options)
                errors[words].append(sin_theta(fit.basis, model.basis))
        for record in records:
            record["seen"].append({**sizes, "median": float(np.median(errors[record["words"]]))})
    return records


def weak() -> Records:
    records = []
    for spike in SPIKES:
        errors: dict[str, list[float]] = {words: [] for words, _, _ in WEAK}
        for run in range(FEW):
            # Its spikes are above a bulk of 1, which adds to them.
            model = SpikedModel(d=400, k=2, s=400, spike=spike + 1, bulk=(1.0, 1.0), seed=run)
            cohort = model.draw(WEAK_ROWS, 1, np.random.default_rng([run, 1]))
            for words, name, options in WEAK:
                rng = np.random.default_rng([run, 2])
                fit = METHODS[name].fit(cohort, k=model.k, budget=BUDGET, rng=rng, **options)
                errors[words].append(sin_theta(fit.basis, model.basis))
        medians = {words: float(np.median(seen)) for words, seen in errors.items()}
        records.append({"spike": spike, "d": model.d, "n": WEAK_ROWS, "k": model.k, **medians})
    return records


def skewed() -> Records:
    """Return the errors of unit rows and of plain PCA, without noise, on the same rows."""
    records = []
    for residuals, draw in RESIDUALS.items():
        errors = []
        for run in range(FEW):
            rng = np.random.default_rng(run)
            truth = np.linalg.qr(rng.standard_normal((SKEWED_FEATURES, 1)))[0]
            scores = np.sqrt(SKEWED_SPIKE) * rng.standard_normal((SKEWED_ROWS, 1))
            rows = scores @ truth.T + np.sqrt(SKEWED_BULK) * draw(rng, (SKEWED_ROWS, SKEWED_FEATURES))
            parts = (unit_rows(rows), rows)
            errors.append([sin_theta(np.linalg.eigh(part.T @ part)[1][:, -1:], truth) for part in parts])
        unit, plain = np.median(errors, axis=0).tolist()
        sizes = {"d": SKEWED_FEATURES, "n": SKEWED_ROWS, "spike": SKEWED_SPIKE, "bulk": SKEWED_BULK}
        records.append({"residuals": residuals, **sizes, "unit": unit, "plain": plain})
    return records


PARTS: dict[str, Callable[[], Records]] = {"cases": cases, "steps": steps, "weak": weak, "skewed": skewed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}")
    wanted = parser.parse_args().parts or list(PARTS)
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name in wanted:
        stored[name] = {
            "command": f"python -m benchmarks.report_runs {name}",
            "date": date.today().isoformat(),
            "versions": {package: version(package) for package in ("numpy", "scipy")},
            "runs": RUNS if name in ("cases", "steps") else FEW,
            "records": PARTS[name](),
        }
        FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
