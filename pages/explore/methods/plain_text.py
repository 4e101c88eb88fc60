"""The sentences of the methods page in plain view. No Streamlit here.

`needed` has, for each trust, how much of what varies is needed to recover `WANTED` % of the pattern. What
varies is `key`: "n", the patients, or "epsilon", the privacy loss. `ends` are the least and the most that
were measured.
"""

import math
from collections.abc import Mapping

from pages.shared import text
from pages.shared.plain import phrases

TITLE = "Methods"
QUESTION = "**How many patients do we need?** It depends on whom the hospitals trust."
FIXED = "The number of patients in a table is fixed. So the chart varies the privacy loss instead."
CURVES = "Every run is repeated. Lines show the median; the band shows where 8 of 10 repeats fall."
TRY = (
    "**Try this:** move *Hospitals* to the right. Hospitals that trust nobody then need more patients. "
    "Others do not."
)
TRY_TABLE = "**Try this:** raise *Patterns to find*. More patterns need more privacy loss: less protection."
_UNDER_TRUST = {  # by trust: the clause that names it
    "untrusted server": "if nobody is trusted",
    "secure aggregation": "with sealed sums",
    "central": "if all trust one place",
}
WANTED = 90.0  # share of the pattern in % that a study is to recover, as the headline says


def here(n: int, epsilon: float, table: str) -> str:
    """Return the heading over the rows at the current setting; table: its title, empty if simulated."""
    return f"{table.split(',')[0] or f'With {n:,} patients'}, at privacy loss {epsilon:g}"


def amount(value: float, key: str, least: float, most: float) -> str:
    """Return how much of what varies is needed, in words.

    value: infinite where the most measured is too little, NaN before anything is. key: what varies, "n" or
    "epsilon". least, most: the ends of what was measured; if the least is already enough, fewer might do.
    """
    shown = (lambda number: f"{number:.2g}") if key == "epsilon" else text.patients
    if math.isnan(value):
        return text.MEASURING
    if math.isinf(value):
        return f"more than {shown(most)}"
    return f"at most {shown(least)}" if value <= least else shown(value)


def _much(value: float, key: str, ends: tuple[float, float]) -> str:
    """Return how much is needed with its noun: patients or privacy loss; arguments as in `amount`.

    Of epsilon, more than the most measured means too little protection.
    """
    if key == "epsilon" and math.isinf(value):
        return f"less protection than a privacy loss of {ends[1]:.2g} gives"
    shown = amount(value, key, *ends)
    return f"{shown} patients" if key == "n" else f"a privacy loss of {shown}"


def headline(needed: Mapping[str, float], trust: str, key: str, ends: tuple[float, float]) -> str:
    """Return how much hospitals need under the chosen trust, and how much if all trusted one place."""
    if math.isnan(needed[trust]):
        return text.MEASURING
    much, central = (_much(needed[each], key, ends) for each in (trust, "central"))
    goal, who = f"To recover {WANTED:.0f} % of the pattern, hospitals", phrases.WHO[trust]
    if trust == "central" or much == central or math.isnan(needed["central"]):
        return f"{goal} {who} need {much}."
    return f"{goal} {who} need {much}. With one trusted place they need {central}."


def others(needed: Mapping[str, float], trust: str, key: str, ends: tuple[float, float]) -> str:
    """Return how much hospitals need under the trusts that the headline leaves out."""
    left = [each for each in needed if each not in (trust, "central") and not math.isnan(needed[each])]
    parts = [f"{_UNDER_TRUST[each]}, they need {_much(needed[each], key, ends)}" for each in left]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)
