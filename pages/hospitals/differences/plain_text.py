"""The sentences of the differences page in plain view. No Streamlit here."""

import math
from collections.abc import Sequence

from dppca_core.experiments.verdicts import Gain
from pages.shared import text
from pages.shared.plain import phrases

TITLE = "Differences"
QUESTION = (
    "**What if hospitals differ?** They measure differently and treat different patients. Who gains by "
    "joining?"
)
ALONE, AS_MEASURED, STANDARDISED = "Alone, with privacy", "Joined, not standardised", "Standardised"
ROWS_NOTE = "Each bar shows how much of its own patients' pattern the median hospital recovers."
HOSPITALS = "Hospital by hospital"
TRY = "**Try this:** let hospitals differ more. When does joining harm a hospital?"
TRY_HEART = "**Try this:** move *Privacy loss ε* to the right. What is left is what hospitals do not share."
NOT_PRIVATE = "Computed from the patients' records without noise: not private."
IN_HOUSE = "A hospital that publishes nothing needs no protection, and may do better alone."
# How joining compares with staying alone, for a hospital.
OUTCOMES: dict[Gain, str] = {
    "less": "better",
    "more": "worse",
    "level": "about the same",
    "neither": "no answer, as alone",
}


def headline(outcomes: Sequence[Gain], trust: str) -> str:
    """Return how many hospitals find a better pattern by joining, and a worse one.

    outcomes: of each hospital, keys of `OUTCOMES`. trust: the trust model under which they join.
    """
    gains, loses, all_of_them = outcomes.count("less"), outcomes.count("more"), len(outcomes)
    who = f"{all_of_them} hospitals {phrases.WHO[trust]}"
    if set(outcomes) == {"neither"}:
        return f"None of the {who} does better than a random guess, alone or joined."
    if not gains and not loses:
        return f"Joining makes little difference to {who}."
    if all_of_them in (gains, loses):
        return f"Here all {who} do better {'together' if gains else 'alone'}."
    parts = [f"{verb} {number}" for verb, number in (("helps", gains), ("harms", loses)) if number]
    return f"Of {who}, joining {text.listed(parts)}."


def below(alone: float, joined: float, as_measured: float | None, unprotected: float) -> str:
    """Return what the median hospital recovers of its own pattern, all arguments in %.

    Args:
        alone: By itself, protected.
        joined: Joined, protected, as standardised on the page.
        as_measured: Joined without standardising; None where the page does not standardise anyway.
        unprotected: Joined without protection.
    """
    shown = f"{phrases.share(joined)} of its own pattern joined, and {phrases.share(alone)} alone"
    # Until a hospital alone is measured its share is NaN, and nothing is compared with it.
    sentences = [f"Protected, the median hospital recovers {shown}."] if math.isfinite(alone) else []
    others = {AS_MEASURED: as_measured, "Joined, no privacy": unprotected}
    for name, value in others.items():  # what is measured so far
        if value is not None and math.isfinite(value):
            sentences.append(f"{name}: {phrases.share(value)}.")
    return " ".join([*sentences, IN_HOUSE])
