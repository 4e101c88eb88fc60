"""What a family of trajectories says: a sentence, a table. Plain functions, tested without a browser."""

from collections.abc import Sequence

import pandas as pd

from dppca_core.datasets import TABLES
from dppca_core.methods import METHODS
from pages.explore.convergence.charts import name
from pages.explore.convergence.curves import CurveReading, Family
from pages.shared import text
from pages.shared.charts.metric_axis import factor
from pages.shared.settings.catalogue import CHOICES, Settings

FORMULAS = r"""
With $e_t=\Vert\sin\Theta_t\Vert_F$, the median over the runs, the fit is to the tangent of the typical angle,
which a power iteration multiplies by the same factor every round while the sine stays below $\sqrt k$:

$$
\tau_t^2=\frac{e_t^2}{k-e_t^2},\qquad \tau_t^2\approx\tau_\infty^2+A^2q^{2t}.
$$

The **plateau** $e_\infty$ is the median of the last third of the rounds (at least 3), unless $\log e_t$ still
falls there by more than a factor 0.9 a round. The **geometric phase** is the rounds in a row from the first
that stays below 0.95 of a random guess, $\sqrt{k(1-k/d)}$, for as long as $\tau_t\ge2\tau_\infty$. The
**factor** $q$ is by least squares of $\tfrac12\log(\tau_t^2-\tau_\infty^2)$ on $t$ over that phase, which
needs two rounds. Without noise the last rounds tend to $\lambda_{k+1}/\lambda_k$.

Theorem 4.3 bounds the term that falls by $\rho^{(t-1)/4}$ with

$$
\rho=\frac{\gamma}{1-\alpha},\qquad\gamma=\frac{3\lambda_{k+1}+\lambda_k}{3\lambda_k+\lambda_{k+1}},\qquad
\alpha=\frac{2k\,c\,(\sqrt{\hat s}+\sqrt k+\tau)\,\sigma}{n\lambda_k},
$$

$c=\sqrt N$, $N$ or $1$ by noise mode. Its $\tau=3.3$ is a slack and no tangent.
"""


# As long as the sentence that takes its place, so that nothing below moves.
MEASURING = (
    "Measuring … This sentence will say how much of the error a round takes away at this setting, where the "
    "error comes to stand, after how many rounds, and how that changes from the first value to the last."
)


def headline(family: Family, found: Sequence[CurveReading], settings: Settings) -> str:
    """What the setting's own trajectory does, and what changes along the family."""
    plain = settings["view"] == "board"
    own = next(reading for reading in found if reading.value == family.here)
    if own.fit is None or own.middle is None:
        return MEASURING
    at = f"At this setting ({name(family.key, own.value, plain)})" if not plain else "At this setting"
    said = f"{at} {_does(own, settings)}{_promise(own, settings)}."
    others = _best_rounds(found, settings) if family.key == "iterations" else _along(family, found, settings)
    return f"{said} {others}".strip()


def _does(own: CurveReading, settings: Settings) -> str:
    fit, last = own.fit, len(own.middle) - 1
    stands = "" if fit.plateau is None else text.error(factor(settings) * fit.plateau)
    ends = text.error(factor(settings) * float(own.middle[-1]))
    if fit.stuck:
        return f"the error never leaves the random guess: it stands at {stands}, noise drowns every round"
    if fit.rate is None and fit.plateau is None:
        return f"no rate can be read off: the error is {ends} after {text.count(last, 'round', 'rounds')}"
    if fit.rate is None:
        after = text.count(fit.reached, "round", "rounds")
        return f"the error stands at {stands} after {after}, with too few rounds before to read off a rate"
    kept = f"each round shrinks the error, as a tangent, by a factor {text.short(fit.rate)}"
    if settings["view"] == "board":
        kept = f"the error falls from {text.error(factor(settings) * float(own.middle[0]))}"
        if fit.plateau is not None:
            return f"{kept} to {stands} in {text.count(fit.reached, 'round', 'rounds')}, and stays there"
    if fit.plateau is None:
        after = text.count(last, "round", "rounds")
        return f"{kept}, and it has not come to a stand after {after}, at {ends}"
    return f"{kept}, until it stands at {stands} after {text.count(fit.reached, 'round', 'rounds')}"


