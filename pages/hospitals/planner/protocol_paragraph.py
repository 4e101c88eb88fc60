"""A paragraph to paste into a protocol or an ethics application: the numbers, the promise, and its limits."""

from __future__ import annotations

import math

from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer
from dppca_core.methods import METHODS
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.shared import text
from pages.shared.charts.metric_axis import factor
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


_PURE = ("ε", "approximate sampler")  # δ plays no part


def paragraph(settings: Settings, read: SimulatedAnswer | None) -> str:
    """Sample size, privacy, assumptions and limits; where there is no answer, why."""
    answer = view.answer(settings, view.focus(settings))
    if not stated(settings, read):
        return f"No plan can be stated. {_no_plan(answer, settings)}"
    parts = [
        f"Plan. {_need(answer, read, settings)}",
        f"Privacy. {promised(settings, read)}",
        f"Assumptions. {assumed(settings)}",
        f"Limits. {'; '.join(limits())}.",
    ]
    return "\n\n".join(parts)


def stated(settings: Settings, read: SimulatedAnswer | None) -> bool:
    """Whether there is a plan, by formula or by simulation."""
    confirmed = read is not None and read.state in ("found", "least")
    return confirmed or view.answer(settings, view.focus(settings)).value is not None


def promised(settings: Settings, read: SimulatedAnswer | None) -> str:
    """What each patient is promised under a plan that is `stated`."""
    plain, way = settings["view"] == "board", view.focus(settings)
    return (_plain_privacy if plain else _privacy)(settings, way, view.answer(settings, way), read)


def _no_plan(answer: PlanAnswer, settings: Settings) -> str:
    start = f"For {page_text.goal(settings)} {page_text.held(settings)}"
    title = PLANNED_METHODS[view.focus(settings)].title
    return f"{start}, {title} has no answer by closed form: {page_text.reason(answer, settings)}."


def _need(answer: PlanAnswer, read: SimulatedAnswer | None, settings: Settings) -> str:
    way, plain = view.focus(settings), settings["view"] == "board"
    method = METHODS[PLANNED_METHODS[way].method]
    d, k = view.plan(settings, way).experiment.d, settings["k"]
    what = (
        f"{k} main directions of {d} measurements" if plain else f"the k = {k} leading principal directions "
    )
    what += "" if plain else f"of d = {d} measurements"
    needed = answer.value
    simulated = read is not None and read.state in ("found", "least")
    said = (
        f"To find {what} with {page_text.goal(settings)} ({_guess(settings)}), {PLANNED_METHODS[way].title} "
    )
    said += f"({method.reference}{'' if plain else _own(settings, way)}) needs "
    if needed is not None:
        said += f"{_amount(needed, settings)}, by a closed form"
        if simulated:
            assert read is not None
            said += f"; {_runs(read, settings)} gives {page_text.interval_of(read, settings)}"
            if not page_text.agrees(view.agreement(answer, read)):
                said += ", which disagrees: go by the simulation"
        return said + "."
    assert read is not None
    said += f"{_amount(read.value, settings)}, by {_runs(read, settings)}: "
    return said + f"{page_text.interval_of(read, settings)}. No closed form applies at this target."


def _guess(settings: Settings) -> str:
    own = view.plan(settings, view.focus(settings))
    if view.energetic(settings):
        return f"on average; a random guess captures {100 * (1 - own.guess):.2g} %"
    guess = text.short(own.guess * factor(settings))
    return f"root mean square over patients and noise; a random guess has {guess}"


def _own(settings: Settings, way: str) -> str:
    own = view.plan(settings, way).experiment.options(PLANNED_METHODS[way].method)
    names = {"s_hat": "ŝ = {} rows kept", "iterations": "T = {} rounds", "burn_in": "{} burn-in steps"}
    said = [words.format(own[name]) for name, words in names.items() if name in own]
    return "; " + ", ".join(said) if said else ""


def _amount(needed: float, settings: Settings) -> str:
    asked, plain = settings["plan.asked"], settings["view"] == "board"
    hospitals = text.count(settings["providers"], "hospital", "hospitals")
    if asked == "epsilon":
        n = text.count(view.in_total(settings), "patient", "patients")
        scale = "a privacy setting" if plain else "ε"
        return f"{scale} of at least {page_text.privacy(needed, up=True)} with {n} in {hospitals}"
    if asked == "hospitals":
        number, size = math.ceil(needed - 1e-9), settings["plan.size"]
        many, total = text.count(number, "hospital", "hospitals"), page_text.amount(number * size, up=True)
        return f"at least {many} of {size:,} patients each ({total} in total)"
    return f"at least {page_text.amount(needed, up=True)} patients in total, in {hospitals}"


def _runs(read: SimulatedAnswer, settings: Settings) -> str:
    what = {"patients": "numbers of patients", "hospitals": "numbers of hospitals"}
    kind = what.get(
        settings["plan.asked"], "privacy settings" if settings["view"] == "board" else "values of ε"
    )
    runs = f"{read.runs:,} runs at {read.values} {kind}, seed {settings['seed']}"
    return f"simulation of the method itself ({runs})"


