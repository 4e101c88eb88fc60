"""Compare the recommended method with every method of its trust at random settings, and state the regret.

python -m benchmarks.recommendation [--settings 40] [--runs 6]

A setting is d in {60, 100, 200, 300}, k from 1 to 4, s from 5 to 15 of which 1.5 to 4 times as many rows are
kept, or all in one setting of four, n from 2e3 to 2e5, 1 to 8 hospitals, epsilon from .3 to 4, spikes from 20
to 150 over a bulk uniform on [0, 10]. The signal that is declared is the true one. Errors are medians.
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np

from dppca_core import METHODS, Budget, SpikedModel, sin_theta
from dppca_core.bounds.recommendation import TRUSTS, Recommendation, recommend

MARGIN = 1.25  # times the least error; settings beyond it are counted


@dataclass(frozen=True)
class Case:
    """Hold one random setting: whom hospitals trust, the population, n patients, and features kept."""

    trust: str
    model: SpikedModel
    s_hat: int
    n: int
    providers: int
    budget: Budget
    seed: int

    def recommended(self) -> Recommendation:
        """Return what is recommended here."""
        return recommend(
            self.trust,
            n=self.n,
            d=self.model.d,
            k=self.model.k,
            budget=self.budget,
            s_hat=self.s_hat,
            providers=self.providers,
            signal=self.model.signal,
        )

    def error(self, name: str, runs: int, **options: object) -> float:
        """Return the median error of a method in this setting."""
        if "s_hat" in METHODS[name].uses:
            options = {"s_hat": self.s_hat} | options
        errors = []
        for run in range(runs):
            cohort = self.model.draw(self.n, self.providers, np.random.default_rng([self.seed, run]))
            rng = np.random.default_rng([self.seed, run, 7])
            fit = METHODS[name].fit(cohort, k=self.model.k, budget=self.budget, rng=rng, **options)
            errors.append(sin_theta(fit.basis, self.model.basis))
        return float(np.median(errors))


def random_case(seed: int, features: tuple[int, ...] = (60, 100, 200, 300)) -> Case:
    """Return the setting of this seed; the trusts take turns."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.choice(features)), int(rng.integers(1, 5))
    s = int(rng.integers(max(k + 1, 5), 16))
    dense = rng.random() < 0.25
    s_hat = d if dense else min(d - 1, round(s * float(rng.uniform(1.5, 4))))
    n = int(math.exp(rng.uniform(math.log(2e3), math.log(2e5))))
    providers = int(rng.integers(1, 9))
    budget = Budget(math.exp(rng.uniform(math.log(0.3), math.log(4))), 1e-5)
    spike = math.exp(rng.uniform(math.log(20), math.log(150)))
    model = SpikedModel(d=d, k=k, s=d if dense else s, spike=spike, seed=seed)
    return Case(TRUSTS[seed % len(TRUSTS)], model, s_hat, n, providers, budget, seed)


def rivals(trust: str) -> list[str]:
    """Return all methods of this trust whose guarantee is (ε, δ) whatever the data."""
    return [name for name, m in METHODS.items() if m.trust == trust and m.guarantee == "(ε, δ)" and m.private]


def regret(case: Case, runs: int) -> tuple[Recommendation, float, str, float]:
    """Return the recommendation, its error, the best method of its trust, and the least of all errors."""
    answer = case.recommended()
    mine = case.error(answer.method, runs, **answer.options)
    errors = {name: case.error(name, runs) for name in rivals(case.trust)}
    best = min(errors, key=lambda name: errors[name])
    return answer, mine, best, min(errors[best], mine)


def main() -> None:
    """Print a line for each setting, and how many exceed the margin."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=40)
    parser.add_argument("--runs", type=int, default=6)
    arguments = parser.parse_args()
    ratios = []
    for seed in range(arguments.settings):
        case = random_case(seed)
        answer, mine, best, least = regret(case, arguments.runs)
        ratios.append(mine / least)
        print(
            f"{seed:3} {case.trust:18} d={case.model.d} k={case.model.k} s={case.model.s} s_hat={case.s_hat} "
            f"n={case.n} N={case.providers} eps={case.budget.epsilon:.2f}: {answer.method} {mine:.3g} "
            f"(predicted {answer.error:.3g}, guess {answer.guess:.2g}); best {best} {least:.3g}; "
            f"{ratios[-1]:.2f}",
            flush=True,
        )
    beyond = sum(ratio > MARGIN for ratio in ratios)
    print(f"largest {max(ratios):.2f} times the best; {beyond} of {len(ratios)} beyond {MARGIN}")


if __name__ == "__main__":
    main()