def _promise(own: CurveReading, settings: Settings) -> str:
    if settings["view"] == "board" or not _speaks(settings):
        return ""
    if own.theorem_rate is None:
        return f"; Theorem 4.3 promises no rate here ({_void(own)})"
    return f"; the theorem's rate would be {text.short(own.theorem_rate)}"


def _speaks(settings: Settings) -> bool:
    """Theorem 4.3 is about one method."""
    return settings["traced"] == "dps_pca"


def _void(reading: CurveReading) -> str:
    given = reading.theorem.quantities
    return f"α = {text.short(given['alpha'])}, must be below 1 − γ = {text.short(1 - given['gamma'])}"


def _along(family: Family, found: Sequence[CurveReading], settings: Settings) -> str:
    seen = [reading for reading in found if reading.fit is not None]
    if len(seen) < 2:
        return ""
    plain = settings["view"] == "board"
    first, last = seen[0], seen[-1]
    ends = [text.error(factor(settings) * float(reading.middle[-1])) for reading in (first, last)]
    names = [name(family.key, reading.value, plain) for reading in (first, last)]
    what = f"{CHOICES[family.key].plain}: from" if plain else "From"
    said = f"{what} {names[0]} to {names[1]} the error after the last round goes from {ends[0]} to {ends[1]}"
    rates = [reading.fit.rate for reading in (first, last)]
    if None in rates or plain:
        return said + "."
    return f"{said}, the factor from {text.short(rates[0])} to {text.short(rates[1])}."


def _best_rounds(found: Sequence[CurveReading], settings: Settings) -> str:
    """More rounds come nearer, but each is noisier, for they share the budget."""
    seen = [reading for reading in found if reading.middle is not None]
    if len(seen) < 2:
        return ""
    best = min(seen, key=lambda reading: float(reading.middle[-1]))
    most = seen[-1]
    errors = [text.error(factor(settings) * float(reading.middle[-1])) for reading in (best, most)]
    if best is most:
        return (
            f"Of those shown, {best.value} rounds are best, with error {errors[0]}: more rounds still help."
        )
    return (
        f"Of those shown, {text.count(best.value, 'round is', 'rounds are')} best, with error {errors[0]}; "
        f"{most.value} end at {errors[1]}, as more rounds share one budget and each gets more noise."
    )


def table(family: Family, found: Sequence[CurveReading], settings: Settings) -> pd.DataFrame:
    """One row for every value, cells in Markdown; the same rows before anything is measured."""
    plain = settings["view"] == "board"
    theorem = _speaks(settings) and not plain
    if plain:
        heads = [CHOICES[family.key].plain, "Error at the end", "8 of 10 runs", "Rounds until then"]
    else:
        heads = [text.symbols(family.key), "factor per round", "rounds fitted", "plateau"]
        heads += ["10-90 %", "rounds until within 10 %"]
        heads += ["ρ¹ᐟ⁴ of Theorem 4.3"] if theorem else []
        heads.append("λₖ₊₁/λₖ")
    rows = []
    for reading in found:
        cells = _measured(reading, settings)
        if plain:
            cells = cells[2:]
        if theorem:
            alpha = text.short(reading.theorem.quantities["alpha"])
            rate = reading.theorem_rate
            cells.append(f"void: α = {alpha}" if rate is None else text.short(rate))
        if not plain:
            cells.append(text.short(reading.ratio))
        own = reading.value == family.here
        shown = CHOICES[family.key].text(reading.value)
        rows.append([f"**{shown}**" if own else shown, *cells])
    return pd.DataFrame(rows, columns=heads)


