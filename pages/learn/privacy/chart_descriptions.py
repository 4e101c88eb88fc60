"""Describe charts of the privacy page for those who do not see them. No Streamlit here."""

from __future__ import annotations

from dppca_core.auditing import tradeoff_curves
from dppca_core.privacy import Budget
from pages.learn.privacy import accounting_text
from pages.learn.privacy.attack_text import share
from pages.learn.privacy.view import Accounted, Attack
from pages.shared import text


def readings(found: Attack) -> str:
    """How far apart the two laws are, and the two errors of the chosen line."""
    return (
        f"What is read lies around 0 without the patient and around {text.short(found.mu)} with the patient, "
        f"in standard deviations of the noise. A line at {found.limit:.2f} gives {share(found.alarms)} false "
        f"alarms and {share(found.misses)} misses."
    )


def errors(found: Attack, budget: Budget) -> str:
    """The chosen test by calculation, by the promise and as measured."""
    seen, least = found.measured, float(tradeoff_curves.allowed(budget.epsilon, budget.delta, found.alarms))
    return (
        f"At {share(found.alarms)} false alarms the best test of this noise misses {share(found.misses)}; "
        f"the promise demands at least {share(least)}. Measured: {share(seen.false_alarms)} false alarms and "
        f"{share(seen.misses)} misses. A random guess would miss {share(1 - found.alarms)}."
    )


def charged(found: Accounted, plain: bool) -> str:
    """What the exact noise of the chosen rounds is said to cost, the least first."""
    costs = found.charged.loc[found.steps].sort_values()
    parts = [
        f"{accounting_text.accounting(str(name), plain)} {text.short(cost)}" for name, cost in costs.items()
    ]
    count = text.count(found.steps, "round", "rounds")
    what = "privacy setting" if plain else "ε"
    return f"What {count} with the same noise would be charged, as {what}: {'; '.join(parts)}."
