"""Fit how the time and memory of methods grow with d, n and N, beside what their operations say.

    python -m benchmarks.scale [--json FILE] [--quick]

One BLAS thread, k = 3. Time is the least CPU time of a few runs: what else the machine does only adds. Memory
is the most that a run allocates beside what its cohort holds, as tracemalloc counts it. The moment is there
beforehand; drawing it has rows of its own. An exponent is the slope of log time (or bytes) on log size over
the last four points, with its standard error: below them what does not grow still counts. A curve ends before
the point that would take longer than the cap. Above d = 10,000 methods that form a d x d matrix refuse by
name; the others run there on the rows themselves.

Rows named "floor" are what the machine does with the same numbers: one eigenproblem, one product. Where a
matrix outgrows a cache they steepen, and methods with them. With --quick the sizes are too small to tell.
"""

import math
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import measure
from benchmarks.measure import Action
from dppca_core import METHODS, Budget, Cohort, SpikedModel
from dppca_core.arrays import MATRIX_LIMIT, Moment, Provider
from dppca_core.numerics import linalg
from dppca_core.numerics.moments import DenseMoment
from dppca_core.populations.gaussian_patients import FreshMoment

K, S, S_HAT, N, BUDGET = 3, 10, 50, 100_000, Budget(1.0, 1e-5)
ALLOWED = 0.2  # an exponent may lie above theory by so much
LAST = 4  # points of which an exponent is fitted


class Effort(NamedTuple):
    cap: float
    enough: float


FULL, QUICK = Effort(2.5, 0.15), Effort(0.1, 0.01)


class Law(NamedTuple):
    """Hold the exponents of time and of bytes, and the operations that dominate them."""

    time: float
    bytes: float
    why: str


class Laws(NamedTuple):
    """Hold a method's laws, against d on a stored moment and against the number of hospitals."""

    features: Law
    hospitals: Law


# The cost of a method on a stored moment does not depend on n.
FLAT = Law(0, 0, "nothing")
POOLED = Law(0, 0, "one pooled moment, of whatever number of hospitals")
_EACH = Law(1, 0, "one eigenproblem a hospital; messages are added up as they come")
_EIGEN = "k eigenvectors: 4/3 d^3 to tridiagonal form"
_STEPS = 20  # fixed for sparse_pca, so that its time does not depend on convergence

THEORY: dict[str, Laws] = {
    "amin": Laws(Law(3, 2, "all eigenvectors, 4/3 d^3 and 2 d^3 back; k draws take d^1.5"), POOLED),
    "analyze_gauss": Laws(Law(3, 2, f"{_EIGEN}; d^2 normals; the noisy moment and a copy"), POOLED),
    "analyze_gauss_gap": Laws(Law(3, 2, f"{_EIGEN}, twice; d^2 normals"), POOLED),
    "analyze_gauss_sparse": Laws(Law(3, 2, f"{_EIGEN}; then at most 60 steps of 2 d s_hat k"), POOLED),
    "cape": Laws(Law(3, 2, f"{_EIGEN}; d^2 normals"), POOLED),
    "dp_oja": Laws(Law(2, 1, "4 d^2 k a batch, with a root of the covariance; iterates d k"), POOLED),
    "dpdis_pca": Laws(Law(3, 2, f"{_EIGEN} at a hospital and at the server"), _EACH),
    "dps_pca": Laws(Law(2, 1, "2 d^2 k in the burn-in, then 2 d s_hat k a step; iterates d k"), POOLED),
    "fantope_pca": Laws(Law(3, 2, f"{_EIGEN}, three times: no penalty is one step"), POOLED),
    "federated_projector": Laws(Law(3, 2, f"{_EIGEN} at a hospital and at the server"), _EACH),
    "ldp_pca": Laws(Law(3, 2, f"{_EIGEN}; d^2 normals"), POOLED),
    "ldp_sparse_pca": Laws(Law(3, 2, f"{_EIGEN}, at most 100 times"), POOLED),
    "local_pca": Laws(Law(3, 2, _EIGEN), POOLED),
    "mod_sulq": Laws(Law(3, 2, f"{_EIGEN}; d^2 normals"), POOLED),
    "noisy_power": Laws(Law(2, 1, "2 d^2 k a step; normals and iterates d k"), POOLED),
    "pca": Laws(Law(3, 2, f"{_EIGEN}; LAPACK's copy"), POOLED),
    "ppca": Laws(Law(3, 2, "all eigenvectors, 4/3 d^3 and 2 d^3 back; k columns a scan take d^1.5"), POOLED),
    "sparse_pca": Laws(Law(2, 1, "2 d^2 k in the burn-in, then 2 d s_hat k a step; iterates d k"), POOLED),
    "spiked_projector": Laws(Law(3, 2, f"{_EIGEN}, three times"), POOLED),
    "sulq": Laws(Law(3, 2, f"{_EIGEN}; d^2 normals"), POOLED),
    "wishart": Laws(Law(3, 2, f"{_EIGEN}; d^3 for a factor times itself"), POOLED),
}
# Laws on rows (n fixed, d grows), and of drawing patients: against d, and against the number of hospitals.
ON_ROWS = Law(1, 1, "4 n d k a product with the rows, or its kept columns; iterates d k")
MATRIX = [name for name in THEORY if METHODS[name].matrix]
THIN = [name for name in THEORY if not METHODS[name].matrix]
DRAW = Law(3, 2, "a triangular factor times the population's root, d^3, and that times itself, d^3")
DEAL = Law(1, 1, "a factor a hospital, divided by the sum's: 2 d^3 each; all are held")


