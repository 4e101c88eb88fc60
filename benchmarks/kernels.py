"""The T = 10 iterations of DPS-PCA, MOD-SULQ and Analyze Gauss against the sum of their unavoidable parts.

    python -m benchmarks.kernels [--json FILE] [--quick]

Parts of DPS-PCA, each measured alone in the same round: the normals of the noise and the start, 10 row-sparse
products, thin orthogonalisations of (d, k) and (s_hat, k) through the fastest routine we know (Cholesky-QR in
LAPACK), and the choice of the heaviest rows. Of the others: the noise of one triangle, which is all that an
eigensolver reads, and the top eigenspace. Then fifty runs of DPS-PCA at d = 1000 in one call against one run:
fifty generators; one generator at fifty epsilons, which shares its normals as the pages' curves do; and ten
generators at five epsilons. One BLAS thread.
"""

import time
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import measure
from benchmarks.measure import Action, Row, Times
from dppca_core import METHODS, Budget, SpikedModel, linalg

K, S_HAT, STEPS, RUNS, BUDGET = 5, 50, 10, 50, Budget(1.0, 1e-5)

POWER_PARTS = ("normals", "products", "orthogonalisations", "heaviest rows")
ONE_SHOT_PARTS = ("packed noise", "top eigenspace")


def actions_at(d: int) -> dict[str, Action]:
    """The methods, and what they cannot do without."""
    cohort = SpikedModel(d=d, k=K, s=10).draw(100_000, 1, np.random.default_rng(1))
    moment = cohort.pooled
    rng = np.random.default_rng(2)
    dense = rng.standard_normal((d, K))
    # As in a run, each product reads other rows of the matrix: the noise picks most of them anew.
    rows = [np.sort(rng.permutation(d)[:S_HAT]) for _ in range(STEPS)]
    block = linalg.orthonormalise(dense[rows[0]])
    noisy = linalg.isotropic_noise(d, 1e-4, rng) + moment.dense()

    def products() -> None:
        for chosen in rows:
            moment.apply(block, chosen)

    def orthogonalisations() -> None:
        for _ in range(STEPS + 2):  # every step's, the start's and the last one's
            linalg.orthonormalise(dense)
        for _ in range(STEPS + 1):
            linalg.orthonormalise(block)

    def heaviest_rows() -> None:
        for _ in range(STEPS + 1):
            linalg.scatter_rows(block, linalg.largest_rows(dense, S_HAT), d)

    triangle = np.tri(d, dtype=bool)

    def packed_noise() -> np.ndarray:
        noise = np.empty((d, d))
        noise[triangle] = rng.standard_normal(d * (d + 1) // 2)
        return noise

    def fit(name: str, **own: object) -> Action:
        return partial(METHODS[name].fit, cohort, k=K, budget=BUDGET, rng=rng, **own)

    return {
        "DPS-PCA": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=0),
        "normals": lambda: (rng.standard_normal((STEPS, d, K)), rng.standard_normal((d, K))),
        "products": products,
        "orthogonalisations": orthogonalisations,
        "heaviest rows": heaviest_rows,
        "DPS-PCA, burn-in 2": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=2),
        "Analyze Gauss": fit("analyze_gauss"),
        "MOD-SULQ": fit("mod_sulq"),
        "packed noise": packed_noise,
        "top eigenspace": lambda: linalg.top_eigenspace(noisy, K),
    }


def rows_of(took: dict[str, Times]) -> list[Row]:
    """Every figure beside its floor, the sum of its parts in the same round."""
    power = np.sum([took[part] for part in POWER_PARTS], axis=0)
    one_shot = np.sum([took[part] for part in ONE_SHOT_PARTS], axis=0)
    return [
        measure.row("DPS-PCA", took["DPS-PCA"], "its parts", power, 1.5),
        *(measure.row(f"  {part}", took[part]) for part in POWER_PARTS),
        measure.row("DPS-PCA, burn-in 2", took["DPS-PCA, burn-in 2"]),
        *(
            measure.row(name, took[name], "its parts", one_shot, 1.3)
            for name in ("Analyze Gauss", "MOD-SULQ")
        ),
        *(measure.row(f"  {part}", took[part]) for part in ONE_SHOT_PARTS),
    ]


def batches(rounds: int) -> list[Row]:
    """RUNS runs in one call, beside one run."""
    d = 1000
    cohort = SpikedModel(d=d, k=K, s=10).draw(100_000, 1, np.random.default_rng(1))
    budgets = [Budget(float(epsilon), 1e-5) for epsilon in np.geomspace(0.01, 10, RUNS)]
    rows = []
    for title, own in {"burn-in 2": {"s_hat": S_HAT}, "all rows kept": {}}.items():
        one = partial(METHODS["dps_pca"].fit, cohort, k=K, budget=BUDGET, rng=np.random.default_rng(1), **own)

        def many(generators: int, own: dict[str, int] = own) -> Action:
            rngs = [np.random.default_rng(seed) for seed in range(generators)]
            chosen = budgets[::generators][: RUNS // generators]
            return partial(METHODS["dps_pca"].fit_many, cohort, k=K, budgets=chosen, rngs=rngs, **own)

        together = {f"seeds {n}, epsilons {RUNS // n}": many(n) for n in (50, 10, 1)}
        took = measure.in_turn({"one run": one} | together, rounds, time.process_time)
        rows.append(measure.row(f"one run, {title}", took["one run"]))
        rows += [measure.row(f"  {name}", took[name], "one run", took["one run"], 25) for name in together]
    return rows


def main() -> None:
    options = measure.options(__doc__).parse_args()
    rounds = 5 if options.quick else 100
    figures: dict[str, list[Row]] = {}
    with threadpool_limits(1):
        for d in (200, 400, 800):
            figures[f"d = {d}"] = rows_of(
                measure.in_turn(actions_at(d), rounds if d < 800 else rounds // 2, time.process_time)
            )
        figures[f"d = 1000, {RUNS} runs in one call"] = batches(max(3, rounds // 10))
    for title, rows in figures.items():
        measure.show(f"{title}, k = {K}, rows kept {S_HAT}, T = {STEPS}", rows)
    measure.keep(options.json, "kernels", figures)


if __name__ == "__main__":
    main()
