"""Form the paragraph for a protocol or an ethics application: the plan, the guarantee, its limits."""

import math

from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import RELEASED
from pages.hospitals.planner.model.evaluated import has_unit_rows, title
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences.answer import SWEPT, agrees, chance_of, interval_of, no_answer
from pages.hospitals.planner.sentences.numbers import amount, error_words, goal, number
from pages.shared import text

_TRUST_SENTENCES = {
    "central": "One curator sees all patients' measurements and must be trusted; only the result is "
    "protected.",
    "untrusted server": "Each hospital adds its own noise before anything leaves it, so that no server need "
    "be trusted.",
    "secure aggregation": "Hospitals' messages are added up by secure aggregation, which must be in place "
    "and show nobody more than the sum; the sum carries the noise.",
    "local": "Noise is added to each patient's own data before anybody sees it, so that nobody need be "
    "trusted.",
}
_ACCOUNTING = {
    "exact": "exact for Gaussian noise (Balle & Wang 2018; Dong, Roth & Su 2022)",
    "zcdp": "zero-concentrated differential privacy (Bun & Steinke 2016)",
    "as-printed": "the constants printed in the method's paper",
}
LIMITS = (
    "A prediction on average over patients and noise: a single study may err by more.",
    "Data that differ from these assumptions need more or fewer patients.",
    "Choosing the number of directions, bounds or scales by looking at the data costs privacy not "
    "counted here.",
    "Worked out with a study tool whose noise is simulated in floating point: not a hardened release.",
)
_PURE = ("ε", "approximate sampler")  # guarantees in which delta plays no part
_UNIT_ROWS = "each row divided by its own length, so that no bound has to be chosen"
_RELEASED_TOGETHER = ", over all that is released together"
_OPTIONS = {"s_hat": "ŝ = {} features kept", "iterations": "T = {} rounds", "burn_in": "{} burn-in steps"}


def paragraph(planner: Planner) -> str:
    needed = _needed(planner)
    if needed is None:
        return f"No plan can be stated. {no_answer(planner)}"
    parts = (
        f"Plan. {_plan(needed, planner)}",
        f"Privacy. {guarantee(planner)}",
        f"Assumptions. {assumptions(planner)}",
        f"Limits. {' '.join(LIMITS)}",
    )
    return "\n\n".join(parts)


def _confirmed(planner: Planner) -> SimulatedAnswer | None:
    simulation = planner.simulation
    return simulation if simulation is not None and simulation.state in ("found", "least") else None


def _needed(planner: Planner) -> float | None:
    closed_form, confirmed = planner.answer().value, _confirmed(planner)
    return closed_form if closed_form is not None or confirmed is None else confirmed.value


def _plan(needed: float, planner: Planner) -> str:
    answer, study, simulation = planner.answer(), planner.plan(), _confirmed(planner)
    d, k = study.experiment.d, planner.settings["k"]
    directions = f"the k = {k} leading principal directions of d = {d} measurements"
    options, reference = study.options, study.method.reference
    listed = [words.format(options[key]) for key, words in _OPTIONS.items() if key in options]
    # With RELEASED, ŝ, the first option listed, is no number: the features kept follow from the release.
    if options.get("s_hat") == RELEASED:
        listed[0] = "the features kept chosen from the release"
    reference += f"; {', '.join(listed)}" if listed else ""
    # In brackets: what the target is a mean or median of, and how a random guess does.
    guess = f"on average; a random guess captures {100 * (1 - study.guess):.2g} %"
    if not planner.energetic:
        error = error_words(study.guess, planner.settings)
        summary = "in half of the runs" if study.median else "root mean square over patients and noise"
        guess = f"{summary}; a random guess has {error.removeprefix('error ')}"
    sentence = (
        f"To find {directions} with {goal(planner)} ({guess}), "
        f"{title(planner.focus)} ({reference}) "
        f"needs {_amount(needed, planner)}, by "
    )
    chance = chance_of(answer, simulation)
    form = "small simulations that predict its error" if study.predicted else "a closed form"
    if simulation is None:
        return f"{sentence}{form}. {chance}".rstrip()
    swept = "values of ε" if planner.asked == "epsilon" else SWEPT[planner.asked]
    counts = f"{simulation.runs:,} runs at {simulation.values} {swept}, seed {planner.settings['seed']}"
    runs = f"simulation of the method itself ({counts})"
    interval = interval_of(simulation, planner.asked)
    if answer.value is None:  # simulation alone has an answer; there may be a formula that does not apply
        applies = "" if answer.kind == "simulation" else " that applies at this target"
        return f"{sentence}{runs}: {interval}. There is no closed form{applies}."
    otherwise = "" if agrees(planner.agreement) else ", which disagrees: go by the simulation"
    return f"{sentence}{form}; {runs} gives {interval}{otherwise}. {chance}".rstrip()


