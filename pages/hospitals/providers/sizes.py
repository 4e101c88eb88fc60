"""Define the control of the hospitals' sizes, which a link writes in a row. No Streamlit here."""

import re

from pages.shared.settings.setting import MOST_LETTERS, Choice, Value, printable


class Sizes(Choice):
    """Read whole numbers in a row, such as 400-300-100; empty for none.

    People also type 400; 300 or 50,000 30,000: text that has one reading only is accepted.
    """

    _MOST, LARGEST = 200, 10**9

    def read(self, raw: str) -> tuple[Value, str | None]:
        """Return the sizes in a link's text without leading zeros, and what it said where it has none."""
        if raw.strip() in ("", self.text("")):
            return "", None
        numbers = _sizes(raw.strip()) if len(raw) <= 20 * self._MOST else []
        if 0 < len(numbers) <= self._MOST and all(1 <= number <= self.LARGEST for number in numbers):
            return "-".join(map(str, numbers)), None
        shown = printable(raw[:MOST_LETTERS])
        wanted = "which is not up to 200 sizes such as 400-300-100"
        return "", f"“{shown}”, {wanted}" if shown else f"not readable, {wanted}"


_PLAIN, _GROUPED = "[1-9][0-9]{0,11}", "[1-9][0-9]{0,2}(?:,[0-9]{3})+"


def _sizes(raw: str) -> list[int]:
    """Return whole numbers between dashes, semicolons, commas or spaces; none where it is ambiguous.

    400,300 may be one size or two, so it is refused.
    """
    if re.fullmatch("[0-9]{1,12}(-[0-9]{1,12})*", raw):
        return [int(part) for part in raw.split("-")]
    for between in (";", "-", r",\s", r"\s"):
        if re.search(between, raw):
            parts = re.split(rf"\s*{between}\s*", raw)
            readable = all(re.fullmatch(f"{_PLAIN}|{_GROUPED}", part) for part in parts)
            return [int(part.replace(",", "")) for part in parts] if readable else []
    single = re.fullmatch(_GROUPED, raw) is not None
    several = re.fullmatch(f"{_PLAIN}(,{_PLAIN})+", raw) is not None
    if single == several:
        return []
    return [int(raw.replace(",", ""))] if single else [int(part) for part in raw.split(",")]
