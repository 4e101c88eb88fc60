"""The sentences of the bounds page, formed from its numbers."""

import math
from typing import NamedTuple

import numpy as np

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.regimes import REGIONS
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS, count_complete
from dppca_core.experiments.explorer.regime_map import RegimeMap
from dppca_core.methods import METHODS
from dppca_core.records import Bound
from pages.explore.bounds.model import THEOREM, Bounds, BoundState
from pages.shared import text
from pages.shared.charts import Figure, drawn_values

TITLE = "Bounds"
STEPS = (
    "The thick line is measured; the others are what papers promise.",
    "Move privacy: see where a promise still applies.",
    "A promise has no line where it says nothing.",
)
INTRODUCTION = (
    "**Does the theory hold here?** What the papers promise, beside what is measured. A line is thin where "
    "an assumption fails, and ends where a bound says nothing."
)
MAP, FIGURE_2 = "Where privacy is free", "Figure 2 of Ge et al."
CONSTANTS_OPEN = "Constants that a paper leaves open are as set here; another value moves its bound."
REGIME_NOTES = {
    "closed form": (
        "By the closed form for DPS-PCA. Privacy is called free where sampling causes more error than noise, "
        "and costs where noise causes more. It is hopeless where the predicted error exceeds a third of a "
        "guess's. Nothing follows where another assumption fails."
    ),
    "theorem": (
        "By Theorem 4.3 of Ge et al. with the constants set below. Its larger term decides whether privacy "
        "is free or costs. It is hopeless where its total is no better than a guess. Nothing follows where "
        "an assumption fails."
    ),
}
FIGURE_2_NOTE = (
    "The paper does not report the parameters of this figure. We fitted γ = 0.356 and α = 0.0513/ε to its "
    "curve at δ = 0.01. These two give the curve within 1 %, but other values would too. The whole curve "
    "lies above √5, the largest possible error, and assumption B.3 fails along all of it."
)
FLOOR = "Floor: to first order, no method of Gaussian noise with this promise errs less in the worst case."
CHANCES = "How often all true features are found"
CHANCES_NOTE = (
    "The prediction is an average over populations, from up to 64 simulated runs. They draw second moments, "
    "not patients. The runs are of this population alone. Bars hold 80 % of what the chance could be."
)
_KINDS = {"upper": "upper bound", "lower": "lower bound", "prediction": "closed-form prediction"}
# The curves that draw the terms of Theorem 4.3, one on top of the other, and the word for each term.
TERMS = {
    "sampling ξ_stat": "sampling",
    "+ privacy ξ_priv": "privacy",
    "+ optimisation ξ_opt": "optimisation",
}


class _StateWords(NamedTuple):
    badge: str  # of a bound's card
    singular: str  # the verb after one bound
    plural: str


_STATES = {
    BoundState.APPLIES: _StateWords(":green[every assumption holds]", "applies", "apply"),
    BoundState.FAILS: _StateWords(
        ":orange[an assumption fails]", "has an assumption that fails", "have an assumption that fails"
    ),
    BoundState.VOID: _StateWords(":red[says nothing here]", "says nothing", "say nothing"),
}


def headline(m: Bounds) -> str:
    scale, cells = m.scale(), m.runs.get(m.epsilon)
    states = {name: m.state(name, bound) for name, bound in m.here.items() if m.concerns(name)}
    middle = scale.text(float(np.median([scale.final_error(cell) for cell in cells]))) if cells else "…"
    quality = {"share": "recovers", "degrees": "has a largest angle of"}.get(scale.metric, "has error")
    here = list(states.values())
    counted = [
        text.count(here.count(state), words.singular, words.plural)
        for state, words in _STATES.items()
        if state in here
    ]
    void = [BOUNDS[name].title for name, state in states.items() if state == BoundState.VOID]
    named = f": {text.listed(void)}" if 0 < len(void) <= 2 else ""
    return (
        f"At ε = {text.number(m.epsilon)}, {METHODS[m.method].title} {quality} {middle} "
        f"(a random guess: {scale.text(scale.guess)}). "
        f"Of {text.count(len(states), 'formula', 'formulas')} for its error, {text.listed(counted)}{named}."
    )


def card_title(m: Bounds, name: str) -> str:
    rule = BOUNDS[name]
    return f"**{rule.title}** · {_KINDS[rule.kind]} · {_STATES[m.state(name, m.here[name])].badge}"


def value(m: Bounds, name: str) -> str:
    bound, given = m.here[name], constants(m, name)
    shown = text.short(bound.final) if math.isfinite(bound.final) else "none"
    chance = bound.quantities.get("probability", math.nan)  # neither case below where the paper gives none
    if chance <= 0:
        shown += ", but the probability with which it holds may be zero" if math.isfinite(bound.final) else ""
    elif chance > 0 and bound.applies:
        shown += f"; holds with probability at least {text.short(chance)}"
    return f"Value here{given and f', with {given}'}: {shown}."


def assumptions(bound: Bound) -> str:
    return "  \n".join(
        f"{':green[✓ holds:]' if each.holds else ':red[✗ fails:]'} {each.text}" for each in bound.why
    )


