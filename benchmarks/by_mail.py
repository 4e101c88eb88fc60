"""Measure what a joint study by mail errs, next to one place and to runs over a network, and count bytes.

    python -m benchmarks.by_mail [--json FILE] [--quick]

Five hospitals with 2,000 invented patients each, whose measurements fill their ranges evenly (`spiked_twin`),
and two components that stand out 6 times. Errors are ‖sin Θ‖ to PCA of all rows without privacy, at ε = 1 and
δ = 10⁻⁶, replacing one patient, in the median of runs; noise is in floating point. Over the network are the
four rounds of a fitted bound, DPS-PCA in ten rounds, and DPdisPCA, which by mail is the same message.
"""

import numpy as np

from benchmarks import measure
from dppca_core import METHODS, Budget, Cohort, sin_theta
from dppca_core.arrays import Array
from dppca_core.experiments import fitted_release
from dppca_core.joint import combine, dishonest, in_words
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.mechanisms.paid_lengths import FittedBound
from dppca_core.numerics import linalg
from dppca_core.populations.dictionary_twin import dictionary_cells, spiked_twin
from dppca_core.populations.spiked import SpikedModel
from dppca_core.tables import Column, Schema

SIZES, K, N, HOSPITALS = (20, 60, 200), 2, 2_000, 5
BUDGET = Budget(1.0, 1e-6)
ROUNDS = 10
RUNS = 21


def plan(d: int) -> JointPlan:
    schema = Schema(tuple(Column(f"x{i}", "number", -1.0, 1.0, fill=0.0) for i in range(d)))
    hospitals = tuple(
        PlannedHospital(f"Hospital {i + 1}", N, BUDGET.epsilon, BUDGET.delta) for i in range(HOSPITALS)
    )
    return JointPlan("Benchmark", schema, "own_noise_sparse", "centred", K, hospitals)


def fitted(agreed: JointPlan, rows: Array, rng: np.random.Generator, hospitals: int) -> Array:
    """Return the components of one fitted moment of all rows, in one place or by rounds of hospitals."""
    rule = FittedBound(agreed.layout, BUDGET, len(rows), hospitals=hospitals)
    return linalg.top_eigenspace(fitted_release.fitted_moment(rows, rule, rng).moment, K)


def by_mail(agreed: JointPlan, parts: list[Array], rng: np.random.Generator) -> Array:
    sent = [
        dishonest.invented_answer(agreed, hospital, rows, rng)
        for hospital, rows in zip(agreed.hospitals, parts, strict=True)
    ]
    return combine.basis_of(agreed, sent)


def errors(agreed: JointPlan, runs: int) -> dict[str, float]:
    """Return the median error of each way to join, by its name."""
    d = agreed.d
    spiked = SpikedModel(d=d, k=K, s=d, spike=6.0, bulk=(0.0, 1.0), seed=0)
    twin = spiked_twin(dictionary_cells(agreed.dictionary), agreed.dictionary.bound, spiked)
    seen: dict[str, list[float]] = {}
    for run in range(runs):
        rng = np.random.default_rng([0, d, run])
        parts = [np.concatenate(list(twin.encoded(N, rng))) for _ in range(HOSPITALS)]
        rows = np.concatenate(parts)
        truth = linalg.top_eigenspace(np.cov(rows, rowvar=False), K)
        cohort = Cohort.from_rows(parts, agreed.dictionary.bound)
        asked = {"k": K, "budget": BUDGET, "rng": rng}
        bases = {
            "by mail": by_mail(agreed, parts, rng),
            "one place": fitted(agreed, rows, rng, 1),
            "network, four rounds": fitted(agreed, rows, rng, HOSPITALS),
            "DPdisPCA": METHODS["dpdis_pca"].fit(cohort, **asked).basis,
            "DPS-PCA": METHODS["dps_pca"].fit(cohort, s_hat=d, iterations=ROUNDS, **asked).basis,
        }
        for name, basis in bases.items():
            seen.setdefault(name, []).append(sin_theta(truth, basis))
    return {name: float(np.median(values)) for name, values in seen.items()}


def bytes_sent(agreed: JointPlan) -> dict[str, int]:
    """Return how many bytes a hospital sends: by mail those of its file, else those of its numbers."""
    d = agreed.d
    return {
        "by mail": in_words.file_bytes(agreed, agreed.hospitals[0]),
        "network, four rounds": sum(each.size for each in in_words.leaves(agreed)),
        "DPdisPCA": 8 * d * 2 * K,
        "DPS-PCA": 8 * d * K * ROUNDS,
    }


def main() -> None:
    options = measure.options(__doc__).parse_args()
    table = {}
    for d in SIZES:
        agreed = plan(d)
        measured, sent = errors(agreed, 3 if options.quick else RUNS), bytes_sent(agreed)
        for name, error in measured.items():
            print(f"d = {d}: {name} errs {error:.3f}, {sent.get(name, 0):,} bytes a hospital")
        table[f"d = {d}"] = {"errors": measured, "bytes": sent}
    measure.keep(options.json, "by_mail", table)


if __name__ == "__main__":
    main()
