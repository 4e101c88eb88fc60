"""Write the Python that gives the numbers of the privacy page's figures."""

from typing import Any

from dppca_core.experiments.demonstrations.attacks import AttackSetting
from dppca_core.privacy import Budget
from pages.learn.privacy import view
from pages.shared.reports import python_code
from pages.shared.settings.catalogue import CHOICES

_RELEASES = """
import pandas as pd
from dppca_core.experiments.demonstrations.neighbours import picture

shown = picture($budget, seed=$seed)
print(f"distance of the two laws, in units of the noise: {shown.mu:.3g}")
table = pd.DataFrame({side: [one.read for one in getattr(shown, side)] for side in ("here", "there")})
print(table.rename(columns={"here": "with the patient", "there": "without"}))
"""
_TEST = """
import pandas as pd
from dppca_core.auditing import membership, tradeoff_curves
from dppca_core.experiments.demonstrations.attacks import AttackDraws

draws, rows = AttackDraws($attacked), {}
limits = {"true": membership.threshold($alarms), "silent": draws.case.mu / 2}  # silent: without noise
for kind, limit in limits.items():
    for cell in draws.wanted(kind, $count):
        draws.try_cell(*cell)
    here, there = draws.readings(kind, $count)  # what the attacker reads with and without the patient
    rates = membership.measured(here, there, limit, $level)
    rows[kind] = rates.false_alarms, rates.misses
rows["the best test"] = $alarms, float(tradeoff_curves.gaussian(draws.case.mu, $alarms))
table = pd.DataFrame(rows, index=["false alarms", "misses"]).T
print(table)
"""
_FAILURE = """
import numpy as np
import pandas as pd
from dppca_core.auditing import outright_publication

counts = {delta: outright_publication.published($n, delta) for delta in np.geomspace($least, $most, 160)}
rows = {delta: (one.low, one.expected, one.high) for delta, one in counts.items()}
table = pd.DataFrame(rows, index=["10 %", "expected", "90 %"]).T
print(table)
"""
_ROUNDS = """
import pandas as pd
from dppca_core.accounting import compare

budget, sensitivity, rounds = $budget, $sensitivity, $rounds
std = compare.noise("exact", budget, sensitivity, $steps)  # of which each accounting is charged
noise, charged = ({}, {})
for name in compare.ACCOUNTINGS:
    noise[name] = [compare.noise(name, budget, sensitivity, t) for t in rounds]
    charged[name] = [compare.cost(name, std, budget.delta, sensitivity, t) for t in rounds]
table = pd.DataFrame($quantity, rounds)
print(table)
"""
_AUDIT = """
import pandas as pd
from dppca_core.auditing import lower_bound
from dppca_core.experiments.demonstrations.attacks import AttackDraws

draws, shown = AttackDraws($attacked), {}
for kind in $kinds:  # as programmed, and with the planted mistake
    for cell in draws.wanted(kind, $count):
        draws.try_cell(*cell)
    here, there = draws.readings(kind, $count)
    delta, alpha = draws.attacked.budget.delta, 1 - $level
    shown[kind] = lower_bound.gaussian_tradeoff(here, there, delta=delta, alpha=alpha).epsilon
table = pd.Series(shown | {"its noise truly gives": draws.case.epsilon})
print(table)
"""


def releases(budget: Budget, seed: int) -> str:
    """Return the code of twenty releases from two data sets."""
    return python_code.program(_RELEASES, budget=budget, seed=seed)


def test(attacked: AttackSetting, alarms: float, count: int) -> str:
    """Return the code of the attacker's best test and of its errors."""
    values = {"attacked": attacked, "alarms": alarms, "count": count, "level": view.LEVEL}
    return python_code.program(_TEST, **values)


def failure(n: int) -> str:
    """Return the code of the patients whom the worst mechanism publishes."""
    options = CHOICES["delta"].options
    return python_code.program(_FAILURE, n=n, least=float(options[0]), most=float(options[-1]))


def rounds(costs: view.Accounted, budget: Budget, quantity: str) -> str:
    """Return the code of the "noise" of several rounds, or of what they are "charged"."""
    values: dict[str, Any] = {"budget": budget, "sensitivity": costs.sensitivity, "steps": costs.steps}
    return python_code.program(_ROUNDS.replace("$quantity", quantity), rounds=view.ROUNDS, **values)


def audit(attacked: AttackSetting, bug: str | None, count: int) -> str:
    """Return the code of the audit, as programmed and with the planted mistake."""
    kinds = ("true",) if bug is None else ("true", bug)
    return python_code.program(_AUDIT, attacked=attacked, kinds=kinds, count=count, level=view.LEVEL)
