"""The sentences and the table of methods whose rounds differ in kind: two stages, and stacked rounds.

They have no factor a round: the first rounds only lead to the next, and what follows averages over rounds
(`STACKED`) or starts again on the few features that were kept (`TWO_STAGES`). A family has trajectories of
errors by round at several values of one parameter; a reading is what the runs at one of them show.
"""

from collections.abc import Sequence

import pandas as pd

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.mechanisms import stacked
from dppca_core.methods import METHODS
from pages.explore.convergence.charts import value_title
from pages.explore.convergence.curves import CurveReading, Family
from pages.explore.convergence.settings import STACKED, TWO_STAGES
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings

DERIVATION = "What the last step gives"
MEASURING = (
    "Measuring … This will say the error after the first rounds and after the last step, and how often all "
    "true features are found. It will also say how these change from the first value to the last."
)
_A_GUESS = 0.9  # an error above this share of a random guess's is called a guess


def _first_rounds(reading: CurveReading, settings: Settings) -> int:
    """Return the index of the last round before the averaging, or before stage 2, which is the last point.

    Index 0 is the start, so this is also the number of these rounds.
    """
    if settings["traced"] in TWO_STAGES:
        return len(reading.middle) - 2
    return min(stacked.LEFT_OUT, len(reading.middle) - 1)


def headline(family: Family, readings: Sequence[CurveReading], settings: Settings) -> str:
    """Return the error after the first rounds and at the end, and how the latter changes along the family."""
    reading = family.reading(readings)
    if reading.middle is None:
        return MEASURING
    at = f"At this setting ({value_title(family.key, reading.value)})"
    sentences = [_course(reading, settings, at), _rows_found(reading, settings)]
    measured = [reading for reading in readings if reading.middle is not None]
    if len(measured) > 1:
        choice = CHOICES[family.key]
        ends = [(choice.text(reading.value), reading.error()) for reading in measured]
        (first, start), (last, end) = ends[0], ends[-1]
        guesses = all(reading.middle[-1] > _A_GUESS * reading.guess for reading in measured)
        hopeless = ", hardly better than a guess" if guesses else ""
        sentences.append(
            f"{text.symbols(family.key)} from {first} to {last}: the error at the end goes from {start} to "
            f"{end}{hopeless}."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def _course(reading: CurveReading, settings: Settings, start: str) -> str:
    """Return the sentence on the errors at one value; start: its first words, which name the setting."""
    first = _first_rounds(reading, settings)
    begun, end = (reading.error(round_) for round_ in (first, -1))  # medians there, as text
    if reading.middle[-1] > _A_GUESS * reading.guess:
        return f"{start} the error stays near that of a guess: {end}."
    rounds = text.count(first, "round", "rounds")
    if settings["traced"] in STACKED:
        return f"{start} the first {rounds} reach error {begun}, and stacking the others {end}."
    predicted = ""
    if reading.predicted is not None:
        predicted = f" (closed form: {reading.text(reading.sines_in_unit(reading.predicted))})"
    return f"{start} stage 1 reaches error {begun} in {rounds}, and stage 2 then {end}{predicted}."


def _rows_found(reading: CurveReading, settings: Settings) -> str:
    """Return in how many runs two stages find all true features, beside the predicted chance."""
    if settings["traced"] not in TWO_STAGES or reading.complete is None:
        return ""
    sentence = (
        f"All true features are found in {reading.complete} of {text.count(reading.runs, 'run', 'runs')}"
    )
    chance = _chance(reading)
    return f"{sentence}; predicted: {chance}." if chance else f"{sentence}."


def _chance(reading: CurveReading) -> str:
    """Return the predicted chance that stage 1 chooses all true features; empty where none is predicted."""
    quantities = {} if reading.closed_form is None else reading.closed_form.quantities
    return text.chance(quantities["support_probability"]) if "support_probability" in quantities else ""


def table(family: Family, readings: Sequence[CurveReading], settings: Settings) -> pd.DataFrame:
    """Return one row for every value, cells in Markdown; the same rows before anything is measured.

    Methods that stack their rounds have no second stage, and fewer columns.
    """
    two_stages = settings["traced"] in TWO_STAGES
    heads = [text.symbols(family.key), "after stage 1", "after stage 2", "10-90 %", "closed form"]
    heads += ["all true features found", "predicted chance"]
    if not two_stages:
        heads[1:] = [f"after round {stacked.LEFT_OUT}", "after the last", "10-90 %"]
    rows = []
    for reading in readings:
        cells = [family.marked(reading.value), *_errors(reading, settings)]
        if two_stages:
            predicted, runs = reading.predicted, f"{reading.complete} of {reading.runs}"
            cells.append("–" if predicted is None else reading.text(reading.sines_in_unit(reading.predicted)))
            cells.append("…" if not reading.runs else "–" if reading.complete is None else runs)
            cells.append(_chance(reading) or "–")
        rows.append(cells)
    return pd.DataFrame(rows, columns=heads)


def _errors(reading: CurveReading, settings: Settings) -> list[str]:
    """Return the median error after the first rounds and at the end, and 10 and 90 % of the latter."""
    if reading.middle is None:
        return ["…"] * 3
    first = reading.error(_first_rounds(reading, settings))
    low, last, high = (reading.error(-1, which) for which in range(3))  # 10, 50 and 90 % after the last round
    return [first, last, f"{low} to {high}"]


def below_table(family: Family, readings: Sequence[CurveReading], settings: Settings) -> str:
    """Return what the table's words mean and how far its predictions hold.

    For two stages it adds which assumptions of the closed form fail at the current setting, if any. The
    limits named are those that `dppca_core.bounds.two_stage_prediction` states.
    """
    if settings["traced"] in STACKED:
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
    return f"{sentence} {why_no_closed_form(family.reading(readings))}".strip()


def why_no_closed_form(reading: CurveReading) -> str:
    """Return the failed assumptions of the closed form; empty where it applies or the method has none."""
    bound = reading.closed_form
    if bound is None or bound.applies:
        return ""
    return f"The closed form does not apply at this setting: {'; '.join(bound.failed)}."


def formulas(settings: Settings) -> str:
    """Return how the numbers of the method traced are computed, in Markdown, for a researcher."""
    if settings["traced"] in STACKED:
        return (
            f"Rounds {stacked.LEFT_OUT + 1} to $T$ are stacked, each in units of its noise; the answer is "
            "the top $k$ left singular vectors of the stack. No rate is fitted."
        )
    rule = BOUNDS[CLOSED_FORMS[settings["traced"]]]
    return (
        "Stage 2, with $o$ its noise off the diagonal, $F$ the factor of choosing features by the same "
        f"patients and $e_k$ what shrinking leaves of a row of noise:\n\n$$\n{rule.formula}\n$$\n\n"
        "No rate is fitted to stage 1: each of its rounds stacks those before it."
    )


def try_this(settings: Settings) -> str:
    """Return what to try next."""
    if settings["traced"] in TWO_STAGES and settings["family"] != "n":  # unless patients already vary
        over, n = CHOICES["family"].label, CHOICES["family"].text("n")
        return f"set *{over}* to *{n}*: stage 2 cannot bring back the features that stage 1 misses."
    other = METHODS["dps_pca"].title
    return f"choose {other} instead: each of its rounds needs noise for all features."
