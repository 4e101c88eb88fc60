"""Form the sentences on the answer of the method in focus, or on why there is none.

Two stages are methods which first choose the features to keep, and may miss one that matters.
"""

import math

from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked, PlanAnswer
from pages.hospitals.planner.model.evaluated import title
from pages.hospitals.planner.model.planner import USUAL_VALUES, Planner, seconds
from pages.hospitals.planner.model.plans import Plans
from pages.hospitals.planner.sentences.numbers import amount, error_words, goal, number, value
from pages.hospitals.planner.sentences.reasons import reason
from pages.shared import text

LEAST_CHANCE = 0.9  # below this chance that all features that matter are kept, an answer is called uncertain
LEAVE_OUT = "Leave simulation out"
# Only methods that keep few features can be below the floor, which is over tables that may have any pattern.
SMALLER = "A smaller number here rests on a pattern that lies in few measurements."
SWEPT = {
    "patients": "numbers of patients",
    "hospitals": "numbers of hospitals",
    "epsilon": "privacy losses",
}
_PEOPLE_ON_EARTH = 8.2e9  # United Nations 2024


def headline(planner: Planner) -> str:
    answer, simulation = planner.answer(), planner.simulation
    if answer.value is not None:
        needs = _needs(answer.value, planner, least=answer.at_lower_limit)
        return needs + _confirmation(planner, simulation)
    if simulation is None:
        return no_answer(planner)
    if simulation.state == "measuring":
        return f"{no_answer(planner)} It is being simulated."
    by_formula = answer.kind != "simulation"
    if simulation.state == "none":
        return f"{no_answer(planner)} Simulation found none{' either' if by_formula else ''}."
    if by_formula:
        return f"{no_answer(planner)} Simulation says {interval_of(simulation, planner.asked)}."
    least = simulation.state == "least"
    _answer, low, high = _ends(simulation, planner.asked)
    interval = "" if least else f" (95 % interval {low} to {high})"
    return f"{_needs(simulation.value, planner, least).removesuffix('.')}, by simulation{interval}."


def _confirmation(planner: Planner, simulation: SimulatedAnswer | None) -> str:
    ratio = planner.agreement
    if ratio is None or simulation is None:
        return ""
    # An agreement closer than 0.5 % is not claimed.
    within = f"agrees within {100 * max(abs(ratio - 1), 0.005):.2g} %"
    verdict = within if agrees(ratio) else "says otherwise, so go by it"
    return f" Simulation {verdict}: {interval_of(simulation, planner.asked)}."


def details(planner: Planner) -> str:
    answer = planner.answer()
    if answer.value is None:
        return ""
    sentences = [chance_of(answer, planner.simulation)]
    if planner.plan().predicted:
        sentences.insert(0, "Small simulations predict the error of this method, in half of the runs.")
    sentences += [_least_needed(answer.value, planner), _without_formula(planner)]
    return " ".join(filter(None, sentences))


def floor(plans: Plans) -> str:
    """Return how many patients the worst case takes whatever the method; "" where nothing is known of it."""
    if plans.asked != "patients" or not plans.floor:
        return ""
    promise = "No method with this promise can need fewer than about"
    if plans.settings["view"] != "plain":
        promise = "To first order no method of Gaussian noise with this promise can need fewer than about"
    sentence = f"{promise} {amount(plans.floor)} patients in the worst case, whomever you trust."
    needs = (plans.answer(name).value for name in {plans.focus, *(each.name for each in plans.by_trust())})
    smaller = any(needed is not None and needed < plans.floor for needed in needs)
    return f"{sentence} {SMALLER}" if smaller else sentence


def _without_formula(planner: Planner) -> str:
    for (trust, name, _answer), recommendation in planner.recommended():
        better = recommendation.method
        if trust == planner.trust and name == planner.focus and nothing_predicts(planner, name, better):
            return f"Recommended is {title(better)}: it has no formula, so choose it to simulate it."
    return ""


def nothing_predicts(plans: Plans, planned: str, recommended: str) -> bool:
    """Return whether a method is planned in place of the recommended one, of which only simulation tells."""
    return planned != recommended and plans.answer(recommended).kind == "simulation"


def _least_needed(needed: float, planner: Planner) -> str:
    """Return which (ε, δ) method needs least, if that is 5 % below what the one in focus needs; else ""."""
    answers = {name: planner.answer(name) for name in planner.guaranteed(planner.listed)}
    needs = {name: answer.value for name, answer in answers.items() if answer.value is not None}
    best = min(reversed(needs), key=needs.__getitem__, default="")  # of equals, one that asks for less trust
    if not best or needs[best] >= 0.95 * needed:
        return ""
    least = value(needs[best], planner.asked) + uncertainty_mark(answers[best])
    trust = text.trust_heading(PLANNED_METHODS[best].trust).lower()
    return f"{title(best)} ({trust}) would do with {least}."


def _begin(planner: Planner) -> str:
    fixed = f"(ε = {text.number(planner.epsilon)})"
    if planner.asked == "epsilon":
        fixed = f"with {text.count(planner.n, 'patient', 'patients')}"
    return f"For {goal(planner)} {fixed}, {title(planner.focus)}"


def _needs(needed: float, planner: Planner, least: bool) -> str:
    """Return the sentence that the method in focus needs this much; least: no smaller number was tried."""
    words = f"{'no more than ' if least else ''}{value(needed, planner.asked)}"
    more = " or more" if planner.asked == "epsilon" and not least else ""
    return f"{_begin(planner)} needs {words}{more}{_over_hospitals(needed, planner)}."


