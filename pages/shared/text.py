"""Sentences that carry numbers. Plain functions: what they say is tested without a browser."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from dppca_core import tradeoff
from dppca_core.types import Budget

METRIC_TITLES = {
    "sin": "error ‖sin Θ‖<sub>F</sub>",
    "projector": "error ‖VVᵀ − WWᵀ‖<sub>F</sub>",
    "energy": "captured energy (share)",
}
TRUST_TITLES = {
    "none": "No privacy",
    "central": "Trusted curator",
    "untrusted server": "Untrusted server",
    "secure aggregation": "Secure aggregation",
    "local": "No trust at all",
}
# What the ways are called whose method's own title would not tell them apart.
JOIN_WAYS = {
    "pca": "PCA",
    "sparse_pca": "Sparse PCA",
    "dps_pca secure": "DPS-PCA, secure sums",
    "full": "Full noisy moments",
    "dpdis_pca": "DPdisPCA",
    "federated_projector": "Averaged projectors",
    "dps_pca": "DPS-PCA, own noise",
    "dps_pca shared": "DPS-PCA, shared noise",
    "alone open": "PCA",
    "alone open sparse": "Sparse PCA",
}
# By whom hospitals trust on each way of `experiments.ways`.
JOIN_TITLES = {
    "none": "Joined, no privacy",
    "central": "Joined, trusted curator",
    "secure aggregation": "Joined, secure sums",
    "untrusted server": "Joined, untrusted server",
    "one message": "Undone by two messages",
    "alone": "Alone, protected",
    "alone, none": "Alone, unprotected",
}

GUARANTEES = {
    "(ε, δ)": "(ε, δ)-private",
    "ε": "purely ε-private, δ not used",
    "on a good event": "private on a good event of the data only",
    "approximate sampler": "approximate sampler: pure ε not guaranteed",
    "none": "not private",
}
PLAIN_GUARANTEES = {
    "ε": "protected with no chance of failure",
    "on a good event": "protected only where the data behave as assumed",
    "approximate sampler": "protection not proven: its draws are approximate",
}
GUARANTEE_MARKS = {"ε": "*", "on a good event": " †", "approximate sampler": " ‡"}


def guarantee(kind: str, plain: bool = False) -> str:
    """A method's guarantee in a few words."""
    if plain:
        return PLAIN_GUARANTEES.get(kind, "not protected" if kind == "none" else "protected")
    return GUARANTEES[kind]


def guarantee_notes(kinds: Iterable[str], plain: bool = False) -> str:
    """The marks among these guarantees, explained."""
    wanted, words = set(kinds), PLAIN_GUARANTEES if plain else GUARANTEES
    return "; ".join(
        f"{mark.strip()} {words[kind]}" for kind, mark in GUARANTEE_MARKS.items() if kind in wanted
    )


_SYMBOLS = {
    **{"epsilon": "ε", "delta": "δ", "s_hat": "ŝ", "providers": "N", "iterations": "T", "spike": "λ"},
    **{"gamma": "γ", "alpha": "α", "sigma": "σ", "lambda": "λ"},
}


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def symbols(words: str) -> str:
    """The core's words for parameters as a reader of the papers writes them: ε, √2, 10⁻⁵."""
    for name, symbol in _SYMBOLS.items():
        words = re.sub(rf"\b{name}\b", symbol, words)
    words = re.sub(r"\bsqrt ?(?=[\d(])", "√", words)
    return re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_RAISED), words)


def sentence(words: str) -> str:
    """As a sentence begins, unless with a symbol, and without what Markdown would read as emphasis."""
    first = words if re.match(r"\w( |$)", words) else f"{words[:1].upper()}{words[1:]}"
    return first.replace("*", r"\*")


def number(value: float) -> str:
    """1e-05 -> 1e-5, 100000 -> 100,000, 0.25 -> 0.25."""
    if isinstance(value, int):
        return f"{value:,}"
    return re.sub(r"e([+-])0+", r"e\1", f"{value:g}").replace("e+", "e")


def short(value: float) -> str:
    """Two significant digits, as a person would write them."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1:
        return f"{value:.2f}"
    if abs(value) >= 1e-3:
        return f"{float(f'{value:.2g}'):g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def error(value: float) -> str:
    """`short`, with what lies below an iteration's tolerance shown as no error at all."""
    return short(0.0 if abs(value) < 1e-7 else value)


