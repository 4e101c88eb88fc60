"""Form numbers and targets in words: "20,000 patients", "error ‖sin Θ‖ at most 0.1".

An answer is a number of patients or hospitals, or an epsilon, by the question that was asked.
"""

import math

from dppca_core.experiments.planning.planning import Asked
from dppca_core.numerics.subspace_metrics import in_unit
from pages.hospitals.planner.model.plans import Plans
from pages.shared import text
from pages.shared.charts.metric_axis import error_unit, factor, more_is_better, random_guess, unit, value_text
from pages.shared.settings.catalogue import CHOICES, Settings

_GOAL_TEMPLATES = {"share": "at least {} of the pattern recovered", "degrees": "an angle of at most {}"}
_TARGET_LABELS = {"share": "Recovered at least", "degrees": "Angle at most"}
_LARGE_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def _three_digits(value: float, up: bool) -> float:
    """Round to three significant digits, upwards where asked for; 1e-9 forgives rounding errors."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)  # the place of the third digit
    return (math.ceil(value / step - 1e-9) if up else round(value / step)) * step


def amount(value: float, up: bool = False) -> str:
    """Return a count with three digits: 193,000; 4.16 billion; 20.

    up: round up, for a number below which a target is missed.
    """
    if value < 1000:  # the whole number has at most three digits; 1e-9 forgives rounding errors
        return f"{math.ceil(value - 1e-9) if up else round(value):,}"
    rounded = _three_digits(value, up)
    size, name = next((unit for unit in _LARGE_UNITS if rounded >= unit[0]), (1, ""))
    return f"{rounded / size:.3g} {name}" if name else f"{rounded:,.0f}"


def number(answer: float, asked: Asked, up: bool = True) -> str:
    """Return an answer in three digits without its unit; rounded up, as less would not reach the target.

    up: False for a simulated answer and its interval, which are rounded to nearest; hospitals always go up.
    """
    if asked == "epsilon":
        return f"{_three_digits(answer, up):.3g}"
    return amount(answer, up or asked == "hospitals")


def value(answer: float, asked: Asked) -> str:
    """Return an answer with its unit, rounded up: "ε = 0.52", "5 hospitals" or "20,000 patients"."""
    if asked == "epsilon":
        return f"ε = {number(answer, asked)}"
    if asked == "hospitals":
        return text.count(math.ceil(answer - 1e-9), "hospital", "hospitals")  # 1e-9 forgives rounding errors
    return f"{number(answer, asked)} patients"


def goal(plans: Plans) -> str:
    settings = plans.settings
    if plans.energetic:
        return f"at least {100 * settings['plan.share']:g} % of the energy captured"
    target, metric = settings["plan.target"], goal_unit(settings)
    if metric in _GOAL_TEMPLATES:
        return _GOAL_TEMPLATES[metric].format(target_in_words(settings, target))
    # A factor above 1 belongs to the distance of projectors.
    name = "‖VVᵀ − WWᵀ‖" if factor(settings) > 1 else "‖sin Θ‖"
    return f"error {name} at most {text.number(target)}"


def goal_unit(settings: Settings) -> str:
    """Return the unit that the target is shown in: that of errors on screen, but degrees for k = 1 only.

    A target is ‖sin Θ‖, which gives the largest angle of one component, and not of several.
    """
    metric = error_unit(settings)
    return unit(settings | {"metric": "sin"}) if metric == "degrees" and settings["k"] > 1 else metric


def target_in_words(settings: Settings, target: float) -> str:
    metric = goal_unit(settings)
    if metric in _GOAL_TEMPLATES:
        return value_text(metric, float(in_unit(metric, target, settings["k"])))
    return text.number(target)


def target_label(plans: Plans) -> str:
    """Return the label of the target's slider, with the error of a random guess for comparison."""
    metric, experiment = goal_unit(plans.settings), plans.untuned_plan().experiment
    guess = random_guess(plans.settings | {"metric": metric}, experiment.d, experiment.k)
    return f"{target_name(plans)} · a random guess: {value_text(metric, guess)}"


def stricter_upwards(plans: Plans) -> bool:
    """Return whether a larger target asks for more, as a share does and an error does not."""
    return plans.energetic or more_is_better(goal_unit(plans.settings))


def target_name(plans: Plans) -> str:
    if plans.energetic:
        return CHOICES["plan.share"].label
    return _TARGET_LABELS.get(goal_unit(plans.settings), CHOICES["plan.target"].label)


def error_words(sine: float, settings: Settings) -> str:
    metric = goal_unit(settings)
    shown = value_text(metric, float(in_unit(metric, sine, settings["k"])))
    return {"share": f"{shown} recovered", "degrees": f"an angle of {shown}"}.get(metric, f"error {shown}")
