"""The sentences and the table of methods whose rounds are alike, each of which errs less by a factor.

A reading's `fit` has the factor ("rate") by which a round multiplies tan theta, the rounds of the fit
("phase"), the level at which the error stops falling ("plateau") and the round that reaches it.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dppca_core.experiments.explorer.contraction import Contraction
from dppca_core.experiments.explorer.experiment import DPS_PCA  # the method of Theorem 4.3
from pages.explore.convergence.model import Convergence, CurveReading
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings

_DERIVATION = Path(__file__).with_name("rates.md").read_text(encoding="utf-8")

# As long as the sentence that replaces it, so that nothing below it moves.
MEASURING = (
    "Measuring … This will say by how much each round reduces the error here, where the error settles and "
    "after how many rounds. It will also say how that changes from the first value to the last."
)


def headline(m: Convergence, readings: Sequence[CurveReading]) -> str:
    reading = m.reading(readings)
    if reading.fit is None:
        return MEASURING
    course = _course(reading, reading.fit)
    sentence = f"At this setting ({m.named(m.here)}) {course}.{_theorem_rate(reading, m.settings)}"
    measured = [(reading, reading.fit) for reading in readings if reading.fit is not None]
    if len(measured) < 2:
        return sentence
    if m.key == "iterations":
        return f"{sentence} {_best_rounds([reading for reading, _ in measured])}"
    return f"{sentence} {_first_to_last(m, *measured[0], *measured[-1])}"


def _course(reading: CurveReading, fit: Contraction) -> str:
    error, levels = reading.quantity, reading.plateau
    fall = f"the {error} goes from {reading.error(0)}"
    if fit.rate is not None:
        fall = f"each round multiplies tan θ by {text.short(fit.rate)}"
    if levels is None:
        last = text.count(reading.rounds, "round", "rounds")
        return f"{fall}; after {last} the {error} is {reading.error()} and still falls"
    plateau = reading.text(levels[0])
    if fit.reached is None:  # it is stuck
        return f"the {error} stays at {plateau}, that of a guess: noise drowns every round"
    after = text.count(fit.reached, "round", "rounds")
    if fit.rate is None:
        return f"{fall} to {plateau} in {after}, and stays there"
    return f"{fall}; the {error} settles at {plateau} after {after}"


def _theorem_rate(reading: CurveReading, settings: Settings) -> str:
    if settings["traced"] != DPS_PCA:
        return ""
    if reading.theorem_rate is not None:
        return f" Theorem 4.3 promises a factor of {text.short(reading.theorem_rate)}."
    alpha, gamma = (reading.theorem.quantities[name] for name in ("alpha", "gamma"))
    limits = f"α = {text.short(alpha)} is not below 1 − γ = {text.short(1 - gamma)}"
    return f" Theorem 4.3 promises no rate here: {limits}."


def _first_to_last(
    m: Convergence, first: CurveReading, fit: Contraction, last: CurveReading, last_fit: Contraction
) -> str:
    sentence = (
        f"From {m.named(first.value)} to {m.named(last.value)} the {first.quantity} after the last round "
        f"goes from {first.error()} to {last.error()}"
    )
    if fit.rate is None or last_fit.rate is None:
        return f"{sentence}."
    return f"{sentence}, the factor from {text.short(fit.rate)} to {text.short(last_fit.rate)}."


def _best_rounds(measured: Sequence[CurveReading]) -> str:
    best, most = min(measured, key=lambda reading: float(reading.middle[-1])), measured[-1]
    rounds = text.count(best.rounds, "round is", "rounds are")
    sentence = f"Of those shown, {rounds} best, with {best.quantity} {best.error()}"
    if best is most:
        return f"{sentence}: more rounds still help."
    return (
        f"{sentence}. After {most.rounds} it is {most.error()}: all rounds share one budget, so each of them "
        "gets more noise."
    )


def table(m: Convergence, readings: Sequence[CurveReading]) -> pd.DataFrame:
    """Return a row for every value, in Markdown; the same rows before anything is measured."""
    theorem = m.settings["traced"] == DPS_PCA
    heads = [text.symbols(m.key), "factor per round", "rounds fitted", "plateau", "10-90 %"]
    heads += ["rounds until within 10 %", *(["ρ¹ᐟ⁴ of Theorem 4.3"] if theorem else []), "λₖ₊₁/λₖ"]
    rows = []
    for reading in readings:
        cells = [m.marked(reading.value), *_fit_cells(reading)]
        if theorem:
            alpha, rate = text.short(reading.theorem.quantities["alpha"]), reading.theorem_rate
            cells.append(f"void: α = {alpha}" if rate is None else text.short(rate))
        rows.append([*cells, text.short(reading.ratio)])
    return pd.DataFrame(rows, columns=heads)


def _fit_cells(reading: CurveReading) -> list[str]:
    fit = reading.fit
    if fit is None:
        return ["…"] * 5
    none = "none: a guess" if fit.stuck else "too few rounds"
    rate = none if fit.rate is None else text.short(fit.rate)
    phase = "–" if fit.phase is None else f"{fit.phase[0]} to {fit.phase[1]}"
    if reading.plateau is None:
        return [rate, phase, f"{reading.error()}, not at rest", "–", "–"]
    plateau, low, high = map(reading.text, reading.plateau)
    return [rate, phase, plateau, f"{low} to {high}", "–" if fit.reached is None else str(fit.reached)]


def below_table(m: Convergence, readings: Sequence[CurveReading]) -> str:
    sentence = (
        "The factor is fitted to the median line: that of tan θ in the rounds between a guess and the "
        "plateau. Thresholding after the burn-in is part of it."
    )
    if m.settings["traced"] != DPS_PCA:
        return f"{sentence} Without noise, rounds tend to the factor λₖ₊₁/λₖ."
    sentence += " The column of Theorem 4.3 checks one of its conditions; *Bounds* checks all."
    void = next((reading for reading in readings if reading.theorem_rate is None), None)
    if void is not None:
        limit = text.short(1 - void.theorem.quantities["gamma"])
        sentence += f" It promises nothing where α is not below 1 − γ, here {limit}."
    return sentence


def derivation(settings: Settings) -> str:
    return _DERIVATION


def try_this(settings: Settings) -> str:
    if settings["family"] != "iterations":
        over, rounds = CHOICES["family"].label, CHOICES["family"].text("iterations")
        return f"set *{over}* to *{rounds}*. All rounds share one budget, so a few may beat many."
    if settings["traced"] != DPS_PCA:
        return "choose DPS-PCA instead: it keeps fewer features, and stands lower where few features matter."
    burn_in = CHOICES["burn_in"].label
    return f"set *{burn_in}* (*More settings*) to 0 and compare the bands of the runs."
