"""Define the settings of the providers page. No Streamlit here."""

import re

from dppca_core.datasets import TABLES
from pages.hospitals.providers import labels
from pages.shared import text
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import MOST_LETTERS, Choice, Value, among, printable

_RANKS = (*range(1, 21), 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000, 2000)


class Sizes(Choice):
    """Read the hospitals' sizes, their numbers of patients, from a link: 400-300-100; empty for none.

    People also type 400; 300 or 50,000 30,000. Text that can be read in one way only is accepted.
    """

    _MOST, LARGEST = 200, 10**9  # sizes in a link, and patients of a hospital

    def read(self, raw: str) -> tuple[Value, str | None]:
        """Return the sizes as 400-300-100, and None; or no sizes, and words that say what the text was."""
        if raw.strip() in ("", self.text("")):  # the words that stand for none on the screen are empty too
            return "", None
        # A size takes fewer than 20 letters with what separates it, so a longer text is refused unread.
        numbers = _sizes(raw.strip()) if len(raw) <= 20 * self._MOST else []
        if 0 < len(numbers) <= self._MOST and all(1 <= number <= self.LARGEST for number in numbers):
            return "-".join(map(str, numbers)), None
        shown = printable(raw[:MOST_LETTERS])
        refusal = "which is not up to 200 sizes such as 400-300-100"
        return "", f"“{shown}”, {refusal}" if shown else f"not readable, {refusal}"


# Whole numbers without and with commas between thousands.
_PLAIN, _GROUPED = "[1-9][0-9]{0,11}", "[1-9][0-9]{0,2}(?:,[0-9]{3})+"


def _sizes(raw: str) -> list[int]:
    """Return the numbers that a text lists between dashes, semicolons, commas or spaces; none where unclear.

    400,300 may be one size or two, so it is refused.
    """
    if re.fullmatch("[0-9]{1,12}(-[0-9]{1,12})*", raw):  # as links have them
        return [int(part) for part in raw.split("-")]
    for between in (";", "-", r",\s", r"\s"):
        if re.search(between, raw):
            parts = re.split(rf"\s*{between}\s*", raw)
            readable = all(re.fullmatch(f"{_PLAIN}|{_GROUPED}", part) for part in parts)
            return [int(part.replace(",", "")) for part in parts] if readable else []
    # Only commas are left, which group thousands or stand between sizes: exactly one reading must fit.
    single = re.fullmatch(_GROUPED, raw) is not None
    several = re.fullmatch(f"{_PLAIN}(,{_PLAIN})+", raw) is not None
    if single == several:
        return []
    return [int(raw.replace(",", ""))] if single else [int(part) for part in raw.split(",")]


def settings(shared: dict[str, Choice]) -> list[Choice]:
    """Return the page's own settings: the panel, hospitals' sizes, and the protocols shown.

    shared: the settings of all pages by key; none is needed here. A `Choice`, and so `Sizes`, takes its key,
        its labels outside of plain view and in it, its options, the default and words for options.
    """
    trusts = {"all": "everybody"} | labels.JOIN_TITLES
    panels = {
        "gain": "Joining or alone",
        "travel": "What travels",
    }
    return [
        among("join.panel", "Shown", panels),
        Sizes("join.sizes", "Hospitals' sizes", "Hospitals' sizes", ("",), "", {"": "those of the sliders"}),
        Choice("join.rank", "R, directions DPdisPCA sends", "Directions DPdisPCA sends", _RANKS, 10),
        among("join.trust", "Compared", trusts),
    ]


def typed_sizes(settings: dict[str, Value]) -> tuple[int, ...]:
    """Return the hospitals' sizes that were typed; none if nothing is typed or a table has fewer patients."""
    typed = settings["join.sizes"]
    sizes = tuple(int(size) for size in typed.split("-")) if typed else ()
    table = TABLES.get(settings["data"])
    return () if table and sum(sizes) > table.n else sizes


def _held(settings: dict[str, Value]) -> dict[str, tuple[str, str]]:
    """Return, for each shared setting that typed sizes decide, its text and what decides it."""
    sizes = typed_sizes(settings)
    if not sizes:
        return {}
    total = sum(sizes)
    share = text.percent(max(sizes) / total)
    values = {"n": f"{total:,}", "providers": str(len(sizes)), "largest_share": share}
    return {key: (value, "set by the sizes") for key, value in values.items()}


PANEL = Panel(
    opens="Rare disease",
    decided={
        **{"trust": "all are compared", "provider_noise": "all kinds are on the page"},
        "start": "always random here",
    },
    plain_uses=("trust",),
    held=_held,
)
