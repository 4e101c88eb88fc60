"""Form the paragraph for a protocol or an ethics application: the plan, the guarantee, its limits."""

import math

from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.records import RELEASED
from pages.hospitals.planner import own_table, own_table_text, view
from pages.hospitals.planner import text as page_text
from pages.shared import text
from pages.shared.settings.catalogue import Settings

_TRUST = {
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
_LIMITS = (
    "A prediction on average over patients and noise: a single study may err by more",
    "data that differ from these assumptions need more or fewer patients",
    "choosing the number of directions, bounds or scales by looking at the data costs privacy not "
    "counted here",
    "worked out with a study tool whose noise is simulated in floating point: not a hardened release",
)
_PURE = ("ε", "approximate sampler")  # guarantees in which delta plays no part
_UNIT = "each row divided by its own length, so that no bound has to be chosen"
_TOGETHER = ", over all that is released together"
_OPTIONS = {"s_hat": "ŝ = {} features kept", "iterations": "T = {} rounds", "burn_in": "{} burn-in steps"}


def paragraph(settings: Settings, simulation: SimulatedAnswer | None) -> str:
    """Return the plan, the guarantee, assumptions and limits; where there is no answer, why."""
    needed = _needed(settings, simulation)
    if needed is None:
        return f"No plan can be stated. {page_text.no_answer(settings)}"
    parts = [
        f"Plan. {_plan(needed, simulation, settings)}",
        f"Privacy. {guarantee(settings, simulation)}",
        f"Assumptions. {_assumptions(settings)}",
        f"Limits. {'; '.join(_LIMITS)}.",
    ]
    return "\n\n".join(parts)


def _confirmed(simulation: SimulatedAnswer | None) -> SimulatedAnswer | None:
    """Return the simulated answer if it has one."""
    return simulation if simulation is not None and simulation.state in ("found", "least") else None


def _needed(settings: Settings, simulation: SimulatedAnswer | None) -> float | None:
    """Return the answer by closed form, else by simulation, else None."""
    closed_form, confirmed = view.answer(settings, view.focus(settings)).value, _confirmed(simulation)
    return closed_form if closed_form is not None or confirmed is None else confirmed.value


def _plan(needed: float, simulation: SimulatedAnswer | None, settings: Settings) -> str:
    name, asked = view.focus(settings), settings["plan.asked"]
    answer, study, simulation = view.answer(settings, name), view.plan(settings, name), _confirmed(simulation)
    d, k = study.experiment.d, settings["k"]
    directions = f"the k = {k} leading principal directions of d = {d} measurements"
    options, reference = study.options, view.method(name).reference
    listed = [words.format(options[key]) for key, words in _OPTIONS.items() if key in options]
    if options.get("s_hat") == RELEASED:
        listed[0] = "the features kept chosen from the release"
    reference += f"; {', '.join(listed)}" if listed else ""
    guess = f"on average; a random guess captures {100 * (1 - study.guess):.2g} %"
    if not view.energetic(settings):
        error = page_text.error_words(study.guess, settings)
        over = "in half of the runs" if study.median else "root mean square over patients and noise"
        guess = f"{over}; a random guess has {error.removeprefix('error ')}"
    sentence = (
        f"To find {directions} with {page_text.goal(settings)} ({guess}), "
        f"{view.title(name)} ({reference}) "
        f"needs {_amount(needed, settings)}, by "
    )
    if simulation is None:
        return f"{sentence}a closed form.{page_text.chance_of(answer, None)}"
    swept = "values of ε" if asked == "epsilon" else page_text.SWEPT[asked]
    many = f"{simulation.runs:,} runs at {simulation.values} {swept}, seed {settings['seed']}"
    runs = f"simulation of the method itself ({many})"
    interval = page_text.interval_of(simulation, settings)
    if answer.value is None:
        applies = "" if answer.kind == "simulation" else " that applies at this target"
        return f"{sentence}{runs}: {interval}. There is no closed form{applies}."
    agrees = page_text.agrees(view.agreement(answer, simulation))
    otherwise = "" if agrees else ", which disagrees: go by the simulation"
    chance = page_text.chance_of(answer, simulation)
    return f"{sentence}a closed form; {runs} gives {interval}{otherwise}.{chance}"


def _amount(needed: float, settings: Settings) -> str:
    asked = settings["plan.asked"]
    hospitals = text.count(settings["providers"], "hospital", "hospitals")
    shown = page_text.number(needed, asked)
    if asked == "epsilon":
        n = text.count(view.in_total(settings), "patient", "patients")
        return f"ε of at least {shown} with {n} in {hospitals}"
    if asked == "hospitals":
        number, size = math.ceil(needed - 1e-9), settings["plan.size"]
        many, total = text.count(number, "hospital", "hospitals"), page_text.amount(number * size, up=True)
        return f"at least {many} of {size:,} patients each ({total} in total)"
    return f"at least {shown} patients in total, in {hospitals}"


def guarantee(settings: Settings, simulation: SimulatedAnswer | None) -> str:
    """Return what each patient is promised under the plan, or that nothing is where there is none."""
    needed, asked = _needed(settings, simulation), settings["plan.asked"]
    closed_form, confirmed = view.answer(settings, view.focus(settings)), _confirmed(simulation)
    if confirmed is not None and not page_text.agrees(view.agreement(closed_form, confirmed)):
        needed = confirmed.value  # the plan says to go by it
    if needed is None:
        return "There is no plan at these settings, so nothing would be released and nothing is promised."
    epsilon = float(page_text.number(needed, asked)) if asked == "epsilon" else float(settings["epsilon"])
    patients = {"patients": needed, "hospitals": needed * settings["plan.size"]}
    n = patients.get(asked, float(view.in_total(settings)))
    parts = [*_privacy(settings, epsilon, n), _TRUST[PLANNED_METHODS[view.focus(settings)].trust]]
    return " ".join(part for part in parts if part)


def _privacy(settings: Settings, epsilon: float, n: float) -> tuple[str, ...]:
    name, delta, neighbours = view.focus(settings), settings["delta"], settings["neighbours"]
    method, experiment = view.method(name), view.plan(settings, name).experiment
    kind, shown = method.guarantee_at(experiment.k), text.number(epsilon)
    true = view.true_epsilon(settings, name)
    pure, truly = kind in _PURE, "" if true is None else text.short(true)
    large = not pure and delta > 1 / n
    promise = f"ε = {shown}" if pure else f"(ε, δ) = ({shown}, {text.number(delta)})"
    accounting = "the exponential mechanism" if pure else _ACCOUNTING[settings["accounting"]]
    rounds = _TOGETHER if method.chooses_rows or method.name.startswith("stacked_rounds") else ""
    if "iterations" in method.uses:
        rounds = f", over all {experiment.iterations} rounds together"
    return (
        f"Differential privacy for each patient with {promise}; {text.RELATIONS[neighbours]}; "
        f"accounting: {accounting}{rounds}.",
        truly and f"These constants truly give ε = {truly}, not the {shown} they were set for.",
        "" if kind == "(ε, δ)" else f"Caution: {text.GUARANTEES[kind]}.",
        f"δ is above 1/n = {text.short(1 / n)}: a smaller one is usual." if large else "",
    )


def _assumptions(settings: Settings) -> str:
    """Return what the numbers take patients to be."""
    study = view.plan(settings, view.focus(settings))
    experiment, unit = study.experiment, study.unit_rows or study.method.scaling == "unit"
    public = own_table.table_of(settings)
    if public is not None:
        shares = public.shares(experiment.budget(settings["epsilon"]), public.n)
        return own_table_text.assumptions(public, public.patterns(experiment.k), shares, unit)
    table, s, spike, bulk = TABLES.get(settings["data"]), *(settings[key] for key in ("s", "spike", "bulk"))
    if table is not None:
        like = f"a population with the spectrum of {table.title} ({table.source}), its rows as if Gaussian"
        limit = "rows clipped at the bound stored with that table"
        if unit:
            limit = _UNIT
    else:
        spikes = f"k = {experiment.k} eigenvalues of {spike:g} on s = {s} of the measurements"
        like = f"one Gaussian population with {spikes} and the others uniform up to {bulk:g}"
        chance = f"that all respect with probability {1 - experiment.failure:g}"
        limit = _UNIT if unit else f"rows divided by a public bound, set beforehand, {chance}"
    same = "" if settings["plan.asked"] == "hospitals" else "; hospitals measure alike"
    return f"Patients are independent draws from {like}; {limit}{same}."


def limits(settings: Settings) -> list[str]:
    """Return the assumptions, and what the numbers cannot promise, sentence by sentence."""
    return [_assumptions(settings), *(f"{limit[0].upper()}{limit[1:]}." for limit in _LIMITS)]
