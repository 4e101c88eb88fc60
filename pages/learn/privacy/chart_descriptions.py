"""Describe charts of the privacy page for those who do not see them. No Streamlit here."""

from __future__ import annotations

from dppca_core.auditing import tradeoff_curves
from dppca_core.privacy import Budget
from pages.learn.privacy import accounting_text
from pages.learn.privacy.attack_text import share
from pages.learn.privacy.view import Accounted, Attack
from pages.shared import text


def readings(attack: Attack) -> str:
    """Return how far apart the two laws are, and the two errors of the chosen line."""
    return (
        f"What is read lies around 0 without the patient and around {text.short(attack.mu)} with the "
        f"patient, in standard deviations of the noise. A line at {attack.limit:.2f} gives "
        f"{share(attack.alarms)} false alarms and {share(attack.misses)} misses."
    )


def errors(attack: Attack, budget: Budget) -> str:
    """Return the misses of the chosen test by calculation, by the promise and as measured."""
    rates = attack.measured
    least = float(tradeoff_curves.allowed(budget.epsilon, budget.delta, attack.alarms))
    return (
        f"At {share(attack.alarms)} false alarms the best test of this noise misses {share(attack.misses)}; "
        f"the promise demands at least {share(least)}. Measured: {share(rates.false_alarms)} false alarms "
        f"and {share(rates.misses)} misses. A random guess would miss {share(1 - attack.alarms)}."
    )


def charged(costs: Accounted, plain: bool) -> str:
    """Return what each accounting charges for the exact noise of the chosen rounds, the least first."""
    charges = costs.charged.loc[costs.steps].sort_values()
    parts = [f"{accounting_text.accounting(str(name), plain)} {text.short(v)}" for name, v in charges.items()]
    count = text.count(costs.steps, "round", "rounds")
    quantity = "privacy setting" if plain else "ε"
    return f"What {count} with the same noise would be charged, as {quantity}: {'; '.join(parts)}."
