"""The T = 10 iterations of DPS-PCA against the sum of their unavoidable parts, in one run.

    python -m benchmarks.kernels [--json FILE]

Parts, each measured alone: 10 d k normals, 10 row-sparse products, 20 thin orthogonalisations (10 of
(d, k), 10 of (s_hat, k)) through the fastest routine we know, Cholesky-QR in LAPACK. MOD-SULQ and Analyze
Gauss stand beside (symmetric noise + partial eigensolve) measured alone. One BLAS thread; the rows of a
table are measured in turn, so that a drift of the machine's speed cancels in the ratios. Beside them Table
1 of Ge et al. (AISTATS 2018), on their machine of 2018.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from dppca_core import METHODS, Budget, SpikedModel, linalg

K, S_HAT, STEPS, BUDGET = 5, 50, 10, Budget(1.0, 1e-5)
TABLE_1 = {200: ("<1", "8"), 400: ("<1", "21"), 800: ("<1", "97")}


def timed(actions: dict[str, Callable[[], object]], repeats: int) -> dict[str, np.ndarray]:
    """Milliseconds of each action, `repeats` times, all in turn; the first tenth only warms up."""
    took: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(repeats + repeats // 10):
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            took[name].append(1e3 * (time.perf_counter() - began))
    return {name: np.array(values[repeats // 10 :]) for name, values in took.items()}


def actions_at(d: int) -> dict[str, Callable[[], object]]:
    """The methods and, under `part:` names, what they cannot do without."""
    model = SpikedModel(d=d, k=K, s=10)
    cohort = model.draw(100_000, 1, np.random.default_rng(1))
    moment = cohort.pooled
    rng = np.random.default_rng(2)
    dense = rng.standard_normal((d, K))
    # As in a run, each product reads other rows of the matrix: the noise picks most of them anew.
    rows = [np.sort(rng.permutation(d)[:S_HAT]) for _ in range(STEPS)]
    block = linalg.orthonormalise(dense[rows[0]])

    def fit(name: str, **own: object) -> Callable[[], object]:
        return lambda: METHODS[name].fit(cohort, k=K, budget=BUDGET, rng=rng, **own)

    def products() -> None:
        for step in range(STEPS):
            moment.apply(block, rows[step])

    def orthogonalisations() -> None:
        for _ in range(STEPS):
            linalg.orthonormalise(dense)
            linalg.orthonormalise(block)

    noisy = linalg.isotropic_noise(d, 1e-4, rng) + moment.dense()
    return {
        "dps_pca": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=0),
        "part: normals": lambda: rng.standard_normal((STEPS, d, K)),
        "part: products": products,
        "part: orthogonalisations": orthogonalisations,
        "dps_pca, burn-in 2": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=2),
        "analyze_gauss": fit("analyze_gauss"),
        "mod_sulq": fit("mod_sulq"),
        "part: symmetric noise": lambda: linalg.isotropic_noise(d, 1e-4, rng),
        "part: top eigenspace": lambda: linalg.top_eigenspace(noisy, K),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    figures: dict[int, dict[str, float]] = {}
    with threadpool_limits(1):
        for d in (200, 400, 800):
            took = timed(actions_at(d), options.repeats if d < 800 else options.repeats // 2)
            middle = {name: float(np.median(values)) for name, values in took.items()}
            parts = sum(middle[f"part: {part}"] for part in ("normals", "products", "orthogonalisations"))
            one_shot = middle["part: symmetric noise"] + middle["part: top eigenspace"]
            figures[d] = middle | {"dps_pca / parts": middle["dps_pca"] / parts}
            print(f"\nd = {d}, k = {K}, rows kept {S_HAT}, T = {STEPS}{'median ms':>14}{'10-90 %':>16}")
            for name, values in took.items():
                low, high = np.quantile(values, (0.1, 0.9))
                print(f"  {name:42}{middle[name]:8.3f}{low:9.3f} -{high:7.3f}")
            print(
                f"  dps_pca / parts {middle['dps_pca'] / parts:.2f}; "
                f"analyze_gauss / parts {middle['analyze_gauss'] / one_shot:.2f}; "
                f"mod_sulq / parts {middle['mod_sulq'] / one_shot:.2f}"
            )
            paper = TABLE_1[d]
            print(
                f"  Table 1 of the paper: DPS-PCA {paper[0]} ms (ours {middle['dps_pca']:.2f}), "
                f"MOD-SULQ {paper[1]} ms (ours {middle['mod_sulq']:.1f})"
            )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
