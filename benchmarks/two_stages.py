"""Compare the closed form of two stages, and the chance that all rows are found, with simulation.

python -m benchmarks.two_stages [--runs 40]

Each run draws another population of the same recipe and new patients. The error is the median over runs that
find all rows, since the closed form is of those; the chance is the share of such runs.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from dppca_core import METHODS, Budget, Setting, SpikedModel, sin_theta
from dppca_core.bounds import BOUNDS

BUDGET = Budget(1.0, 1e-5)


@dataclass(frozen=True)
class Case:
    """Hold one setting; with more than one of `providers`, each hospital adds its own noise.

    stage_one: how the first stage finds rows, as methods.two_stage has it.
    """

    d: int
    k: int
    s: int
    s_hat: int
    n: int
    spike: float | tuple[float, ...] = 100.0
    providers: int = 1
    stage_one: str = "rounds"

    def model(self, seed: int) -> SpikedModel:
        return SpikedModel(d=self.d, k=self.k, s=self.s, spike=self.spike, seed=seed)

    def predicted(self) -> tuple[float, float]:
        """Return the closed form's error and the chance that all rows are found."""
        model = self.model(0)
        eigenvalues = model.eigenvalues / model.norm_bound(self.n) ** 2
        setting = Setting(self.d, self.n, self.k, self.s, self.s_hat, self.providers, 4, eigenvalues, BUDGET)
        name = "two_stage_prediction" if self.providers == 1 else "two_stage_own_noise_prediction"
        bound = BOUNDS[name](setting, stage_one=self.stage_one)
        return bound.final, bound.quantities["support_probability"]

    def seen(self, runs: int) -> tuple[float, float]:
        """Return the median error of runs that find all rows, and their share."""
        name = "two_stage" if self.providers == 1 else "two_stage_own_noise"
        errors = []
        for run in range(runs):
            model = self.model(run)
            cohort = model.draw(self.n, self.providers, np.random.default_rng([run, 1]))
            rng = np.random.default_rng([run, 2])
            options = {"s_hat": self.s_hat, "stage_one": self.stage_one}
            basis = METHODS[name].fit(cohort, k=self.k, budget=BUDGET, rng=rng, **options).basis
            # A row that is kept may still be shrunk away: only what it carries tells whether it was found.
            lost = np.square(model.basis[~basis.any(axis=1)]).sum()
            errors.append(sin_theta(basis, model.basis) if lost < 1e-3 else np.nan)
        return float(np.nanmedian(errors)), float(np.isfinite(errors).mean())


CASES = (
    Case(1000, 5, 10, 50, 3_000),
    Case(1000, 5, 10, 50, 4_000),
    Case(1000, 5, 10, 50, 5_000),
    Case(1000, 5, 10, 50, 8_000),
    Case(1000, 5, 10, 50, 20_000),
    Case(1000, 5, 10, 50, 9_000, providers=5),
    Case(400, 5, 10, 30, 4_000),
    Case(400, 5, 10, 30, 10_000),
    Case(400, 5, 10, 30, 10_000, providers=5),
    Case(200, 3, 10, 20, 20_000, providers=5),
    Case(200, 2, 8, 40, 3_000, spike=50.0),
    Case(150, 1, 6, 24, 10_000, spike=60.0),
    Case(400, 3, 10, 30, 10_000, spike=(100.0, 50.0, 20.0)),
    Case(400, 5, 10, 30, 8_000, stage_one="moment"),
    Case(200, 3, 10, 20, 6_000, stage_one="moment"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    for case in CASES:
        (error, chance), (median, share) = case.predicted(), case.seen(runs)
        print(
            f"{case}: error {error:.4g} predicted, {median:.4g} seen ({error / median:.2f}); "
            f"chance {chance:.2f} predicted, {share:.2f} seen",
            flush=True,
        )


if __name__ == "__main__":
    main()
