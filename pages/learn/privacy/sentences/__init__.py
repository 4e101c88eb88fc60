"""The sentences of the privacy page in both views, and how they write its numbers."""

from dppca_core.privacy import Budget
from pages.shared import text


def figures(value: float) -> str:
    """Return a number as `text.short` has it, rounded first: root finders give 1.0000001 in place of 1."""
    return text.short(float(f"{value:.6g}"))


def promise_text(budget: Budget) -> str:
    return f"ε = {text.number(budget.epsilon)}, δ = {text.number(budget.delta)}"


def share(value: float) -> str:
    """Return a calculated share in percent, with "below" or "above" in place of a rounded 0 or 100."""
    if not 1e-5 <= value <= 1 - 1e-5:
        return f"{'below 0.001' if value < 0.5 else 'above 99.999'} %"
    return f"{100 * value:.{1 if 0.01 <= value <= 0.99 else 3}f} %"
