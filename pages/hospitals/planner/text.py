"""What the planner says: the answer in a sentence, and why there is none. Plain functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer
from dppca_core.methods import METHODS
from pages.hospitals.planner import view
from pages.shared import text
from pages.shared.charts.metric_axis import factor
from pages.shared.settings.catalogue import CHOICES, Settings

_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def amount(value: float, up: bool = False) -> str:
    """Three digits, rounded up where less would not do: 193,000; 4.16 billion; 20."""
    if value < 1000:
        return f"{math.ceil(value - 1e-9) if up else round(value):,}"
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    held = (math.ceil(value / step - 1e-9) if up else round(value / step)) * step
    for unit, name in _UNITS:
        if held >= unit:
            return f"{held / unit:.3g} {name}"
    return f"{held:,.0f}"


def privacy(value: float, up: bool = False) -> str:
    """Three digits of an epsilon, rounded up where less would not do."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{float(f'{math.ceil(value / step - 1e-9) * step:.3g}') if up else float(f'{value:.3g}'):g}"


def goal(settings: Settings) -> str:
    """The target in words."""
    plain = settings["view"] == "board"
    if view.energetic(settings):
        return (
            f"at least {100 * settings['plan.share']:g} % of the {'signal' if plain else 'energy'} captured"
        )
    name = "an error" if plain else "error " + ("‖VVᵀ − WWᵀ‖" if factor(settings) > 1 else "‖sin Θ‖")
    return f"{name} of at most {text.number(settings['plan.target'])}"


def value(answer: float, settings: Settings) -> str:
    """An answer in its unit."""
    asked, plain = settings["plan.asked"], settings["view"] == "board"
    if asked == "epsilon":
        return ("a privacy setting of " if plain else "ε = ") + privacy(answer, up=True)
    if asked == "hospitals":
        return text.count(math.ceil(answer - 1e-9), "hospital", "hospitals")
    return f"{amount(answer, up=True)} patients"


def held(settings: Settings) -> str:
    """What is fixed while the answer is looked for."""
    plain = settings["view"] == "board"
    if settings["plan.asked"] == "epsilon":
        return f"with {text.count(view.in_total(settings), 'patient', 'patients')}"
    return f"at {'a privacy setting of' if plain else 'ε ='} {text.number(settings['epsilon'])}"


def headline(settings: Settings, read: Mapping[str, SimulatedAnswer]) -> str:
    """What the method looked at needs, and who needs least under the same trust or another."""
    way = view.focus(settings)
    answer, title = view.answer(settings, way), PLANNED_METHODS[way].title
    start = f"For {goal(settings)} {held(settings)}"
    if answer.value is None:
        said = f"{start}, {title} has no answer by closed form: {reason(answer, settings)}."
        return said + _instead(way, read, settings)
    most = "no more than " if answer.least else ""
    verb = "does from" if settings["plan.asked"] == "epsilon" else "needs"
    on = " on" if settings["plan.asked"] == "epsilon" else ""
    found = f"{value(answer.value, settings)}{on}{_spread(answer, settings)}"
    said = f"{start}, {title} {verb} {most}{found}."
    return said + _confirmed(way, answer, read, settings) + _least(way, settings)


def _spread(answer: PlanAnswer, settings: Settings) -> str:
    if settings["plan.asked"] == "hospitals" and answer.value is not None:
        each = settings["plan.size"]
        return f" of {each:,} patients each, {amount(each * answer.value, up=True)} in total"
    if settings["plan.asked"] == "patients" and answer.value is not None and answer.value > view.PEOPLE:
        return ", more than there are people"
    return f" in {text.count(settings['providers'], 'hospital', 'hospitals')}"


def _confirmed(way: str, answer: PlanAnswer, read: Mapping[str, SimulatedAnswer], settings: Settings) -> str:
    found = read.get(way)
    ratio = view.agreement(answer, found) if found is not None else None
    if found is None or ratio is None:
        return ""
    interval = interval_of(found, settings)
    if agrees(ratio):
        return f" Simulation agrees within {100 * max(abs(ratio - 1), 0.005):.2g} %: {interval}."
    return f" Simulation says otherwise, so go by it: {interval}."


def agrees(ratio: float | None) -> bool:
    """Whether a simulated answer is within 15 % of the closed form's, or there is none to differ from it."""
    return ratio is None or abs(math.log(ratio)) <= math.log(1.15)


def _instead(way: str, read: Mapping[str, SimulatedAnswer], settings: Settings) -> str:
    found = read.get(way)
    if found is None or found.state == "measuring":
        return ""
    if found.state == "none":
        return " Simulation found none either."
    return f" Simulation says {interval_of(found, settings)}."


def interval_of(found: SimulatedAnswer, settings: Settings) -> str:
    """A simulated answer with its interval."""
    if found.state == "least":
        return f"{simulated(found.value, settings)} already do"
    ends = [simulated(end, settings) if math.isfinite(end) else "∞" for end in (found.low, found.high)]
    return f"{simulated(found.value, settings)} (95 % interval {ends[0]} to {ends[1]})"


def simulated(found: float, settings: Settings) -> str:
    """A simulated number."""
    asked = settings["plan.asked"]
    if asked == "epsilon":
        return privacy(found)
    return amount(found, up=asked == "hospitals")