def _measured(reading: CurveReading, settings: Settings) -> list[str]:
    """Factor, rounds of the fit, plateau, its spread, rounds until there."""
    fit = reading.fit
    if fit is None:
        return ["…"] * 5
    times = factor(settings)
    rate = "–" if fit.rate is None else text.short(fit.rate)
    if fit.rate is None:
        rate = "none: a guess" if fit.stuck else "too few rounds"
    phase = "–" if fit.phase is None else f"{fit.phase[0]} to {fit.phase[1]}"
    if fit.plateau is None:
        end = text.error(times * float(reading.middle[-1]))
        return [rate, phase, f"{end}, not at rest", "–", "–"]
    low, high = (text.error(times * end) for end in reading.spread)
    return [
        rate,
        phase,
        text.error(times * fit.plateau),
        f"{low} to {high}",
        "–" if fit.reached is None else str(fit.reached),
    ]


def below_table(found: Sequence[CurveReading], settings: Settings) -> str:
    """What the table's words mean."""
    if settings["view"] == "board":
        return "The error at the end is the middle of all runs over the last third of the rounds."
    said = (
        "Fitted to the median line: the factor is that of the angle's tangent in the rounds between the "
        "random guess and the plateau; thresholding that begins after the burn-in is part of it."
    )
    if not _speaks(settings):
        return said + " Without noise, rounds tend to the factor λₖ₊₁/λₖ."
    void = next((reading for reading in found if reading.theorem_rate is None), None)
    said += " Theorem 4.3's rate needs more than is checked in its column: see *Bounds*."
    if void is None:
        return said
    limit = text.short(1 - void.theorem.quantities["gamma"])
    return f"{said} It is void where α is not below 1 − γ, here {limit}."


def notes(family: Family, settings: Settings) -> list[str]:
    """What differs from what the controls ask for."""
    said = list(family.said)
    if settings["start"] == "near":
        said.append("Trajectories here start at random: the start near the truth is for the other pages.")
    if settings["metric"] == "energy":
        shown = "the error" if settings["view"] == "board" else "‖sin Θ‖"
        said.append(f"Captured energy is not kept round by round: {shown} is shown instead.")
    return said


def measured(runs: int, settings: Settings) -> str:
    """Under the complete figure."""
    spread = "8 of 10 runs" if settings["view"] == "board" else "10-90 % of the runs"
    fit = "" if settings["view"] == "board" else "; the thin dotted line is the fit"
    return f"{runs:,} runs: lines are medians, bands hold {spread}{fit}."


def about(settings: Settings) -> str:
    """How a synthetic population's trajectories were measured; a table's stand with the table itself."""
    if settings["data"] in TABLES:
        return ""
    runs = text.count(settings["repeats"], "run", "runs")
    method = METHODS[settings["traced"]]
    return (
        f"**Simulation**, {runs} at each value, each with its own patients and noise; {method.title}: "
        f"{method.reference}. Round 0 is the random start. Second moments are drawn exactly (Wishart "
        "law). The theorem is Theorem 4.3 of Ge, Wang, Wang & Liu (AISTATS 2018) with ρ, γ and α as in its "
        "section 4; ρ¹ᐟ⁴ is the factor of its term ξ_opt."
    )


def try_this(settings: Settings) -> str:
    """What to do next."""
    over = CHOICES["family"].name(settings["view"] == "board")
    rounds = CHOICES["family"].option("iterations", settings["view"] == "board")
    if settings["family"] != "iterations":
        return f"set *{over}* to *{rounds}*: they share one budget, and a few may beat many."
    if settings["traced"] != "dps_pca":
        return "choose DPS-PCA instead: it keeps fewer rows, and stands lower where few rows matter."
    burn = CHOICES["burn_in"].name(settings["view"] == "board")
    return f"set *{burn}* (*More settings*) to 0 and compare the bands of the runs."
