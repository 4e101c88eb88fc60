"""Time the T = 10 iterations of DPS-PCA, MOD-SULQ and Analyze Gauss against their unavoidable parts.

    python -m benchmarks.kernels [--json FILE] [--quick]

Parts of DPS-PCA, each measured alone in the same round: the normals of the noise and the start, 10 row-sparse
products, thin orthogonalisations of (d, k) and (s_hat, k) through the fastest routine we know (Cholesky-QR in
LAPACK), and the choice of the heaviest rows. Of the others: the noise of one triangle, which is all that an
eigensolver reads, and the top eigenspace. Then fifty runs of DPS-PCA at d = 1000 in one call against one run:
fifty generators; one generator at fifty epsilons, which shares its normals as the pages' curves do; and ten
generators at five epsilons; and the parts of fifty runs, dense products taken together. Last the map of
regions over 40 numbers of patients and 40 epsilons, against one of its 1,600 settings. One BLAS thread.
"""

import time
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import measure
from benchmarks.measure import Action, Row, Times
from dppca_core import METHODS, Budget, Setting, SpikedModel
from dppca_core.arrays import Array, Moment
from dppca_core.bounds import BOUNDS, regimes
from dppca_core.experiments.explorer.many_runs import dps_pca_runs
from dppca_core.numerics import linalg

K, S_HAT, STEPS, RUNS, BUDGET = 5, 50, 10, 50, Budget(1.0, 1e-5)

POWER_PARTS = ("normals", "products", "orthogonalisations", "heaviest rows")
ONE_SHOT_PARTS = ("packed noise", "top eigenspace")


def power_parts(moment: Moment, rng: np.random.Generator, burn_in: int, runs: int = 1) -> dict[str, Action]:
    """Return the unavoidable parts of `runs` runs of DPS-PCA; dense products are taken for all at once."""
    d, thresholded = moment.features, STEPS - burn_in
    dense = rng.standard_normal((d, K))
    wide = rng.standard_normal((d, K * runs))
    # Each product reads other rows of the matrix, as in a run, where the noise changes most of them.
    rows = [np.sort(rng.permutation(d)[:S_HAT]) for _ in range(thresholded * runs)]
    block = linalg.orthonormalise(dense[:S_HAT])
    chosen = (thresholded + (burn_in == 0)) * runs  # as printed the start is thresholded as well

    def products() -> None:
        for _ in range(burn_in):
            moment.apply(wide)
        for some in rows:
            moment.apply(block, some)

    def orthogonalisations() -> None:
        for _ in range((STEPS + 2) * runs):  # every step's, the start's and the last one's
            linalg.orthonormalise(dense)
        for _ in range(chosen):
            linalg.orthonormalise(block)

    def heaviest_rows() -> None:
        for _ in range(chosen):
            linalg.scatter_rows(block, linalg.largest_rows(dense, S_HAT), d)

    def normals() -> None:
        for _ in range((STEPS + 1) * runs):
            rng.standard_normal((d, K))

    return dict(zip(POWER_PARTS, (normals, products, orthogonalisations, heaviest_rows), strict=True))


def actions_at(d: int) -> dict[str, Action]:
    cohort = SpikedModel(d=d, k=K, s=10).draw(100_000, 1, np.random.default_rng(1))
    moment = cohort.pooled
    rng = np.random.default_rng(2)
    noisy = linalg.isotropic_noise(d, 1e-4, rng) + moment.dense()

    triangle = np.tri(d, dtype=bool)

    # One triangle is all the noise that an eigensolver reads.
    def packed_noise() -> np.ndarray:
        noise = np.empty((d, d))
        noise[triangle] = rng.standard_normal(d * (d + 1) // 2)
        return noise

    def fit(name: str, **options: object) -> Action:
        return partial(METHODS[name].fit, cohort, k=K, budget=BUDGET, rng=rng, **options)

    return {
        "DPS-PCA": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=0),
        **power_parts(moment, rng, burn_in=0),
        "DPS-PCA, burn-in 2": fit("dps_pca", s_hat=S_HAT, iterations=STEPS, burn_in=2),
        "Analyze Gauss": fit("analyze_gauss"),
        "MOD-SULQ": fit("mod_sulq"),
        "packed noise": packed_noise,
        "top eigenspace": lambda: linalg.top_eigenspace(noisy, K),
    }


def rows_of(took: dict[str, Times]) -> list[Row]:
    """Return every figure beside its floor, the sum of its parts in the same round."""
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
    """Time RUNS runs of DPS-PCA at as many epsilons in one call, and their parts, beside one run."""
    d = 1000
    cohort = SpikedModel(d=d, k=K, s=10).draw(100_000, 1, np.random.default_rng(1))
    budgets = [Budget(float(epsilon), 1e-5) for epsilon in np.geomspace(0.01, 10, RUNS)]
    rows = []
    for title, options in {"burn-in 2": {"s_hat": S_HAT}, "all rows kept": {}}.items():
        single = partial(
            METHODS["dps_pca"].fit, cohort, k=K, budget=BUDGET, rng=np.random.default_rng(1), **options
        )
        name = f"epsilons {RUNS}"
        many = partial(dps_pca_runs, cohort, k=K, budgets=budgets, rng=np.random.default_rng(0), **options)
        parts = power_parts(cohort.pooled, np.random.default_rng(2), 2 if options else STEPS, RUNS)
        took = measure.in_turn({"one run": single, name: many} | parts, rounds, time.process_time)
        rows.append(measure.row(f"one run, {title}", took["one run"]))
        rows.append(measure.row(f"  {name}", took[name], "one run", took["one run"], 25))
        least = np.sum([took[part] for part in parts], axis=0)
        rows.append(measure.row(f"  parts of {RUNS} runs", least, "one run", took["one run"]))
        rows += [measure.row(f"    {part}", took[part], "one run", took["one run"]) for part in parts]
    return rows


def maps(rounds: int) -> list[Row]:
    model = SpikedModel(d=1000, k=K, s=10)
    patients, epsilons = np.geomspace(1e3, 1e9, 40).astype(int).tolist(), np.geomspace(0.05, 10, 40).tolist()
    rule, rows = BOUNDS["dps_prediction"], []
    for s_hat in (S_HAT, 1000):
        spectrum = model.eigenvalues / model.norm_bound(100_000) ** 2
        setting = Setting(1000, 100_000, K, 10, s_hat, 1, STEPS, spectrum, BUDGET)

        def whole(start: Setting = setting) -> object:
            def scaled(n: int) -> Array:
                return np.asarray(model.eigenvalues / model.norm_bound(n) ** 2)

            return regimes.regions(rule, start, patients, epsilons, scaled)

        took = measure.in_turn(
            {"map": whole, "one": partial(regimes.regime, rule, setting)}, rounds, time.process_time
        )
        rows.append(measure.row(f"map, rows kept {s_hat}", took["map"], "one setting", took["one"]))
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
        figures["d = 1000, map of regions"] = maps(max(3, rounds // 10))
    for title, rows in figures.items():
        measure.show(f"{title}, k = {K}, rows kept {S_HAT}, T = {STEPS}", rows)
    measure.keep(options.json, "kernels", figures)


if __name__ == "__main__":
    main()