def _over_hospitals(needed: float, planner: Planner) -> str:
    if planner.asked == "hospitals":
        total = amount(planner.size * needed, up=True)
        return f" of {planner.size:,} patients each, {total} in total"
    if planner.asked == "patients" and needed > _PEOPLE_ON_EARTH:
        return ", more than there are people"
    return f" in {text.count(planner.settings['providers'], 'hospital', 'hospitals')}"


def no_answer(planner: Planner) -> str:
    answer, begin = planner.answer(), _begin(planner)
    if answer.kind == "evaluating":
        return f"{begin}: the formula is being evaluated."
    if answer.kind == "simulation":  # then `failed` holds the one reason for it
        return f"{begin} has no formula: {answer.failed[0]}."
    return f"{begin} has no answer by closed form. {text.sentence(_reason(answer, planner))}."


def _reason(answer: PlanAnswer, planner: Planner) -> str:
    template = reason(answer).full
    if not template:
        return "; ".join(answer.failed)

    def words(name: str, figure: float) -> str:
        if name in ("n", "most"):  # patients or hospitals; the others are losses
            return amount(figure)
        if planner.energetic:  # the loss is the share of energy that is lost
            return f"{100 * max(1 - figure, 0):.3g} % captured"
        return error_words(figure, planner.settings)

    numbers = {name: words(name, figure) for name, figure in answer.numbers.items()}
    return template.format(**numbers)


def short_reason(answer: PlanAnswer, plans: Plans) -> str:
    if answer.kind == "simulation" and plans.bundled is not None:
        return "no formula"
    return reason(answer).cell


def chance_of(answer: PlanAnswer, simulation: SimulatedAnswer | None) -> str:
    """Return, for two stages, how likely all features that matter are kept at the answer; else nothing.

    Below `LEAST_CHANCE` it adds that the answer is uncertain and, without a simulation, to be simulated.
    """
    if answer.chance is None:
        return ""
    caveat = f", so the formula's answer is uncertain{'' if simulation else ' to be simulated'}"
    chance = text.chance(answer.chance)
    chance = f"of {chance}" if chance.startswith("about") else chance  # else "above" or "below" a share
    begin = f"It then keeps all features that matter with a chance {chance}"
    return f"{begin}{caveat if uncertainty_mark(answer) else ''}."


def uncertainty_mark(answer: PlanAnswer) -> str:
    """Return " (uncertain)" where features that matter are kept with a chance below `LEAST_CHANCE`."""
    return " (uncertain)" if answer.chance is not None and answer.chance < LEAST_CHANCE else ""


def agrees(ratio: float | None) -> bool:
    """Return whether the simulated answer is within 15 % of the closed form's.

    The bisection ends at 15 % too, so a smaller difference could not be told. ratio: of the simulated answer
    to the closed form's; None, where either is missing, counts as agreement.
    """
    return ratio is None or abs(math.log(ratio)) <= math.log(1.15)


def _ends(simulation: SimulatedAnswer, asked: Asked) -> list[str]:
    ends = (simulation.value, simulation.low, simulation.high)
    return [number(end, asked, up=False) if math.isfinite(end) else "∞" for end in ends]


def interval_of(simulation: SimulatedAnswer, asked: Asked) -> str:
    """Return a simulated answer with its interval or, if no smaller value was tried, "... already do"."""
    answer, low, high = _ends(simulation, asked)
    interval = f"{answer} (95 % interval {low} to {high})"
    return f"{answer} already do" if simulation.state == "least" else interval


def simulated_cell(simulation: SimulatedAnswer | None, asked: Asked) -> str:
    if simulation is None:
        return ""
    answer, low, high = _ends(simulation, asked)
    interval = f"{answer} [{low} – {high}]"
    return {"least": f"≤ {answer}", "found": interval, "measuring": "…", "none": "none"}[simulation.state]


def offer(planner: Planner) -> str:
    answer, search, name = planner.answer(), planner.search(), title(planner.focus)
    confirm = answer.value is not None or answer.kind == "evaluating"
    if search is None and answer.kind != "evaluating":
        return ""
    duration = f", about {text.duration(seconds(search))}" if search else ""
    return f"{'Confirm' if confirm else 'Find the answer of'} {name} by simulation{duration}"


def not_simulated(planner: Planner) -> str:
    answer, why = planner.answer(), "there is nowhere to begin"
    if answer.kind == "evaluating":
        why = "its formula is being evaluated first"
    elif planner.bundled is not None:
        why = "a table has only its own patients"
    return f"No simulation here: {why}."


def halving(values: int) -> str:
    """Return how far a bisection has come, of which runs at this many values have begun."""
    # The first step runs two values at once and each later step adds another, so steps are counted.
    return f"Value {values - 1} of about {USUAL_VALUES - 1}, halving the gap."


def simulated(planner: Planner, answer: SimulatedAnswer, failure: str = "") -> str:
    so_far = " so far" if answer.state == "measuring" else ""
    swept = SWEPT[planner.asked]
    runs = f"{answer.runs:,} runs of {title(planner.focus)} at {answer.values} {swept}"
    failed = f"Runs failed: {failure}." if failure else ""
    return f"Simulated{so_far}: {runs}. {failed}".rstrip()