def constants(m: Bounds, name: str) -> str:
    slack = [f"τ = {m.tau:g}"] if name == THEOREM else []
    symbols = BOUNDS[name].symbols
    return ", ".join([*slack, *(f"{symbols[constant]} = {value:g}" for constant, value in m.constants(name))])


def fitted_constant(m: Bounds, name: str) -> str:
    rule = BOUNDS[name]
    try:
        fit = m.fit(name)
    except ValueError as reason:
        return f"No constant can be fitted: {str(reason).replace(name, rule.title)}."
    return (
        f"{rule.symbols[rule.fits]} is set to {dict(m.constants(name))[rule.fits]:g} here. To match "
        f"{METHODS[m.method].title} over {fit.settings} values of ε it would have to be **{fit.value:.3g}** "
        f"(10 to 90 % over resampled runs: {fit.low:.3g} to {fit.high:.3g}). This is a fit to one sweep; "
        "nothing else uses it."
    )


def below_the_figure(m: Bounds) -> str:
    return " ".join(filter(None, (_floor(m), _no_closed_form(m), _no_degrees(m), below_a_lower_bound(m))))


def _floor(m: Bounds) -> str:
    drawn = "gaussian_floor" in m.names and m.here["gaussian_floor"].applies and m.scale().bounds_drawn
    return FLOOR if drawn else ""


def _no_closed_form(m: Bounds) -> str:
    name = CLOSED_FORMS.get(m.method, "")
    if name not in m.names or m.here[name].applies:
        return ""
    return f"{BOUNDS[name].title} does not apply here: {'; '.join(m.here[name].failed)}."


def _no_degrees(m: Bounds) -> str:
    if m.scale().bounds_drawn:
        return ""
    return "No bound is drawn: bounds are on ‖sin Θ‖, which gives the largest angle only for k = 1."


def below_a_lower_bound(m: Bounds) -> str:
    cells = m.runs.get(m.epsilon)
    # Before the first run no bound lies above the error.
    middle = float(np.median([cell.sin[-1] for cell in cells])) if cells else math.inf
    above = [
        BOUNDS[name]
        for name, bound in m.here.items()
        if BOUNDS[name].kind == "lower" and m.concerns(name) and bound.final > middle
        if m.state(name, bound) == BoundState.APPLIES
    ]
    if not above:
        return ""
    guessed = ", and their constants are guesses" if any(rule.constants for rule in above) else ""
    titles = "; ".join(rule.title for rule in above)
    return (
        f"Lower bounds above the measured error: {titles}. They hold for the worst population, which can be "
        f"harder than this one{guessed}."
    )


def chances(m: Bounds) -> str:
    cells = m.results.measured(m.method, m.epsilon)
    chance = text.chance(m.here[CLOSED_FORMS[m.method]].quantities["support_probability"])
    runs = text.count(len(cells), "run", "runs")
    return (
        f"At ε = {text.number(m.epsilon)}, {METHODS[m.method].title} finds all true features in "
        f"{count_complete(cells)} of {runs}; predicted: {chance}."
    )


def incomplete(m: Bounds) -> str:
    return "" if m.next_cell() is None else f"Made when {len(m.results.cells):,} runs were measured."


def terms(figure: Figure, applies: bool) -> str:
    """Return Theorem 4.3's terms and their sum in the last round, read off the figure that draws them."""
    curves = [trace for trace in figure["data"] if trace["name"] in TERMS]
    stack = {TERMS[curve["name"]]: drawn_values(curve)[-1] for curve in curves}
    if not stack:
        return "Theorem 4.3 says nothing here."
    each = np.diff([0.0, *stack.values()])  # the figure stacks the terms: each curve includes those below it
    parts = [f"{term} {text.error(float(value))}" for term, value in zip(stack, each, strict=True)]
    but = "" if applies else ", of which an assumption fails here,"
    whole = text.error(float(max(stack.values())))
    return f"Theorem 4.3{but} in the last round: {text.listed(parts)}, together {whole}."


def regimes(regime_map: RegimeMap, n: int, epsilon: float) -> str:
    shares = [float((regime_map.codes == code).mean()) for code in range(len(REGIONS))]
    parts = [
        f"{name} in {text.percent(share)} of it" for name, share in zip(REGIONS, shares, strict=True) if share
    ]
    # The map has a grid: the setting is in the region of its nearest point, by ratio.
    i, j = (
        int(np.abs(np.log(values) - math.log(here)).argmin())
        for values, here in ((regime_map.epsilons, epsilon), (regime_map.patients, n))
    )
    return (
        f"Map of patients and privacy: {'; '.join(parts)}. "
        f"This setting, {n:,} patients at ε = {text.number(epsilon)}: {REGIONS[regime_map.codes[i, j]]}."
    )


TRY_THIS = (
    "start from the preset *Where Theorem 4.3 holds*. Then move *Patients in total* to the left. The "
    "theorem soon says nothing, while the measured error hardly moves."
)