def _epsilon(settings: Settings, answer: PlanAnswer, read: SimulatedAnswer | None) -> float:
    if settings["plan.asked"] != "epsilon":
        return float(settings["epsilon"])
    found = answer.value if answer.value is not None else (read.value if read is not None else math.nan)
    return float(page_text.privacy(found, up=True))


def _planned(settings: Settings, answer: PlanAnswer, read: SimulatedAnswer | None) -> float:
    """Patients in total of the plan."""
    asked = settings["plan.asked"]
    needed = answer.value if answer.value is not None else (read.value if read is not None else math.nan)
    if asked == "epsilon":
        return float(view.in_total(settings))
    return needed * settings["plan.size"] if asked == "hospitals" else needed


def _plain_privacy(settings: Settings, way: str, answer: PlanAnswer, read: SimulatedAnswer | None) -> str:
    epsilon = _epsilon(settings, answer, read)
    method = METHODS[PLANNED_METHODS[way].method]
    odds = text.odds(epsilon, settings["delta"], settings["neighbours"])
    margin = f" {text.margin(settings['delta'])}"
    if settings["delta"] > 1 / _planned(settings, answer, read):
        margin += " That is more than one in the number of patients: a smaller margin is usual."
    if method.guarantee_at(settings["k"]) in _PURE:
        margin = ""
    special = text.PLAIN_GUARANTEES.get(method.guarantee_at(settings["k"]), "")
    note = f" Note: {special}." if special else ""
    setting = f"Differential privacy for each patient at a setting of {text.number(epsilon)}."
    true = view.true_epsilon(settings, way)
    if true is not None:
        odds = text.odds(true, settings["delta"], settings["neighbours"])
        setting += f" The noise is as printed in the method's paper, which truly gives {text.short(true)}."
    return f"{setting} {odds}{margin}{note} {_TRUST[PLANNED_METHODS[way].trust]}"


def _privacy(settings: Settings, way: str, answer: PlanAnswer, read: SimulatedAnswer | None) -> str:
    epsilon, delta = text.number(_epsilon(settings, answer, read)), text.number(settings["delta"])
    method, experiment = METHODS[PLANNED_METHODS[way].method], view.plan(settings, way).experiment
    kind = method.guarantee_at(experiment.k)
    pure = kind in _PURE
    promise = f"ε = {epsilon}" if pure else f"(ε, δ) = ({epsilon}, {delta})"
    said = f"Differential privacy for each patient with {promise}; {text.RELATIONS[settings['neighbours']]}; "
    rounds = f", over all {experiment.iterations} rounds together" if "iterations" in method.uses else ""
    said += (
        f"accounting: {'the exponential mechanism' if pure else _ACCOUNTING[settings['accounting']]}{rounds}."
    )
    true = view.true_epsilon(settings, way)
    if true is not None:
        said += f" These constants truly give ε = {text.short(true)}, not the {epsilon} they were set for."
    if kind != "(ε, δ)":
        said += f" Caution: {text.GUARANTEES[kind]}."
    n = _planned(settings, answer, read)
    if settings["delta"] > 1 / n and not pure:
        said += f" δ is above 1/n = {text.short(1 / n)}: a smaller one is usual."
    return f"{said} {_TRUST[PLANNED_METHODS[way].trust]}"


def assumed(settings: Settings) -> str:
    """What the numbers take patients to be, in one sentence."""
    plain = settings["view"] == "board"
    experiment = view.plan(settings, view.focus(settings)).experiment
    table = TABLES.get(settings["data"])
    if table is not None:
        like = f"a population with the spectrum of {table.title} ({table.source}), its rows as if Gaussian"
        bound = "rows clipped at the bound stored with that table"
    elif plain:
        like = f"one population in which {experiment.k} patterns, "
        like += f"in {settings['s']} of the measurements, stand out "
        like += f"{settings['spike'] / settings['bulk']:.3g} times above the strongest background"
        bound = (
            "a limit on how large one patient's measurements count, fixed beforehand without looking at data"
        )
    else:
        like = f"one Gaussian population with k = {experiment.k} eigenvalues of {settings['spike']:g} on s = "
        like += f"{settings['s']} of the measurements and the others uniform up to {settings['bulk']:g}"
        chance = f"that all patients respect with probability {1 - experiment.failure:g}"
        bound = f"rows divided by a public bound {chance}, set beforehand"
    same = "" if settings["plan.asked"] == "hospitals" else "; hospitals measure alike"
    return f"Patients are independent draws from {like}; {bound}{same}."


def limits() -> tuple[str, ...]:
    """What the numbers cannot promise."""
    return (
        "A prediction on average over patients and noise: a single study may err by more",
        "data that differ from these assumptions need more or fewer patients",
        "choosing the number of directions, bounds or scales by looking at the data costs privacy not "
        "counted here",
        "worked out with a study tool whose noise is simulated in floating point: not a hardened release",
    )