def _least(way: str, settings: Settings) -> str:
    """Who needs less, and at what trust."""
    own = view.answer(settings, way).value
    others = {name: view.answer(settings, name).value for name in view.listed(settings) if name != way}
    known = {
        name: found for name, found in others.items() if found is not None and own and found < 0.95 * own
    }
    known = {
        name: v for name, v in known.items() if METHODS[PLANNED_METHODS[name].method].guarantee == "(ε, δ)"
    }
    if not known:
        return ""
    best = min(known, key=lambda name: known[name])
    trust = text.TRUST_TITLES[PLANNED_METHODS[best].trust].lower()
    return f" {PLANNED_METHODS[best].title} ({trust}) would do with {value(known[best], settings)}."


def reason(answer: PlanAnswer, settings: Settings) -> str:
    """Why there is no answer, as the end of a sentence."""
    plain, numbers = settings["view"] == "board", answer.numbers
    lost = _loss(settings)
    if answer.kind == "guess":
        return f"a random guess does as well ({lost(numbers['guess'])})"
    if answer.kind == "first order":
        where = "so rough a target is" if plain else "an error beyond a third of a random guess is"
        return f"{where} outside what the formula describes"
    if answer.kind == "sampling":
        patients = amount(numbers["n"])
        return f"{patients} patients give {lost(numbers['without'])} even without any noise for privacy"
    if answer.kind == "epsilon":
        top = "the weakest privacy here" if plain else "ε = 10"
        return (
            f"even {top} gives {lost(numbers['best'])}; without noise it would be {lost(numbers['without'])}"
        )
    if answer.kind == "patients":
        return f"{amount(numbers['most'])} patients still give {lost(numbers['best'])}"
    if answer.kind == "hospitals":
        return f"{numbers['most']:,.0f} such hospitals still give {lost(numbers['best'])}"
    if plain:
        return "its formula does not hold at these settings"
    return "; ".join(answer.failed) + (" does not hold" if len(answer.failed) == 1 else " do not hold")


def _loss(settings: Settings) -> object:
    def said(lost: float) -> str:
        if view.energetic(settings):
            return f"{100 * max(1 - lost, 0):.3g} % captured"
        return f"error {text.short(lost * factor(settings))}"

    return said


def short_reason(answer: PlanAnswer, settings: Settings) -> str:
    """The same for a cell of the table."""
    words = {
        "guess": "a guess does",
        "gap": "no eigengap",
        "first order": "target too rough",
        "assumption": "formula does not hold",
        "sampling": "none: too few patients",
        "epsilon": "none up to the weakest" if settings["view"] == "board" else "none up to 10",
        "patients": "none",
        "hospitals": "none",
    }
    return words[answer.kind]


def below_chart(settings: Settings) -> str:
    """What the chart's lines are."""
    plain = settings["view"] == "board"
    way = PLANNED_METHODS[view.focus(settings)].title
    which = "share captured" if view.energetic(settings) else "error"
    what = "More privacy to the left, more accuracy to the right." if plain else "All by closed form."
    return (
        f"Bold: {goal(settings)}, {way}; thin, the same for the other methods; dotted, equal {which} "
        f"for {way}; grey and hatched, no answer for {way}. {what}"
    )


def try_this(settings: Settings) -> str:
    """What to do next, and what will be seen: computed, for it depends on all the rest."""
    asked, way = settings["plan.asked"], view.focus(settings)
    title, now = PLANNED_METHODS[way].title, view.answer(settings, way).value
    if asked == "hospitals":
        key, to = "plan.size", _option("plan.size", settings["plan.size"] / 2)
    elif asked == "epsilon":
        key, to = "n", _option("n", settings["n"] * 10)
    elif view.energetic(settings):
        key, to = "plan.share", _option("plan.share", (1 + settings["plan.share"]) / 2)
    else:
        key, to = "plan.target", _option("plan.target", settings["plan.target"] / 2)
    then = view.answer(settings | {key: to}, way).value
    table = settings["data"] in TABLES
    if now is None:
        rough = view.answer(settings, way).kind in ("guess", "first order")
        key = "plan.share" if view.energetic(settings) else "plan.target"
        up = rough == view.energetic(settings)
        name = CHOICES[key].name(settings["view"] == "board")
        way_out = f"move *{name}* {'up' if up else 'down'}"
        return f"{way_out}, or choose another *Method*, until a bold line appears."
    if then is None or (key == "n" and table) or to == settings[key]:
        return "choose another *Method*, and see what whom you trust does to the answer."
    name, shown = CHOICES[key].name(settings["view"] == "board"), CHOICES[key].text(to)
    said = f"set *{name}* to {shown}: {title} goes from {value(now, settings)} to {value(then, settings)}."
    if asked == "hospitals" and way == "dps_pca":
        other = "dps_pca_summed"
        ends = [view.answer(settings | {key: size}, other).value for size in (settings[key], to)]
        if None not in ends:
            said += (
                " Each hospital adds noise of its own, so small ones are many times worse; where sums are "
            )
            said += (
                f"kept secret they go from {' to '.join(value(float(end or 0), settings) for end in ends)}."
            )
    return said if table else said + " Then confirm it by simulation."


def _option(key: str, wanted: float) -> Any:
    """The nearest a control can be set to."""
    return CHOICES[key].nearest(wanted)
