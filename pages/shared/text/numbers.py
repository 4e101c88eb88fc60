"""Write numbers as a reader reads them. No Streamlit here."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")


def number(value: float) -> str:
    """Return 1e-05 as 1e-5, 100000 as 100,000 and 0.25 as 0.25."""
    if isinstance(value, int):
        return f"{value:,}"
    return re.sub(r"e([+-])0+", r"e\1", f"{value:g}").replace("e+", "e")


def short(value: float) -> str:
    """Return a number as a person would write it: two decimals from 1 on, else two significant digits."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1:
        return f"{value:.2f}"
    if abs(value) >= 1e-3:
        return f"{float(f'{value:.2g}'):g}"
    return f"{value:.1e}".replace("e-0", "e-")


def error(value: float) -> str:
    """Return an error as `short` has it, with 0 for what lies below an iteration's tolerance."""
    return short(0.0 if abs(value) < 1e-7 else value)


def percent(share: float) -> str:
    """Return a share in %, with two significant digits or as a whole number: 0.12 %, 3.5 %, 98 %."""
    value = 100 * share
    return f"{value:,.0f} %" if value >= 10 else f"{value:.2g} %"


def recovered(percentage: float) -> str:
    """Return 1.5 %, 98.8 % and 99.99 %: near 100 with as many digits as tell it from 100, at most four."""
    if not math.isfinite(percentage):
        return "–"
    missing = 100 - percentage
    if missing < 5e-5:
        return "100 %" if missing < 1e-9 else "over 99.9999 %"  # less than 1e-9 is rounding
    # As many decimals as `missing` has zeros after its point, and one more.
    digits = min(max(1, 1 - math.ceil(math.log10(missing))), 4) if missing < 10 or percentage < 9.95 else 0
    return f"{percentage:.{digits}f} %"


def degrees(angle: float) -> str:
    """Return an angle to two significant digits, to a whole degree from ten on: 0.36°, 4.2°, 12°."""
    if not math.isfinite(angle):
        return "–"
    return f"{angle:.0f}°" if angle >= 10 else f"{angle:.2g}°" if angle >= 0.01 else "below 0.01°"


def chance(value: float) -> str:
    """Return a predicted chance, which comes from few draws: "above 95 %", "below 5 %" or "about 70 %"."""
    if not 0.05 <= value <= 0.95:
        return "above 95 %" if value > 0.5 else "below 5 %"
    return f"about {100 * value:.0f} %"


def count(number: int, singular: str, plural: str) -> str:
    return f"{number:,} {singular if number == 1 else plural}"


def patients(number: float) -> str:
    """Return a number of patients to two significant digits: 23,000; 1.2 billion."""
    value = float(f"{number:.2g}")
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:,.0f}"


def size(count_of_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count_of_bytes < 1000:
            return f"{count_of_bytes:.3g} {unit}"
        count_of_bytes /= 1000
    return f"{count_of_bytes:.3g} TB"


def duration(seconds: float) -> str:
    """Return a time to two significant digits: 12 ms, 3.5 s, 5 min, 2.5 h or 40 days."""
    # Below so many seconds: the unit in seconds, and its name.
    units = (
        (1, 1e-3, "ms"),
        (100, 1, "s"),
        (6000, 60, "min"),
        (360_000, 3600, "h"),
        (math.inf, 86400, "days"),
    )
    unit, name = next((unit, name) for limit, unit, name in units if seconds < limit)
    return f"{number(float(f'{seconds / unit:.2g}'))} {name}"


def names_by_value(values: Mapping[str, Value]) -> dict[Value, list[str]]:
    """Return each value with the names that have it, as each reason with all methods it concerns."""
    names: dict[Value, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return names


def listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
