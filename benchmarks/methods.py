"""Print every method at one setting: error, milliseconds, guarantee. `python -m benchmarks.methods`.

d = 200, n = 100,000, k = 3, s = 10, five hospitals, epsilon = 1, delta = 1e-5, replace-one, exact accounting;
the median of five draws of patients and noise, one BLAS thread. Times leave out the draw of patients.
"""

import statistics

import numpy as np
from threadpoolctl import threadpool_limits

from dppca_core import METHODS, Budget, SpikedModel, sin_theta

MODEL = SpikedModel(d=200, k=3, s=10)
BUDGET = Budget(epsilon=1.0, delta=1e-5)
REPEATS = 5


def main() -> None:
    print("| method | trust | guarantee | error | ms |\n|---|---|---|---:|---:|")
    runs = [(name, {"s_hat": 20} if "s_hat" in method.uses else {}) for name, method in METHODS.items()]
    runs += [("dps_pca", {"s_hat": 20, "iterations": "tuned"}), ("noisy_power", {"iterations": "tuned"})]
    runs += [(name, {"s_hat": "released"}) for name in METHODS if name.startswith("two_stage")]
    for name, options in runs:
        method = METHODS[name]
        if name == "oracle_pca":
            options = {"support": tuple(np.flatnonzero(MODEL.basis.any(axis=1)))}
        errors, times = [], []
        for repeat in range(REPEATS):
            cohort = MODEL.draw(100_000, 5, np.random.default_rng([repeat, 1]))
            for provider in cohort:  # moments are drawn lazily, and their time is not the method's
                provider.moment.dense()
            rng = np.random.default_rng([repeat, 2])
            estimate = method.fit(cohort, k=3, budget=BUDGET, rng=rng, **options)
            errors.append(sin_theta(estimate.basis, MODEL.basis))
            times.append(1000 * estimate.seconds)
        error, milliseconds = statistics.median(errors), statistics.median(times)
        guarantee = method.guarantee_at(3)
        chosen = "".join(f", {key} {value}" for key, value in options.items() if isinstance(value, str))
        print(f"| `{name}`{chosen} | {method.trust} | {guarantee} | {error:.3f} | {milliseconds:.1f} |")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
