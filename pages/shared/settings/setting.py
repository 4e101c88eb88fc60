"""Define one control: its options, their text, and how a link's text becomes one. No Streamlit here."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pages.shared.text import number

Value = float | int | str | bool
MOST_LETTERS = 1_000  # of a link's text that are read; no option is as long


class LinkValue(NamedTuple):
    """Hold the option that a link's text means, and what to quote of the text where it is none, else None."""

    value: Value
    quoted: str | None = None


@dataclass(frozen=True)
class Choice:
    """Hold one control.

    Attributes:
        key: The core's name of the same thing.
        label: Its name on screen, outside of plain view.
        plain: Its name on screen for a board, whose members see the plain view.
        options: Its options, in order, of which `default` is set at first.
        words: The text of options that do not read as numbers.
        plain_words: The text of all options for a board.
        link_name: Its parameter in links, if not the key.
        link_words: The text of options that links write in another way.
    """

    key: str
    label: str
    plain: str
    options: tuple[Value, ...]
    default: Value
    words: Mapping[Value, str] | None = None
    help: str = ""
    plain_words: Mapping[Value, str] | None = None
    link_name: str = ""
    link_words: Mapping[Value, str] = field(default_factory=dict)

    @property
    def parameter(self) -> str:
        return self.link_name or self.key

    @property
    def numeric(self) -> bool:
        return not isinstance(self.default, (str, bool))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Return the options that are numbers: a slider may have a word as one of its ends."""
        return tuple(option for option in self.options if not isinstance(option, str))

    def text(self, value: Value) -> str:
        if self.words is not None and value in self.words:
            return self.words[value]
        if isinstance(value, bool):
            return str(value).lower()
        return value if isinstance(value, str) else number(value)

    def option(self, value: Value, plain: bool) -> str:
        return self.plain_words[value] if plain and self.plain_words else self.text(value)

    def nearest(self, value: float) -> float:
        """Return the option nearest to a number, by ratio where all options are positive."""
        if value > 0 and min(self.numbers) > 0:
            return min(self.numbers, key=lambda option: abs(math.log(option) - math.log(value)))
        return min(self.numbers, key=lambda option: abs(option - value))

    def name(self, plain: bool) -> str:
        return self.plain if plain else self.label

    def link(self, value: Value) -> str:
        if value in self.link_words:
            return self.link_words[value]
        return f"{value:g}" if isinstance(self.default, float) else str(value).lower()

    def read(self, raw: str) -> LinkValue:
        raw = raw[:MOST_LETTERS]
        shown = printable(raw)
        for fold in (str, str.casefold):  # match the case first: n is patients, N is hospitals
            for option in self.options:
                if fold(raw.strip()) in (fold(self.link(option)), fold(self.text(option))):
                    return LinkValue(option)
        value, kind = (_number(raw), "number") if self.numeric else (math.nan, "choice")
        if math.isnan(value):
            return LinkValue(self.default, f"“{shown}”, which is not a {kind}" if shown else "not readable")
        option = self.nearest(max(min(value, 1e300), -1e300))  # infinity has no nearest option
        exact = math.isclose(float(option), value, rel_tol=1e-9)  # but for rounding
        return LinkValue(option, None if exact else shown)


def among(
    key: str, label: str, words: Mapping[Any, str], default: Value | None = None, plain: str = "", **more: Any
) -> Choice:
    """Return a control with the keys of `words` as options, shown as its values; the first is the default."""
    options = tuple(words)
    first = options[0] if default is None else default
    return Choice(key, label, plain or label, options, first, words, **more)


def switch(key: str, label: str, on: bool = False, **more: Any) -> Choice:
    """Return a control that is on or off, and has the same name in plain view; more: fields of `Choice`."""
    return Choice(key, label, label, (False, True), on, **more)


def printable(raw: str) -> str:
    """Return so much of a link's text as is safe in a sentence: no markup, no point that makes an address."""
    kept = re.sub(r"[^\w.,+\- ]", "", raw)
    return re.sub(r"\.(?=[^\W\d])|(?<=[^\W\d])\.|_", "", kept).strip()[:24].strip()


def _number(raw: str) -> float:
    """Return a number, which may have commas between thousands or before decimals; NaN for all else."""
    thousands = re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", raw.strip())  # 0,125 is below 1
    try:
        # Python itself would read 1_000.
        return math.nan if "_" in raw else float(raw.replace(",", "" if thousands else "."))
    except ValueError:
        return math.nan