class Slope(NamedTuple):
    exponent: float
    error: float


def slope(sizes: Sequence[float], values: Sequence[float]) -> Slope:
    """Return the least-squares slope of log value on log size over the last LAST points, sizes ascending."""
    if len(sizes) < 3:
        raise ValueError(f"sizes must hold at least 3 points, got {len(sizes)}")
    x, y = (np.log(np.asarray(part[-LAST:], dtype=float)) for part in (sizes, values))
    off = x - x.mean()
    # The least-squares slope, and its standard error with len(x) - 2 degrees of freedom.
    exponent = float(off @ y / (off @ off))
    left = y - y.mean() - exponent * off
    return Slope(exponent, math.sqrt(float(left @ left) / (len(x) - 2) / float(off @ off)))


@dataclass
class Curve:
    """Hold the measurements of one method (or of a draw) along one axis: "d", "n" or "N"."""

    name: str
    axis: str
    law: Law  # what its operations say
    sizes: list[int] = field(default_factory=list)  # points on the axis so far, with `ms` and `bytes` at each
    ms: list[float] = field(default_factory=list)
    bytes: list[float] = field(default_factory=list)
    stopped: str = ""  # why there are no more; empty while there may be

    def within(self, size: int, cap: float) -> bool:
        """Return whether a run at that size, by its law and the last point, ends within `cap` seconds."""
        if not self.stopped and self.sizes:
            expected = self.ms[-1] / 1e3 * (size / self.sizes[-1]) ** self.law.time
            if expected > cap:
                self.stopped = f"about {expected:.0f} s at {self.axis} = {size:,}"
        return not self.stopped

    def add(self, size: int, action: Action, enough: float) -> None:
        self.bytes.append(peak(action))
        self.ms.append(milliseconds(action, enough))
        self.sizes.append(size)

    def again(self, size: int, action: Action, enough: float) -> None:
        """Measure a point's time once more, and keep the lesser: what else the machine does only adds."""
        at = self.sizes.index(size)
        self.ms[at] = min(self.ms[at], milliseconds(action, enough))

    def slopes(self) -> tuple[Slope, Slope] | None:
        if len(self.sizes) < 3:
            return None
        return slope(self.sizes, self.ms), slope(self.sizes, self.bytes)

    def above(self) -> list[str]:
        slopes = self.slopes()
        return [
            f"{self.name}: {what} grows as {self.axis}^{slope.exponent:.2f}, theory {theory:g}"
            for what, slope, theory in zip(("time", "memory"), slopes or (), self.law[:2], strict=False)
            if slope.exponent > theory + ALLOWED
        ]


