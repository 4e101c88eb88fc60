"""Form the sentences and labels beside the front page's charts, from numbers. No Streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pages.shared import text


class Headline(NamedTuple):
    """Hold the numbers of the front page's sentence.

    Attributes:
        value: The median error, or the median share of energy captured.
        free: The same without privacy, None where it has not been measured.
        columns: What the reference is restricted to as many of, as a noun; empty where it may use all.
    """

    patients: int
    rows: str
    hospitals: int
    epsilon: float
    method: str
    directions: int
    value: float
    free: float | None
    columns: str
    guess: float


def headline(numbers: Headline, energy: bool, plain: bool) -> str:
    """Return the sentence over the charts."""
    hospitals = text.count(numbers.hospitals, "hospital", "hospitals")
    setting = f"privacy setting {numbers.epsilon:g}" if plain else f"ε = {text.number(numbers.epsilon)}"
    directions = text.count(numbers.directions, "direction", "directions")
    hold = "holds" if numbers.directions == 1 else "hold"
    value = text.error(numbers.value)
    quality = (
        f"captures a share of {value} of what the best {directions} {hold}"
        if energy
        else f"finds the {directions} with error {value}"
    )
    columns = f", on as many {numbers.columns}," if numbers.columns else ""
    free = "" if numbers.free is None else f"; without privacy{columns} {text.error(numbers.free)}"
    return (
        f"With {numbers.patients:,} {numbers.rows} in {hospitals} at {setting}, "
        f"{numbers.method} {quality}{free}; guessing {text.short(numbers.guess)}."
    )


def tile_titles(measure: str, energy: bool, heaviest: int | None, plain: bool) -> list[str]:
    """Return the titles of the four figures; heaviest: rows of a table that count as true, None if known."""
    if plain:
        first = "Share of the pattern captured" if energy else "Error"
        return [first, "Right measurements found", "Noise added", "Each hospital sends"]
    rows = "true rows found" if heaviest is None else f"heaviest {heaviest} features found"
    first = "Captured energy" if energy else f"Error, {measure}"
    return [first, f"Share of the {rows}", "Noise σ per entry", "Each hospital sends"]


def theorem(failed: Sequence[str], unpredicted: Sequence[str], probability: float, view: str) -> str:
    """Return whether the paper's theorem applies.

    Args:
        failed: The assumptions that fail.
        unpredicted: Those of the closed form that fail.
        probability: With which the theorem holds.
        view: How much detail is shown.
    """
    if view == "board":
        return "The paper's own guarantee does not reach this setting." if failed else ""
    if not failed:
        return f"Theorem 4.3 applies (C1 = 1 assumed), with probability at least {text.short(probability)}."
    first = failed if view == "researcher" else failed[:1]
    more = f" ({len(failed)} assumptions fail)" if len(first) < len(failed) else ""
    closed = f" The closed form is silent too: it needs {unpredicted[0]}." if unpredicted else ""
    return f"Theorem 4.3 says nothing here: it needs {'; '.join(first)}{more}.{closed}"


def printed_noise(method: str, true_epsilon: float, epsilon: float) -> str:
    """Return the epsilon that a calibration as printed truly gives, for a reader without symbols."""
    truly = f"the setting that {method} truly has is {text.short(true_epsilon)}"
    return f"The noise is as the papers print it: {truly}, not {epsilon:g}."


def printed_conditions(shared_noise: bool, largest_row: bool, plain: bool) -> list[str]:
    """Return what else is as printed and protects less."""
    sentences = []
    if shared_noise:
        sentences.append(
            "Hospitals share one noise, as printed: two messages together reveal what it hides."
            if plain
            else "Shared noise: a server that sees two hospitals' messages can cancel the noise, so the "
            "guarantee holds for one message alone, not against the server."
        )
    if largest_row:
        sentences.append(
            "Rows are scaled by the largest of them, as published, which itself is private."
            if plain
            else "Scaling by the largest row looks at private rows; it is here to reproduce papers."
        )
    return sentences
