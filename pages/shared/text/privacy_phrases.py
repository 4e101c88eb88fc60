"""Form phrases about guarantees: what epsilon and delta mean to a patient. No Streamlit here."""

from collections.abc import Mapping, Sequence

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.auditing import membership
from dppca_core.privacy import Budget
from pages.shared.text.numbers import listed, number, patients

GUARANTEES = {
    "(ε, δ)": "(ε, δ)-private",
    "ε": "purely ε-private, δ not used",
    "on a good event": "private only if the data meet a condition that the proof assumes",
    "approximate sampler": "approximate sampler: pure ε not guaranteed",
    "none": "not private",
}

NEVER_PUBLISHED = (
    "Our method never publishes a record. "
    "Still, choose the failure chance far below 1 in the number of patients."
)

UNUSUAL_GUARANTEES = ("ε", "on a good event", "approximate sampler")


def guarantee(kind: str) -> str:
    return GUARANTEES[kind]


def guarantee_notes(kinds: Mapping[str, str]) -> str:
    """Return which methods have another guarantee than (ε, δ). kinds: each method's, by its title."""
    by_kind = {kind: [title for title in kinds if kinds[title] == kind] for kind in UNUSUAL_GUARANTEES}
    sentences = [f"{GUARANTEES[kind]}: {', '.join(titles)}." for kind, titles in by_kind.items() if titles]
    return " ".join(sentence[0].upper() + sentence[1:] for sentence in sentences)


def at_most(chance: float, digits: int = 0) -> str:
    """Return how often an attacker is right at most, of a hundred guesses, with one digit near 50."""
    percent = 100 * chance
    if percent >= 99.5:  # "100 times in 100" would be too much
        return "almost always"
    return f"at most {percent:.{digits if percent >= 50.5 else 1}f} times in 100"


def odds(epsilon: float, delta: float) -> str:
    """Return the promise in words: how often an attacker who knows all others is right about one patient."""
    most = TradeOff.allowed(epsilon, delta).best_guess()
    beside = "This promise protects nobody." if most >= 0.995 else "A random guess: 50."
    could = f"could tell whether the patient took part {at_most(most)}"
    return f"Even an attacker who knew everyone else {could}. {beside}"


def luck(right: int, tries: int) -> str:
    """Return how many of so many guesses were right, and what chance alone gives in 19 of 20 tries."""
    low, high = membership.coin_span(tries)
    return f"The attacker is right {right} times in {tries}; chance gives {low} to {high}."


def printed_truth(truly: Mapping[str, Sequence[str]], budget: Budget) -> str:
    """Return which methods keep their paper's noise. truly: their titles by the epsilon they truly give."""
    each = "; ".join(f"{listed(titles)}: {epsilon}" for epsilon, titles in truly.items())
    return (
        f"Some methods take their noise from their papers, for ε = {budget.epsilon:g}. What they truly "
        f"give at δ = {number(budget.delta)}: {each}."
    )


def one_in(chance: float) -> str:
    return f"1 in {patients(1 / chance)}" if chance < 0.05 else f"{100 * chance:g} %"


def margin(delta: float) -> str:
    """Return what delta adds to the chances of `odds`; it is not the chance that they are exceeded.

    A release may reveal more than e^epsilon with a chance above delta. Over all releases `odds` holds.
    """
    return (
        f"The promise may fail, with a chance of at most {one_in(delta)}. The odds above include that chance."
    )


def large_delta(delta: float, n: float) -> str:
    """Return what a delta above one in the number of patients would allow; empty where it is below."""
    if delta <= 1 / n:
        return ""
    worst_case = "a method that publishes each record in the clear with that chance would keep this promise"
    return f"δ = {number(delta)} is above 1/n: {worst_case}."


def neighbour_names(replaced: bool) -> tuple[str, str]:
    return "With the patient", "With another patient" if replaced else "Without the patient"
