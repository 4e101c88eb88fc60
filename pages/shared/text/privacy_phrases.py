"""Form phrases about guarantees: what epsilon and delta mean to a patient. No Streamlit here."""

from collections.abc import Iterable, Mapping, Sequence

from dppca_core.auditing import tradeoff_curves
from dppca_core.privacy import Budget
from pages.shared.text.numbers import number, patients

GUARANTEES = {
    "(ε, δ)": "(ε, δ)-private",
    "ε": "purely ε-private, δ not used",
    "on a good event": "private on a good event of the data only",
    "approximate sampler": "approximate sampler: pure ε not guaranteed",
    "none": "not private",
}

GUARANTEE_MARKS = {"ε": "*", "on a good event": " †", "approximate sampler": " ‡"}


def guarantee(kind: str) -> str:
    """Return a method's guarantee in a few words."""
    return GUARANTEES[kind]


def guarantee_notes(kinds: Iterable[str]) -> str:
    """Return the marks among these guarantees, explained."""
    used = set(kinds)
    marks = {kind: mark.strip() for kind, mark in GUARANTEE_MARKS.items() if kind in used}
    return "; ".join(f"{mark} {GUARANTEES[kind]}" for kind, mark in marks.items())


def even_odds(right: float) -> str:
    """Return the chance to guess right as odds out of 100: 73:27."""
    percent = 100 * right
    digits = 0 if percent < 99 else 2 if percent < 99.99 else 4
    return f"{percent:.{digits}f}:{100 - percent:.{digits}f}"


def odds(epsilon: float, delta: float, neighbours: str) -> str:
    """Return what the guarantee means to one patient, as odds."""
    ends = even_odds(tradeoff_curves.best_guess(epsilon, delta))
    question = "whether a patient took part"
    if neighbours == "replace-one":
        question = "whether one patient's record or another's was used"
    return f"An attacker who starts at 50:50 on {question} ends at most at {ends}."


def printed_truth(truly: Mapping[str, Sequence[str]], budget: Budget) -> str:
    """Return which calibrations keep their paper's constants, with the epsilon that they truly give."""
    each = "; ".join(f"{', '.join(titles)} ε = {given}" for given, titles in truly.items())
    return (
        f"Calibrated by their papers' constants for ε = {budget.epsilon:g}, these truly have, at "
        f"δ = {number(budget.delta)}: {each}."
    )


def one_in(chance: float) -> str:
    """Return a small chance in words: 1 in 100,000."""
    return f"1 in {patients(1 / chance)}" if chance < 0.05 else f"{100 * chance:g} %"


def margin(delta: float) -> str:
    """Return what delta adds to the chances of `odds`; it is not the chance that they are exceeded.

    A single release may reveal more than e^epsilon with a chance above delta. Over all releases the best
    guess is right as often as `odds` says, delta included (`tradeoff_curves.best_guess`).
    """
    return (
        f"The promise leaves a margin of {one_in(delta)} for rare outcomes that tell more; it is counted in."
    )


def large_delta(delta: float, n: float) -> str:
    """Return what a delta above one in the number of patients would allow; empty where it is below."""
    if delta <= 1 / n:
        return ""
    promise = "a method that publishes each record outright with that chance would keep this promise"
    return f"δ = {number(delta)} is above 1/n: {promise}."


def sides(replaced: bool) -> tuple[str, str]:
    """Return the names of the two data sets."""
    return ("With the patient", "With another instead") if replaced else ("With the patient", "Without")
