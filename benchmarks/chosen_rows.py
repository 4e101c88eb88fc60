"""Compare rows that are chosen from the release with the best number of rows, at settings that grow harder.

python -m benchmarks.chosen_rows [--runs 24]

The best number is that with the least median error among .7 to 4 times s, which nobody knows beforehand.
"""

import argparse

import numpy as np

from dppca_core import METHODS, Budget, SpikedModel, sin_theta

BUDGET = Budget(1.0, 1e-5)
# Numbers of rows that are tried, as multiples of s.
TIMES = (0.7, 0.85, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)
# d, k, spike, n, method; the last has patients for few rows only.
SETTINGS = (
    (200, 3, 20.0, 100_000, "two_stage"),
    (200, 3, 100.0, 20_000, "two_stage_own_noise"),
    (400, 5, 100.0, 10_000, "two_stage"),
    (1000, 5, 100.0, 8_000, "two_stage"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=24)
    runs = parser.parse_args().runs
    for d, k, spike, n, name in SETTINGS:
        # Where s = k, the right rows alone are the answer, without an error.
        for s in (max(5, k + 1), 10, 20, 40):
            model = SpikedModel(d=d, k=k, s=s, spike=spike, seed=0)
            numbers: list[int | str] = sorted({max(k, round(s * times)) for times in TIMES})
            errors: dict[int | str, list[float]] = {kept: [] for kept in [*numbers, "released"]}
            for run in range(runs):  # all numbers of rows see the same patients and the same noise
                cohort = model.draw(n, 5, np.random.default_rng([run, 1]))
                for kept, seen in errors.items():
                    rng = np.random.default_rng([run, 2])
                    basis = METHODS[name].fit(cohort, k=k, budget=BUDGET, rng=rng, s_hat=kept).basis
                    seen.append(sin_theta(basis, model.basis))
            medians = {kept: float(np.median(seen)) for kept, seen in errors.items()}
            best = min(numbers, key=medians.__getitem__)
            ratio = medians["released"] / medians[best]
            print(
                f"d={d} k={k} spike={spike:g} n={n:,} {name} s={s}: best {best} rows, error "
                f"{medians[best]:.3g}; chosen {medians['released']:.3g} ({ratio:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