def percent(share: float) -> str:
    """Two significant digits, never in powers of ten."""
    value = 100 * share
    return f"{value:,.0f} %" if value >= 10 else f"{value:.2g} %"


def count(number: int, one: str, many: str) -> str:
    """1 hospital, 5 hospitals."""
    return f"{number:,} {one if number == 1 else many}"


def patients(number: float) -> str:
    """Two significant digits: 23,000; 1.2 billion."""
    value = float(f"{number:.2g}")
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if value >= unit:
            return f"{value / unit:g} {name}"
    return f"{value:,.0f}"


def size(count_of_bytes: float) -> str:
    """Bytes in the unit a person would use."""
    for unit in ("B", "kB", "MB", "GB"):
        if count_of_bytes < 1000:
            return f"{count_of_bytes:.3g} {unit}"
        count_of_bytes /= 1000
    return f"{count_of_bytes:.3g} TB"


def duration(seconds: float) -> str:
    """12 ms, 3.5 s, 5 min, 2.5 h, 40 days."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s"
    unit, name = next(((u, n) for u, n in ((60, "min"), (3600, "h")) if seconds < 100 * u), (86400, "days"))
    return f"{number(float(f'{seconds / unit:.2g}'))} {name}"


def brief(words: str, most: int = 160) -> str:
    """Somebody else's words on one line, at most so many letters."""
    line = " ".join(words[: 4 * most].split())
    return line if len(line) <= most else f"{line[:most].rstrip()} …"


def even_odds(right: float) -> str:
    """A chance to guess right as odds out of 100: 73:27."""
    percent = 100 * right
    digits = 0 if percent < 99 else 2 if percent < 99.99 else 4
    return f"{percent:.{digits}f}:{100 - percent:.{digits}f}"


def odds(epsilon: float, delta: float, neighbours: str) -> str:
    """What the guarantee means to one patient, as odds."""
    ends = even_odds(tradeoff.best_guess(epsilon, delta))
    question = (
        "whether one patient's record or another's was used"
        if neighbours == "replace-one"
        else "whether a patient took part"
    )
    return f"An attacker who starts at 50:50 on {question} ends at most at {ends}."


def printed_truth(truly: Mapping[str, Sequence[str]], budget: Budget) -> str:
    """Calibrations that keep their paper's constants, with the epsilon that they truly give."""
    each = "; ".join(f"{', '.join(titles)} ε = {given}" for given, titles in truly.items())
    return (
        f"Calibrated by their papers' constants for ε = {budget.epsilon:g}, these truly have, at "
        f"δ = {number(budget.delta)}: {each}."
    )


def one_in(chance: float) -> str:
    """A small chance in words: 1 in 100,000."""
    return f"1 in {patients(1 / chance)}" if chance < 0.05 else f"{100 * chance:g} %"


def margin(delta: float) -> str:
    """What delta is beside `odds`: not the chance that they are exceeded, but what is added to each chance.

    One release may tell more than e^epsilon with a chance above delta; over all of them the best guess is
    right as often as `odds` says, delta included (`tradeoff.best_guess`).
    """
    return (
        f"The promise leaves a margin of {one_in(delta)} for rare outcomes that tell more; it is counted in."
    )


def large_delta(delta: float, n: float, plain: bool) -> str:
    """What a failure chance above one in the number of patients would allow; nothing where it is below."""
    if delta <= 1 / n:
        return ""
    if plain:
        return (
            f"The chance that privacy fails, {one_in(delta)}, is more than one in the number of patients: a "
            "method that publishes each record outright with that chance would keep this promise."
        )
    return (
        f"δ = {number(delta)} is above 1/n: a method that publishes each record outright with probability "
        f"{number(delta)} would keep this guarantee."
    )


def unmarked(said: str) -> str:
    """A sentence without its Markdown: emphasis, badges and escapes."""
    said = re.sub(r":\w[\w-]*\[([^\]]*)\]", r"\1", said)
    said = re.sub(r"(?<!\\)\*{1,2}", "", said)
    return re.sub(r"\\([\\`*_\[\]<>$~|#:])", r"\1", said)


RELATIONS = {
    "replace-one": "neighbouring data sets differ by replacing one patient's record",
    "add-remove": "neighbouring data sets differ by adding or removing one patient's record",
}