def milliseconds(action: Action, enough: float) -> float:
    """Return the least CPU time of as many runs as fit into `enough` seconds, from 2 to 50."""
    took: list[float] = []
    while len(took) < 2 or (sum(took) < enough and len(took) < 50):
        began = time.process_time()
        action()
        took.append(time.process_time() - began)
    return 1e3 * min(took)


def peak(action: Action) -> float:
    """Return the most bytes that the action holds at once, in a thread without workspaces of earlier runs."""
    tracemalloc.start()
    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(action).result()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def fit(name: str, cohort: Cohort) -> Action:
    method = METHODS[name]
    options: dict[str, int] = {"s_hat": S_HAT} if "s_hat" in method.uses else {}
    if name == "sparse_pca":
        options["iterations"] = _STEPS
    return lambda: method.fit(cohort, k=K, budget=BUDGET, rng=np.random.default_rng(1), **options)


def drawn(d: int, n: int, hospitals: int) -> Cohort:
    """Return a cohort whose moments are computed already."""
    cohort = SpikedModel(d=d, k=K, s=S).draw(n, hospitals, np.random.default_rng(1))
    for provider in cohort:
        provider.moment.dense()
    return cohort


def along(
    axis: str,
    sizes: Sequence[int],
    make: Callable[[int], Mapping[str, Action]],
    laws: Mapping[str, Law],
    effort: Effort,
) -> list[Curve]:
    """Measure one curve for each of `laws` at these sizes, in two passes; make: their actions at a size."""
    curves = [Curve(name, axis, law) for name, law in laws.items()]
    for size in sizes:
        wanted = [curve for curve in curves if curve.within(size, effort.cap)]
        actions = make(size) if wanted else {}
        for curve in wanted:
            curve.add(size, actions[curve.name], effort.enough)
    for size in sizes:  # repeat minutes later, so that a disturbance affects no point twice
        wanted = [curve for curve in curves if size in curve.sizes]
        actions = make(size) if wanted else {}
        for curve in wanted:
            curve.again(size, actions[curve.name], effort.enough)
    return curves


def fits(cohort: Cohort, names: Iterable[str]) -> dict[str, Action]:
    return {name: fit(name, cohort) for name in names}


def rows_of(d: int) -> Cohort:
    """Return 800 patients as rows; from d = 1,600 on products are taken with the rows themselves."""
    rows = np.random.default_rng(1).standard_normal((800, d))
    return Cohort.from_rows([rows], 2 * math.sqrt(d))


@dataclass(frozen=True, eq=False)
class Stored(DenseMoment):
    """Hold a moment of any size at the cost of one product; batches take it in place of a root of it."""

    def batches(self, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Moment]:
        return (FreshMoment(self.matrix, 1.0, size, rng) for size in sizes)


def stored(d: int) -> Cohort:
    """Return a cohort of a stored moment: the cost of a product does not depend on its numbers."""
    half = np.random.default_rng(1).standard_normal((64, d)) / (8 * math.sqrt(d))
    moment = Stored(half.T @ half)
    return Cohort((Provider(100_000, moment),), moment)


def draw(d: int, n: int, hospitals: int) -> Action:
    model = SpikedModel(d=d, k=K, s=S)

    def action() -> Cohort:
        cohort = model.draw(n, hospitals, np.random.default_rng(1))
        cohort[0].moment.dense()
        return cohort

    return action


def draws(d: int, n: int, hospitals: int) -> dict[str, Action]:
    return {"draw": draw(d, n, 1), "draw and deal": draw(d, n, hospitals)}


def with_matrix(d: int) -> dict[str, Action]:
    """Return methods that form d x d, the draw of their moment, and one eigenproblem of it alone."""
    cohort = drawn(d, N, 1)
    alone = partial(linalg.top_eigenspace, cohort.pooled.dense(), K)
    return fits(cohort, MATRIX) | {"draw": draw(d, N, 1), "floor: eigenproblem": alone}


def without_matrix(cohort: Cohort) -> dict[str, Action]:
    """Return methods that form no d x d, and one product of a block with the moment alone."""
    block = np.random.default_rng(1).standard_normal((cohort.features, K))
    return fits(cohort, THIN) | {"floor: product": partial(cohort.pooled.apply, block)}


