"""The sentences and the table of methods whose rounds differ in kind: two stages, and stacked rounds.

They have no factor a round: the first rounds only lead to the next, and what follows averages over rounds
(`STACKED`) or starts again on the few features that were kept (`TWO_STAGES`).
"""

from collections.abc import Sequence

import pandas as pd

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.mechanisms import stacked
from dppca_core.methods import METHODS
from pages.explore.convergence.model import Convergence, CurveReading
from pages.explore.convergence.settings import STACKED, TWO_STAGES
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings

MEASURING = (
    "Measuring … This will say the error after the first rounds and after the last step, and how often all "
    "true features are found. It will also say how these change from the first value to the last."
)
_A_GUESS = 0.9  # an error above this share of a random guess's is called a guess


def _first_rounds(reading: CurveReading, settings: Settings) -> int:
    """Return the number of rounds before the averaging, or before stage 2, which is the last point."""
    if settings["traced"] in TWO_STAGES:
        return reading.rounds - 1
    return min(stacked.LEFT_OUT, reading.rounds)


def headline(m: Convergence, readings: Sequence[CurveReading]) -> str:
    reading = m.reading(readings)
    if not reading.runs:
        return MEASURING
    start = f"At this setting ({m.named(m.here)})"
    sentences = [_course(reading, m.settings, start), _rows_found(reading, m.settings)]
    measured = [reading for reading in readings if reading.runs]
    if len(measured) > 1:
        first, last = (CHOICES[m.key].text(measured[i].value) for i in (0, -1))
        hopeless = ", hardly better than a guess" if all(map(_is_guess, measured)) else ""
        sentences.append(
            f"{text.symbols(m.key)} from {first} to {last}: the error at the end goes from "
            f"{measured[0].error()} to {measured[-1].error()}{hopeless}."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def _is_guess(reading: CurveReading) -> bool:
    return bool(reading.middle[-1] > _A_GUESS * reading.guess)


def _course(reading: CurveReading, settings: Settings, start: str) -> str:
    first = _first_rounds(reading, settings)
    begun, end = reading.error(first), reading.error()
    if _is_guess(reading):
        return f"{start} the error stays near that of a guess: {end}."
    rounds = text.count(first, "round", "rounds")
    if settings["traced"] in STACKED:
        return f"{start} the first {rounds} reach error {begun}, and stacking the others {end}."
    predicted = f" (closed form: {reading.prediction})" if reading.prediction else ""
    return f"{start} stage 1 reaches error {begun} in {rounds}, and stage 2 then {end}{predicted}."


def _rows_found(reading: CurveReading, settings: Settings) -> str:
    if settings["traced"] not in TWO_STAGES or reading.complete is None:
        return ""
    runs = text.count(reading.runs, "run", "runs")
    chance = _chance(reading)
    predicted = f"; predicted: {chance}" if chance else ""
    return f"All true features are found in {reading.complete} of {runs}{predicted}."


def _chance(reading: CurveReading) -> str:
    quantities = {} if reading.closed_form is None else reading.closed_form.quantities
    return text.chance(quantities["support_probability"]) if "support_probability" in quantities else ""


def table(m: Convergence, readings: Sequence[CurveReading]) -> pd.DataFrame:
    two_stages = m.settings["traced"] in TWO_STAGES
    heads = [text.symbols(m.key), "after stage 1", "after stage 2", "10-90 %", "closed form"]
    heads += ["all true features found", "predicted chance"]
    if not two_stages:
        heads[1:] = [f"after round {stacked.LEFT_OUT}", "after the last", "10-90 %"]
    rows = []
    for reading in readings:
        cells = [m.marked(reading.value), *_errors(reading, m.settings)]
        if two_stages:
            complete = "–" if reading.complete is None else f"{reading.complete} of {reading.runs}"
            cells.append(reading.prediction or "–")
            cells.append(complete if reading.runs else "…")
            cells.append(_chance(reading) or "–")
        rows.append(cells)
    return pd.DataFrame(rows, columns=heads)


def _errors(reading: CurveReading, settings: Settings) -> list[str]:
    if not reading.runs:
        return ["…"] * 3
    low, last, high = (reading.error(-1, which) for which in range(3))
    return [reading.error(_first_rounds(reading, settings)), last, f"{low} to {high}"]


def below_table(m: Convergence, readings: Sequence[CurveReading]) -> str:
    if m.settings["traced"] in STACKED:
        return (
            f"The first {stacked.LEFT_OUT} rounds only lead to the next; all others are averaged, so no "
            "single factor is fitted."
        )
    sentence = (
        "Stage 1 chooses ŝ features; stage 2 releases the second moment of these alone. The closed form "
        "assumes that all true features are kept; the median error is within 15 % of it. The "
        "predicted chance comes from up to 64 simulated runs, which draw second moments and not patients. It "
        "is good to 6 percentage points, and less where some features hardly matter."
    )
    return f"{sentence} {why_no_closed_form(m.reading(readings))}".strip()


def why_no_closed_form(reading: CurveReading) -> str:
    bound = reading.closed_form
    if bound is None or bound.applies:
        return ""
    return f"The closed form does not apply at this setting: {'; '.join(bound.failed)}."


def derivation(settings: Settings) -> str:
    if settings["traced"] in STACKED:
        return (
            f"**What the last step gives.** Rounds {stacked.LEFT_OUT + 1} to $T$ are stacked, each in units "
            "of its noise; the answer is the top $k$ left singular vectors of the stack. No rate is fitted."
        )
    rule = BOUNDS[CLOSED_FORMS[settings["traced"]]]
    return (
        "**What the last step gives.** Stage 2, with $o$ its noise off the diagonal, $F$ the factor of "
        "choosing features by the same patients and $e_k$ what shrinking leaves of a row of noise:\n\n"
        f"$$\n{rule.formula}\n$$\n\nNo rate is fitted to stage 1: each of its rounds stacks those before it."
    )


def try_this(settings: Settings) -> str:
    if settings["traced"] in TWO_STAGES and settings["family"] != "n":  # unless patients already vary
        over, n = CHOICES["family"].label, CHOICES["family"].text("n")
        return f"set *{over}* to *{n}*: stage 2 cannot bring back the features that stage 1 misses."
    other = METHODS["dps_pca"].title
    return f"choose {other} instead: each of its rounds needs noise for all features."
