"""Compare predicted with measured errors of every method that can be recommended, at random settings.

    python -m benchmarks.recommendation [--seed 0] [--settings 40] [--runs 40] [--one-population]

A setting is d from 20 to 400, k from 1 to 6, s of up to 40 and of which 2 to 5 times as many features are
kept, spikes from 15 to 100 over a bulk that is uniform between 0 and 1 to 15, n from 500 to 10^6, 1 to 200
hospitals and epsilon from .1 to 10. What spans a decade or more is drawn evenly on a log scale. Methods that
ask for one place have the noise of sealed sums, and are not measured again. Every run has a population of its
own (other directions, another draw of the bulk), as predictions are medians over populations too; those for
the bulks drawn enter by their median. With --one-population all runs of a setting have the same one, as on a
page.

Printed are, for each setting, predicted and measured medians of all candidates, and what is recommended under
each trust. Regret is the median error of the recommended method over that of the best candidate. A rise is
where more trust errs more than less trust does, beyond the 95 % intervals of both medians.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dppca_core import METHODS, Budget, SpikedModel, sin_theta
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.recommendation import TRUSTS, Recommendation, recommend
from dppca_core.experiments.decision.rule import median_interval

MARGIN = 1.25  # of predicted over measured, and of regret
_MEASURED = ("untrusted server", "secure aggregation")  # one place has the noise of sealed sums


@dataclass(frozen=True)
class Case:
    """Hold one random setting: the population, n patients at hospitals, and features kept."""

    model: SpikedModel
    s_hat: int
    n: int
    providers: int
    budget: Budget

    def recommended(self, trust: str, model: SpikedModel | None = None) -> Recommendation:
        numbers = {"n": self.n, "d": self.model.d, "k": self.model.k, "s_hat": self.s_hat}
        model = self.model if model is None else model
        return recommend(trust, budget=self.budget, providers=self.providers, model=model, **numbers)

    def populations(self, runs: int, one: bool = False) -> list[SpikedModel]:
        """Return the population of every run: others with the same numbers, or always the one."""
        return [self.model if one else replace(self.model, seed=self.model.seed + i) for i in range(runs)]

    def predicted(self, populations: Sequence[SpikedModel]) -> dict[str, float]:
        by_trust = ([self.recommended(trust, model).errors for model in populations] for trust in _MEASURED)
        return {
            name: float(np.median([each[name] for each in errors]))
            for errors in by_trust
            for name in errors[0]
        }

    def measured(self, names: Iterable[str], populations: Sequence[SpikedModel]) -> dict[str, np.ndarray]:
        errors = {name: np.empty(len(populations)) for name in names}
        for run, model in enumerate(populations):
            cohort = model.draw(self.n, self.providers, np.random.default_rng([self.model.seed, run]))
            for name in errors:
                rng = np.random.default_rng([self.model.seed, run, *name.encode()])
                options = {"s_hat": self.s_hat} if "s_hat" in METHODS[name].uses else {}
                fit = METHODS[name].fit(cohort, k=model.k, budget=self.budget, rng=rng, **options)
                errors[name][run] = sin_theta(fit.basis, model.basis)
        return errors

    def __str__(self) -> str:
        model = self.model
        return (
            f"d={model.d} k={model.k} s={model.s} s_hat={self.s_hat} n={self.n} N={self.providers} "
            f"eps={self.budget.epsilon:.2f} spike={model.spikes[0]:.0f} bulk={model.bulk[1]:.1f}"
        )


def random_case(seed: int, index: int, most_features: int = 400, most_patients: float = 1e6) -> Case:
    rng = np.random.default_rng([seed, index])

    def between(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    d, k = round(between(20, most_features)), int(rng.integers(1, 7))
    s = round(between(max(k + 1, 4), min(40, d // 2)))
    s_hat = min(d, round(s * rng.uniform(2, 5)))
    spike, top = between(15, 100), rng.uniform(1, 14.9)
    n = round(between(500, most_patients))
    providers, budget = round(between(1, 200)), Budget(between(0.1, 10), 1e-5)
    population_seed = 1000 * (1000 * seed + index)  # runs count on from it
    return Case(SpikedModel(d, k, s, spike, (0.0, top), population_seed), s_hat, n, providers, budget)


@dataclass(frozen=True)
class Outcome:
    """Hold what is recommended under a trust beside what was measured.

    ratio: predicted over measured. regret: the median error over that of the best candidate, whose share of a
    guess's is `least`. limits: the interval of the median error.
    """

    answer: Recommendation
    ratio: float
    regret: float
    least: float
    limits: tuple[float, float]


def outcome(
    answer: Recommendation, trust: str, predicted: Mapping[str, float], errors: Mapping[str, np.ndarray]
) -> Outcome:
    medians = {name: float(np.median(values)) for name, values in errors.items()}
    allowed = (name for name in medians if trust != TRUSTS[-1] or METHODS[name].trust == trust)
    mine, least = medians[answer.method], min(medians[name] for name in allowed)
    return Outcome(
        answer,
        predicted[answer.method] / mine,
        mine / least,
        least / answer.guess,
        median_interval(errors[answer.method], level=0.95),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", type=int, default=40)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--one-population", action="store_true")
    arguments = parser.parse_args()
    by_method, by_trust = defaultdict[str, list[float]](list), defaultdict[str, list[Outcome]](list)
    rises = 0
    for index in range(arguments.settings):
        case = random_case(arguments.seed, index)
        answers = {trust: case.recommended(trust) for trust in reversed(TRUSTS)}
        populations = case.populations(arguments.runs, arguments.one_population)
        predicted, guess = case.predicted(populations), answers["central"].guess
        errors = case.measured(predicted, populations)
        print(f"{index:3} {case}, a guess {guess:.2f}; predicted and measured:")
        medians = {name: float(np.median(values)) for name, values in errors.items()}
        print(f"      {', '.join(f'{name} {predicted[name]:.3g} {medians[name]:.3g}' for name in errors)}")
        for name, median in medians.items():
            if predicted[name] < SMALL_SHARE * guess:
                by_method[name].append(predicted[name] / median)
        highest = math.inf
        for trust, answer in answers.items():
            seen = outcome(answer, trust, predicted, errors)
            by_trust[trust].append(seen)
            rises += seen.limits[0] > highest
            low, highest = seen.limits
            print(
                f"      {trust:18} {answer.method:24} predicted {predicted[answer.method]:.3g} "
                f"({seen.ratio:.2f} times measured, {low:.3g} to {highest:.3g}), regret {seen.regret:.2f}, "
                f"chance {answer.chance:.2f}{', near a guess' if answer.near_guess else ''}",
                flush=True,
            )
    print(f"\npredicted over measured, where less than a third of a guess is predicted (margin {MARGIN})")
    for name, ratios in by_method.items():
        print(f"  {name:26} {summary(ratios)}")
    for trust, outcomes in by_trust.items():
        useful = [each for each in outcomes if not each.answer.near_guess]
        print(f"recommended, {trust}: {summary([each.ratio for each in useful])}")
        regrets = [each.regret for each in useful]
        beyond = sum(regret > MARGIN for regret in regrets)
        print(
            f"  regret: median {np.median(regrets):.2f}, largest {max(regrets):.2f}, {beyond} beyond {MARGIN}"
        )
        near = [each.least for each in outcomes if each.answer.near_guess]
        wrong = sum(share < SMALL_SHARE for share in near)
        print(f"  near a guess: {len(near)} settings, in {wrong} of which some method errs less than a third")
    print(f"more trust errs more, beyond both intervals: {rises}")


def summary(ratios: Sequence[float]) -> str:
    within = sum(1 / MARGIN <= ratio <= MARGIN for ratio in ratios)
    shown = ", ".join(f"{value:.2f}" for value in np.quantile(ratios, [0, 0.1, 0.5, 0.9, 1]))
    return f"{within} of {len(ratios)} within; 0, 10, 50, 90, 100 %: {shown}"


if __name__ == "__main__":
    main()