def measured(effort: Effort, quick: bool) -> dict[str, list[Curve]]:
    features = (100, 140, 200, 280, 400, 560, 800, 1_100, 1_500, 2_000)
    large = (100, 200, 400, 800, 1_600, 3_400, 4_800, 6_800, 9_600)
    wide = (2_000, 3_500, 5_000, 7_500, 10_000, 14_000, 20_000)
    patients = tuple(10**power for power in range(3, 10))
    hospitals = (1, 10, 30, 125, 250, 500, 1_000)
    if quick:
        features, large, wide, hospitals = features[:7:2], large[:5], wide[:3], hospitals[:5]
    law = {name: laws.features for name, laws in THEORY.items()}
    matrix = {name: law[name] for name in MATRIX} | {"draw": DRAW, "floor: eigenproblem": law["pca"]}
    thin = {name: law[name] for name in THIN} | {"floor: product": Law(2, 1, "2 d^2 k")}
    joined = {name: laws.hospitals for name, laws in THEORY.items()} | {"draw": POOLED, "draw and deal": DEAL}

    def every(d: int, n: int, count: int) -> dict[str, Action]:
        return fits(drawn(d, n, count), THEORY) | draws(d, n, count)

    return {
        f"d, a stored moment of n = {N:,}": along("d", features, with_matrix, matrix, effort),
        "d, a stored moment, methods that form no d x d": along(
            "d", large, lambda d: without_matrix(stored(d)), thin, effort
        ),
        "d, the rows of 800 patients": along(
            "d", wide, lambda d: without_matrix(rows_of(d)), dict.fromkeys(thin, ON_ROWS), effort
        ),
        "n, at d = 200, ten hospitals": along(
            "n", patients, lambda n: every(200, n, 10), dict.fromkeys(joined, FLAT), effort
        ),
        "N, at d = 50, n = 1,000,000": along(
            "N", hospitals, lambda count: every(50, 10**6, count), joined, effort
        ),
    }


def show(title: str, curves: Sequence[Curve]) -> None:
    print(
        f"\nAgainst {title}\n{'':22}{'sizes':>16}{'ms':>19}{'MB':>17}   time ~ (theory)      bytes ~ (theory)"
    )
    for curve in curves:
        reach = f"{curve.sizes[0]:,}-{curve.sizes[-1]:,}"
        ms, megabytes = (f"{v[0]:.3g}-{v[-1]:.3g}" for v in (curve.ms, [b / 1e6 for b in curve.bytes]))
        slopes = curve.slopes()
        shown = (
            "too few points"
            if slopes is None
            else "   ".join(
                f"{slope.exponent:5.2f} +- {slope.error:.2f} ({theory:g})"
                for slope, theory in zip(slopes, curve.law[:2], strict=True)
            )
        )
        stopped = f"; stopped: {curve.stopped}" if curve.stopped else ""
        print(f"  {curve.name:20}{reach:>16}{ms:>19}{megabytes:>17}   {shown}  {curve.law.why}{stopped}")


def main() -> None:
    options = measure.options(__doc__).parse_args()
    began = time.perf_counter()
    with threadpool_limits(1):
        tables = measured(QUICK if options.quick else FULL, options.quick)
    for title, curves in tables.items():
        show(title, curves)
    beyond = MATRIX_LIMIT + 1
    refused = [reason for method in METHODS.values() if (reason := method.skip(beyond))]
    print(f"\nRefused above d = {MATRIX_LIMIT:,}: {', '.join(reason.split()[0] for reason in refused)}")
    print(f"Not measured, as their laws are not stated: {', '.join(sorted(METHODS.keys() - THEORY.keys()))}")
    above = [line for curves in tables.values() for curve in curves for line in curve.above()]
    print(f"Above theory by more than {ALLOWED}: " + ("; ".join(above) or "none"))
    print(f"{time.perf_counter() - began:.0f} s")
    measure.keep(options.json, "scale", {"curves": tables, "refused": refused, "above": above})


if __name__ == "__main__":
    main()
