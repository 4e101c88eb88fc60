"""Form the sentences that pages in plain view share: at most 20 words each, no symbols, no method names."""

import math

from pages.shared import text
from pages.shared.settings.catalogue import delta_for

FOLD = "For the statistician"
# A row's label, and who the hospitals are, by whom they trust.
ROWS = {trust: words.removeprefix("With ").capitalize() for trust, words in text.JOINING.items()}
WHO = {
    "untrusted server": "that trust nobody",
    "secure aggregation": "that use sealed sums",
    "central": "that trust one place",
}
TITLE = "Share of the pattern recovered"
PICTURE = "Patients, with the true and the private pattern"
ROWS_NOTE = (
    "Every run is repeated. Each bar shows the median; the thin line shows where 8 of 10 repeats fall."
)
_HOPELESS = 0.9  # an error above this share of a guess's is no answer


def percent(percentage: float) -> str:
    """Return a share in %, with as many digits as matter to a board: none beyond 99.99 %."""
    exact = text.recovered(percentage)
    return "over 99.99 %" if percentage > 99.99 and exact != "100 %" else exact


def no_answer(percentage: float, guess: float) -> bool:
    """Return whether a share of the pattern in % is hardly more than a guess recovers.

    Errors are compared, as on other pages: an error is the root of what is not recovered.
    """
    return max(100 - percentage, 0) > _HOPELESS**2 * (100 - guess)


def recovered(patients: str, hospitals: int, trust: str, percentage: float, guess: float) -> str:
    """Say what hospitals recover together under a trust; patients: their number in words."""
    who = f"{hospitals:,} hospitals {WHO[trust]} recover" if hospitals > 1 else "1 hospital recovers"
    end = ": hardly more than a guess" if no_answer(percentage, guess) else f" from {patients}"
    return f"{who} {percent(percentage)} of the pattern{end}."


def references(unprotected: float, guess: float, free: bool = False) -> str:
    """Return what no privacy, once measured, and a guess recover in %; free: if privacy costs nothing."""
    without = f"No privacy: {percent(unprotected)}. " if math.isfinite(unprotected) else ""
    return f"{f'{text.NO_COST} ' if free else without}A random guess would score {percent(guess)}."


def delta_too_large(delta: float, n: float) -> str:
    if delta <= 1 / n:
        return ""
    return (
        f"The failure chance, {text.one_in(delta)}, is too large for {n:,.0f} patients. "
        f"Choose {text.one_in(delta_for(n))}."
    )
