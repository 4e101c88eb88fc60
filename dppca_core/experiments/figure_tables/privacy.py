"""Tables of the figures of privacy: releases, the best test, the worst of delta, accounting, the audit.

An attacker reads one number from each release and says whether one patient was among the data. A false alarm
is "yes" without that patient, a miss is "no" with. `level` is the confidence of intervals, and `count` the
number of releases of each of the two data sets.
"""

import numpy as np
import pandas as pd

from dppca_core.accounting import compare
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.auditing import lower_bound, membership, outright_publication
from dppca_core.experiments.demonstrations.attacks import AttackDraws, AttackExperiment
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.privacy import Budget


def releases(budget: Budget, seed: int) -> pd.DataFrame:
    """Return the number that an attacker reads off each of twenty releases of two neighbouring data sets.

    It is in units of the noise, N(0, 1) without the patient.
    """
    shown = picture(budget, seed=seed)
    sides = {"with the patient": shown.with_patient, "without": shown.without_patient}
    return pd.DataFrame({name: [release.reading for release in side] for name, side in sides.items()})


def best_test(attacked: AttackExperiment, alarms: float, count: int, level: float) -> pd.DataFrame:
    """Return the shares of false alarms and misses of the attacker, with noise and without, and in theory.

    A false alarm is "yes" without the patient, a miss is "no" with. "the best test" is the best that any
    attacker can do against this noise. alarms: the share of false alarms that the attacker accepts. level:
    the confidence of intervals.
    """
    draws, rows = AttackDraws(attacked), {}
    limits = {"true": membership.threshold(alarms), "silent": draws.case.mu / 2}  # silent: without noise
    for kind, limit in limits.items():
        for cell in draws.wanted(kind, count):
            draws.try_cell(*cell)
        with_patient, without_patient = draws.readings(kind, count)  # what the attacker reads
        rates = membership.measured(with_patient, without_patient, limit, level)
        rows[kind] = rates.false_alarms, rates.misses
    rows["the best test"] = alarms, float(TradeOff.gaussian(draws.case.mu).misses(alarms))
    return pd.DataFrame(rows, index=["false alarms", "misses"]).T


def failure(n: int, least: float, most: float) -> pd.DataFrame:
    """Return how many of n patients the worst mechanism publishes in the clear, by delta."""
    deltas = np.geomspace(least, most, 160)
    low, _, high = outright_publication.quantiles(n, deltas)
    return pd.DataFrame({"10 %": low, "expected": n * deltas, "90 %": high}, index=deltas)


def accounting(
    budget: Budget, sensitivity: float, steps: int, rounds: tuple[int, ...], quantity: str
) -> pd.DataFrame:
    """Compare accountings by number of rounds, each a column of the table.

    quantity: "noise", the std that each accounting asks for; else the epsilon that it charges for rounds
    with the noise of the exact accounting at `steps` rounds.
    """
    std = compare.noise("exact", budget, sensitivity, steps)  # of which each accounting is charged
    table = pd.DataFrame(index=rounds)
    for name in compare.ACCOUNTINGS:
        if quantity == "noise":
            table[name] = [compare.noise(name, budget, sensitivity, t) for t in rounds]
        else:
            table[name] = [compare.cost(name, std, budget.delta, sensitivity, t) for t in rounds]
    return table


def audit(attacked: AttackExperiment, kinds: tuple[str, ...], count: int, level: float) -> pd.Series:
    """Return the lower bound on epsilon that attacks prove, for each kind of release, beside the true one.

    kinds: "true", as programmed; "silent", without noise; or a planted bug, as in `AttackDraws.readings`.
    """
    draws, shown = AttackDraws(attacked), {}
    for kind in kinds:
        for cell in draws.wanted(kind, count):
            draws.try_cell(*cell)
        with_patient, without_patient = draws.readings(kind, count)
        least = lower_bound.gaussian_tradeoff(
            with_patient, without_patient, delta=attacked.budget.delta, alpha=1 - level
        )
        shown[kind] = least.epsilon
    return pd.Series(shown | {"its noise truly gives": draws.case.epsilon})
