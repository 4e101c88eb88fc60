"""Compare ours with the private PCA of other packages: the same rows, the same budget, one run.

    make bench-peers        # or: python -m benchmarks.peers [--json FILE] [--page FILE] [--quick]

epsilon = 1, delta = 1e-5 (the packages' own PCA takes no delta), k = 3; rows of the sparse population,
s* = 10, scaled to a public bound, n = 10,000 up to d = 50 and 100,000 beyond, and the breast cancer table at
d = 30.
Errors are |sin Theta|_F to the population's directions, of a table to those of its own rows. Each recipe of
a package runs in a process that is stopped at 60 seconds and then has no answer. The packages' own PCA
protects one changed record (replace-one), so all do; recipes that know both relations are shown under
add/remove as well. `--page` writes what a page shows, with times as ratios to ours, and asks PyPI when each
package had its last release.
"""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import measure, peer_recipes
from benchmarks.measure import Spread
from benchmarks.peer_recipes import ABLATIONS, DELTA, EPSILON, KEPT, NOT_PRIVATE, OURS, PEERS, PURE
from dppca_core import Budget, SpikedModel, datasets
from dppca_core.arrays import Array
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.numerics.moments import clip_rows
from dppca_core.privacy import NEIGHBOURS

K, SPARSITY, LIMIT = 3, 10, 60.0
TABLE = "breast_cancer"
PLACES = (8, TABLE, 50, 100, 200, 400)  # what is compared on: numbers of features, and the table
FITS = 21  # draws of noise of ours; the packages, which are slower, get PEER_FITS or what fits into LIMIT
PEER_FITS = 3
BEST = next(iter(OURS))


class Problem(NamedTuple):
    """Hold rows of norm at most 1, (n, d), and the directions to be found, (d, k)."""

    population: str
    rows: Array
    truth: Array


@dataclass(frozen=True)
class Answer:
    """Hold one recipe's result at one of PLACES, without error and seconds where it failed or was stopped.

    kind: "ours", "ablation" (ours without a part), "peer" or "not private". fits: how many fits it is of.
    failed: why there is no answer.
    """

    recipe: str
    kind: str
    neighbours: str
    fits: int = 0
    error: Spread | None = None
    seconds: Spread | None = None
    failed: str = ""


def problem(place: int | str) -> Problem:
    if isinstance(place, str):
        table = datasets.table(place)
        rows = np.concatenate([provider.moment.rows for provider in datasets.cohort(place, (table.n,), 0)])
        return Problem(place, rows, linalg.top_eigenspace(rows.T @ rows, K))
    n = 10_000 if place <= 50 else 100_000
    model = SpikedModel(d=place, k=K, s=min(SPARSITY, place))
    rows = np.concatenate(list(model.rows(n, np.random.default_rng(1))))
    return Problem("sparse population", clip_rows(rows, model.norm_bound(n)), model.basis)


def stopped_at(limit: float, recipe: str, folder: str, neighbours: str, fits: int) -> Answer:
    """Return what a package's recipe answers in a process that is stopped after `limit` seconds."""
    command = [sys.executable, "-m", "benchmarks.peer_recipes", recipe, folder, str(K), neighbours, str(fits)]
    failed = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired as late:
        printed, failed = (late.stdout or b"").decode(), f"no answer in {limit:.0f} s"
    else:
        printed = done.stdout
        if done.returncode:
            failed = "failed: " + done.stderr.strip().splitlines()[-1]
    # The last line may have been cut off where the process was stopped.
    fits_done = [json.loads(line) for line in printed.splitlines() if line.endswith("}")]
    if not fits_done:
        return Answer(recipe, "peer", neighbours, failed=failed)
    return answer(recipe, "peer", neighbours, fits_done)


def answer(recipe: str, kind: str, neighbours: str, results: Sequence[dict[str, float]]) -> Answer:
    spreads = {name: measure.spread([result[name] for result in results]) for name in ("error", "seconds")}
    return Answer(recipe, kind, neighbours, len(results), **spreads)