def _amount(needed: float, planner: Planner) -> str:
    hospitals = text.count(planner.settings["providers"], "hospital", "hospitals")
    shown = number(needed, planner.asked)
    if planner.asked == "epsilon":
        return f"ε of at least {shown} with {text.count(planner.n, 'patient', 'patients')} in {hospitals}"
    if planner.asked == "hospitals":
        count = math.ceil(needed - 1e-9)  # less a rounding error above a whole number
        needs, total = text.count(count, "hospital", "hospitals"), amount(count * planner.size, up=True)
        return f"at least {needs} of {planner.size:,} patients each ({total} in total)"
    return f"at least {shown} patients in total, in {hospitals}"


def guarantee(planner: Planner) -> str:
    needed, confirmed, asked = _needed(planner), _confirmed(planner), planner.asked
    if confirmed is not None and not agrees(planner.agreement):
        needed = confirmed.value  # the plan says to go by it
    if needed is None:
        return "There is no plan at these settings, so nothing would be released and nothing is promised."
    # The rounded epsilon is promised, since that is the one which the plan states.
    n, epsilon, _ = planner.question.at(float(number(needed, asked)) if asked == "epsilon" else needed)
    parts = [*_privacy(planner, epsilon, n), _TRUST_SENTENCES[PLANNED_METHODS[planner.focus].trust]]
    return " ".join(filter(None, parts))


def _privacy(planner: Planner, epsilon: float, n: float) -> tuple[str, ...]:
    """Return the guarantee at this epsilon, for the patients of the plan, and its caveats or ""."""
    delta, experiment = planner.settings["delta"], planner.plan().experiment
    method, true = planner.plan().method, planner.true_epsilon()
    kind, stated = method.guarantee_at(experiment.k), text.number(epsilon)
    pure, true_text = kind in _PURE, "" if true is None else text.short(true)
    delta_is_large = not pure and delta > 1 / n
    promise = f"ε = {stated}" if pure else f"(ε, δ) = ({stated}, {text.number(delta)})"
    accounting = "the exponential mechanism" if pure else _ACCOUNTING[planner.settings["accounting"]]
    # Two stages and stacked rounds make several releases, and the guarantee is over all of them.
    rounds = _RELEASED_TOGETHER if method.chooses_rows or method.name.startswith("stacked_rounds") else ""
    if "iterations" in method.uses:
        rounds = f", over all {experiment.iterations} rounds together"
    return (
        f"Differential privacy for each patient with {promise}; "
        f"{text.RELATIONS[planner.settings['neighbours']]}; accounting: {accounting}{rounds}.",
        true_text and f"These constants truly give ε = {true_text}, not the {stated} they were set for.",
        "" if kind == "(ε, δ)" else f"Caution: {text.GUARANTEES[kind]}.",
        f"δ is above 1/n = {text.short(1 / n)}: a smaller one is usual." if delta_is_large else "",
    )


def assumptions(planner: Planner) -> str:
    study, table = planner.plan(), planner.bundled
    experiment, unit_rows = study.experiment, has_unit_rows(study)
    if table is not None:
        like = f"a population with the spectrum of {table.title} ({table.source}), its rows as if Gaussian"
        limit = "rows clipped at the bound stored with that table"
    else:
        population = experiment.population
        assert isinstance(population, Synthetic)  # hospitals that differ are not planned for
        like = f"one population: {text.population(population)}"
        chance = f"that all respect with probability {1 - experiment.failure:g}"
        limit = f"rows divided by a public bound, set beforehand, {chance}"
        if population.tails is not None:
            limit = "rows clipped to a public bound of three root mean square lengths"
    same = "" if planner.asked == "hospitals" else "; hospitals measure alike"
    return f"Patients are independent draws from {like}; {_UNIT_ROWS if unit_rows else limit}{same}."
