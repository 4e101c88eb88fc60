"""The words of the table of hospitals."""

import re
from collections.abc import Sequence

from pages.hospitals.providers.settings import LARGEST, LEAST_LOSS, MOST_LOSS
from pages.shared import text
from pages.shared.settings.hospitals import OURS

OTHERS = "Others"
COLUMNS = {
    "name": "Hospital",
    "count": "How many",
    "patients": "Patients",
    "epsilon": "Privacy loss ε",
    "ours": "Ours",
}
TOO_MANY = "There may be 200 hospitals: those after them do not count."
NONE_LEFT = "At least one hospital is needed, so the last ones are kept."
TITLE = "Hospitals: type their sizes and privacy losses"
HOW = "Change a cell, add a line below the last, or mark lines and delete them. The link keeps all but names."
SIZES_ARE_REAL = "They are real: names and sizes cannot be typed. Privacy losses can."
BACK = "Back to the sliders"


def is_default(name: str) -> bool:
    return not name or name in (OURS, OTHERS) or re.fullmatch(r"Hospital ([A-Z]|\d+)", name) is not None


def not_read(lines: Sequence[int]) -> str:
    which = text.listed([str(line) for line in lines])
    begins = f"Line {which} does" if len(lines) == 1 else f"Lines {which} do"
    losses = f"a privacy loss from {LEAST_LOSS:g} to {MOST_LOSS:,.0f}"
    return f"{begins} not count yet: we need 1 to {LARGEST:,} patients and {losses}."


def facts(sizes: Sequence[int]) -> str:
    return f"{text.count(len(sizes), 'hospital', 'hospitals')}, {sum(sizes):,} patients."


def ranging(sizes: Sequence[int]) -> str:
    return f"Our hospital and {len(sizes) - 1} others of {min(sizes):,} to {max(sizes):,} patients."
