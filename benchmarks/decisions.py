"""Check verdicts and claims of the decision to join, as pages settle them, against many fresh runs.

    python -m benchmarks.decisions [--seed 0] [--settings 200] [--runs 400] [--workers 1]

A setting has d from 20 to 50, k from 1 to 3, s of k to d/2, a spike over a bulk that is uniform between 0 and
10 to 90 % of it, 2 to 30 hospitals and 200 to 30,000 patients in all. Hospitals are equal in half of the
settings, else their sizes are log-normal. ε is from .1 to 5, in half of the settings another for each
hospital. Results stay in-house or are published, and δ is 1e-6. What spans a decade is drawn evenly on a log
scale. The verdict's runs and the fresh ones have different seeds, and so have the 40 runs with the patients
that "ask again" names. Workers are processes, each with one BLAS thread.

Printed are each setting, how often each verdict falls, how often it is open only because nine in ten runs
together do not recover enough, and, where the fresh runs decide, how many settings
have the same verdict, a weaker one ("join if" where nobody need be trusted), an open one (to ask again, or
too close), or another. Then how many claims the fresh runs refute at level .01, each by itself and all
together (Bonferroni), and how many verdicts to ask again are to join once there are as many patients.
"""

import argparse
import math
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dppca_core import SpikedModel
from dppca_core.experiments.decision import rule
from dppca_core.experiments.decision.claims import claims
from dppca_core.experiments.decision.confirmation import settle
from dppca_core.experiments.decision.decision import decide
from dppca_core.experiments.decision.hospitals import USES, JoiningExperiment, JoiningHospital, scaled
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.predictions import Anchor
from dppca_core.experiments.decision.rule import Answer
from dppca_core.experiments.sweeps.blas import use_one_thread

_LEVEL = 0.01  # chance that a true claim is refuted
_FRESH = 2**31  # added to the seed for fresh runs: every setting's own seed is below it


def random_setting(rng: np.random.Generator) -> JoiningExperiment:
    def decades(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    d, k, count = round(decades(20, 50)), int(rng.integers(1, 4)), round(decades(2, 30))
    model = SpikedModel(
        d=d,
        k=k,
        s=int(rng.integers(k, d // 2 + 1)),
        spike=100.0,
        bulk=(0.0, float(rng.uniform(10, 90))),
        seed=int(rng.integers(2**31)),
    )
    spread = 0.0 if rng.random() < 0.5 else 1.0
    shares = np.exp(spread * rng.standard_normal(count))
    sizes = np.maximum(1, np.round(decades(200, 3e4) * shares / shares.sum())).astype(int)
    common = decades(0.1, 5)
    each = rng.random() < 0.5
    hospitals = tuple(
        JoiningHospital(f"Hospital {i}", int(size), decades(0.1, 5) if each else common)
        for i, size in enumerate(sizes, start=1)
    )
    use = USES[int(rng.integers(len(USES)))]
    return JoiningExperiment(
        hospitals, int(rng.integers(count)), model, k, use=use, seed=int(rng.integers(2**31))
    )


@dataclass(frozen=True)
class Checked:
    """Hold what one setting showed."""

    verdict: Answer  # from the setting's runs, settled
    fresh: Answer  # from the fresh runs, TOO_CLOSE where these do not decide
    made: int  # how many claims the setting's runs made
    refuted: int  # how many of these the fresh runs refute, each at its own level
    refuted_together: int  # how many they refute at one level for the claims of all settings
    then: Answer | None  # where it is to ask again, the verdict at as many patients; else None
    gains: bool  # whether a gain above the margin is shown under some trust, useful or not

    @property
    def outcome(self) -> str:
        if self.verdict == self.fresh:
            return "same"
        if not self.verdict.decided:
            return "open"
        return "weaker" if (self.verdict, self.fresh) == (Answer.JOIN_IF, Answer.JOIN) else "other"


def check(setting: JoiningExperiment, fresh_runs: int, settings: int) -> Checked:
    """Decide a setting, and decide it again from fresh runs; settings: how many there are in all."""
    runs, decision = settle(setting)
    outcomes = runs.quantities()
    made, pairs = claims(outcomes), math.comb(len(outcomes), 2)
    fresh = JoiningRuns(replace(setting, seed=setting.seed + _FRESH, repeats=fresh_runs))
    answer = rule.answer(Anchor.of_runs(fresh, setting.ours).measured)
    again = fresh.quantities()
    levels = (_LEVEL, _LEVEL / (pairs * settings))
    refuted, refuted_together = (sum(claim.fails(again, 1 - level) for claim in made) for level in levels)
    then = None
    if decision.patients is not None:
        larger = scaled(setting, patients=decision.patients / setting.n)
        then = decide(JoiningRuns(replace(larger, seed=setting.seed + 2 * _FRESH))).answer
    gains = any(each.lower > rule.MARGIN for each in decision.evidence.values())
    return Checked(decision.answer, answer, len(made), refuted, refuted_together, then, gains)


def described(setting: JoiningExperiment, checked: Checked) -> str:
    ours, model = setting.hospitals[setting.ours], setting.experiment
    then = ", though joining gains" if checked.gains and not checked.verdict.decided else ""
    then += f", then {checked.then}" if checked.then else ""
    return (
        f"{setting.use:9} d {model.d:3} k {setting.k} N {len(setting.hospitals):2} n {setting.n:6} "
        f"ours {ours.patients:6} ε {ours.epsilon:.2f}, strictest {setting.strictest:.2f}: "
        f"{checked.verdict}{then} | fresh: {checked.fresh} | "
        f"{checked.refuted} of {checked.made} claims refuted"
    )


def summary(results: list[Checked]) -> str:
    total, decided = len(results), [each for each in results if each.fresh.decided]
    lines = [f"{total} settings; verdicts:"]
    counts = Counter(each.verdict for each in results)
    lines += [f"  {counts[answer]:4} {answer}" for answer in Answer]
    useless = sum(each.gains for each in results if not each.verdict.decided)
    lines.append(f"  open though joining gains, as too little is recovered together: {useless}")
    outcomes = Counter(each.outcome for each in decided)
    lines.append(f"fresh runs decide {len(decided)}; the verdict there:")
    lines += [
        f"  {outcomes[name]:4} ({outcomes[name] / max(len(decided), 1):.1%}) {name}"
        for name in ("same", "weaker", "open", "other")
    ]
    undecided = [each for each in results if not each.fresh.decided]
    lines.append(
        f"fresh runs do not decide {len(undecided)}, of which the verdict decides "
        f"{sum(each.verdict.decided for each in undecided)}"
    )
    made, refuted, together = (
        sum(getattr(each, field) for each in results) for field in ("made", "refuted", "refuted_together")
    )
    lines.append(f"claims: {made}; refuted at level {_LEVEL}: {refuted} each by itself, {together} together")
    asked = [each.then for each in results if each.then]
    passed = sum(then.joins for then in asked)
    lines.append(f"to ask again: {len(asked)}, of which with as many patients to join: {passed}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", type=int, default=200)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    settings = [random_setting(np.random.default_rng([given.seed, i])) for i in range(given.settings)]
    results = []
    with ProcessPoolExecutor(given.workers, initializer=use_one_thread) as pool:
        checks = pool.map(partial(check, fresh_runs=given.runs, settings=given.settings), settings)
        for setting, checked in zip(settings, checks, strict=True):
            results.append(checked)
            print(described(setting, checked), flush=True)
    print(summary(results))


if __name__ == "__main__":
    main()
