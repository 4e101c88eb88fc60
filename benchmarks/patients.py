"""Drawn patients beside their rows: does what stands in for many patients err as they do?

    python -m benchmarks.patients [--seconds S] [--json FILE]

sin^2 (its geometric mean) of what methods find from `SpikedModel.draw`, whose cost does not depend on n,
over sin^2 from rows that were drawn one by one, with a 95 % interval from both kinds of runs. At
n <= max(10 d, 1000) the two have the same law; beyond, means and covariances are right and the rest is what
is measured here. The last settings have n d^2 = 1e11; one of them has the bulk along the axes, where rows
cost n d instead of n d^2 and enough of them can be drawn.
"""

import time
from dataclasses import asdict, dataclass
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import measure
from dppca_core import METHODS, Budget, Cohort, SpikedModel, sin_theta
from dppca_core.numerics.moments import RowMoment, SumMoment
from dppca_core.populations import elliptical, spiked
from dppca_core.records import Estimate


@dataclass(frozen=True)
class Case:
    """Hold a setting and a method whose error is compared.

    stage_one: how the method finds its rows; None leaves its default. aligned: whether the bulk lies along
    the axes (`aligned_vectors`), which makes rows cheap to draw.
    """

    d: int
    n: int
    s_hat: int
    epsilon: float
    method: str = "two_stage"
    stage_one: str | None = None
    aligned: bool = False


CASES = (
    Case(50, 2000, 12, 1.0),
    Case(100, 1500, 20, 2.0),
    Case(100, 20_000, 20, 0.04),
    Case(100, 20_000, 20, 0.1),
    Case(100, 20_000, 20, 1.0),
    Case(100, 20_000, 20, 100.0),
    Case(100, 20_000, 20, 1.0, stage_one="moment"),
    Case(100, 20_000, 100, 100.0, method="stacked_rounds"),
    Case(400, 20_000, 30, 0.15),
    Case(400, 20_000, 30, 0.3),
    Case(400, 20_000, 30, 10.0),
    Case(1000, 100_000, 50, 1.0, aligned=True),
    Case(1000, 100_000, 50, 1.0),
)


def aligned_vectors(d: int, k: int, s: int, seed: int) -> np.ndarray:
    """Return eigenvectors, (d, d): the first s turn the first s coordinates, the others are axes."""
    vectors = np.eye(d)
    vectors[:s, :s] = np.linalg.qr(np.random.default_rng([seed, d, k, s]).standard_normal((s, s)))[0]
    return vectors


def drawn_rows(case: Case, model: SpikedModel, rng: np.random.Generator) -> list[np.ndarray]:
    if not case.aligned:
        return list(model.rows(case.n, rng))
    rows = rng.standard_normal((case.n, case.d))
    rows *= np.sqrt(model.eigenvalues)
    rotation = aligned_vectors(case.d, model.k, model.s, model.seed)[: model.s, : model.s]
    rows[:, : model.s] = rows[:, : model.s] @ rotation.T
    return [rows]


def fitted(case: Case, cohort: Cohort, repeat: int) -> Estimate:
    options = {"s_hat": case.s_hat} if "s_hat" in METHODS[case.method].uses else {}
    if case.stage_one is not None:
        options["stage_one"] = case.stage_one
    budget = Budget(case.epsilon, 1e-5)
    rng = np.random.default_rng([repeat, 3])
    return METHODS[case.method].fit(cohort, k=3, budget=budget, rng=rng, **options)


def squares(case: Case, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Return sin^2 from `SpikedModel.draw` and from rows drawn one by one, (runs,) each."""
    drawn, rows = [], []
    elliptical.clear_caches()  # they hold eigenvectors, which are replaced meanwhile
    vectors = aligned_vectors if case.aligned else spiked._new_eigenvectors
    with mock.patch.object(spiked, "_new_eigenvectors", vectors):
        _measure(case, seconds, drawn, rows)
    elliptical.clear_caches()
    return np.array(drawn), np.array(rows)


def _measure(case: Case, seconds: float, drawn: list[float], rows: list[float]) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends or len(drawn) < 4:
        repeat = len(drawn)
        model = SpikedModel(d=case.d, k=3, s=10, seed=1)
        cohort = model.draw(case.n, 1, np.random.default_rng([repeat, 1]))
        drawn.append(sin_theta(fitted(case, cohort, repeat).basis, model.basis) ** 2)
        parts = drawn_rows(case, model, np.random.default_rng([repeat, 2]))
        cohort = Cohort.from_rows(parts, model.norm_bound(case.n))
        assert isinstance(cohort.pooled, SumMoment) and isinstance(cohort[0].moment, RowMoment)
        rows.append(sin_theta(fitted(case, cohort, repeat).basis, model.basis) ** 2)


def ratio(drawn: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Return the ratio of geometric means, which rare misses do not rule, and half its 95 % interval."""
    logs = [np.log(values) for values in (drawn, rows)]
    error = np.hypot(*(values.std(ddof=1) / np.sqrt(len(values)) for values in logs))
    value = float(np.exp(logs[0].mean() - logs[1].mean()))
    return value, float(1.96 * value * error)


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each setting")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of settings, from 0")
    chosen = parser.parse_args()
    print("| setting | runs | error from rows | sin^2 drawn / rows |\n|---|---:|---:|---:|")
    results = []
    for case in CASES if chosen.only is None else [CASES[i] for i in chosen.only]:
        drawn, rows = squares(case, chosen.seconds)
        value, half = ratio(drawn, rows)
        results.append({**asdict(case), "runs": len(rows), "ratio": value, "interval": half})
        kind = f"{case.method} {case.stage_one or ''} {'aligned' * case.aligned}".strip()
        words = f"d = {case.d}, n = {case.n:,}, ε = {case.epsilon:g}, {kind}"
        error = float(np.sqrt(np.exp(np.log(rows).mean())))
        print(f"| {words} | {len(rows)} | {error:.3g} | {value:.3f} ± {half:.3f} |", flush=True)
    measure.keep(chosen.json, "patients", results)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