def compared(problem: Problem, quick: bool) -> Iterator[Answer]:
    plain = peer_recipes.scikit_learn(problem.rows, K, Budget(EPSILON, DELTA))
    yield answer(NOT_PRIVATE, "not private", "", list(peer_recipes.answers(plain, problem.truth, 1)))
    for neighbours in NEIGHBOURS:
        budget = Budget(EPSILON, DELTA, neighbours)
        for kind, recipes in {"ours": OURS, "ablation": ABLATIONS}.items():
            for name, recipe in recipes.items():
                fit = recipe(problem.rows, K, budget)
                yield answer(name, kind, neighbours, list(peer_recipes.answers(fit, problem.truth, FITS)))
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "rows.npy", problem.rows)
        np.save(Path(folder) / "truth.npy", problem.truth)
        for name in PEERS:
            for neighbours in NEIGHBOURS[:1] if name in PURE else NEIGHBOURS:
                limit, fits = (LIMIT / 6, 1) if quick else (LIMIT, PEER_FITS)
                yield stopped_at(limit, name, folder, neighbours, fits)


def show(problem: Problem, answers: Sequence[Answer]) -> None:
    n, d = problem.rows.shape
    guess = subspace_metrics.random_guess(d, K)
    print(f"\nd = {d}, n = {n:,}, {problem.population}; a random guess has {guess:.2f}")
    print(f"  {'':40}{'neighbours':14}{'error (quartiles)':34}seconds a fit")
    for answer in sorted(answers, key=lambda answer: (answer.neighbours, answer.kind != "peer")):
        figures = f"{answer.error!s:34}{answer.seconds}" if answer.seconds else answer.failed
        print(f"  {answer.recipe:40}{answer.neighbours:14}{figures}")


def targets(answers: Sequence[Answer]) -> dict[str, float]:
    """Return our least error over that of OpenDP's Gaussian and over that of PCA without privacy.

    At d = 400 at most .55 and 1.15 are wanted.
    """
    error = {(answer.recipe, answer.neighbours): answer.error.median for answer in answers if answer.error}
    ratios = {}
    for neighbours in NEIGHBOURS:
        best = min(error[name, neighbours] for name in OURS)
        if peer := error.get(("OpenDP Gaussian + eigh", neighbours)):
            ratios[f"{neighbours}: ours / OpenDP Gaussian"] = best / peer
        ratios[f"{neighbours}: ours / no privacy"] = best / error[NOT_PRIVATE, ""]
    return ratios


def for_page(problem: Problem, answers: Sequence[Answer]) -> dict[str, object]:
    """Return what a page shows of one problem, as JSON can hold it, with times as ratios to those of BEST."""
    ours = {
        answer.neighbours: answer.seconds.median
        for answer in answers
        if answer.recipe == BEST and answer.seconds
    }

    def row(answer: Answer) -> dict[str, object]:
        entry = {
            "recipe": answer.recipe,
            "kind": answer.kind,
            "neighbours": answer.neighbours,
            "fits": answer.fits,
        }
        if answer.failed:
            entry["failed"] = answer.failed
        if answer.error and answer.seconds:
            entry["error"] = {name: float(f"{value:.4g}") for name, value in asdict(answer.error).items()}
            slower = answer.seconds.median / ours.get(answer.neighbours, ours[NEIGHBOURS[0]])
            entry["seconds_over_ours"] = float(f"{slower:.2g}")
        return entry

    n, d = problem.rows.shape
    return {"population": problem.population, "d": d, "n": n, "rows": [row(answer) for answer in answers]}


def last_release(package: str) -> str:
    """Return the day, in ISO 8601, of a package's newest version. Asks the network."""
    with urllib.request.urlopen(f"https://pypi.org/pypi/{package}/json", timeout=60) as answer:
        files = json.load(answer)["urls"]  # those of the newest version
    return min(str(file["upload_time_iso_8601"])[:10] for file in files)


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--page", type=Path, help="write what the page shows to this file")
    options = parser.parse_args()
    figures: dict[str, object] = {}
    places = []
    with threadpool_limits(1):
        for place in PLACES[:3] if options.quick else PLACES:
            subject = problem(place)
            answers = list(compared(subject, options.quick))
            ratios = targets(answers)
            show(subject, answers)
            print("  " + "; ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items()))
            figures[str(place)] = {"answers": answers, "ratios": ratios}
            places.append(for_page(subject, answers))
    measure.keep(options.json, "peers", figures)
    if options.page:
        packages = ("diffprivlib", "opendp", "scikit-learn", "numpy")
        content = {
            "date": date.today().isoformat(),
            "versions": {name: version(name) for name in packages},
            "last_releases": {name: last_release(name) for name in packages},
            "settings": {"epsilon": EPSILON, "delta": DELTA, "k": K, "s": SPARSITY, "kept": KEPT},
            "limit_seconds": LIMIT,
            "places": places,
        }
        options.page.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
