"""Form the planner's sentences and its table: the answers, why there is none, and what stands around them.

The paragraph for a protocol is in protocol_paragraph. The method in focus is the recommended one, or chosen
on the page. An answer is a number of patients or hospitals, or an epsilon, by the question that was asked;
two stages are methods which first choose the features to keep, and may miss one that matters.
"""

import math
from collections.abc import Iterator

import pandas as pd

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.recommendation import chosen_rows
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked, PlanAnswer
from dppca_core.experiments.planning.table_plan import PublicTable
from pages.hospitals.planner import own_table_text, view
from pages.hospitals.planner.view import Planner
from pages.shared import text
from pages.shared.charts.metric_axis import (
    error_unit,
    factor,
    in_unit,
    more_is_better,
    random_guess,
    unit,
    value_text,
)
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "How many patients?"
STEPS = (
    "The thick line shows how many patients a study needs.",
    "Set the error that you accept, then move privacy.",
    "Below the line the study is too small.",
)
QUESTION = "How many patients does it take?"
INTRODUCTION = "What a study needs, by a formula where there is one, and by simulation."
PARAGRAPH_TITLE = "For a protocol or an ethics application"
CLOSED_FORM = (
    "**Closed forms** to first order, derived for this tool and checked against simulation in its tests, at "
    "ten settings within 15 % in the number of patients. Of two stages they are of half of the runs, and the "
    "chance that stage 1 keeps all features that matter stands beside them: below 90 % the answer is called "
    "a guess, as the edge may lie elsewhere by 20 %."
)
TUNING = (
    "**Tuned**: rows of length 1 in place of a public bound where the closed form then needs less, which is "
    "the limit of ever lower clip bounds; and the rounds of each method's own rule at its answer. Both come "
    "from public numbers alone: sizes, features kept, the budget, and a declared share of the components."
)
SIMULATION = (
    "**Simulation**: bisection with runs of the method itself on fresh synthetic patients, until the last "
    "value that misses the target and the first that reaches it are within 15 %; all runs near the answer "
    "are read together, and the interval holds 95 % of readings off resampled runs. It begins near the "
    "answer of a method with a formula and the same trust, and by itself where it takes two seconds."
)
FORMULA = r"""
To first order a symmetric error $E$ turns direction $j\le k$ towards $i>k$ by
$E_{ij}/(\lambda_j-\lambda_i)$, with $\lambda$ of the rows divided by the public bound $B(n)$. So

$$
\sin^2\Theta\approx\sum_{j\le k<i}\frac{\mathrm E|E_{ij}|^2}{(\lambda_j-\lambda_i)^2},\qquad
\text{energy lost}\approx\frac{1}{\sum_{j\le k}\lambda_j}\sum_{j\le k<i}
\frac{\mathrm E|E_{ij}|^2}{\lambda_j-\lambda_i},
$$

solved for $n$, $\varepsilon$ or $N$ with $B(n)$ computed at every $n$. The simulated answer fits
$\ln\overline{\sin^2}=\ln(\text{closed form})+a+b\ln n$ to the runs near it.
"""
PLAIN_FORMULAS = (
    "To first order: sin²Θ ≈ Σ_{j≤k<i} E|E_ij|² / (λ_j − λ_i)²; energy lost ≈ Σ_{j≤k<i} E|E_ij|² / "
    "(λ_j − λ_i) / Σ_{j≤k} λ_j; λ of the rows divided by the public bound B(n), solved with B(n) computed "
    "at every n.",
    "The simulated answer fits ln(mean sin²) = ln(closed form) + a + b ln n to the runs near it.",
)
ENERGY_LOST = (
    "Captured energy lost: each pair of directions j ≤ k < i that turns by sin²Θ_ij loses "
    "(λ_j − λ_i) sin²Θ_ij; summed over pairs, over the sum of the k leading eigenvalues."
)
SWEPT = {
    "patients": "numbers of patients",
    "hospitals": "numbers of hospitals",
    "epsilon": "privacy losses",
}
_GOAL_TEMPLATES = {"share": "at least {} of the pattern recovered", "degrees": "an angle of at most {}"}
_TARGET_LABELS = {"share": "Recovered at least", "degrees": "Angle at most"}
_LARGE_UNITS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_PEOPLE_ON_EARTH = 8.2e9  # United Nations 2024


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


def goal(planner: Planner) -> str:
    """Return the target, such as "error ‖sin Θ‖ at most 0.1"."""
    settings = planner.settings
    if planner.energetic:
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
    """Return an error, such as the target, in words in the unit of `goal_unit`."""
    metric = goal_unit(settings)
    if metric in _GOAL_TEMPLATES:
        return value_text(metric, float(in_unit(metric, target, settings["k"])))
    return text.number(target)


def target_label(planner: Planner) -> str:
    """Return the label of the target's slider, with the error of a random guess for comparison."""
    metric, experiment = goal_unit(planner.settings), planner.untuned_plan().experiment
    guess = random_guess(planner.settings | {"metric": metric}, experiment.d, experiment.k)
    return f"{_target_name(planner)} · a random guess: {value_text(metric, guess)}"


def _target_name(planner: Planner) -> str:
    """Return the name of the target's slider, which depends on the unit on screen."""
    if planner.energetic:
        return CHOICES["plan.share"].label
    return _TARGET_LABELS.get(goal_unit(planner.settings), CHOICES["plan.target"].label)


def value(answer: float, asked: Asked) -> str:
    """Return an answer with its unit, rounded up: "ε = 0.52", "5 hospitals" or "20,000 patients"."""
    if asked == "epsilon":
        return f"ε = {number(answer, asked)}"
    if asked == "hospitals":
        return text.count(math.ceil(answer - 1e-9), "hospital", "hospitals")  # 1e-9 forgives rounding errors
    return f"{number(answer, asked)} patients"


def _begin(planner: Planner) -> str:
    """Return the beginning of a sentence: the target, what is held fixed, then the method in focus."""
    fixed = f"(ε = {text.number(planner.epsilon)})"
    if planner.asked == "epsilon":
        fixed = f"with {text.count(planner.n, 'patient', 'patients')}"
    return f"For {goal(planner)} {fixed}, {view.title(planner.focus)}"


def no_answer(planner: Planner) -> str:
    """Return the sentence that there is no answer by closed form for the method in focus, and why."""
    answer, begin = planner.answer(), _begin(planner)
    if answer.kind == "evaluating":
        return f"{begin}: the formula is being evaluated."
    if answer.kind == "simulation":  # then `failed` holds the one reason for it
        return f"{begin} has no formula: {answer.failed[0]}."
    return f"{begin} has no answer by closed form. {text.sentence(reason(answer, planner))}."


def headline(planner: Planner) -> str:
    """Return what the method in focus needs, and whether simulation agrees."""
    answer, simulation, asked = planner.answer(), planner.simulation, planner.asked
    if answer.value is None:  # no answer by closed form
        if simulation is None or simulation.state == "measuring":
            return no_answer(planner) + (" It is being simulated." if simulation is not None else "")
        interval = interval_of(simulation, asked)
        if answer.kind == "simulation" and simulation.state != "none":  # no formula: simulation answers alone
            _answer, low, high = _ends(simulation, asked)
            ends = "" if simulation.state == "least" else f" (95 % interval {low} to {high})"
            sentence = _needs(simulation.value, planner, least=simulation.state == "least").removesuffix(".")
            return f"{sentence}, by simulation{ends}."
        verdict = "found none" if answer.kind == "simulation" else "found none either"
        verdict = verdict if simulation.state == "none" else f"says {interval}"
        return f"{no_answer(planner)} Simulation {verdict}."
    sentence = _needs(answer.value, planner, least=answer.at_lower_limit)
    ratio = planner.agreement
    if ratio is not None and simulation is not None:
        # An agreement closer than 0.5 % is not claimed.
        within = f"agrees within {100 * max(abs(ratio - 1), 0.005):.2g} %"
        verdict = within if agrees(ratio) else "says otherwise, so go by it"
        sentence += f" Simulation {verdict}: {interval_of(simulation, asked)}."
    return sentence


def details(planner: Planner) -> str:
    """Return what stands below the chart of an answer: how it is judged, and which method needs least."""
    answer, sentence = planner.answer(), ""
    if answer.value is None:
        return ""
    if planner.plan().predicted:
        sentence = "Small simulations predict the error of this method, in half of the runs."
    sentence += chance_of(answer, planner.simulation)
    if planner.table is not None and planner.asked == "patients":
        sentence += f" Your table has {own_table_text.patients(planner.table)}."
    return (sentence + _least_needed(answer.value, planner) + _without_formula(planner)).strip()


def _without_formula(planner: Planner) -> str:
    """Return which method is recommended in place of that in focus, if nothing predicts it; else ""."""
    for (trust, name, _answer), recommendation in planner.recommended():
        better = recommendation.method
        if trust == planner.trust and name == planner.focus and nothing_predicts(planner, name, better):
            return f" Recommended is {view.title(better)}: it has no formula, so choose it to simulate it."
    return ""


def nothing_predicts(planner: Planner, planned: str, recommended: str) -> bool:
    """Return whether a method is planned in place of the recommended one, of which only simulation tells."""
    return (
        planned != recommended and planner.table is None and planner.answer(recommended).kind == "simulation"
    )


def _needs(needed: float, planner: Planner, least: bool = False) -> str:
    """Return the sentence that the method in focus needs this much; least: no smaller number was tried."""
    words = f"{'no more than ' if least else ''}{value(needed, planner.asked)}"
    more = " or more" if planner.asked == "epsilon" and not least else ""
    return f"{_begin(planner)} needs {words}{more}{_over_hospitals(needed, planner)}."


def chance_of(answer: PlanAnswer, simulation: SimulatedAnswer | None) -> str:
    """Return, for two stages, how likely all features that matter are kept at the answer; else nothing.

    Below `view.LEAST_CHANCE` it adds that the answer is uncertain and, without a simulation, to be simulated.
    """
    if answer.chance is None:
        return ""
    caveat = "" if answer.chance >= view.LEAST_CHANCE else ", so the formula's answer is uncertain"
    if caveat and simulation is None:
        caveat += " to be simulated"
    chance = text.chance(answer.chance)
    chance = f"of {chance}" if chance.startswith("about") else chance  # else "above" or "below" a share
    return f" It then keeps all features that matter with a chance {chance}{caveat}."


def uncertainty_mark(answer: PlanAnswer) -> str:
    """Return " (uncertain)" where features that matter are kept with a chance below `view.LEAST_CHANCE`."""
    return " (uncertain)" if answer.chance is not None and answer.chance < view.LEAST_CHANCE else ""


def tuned_to(planner: Planner, name: str) -> str:
    """Return what a method's rows and rounds are tuned to, in a cell of the table."""
    study = planner.plan(name)
    unit_rows = study.unit_rows or study.method.scaling == "unit"
    words = ["rows of length 1" if unit_rows else "rows within the bound"]
    if study.method.tuned is not None:
        words.append(f"{study.experiment.iterations} rounds")
    return ", ".join(words)


def recommended(planner: Planner) -> str:
    """Return which method the core recommends under each trust at the plan, and why."""
    if planner.table is not None:
        return "\n".join(_on_table(planner, planner.table))
    recommendations, experiment = planner.recommended(), planner.untuned_plan().experiment
    if not recommendations:
        return ""
    basis = (
        "Simulated patients are public: their eigenvalues and the number of features that matter are known."
    )
    if experiment.table is not None:
        declared = text.declared_signal(trusts.signal(experiment))
        kept = chosen_rows(experiment.d, experiment.k) if experiment.choose_rows else experiment.s_hat
        half = "Half" if kept // 2 >= experiment.k else str(experiment.k)
        matter = "All features" if kept == experiment.d else f"{half} of the features kept"
        basis = f"It rests on public numbers and {declared}. {matter} are assumed to matter."
    lines = [f"Recommended under each trust. {basis}"]
    for (trust, name, answer), recommendation in recommendations:
        amount_or_epsilon = planner.current_value if answer.value is None else answer.value
        line = f"- {text.trust_heading(trust)}, at {value(amount_or_epsilon, planner.asked)}: "
        line += recommendation.reason
        if answer.value is not None and recommendation.method != name:
            why = "It misses the target"
            if nothing_predicts(planner, name, recommendation.method):
                why = "No formula says what it needs"
            line += f" {why}; {view.title(name)} is planned instead."
        lines.append(line)
    return "\n".join(lines)


def _on_table(planner: Planner, table: PublicTable) -> Iterator[str]:
    """Form the lines on a visitor's table: its sizes, then for each trust two methods.

    One errs least on the table as it is; the other needs least for the target, and may be the same.
    """
    yield f"**Your table:** {own_table_text.facts(table)}. For each trust:"
    for trust, best_name, error, pattern, frugal_name, answer in planner.on_table():
        prediction = own_table_text.at_table(view.title(best_name), error, pattern, table, planner.epsilon)
        needs = "no method reaches it" if answer != view.EVALUATING else short_reason(answer, planner)
        if answer.value is not None:
            needs = f"{view.title(frugal_name)} with {value(answer.value, planner.asked)}"
        yield f"- {text.trust_heading(trust)}. {prediction} For {goal(planner)}: {needs}."


def _over_hospitals(needed: float, planner: Planner) -> str:
    """Return what follows an answer: the hospitals' size and total, or in how many hospitals patients are.

    An answer beyond the people on earth is followed by that remark alone.
    """
    if planner.asked == "hospitals":
        total = amount(planner.size * needed, up=True)
        return f" of {planner.size:,} patients each, {total} in total"
    if planner.asked == "patients" and needed > _PEOPLE_ON_EARTH:
        return ", more than there are people"
    return f" in {text.count(planner.settings['providers'], 'hospital', 'hospitals')}"


def agrees(ratio: float | None) -> bool:
    """Return whether the simulated answer is within 15 % of the closed form's.

    The bisection ends at 15 % too, so a smaller difference could not be told. ratio: of the simulated answer
    to the closed form's; None, where either is missing, counts as agreement.
    """
    return ratio is None or abs(math.log(ratio)) <= math.log(1.15)


def _ends(simulation: SimulatedAnswer, asked: Asked) -> list[str]:
    """Return a simulated answer, and the lower and upper end of its interval, as texts."""
    ends = (simulation.value, simulation.low, simulation.high)
    return [number(end, asked, up=False) if math.isfinite(end) else "∞" for end in ends]


def interval_of(simulation: SimulatedAnswer, asked: Asked) -> str:
    """Return a simulated answer with its interval or, if no smaller value was tried, "... already do"."""
    answer, low, high = _ends(simulation, asked)
    interval = f"{answer} (95 % interval {low} to {high})"
    return f"{answer} already do" if simulation.state == "least" else interval


def simulated_cell(simulation: SimulatedAnswer | None, asked: Asked) -> str:
    """Return a simulated answer as a cell of the table, by its state; empty where nothing is simulated."""
    if simulation is None:
        return ""
    answer, low, high = _ends(simulation, asked)
    interval = f"{answer} [{low} – {high}]"
    return {"least": f"≤ {answer}", "found": interval, "measuring": "…", "none": "none"}[simulation.state]


def _least_needed(needed: float, planner: Planner) -> str:
    """Return the sentence on the (ε, δ) method that needs least, if that is 5 % below `needed`; else "".

    needed: what the method in focus needs.
    """
    answers = {name: planner.answer(name) for name in planner.guaranteed(planner.listed)}
    needs = {name: answer.value for name, answer in answers.items() if answer.value is not None}
    best = min(reversed(needs), key=needs.__getitem__, default="")  # of equals, one that asks for less trust
    if not best or needs[best] >= 0.95 * needed:
        return ""
    least = value(needs[best], planner.asked) + uncertainty_mark(answers[best])
    trust = text.trust_heading(PLANNED_METHODS[best].trust).lower()
    return f" {view.title(best)} ({trust}) would do with {least}."


# Why there is no answer, by its kind, to be filled with its numbers. For other kinds `failed` says why.
_REASON_TEMPLATES = {
    "guess": "a random guess does as well ({guess})",
    "first order": "an error beyond a third of a random guess is outside what the formula describes",
    "sampling": "{n} patients give {without} even without any noise for privacy",
    "epsilon": "even ε = 10 gives {best}; without noise it would be {without}",
    "patients": "{most} patients still give {best}",
    "hospitals": "{most} such hospitals still give {best}",
}


def reason(answer: PlanAnswer, planner: Planner) -> str:
    """Return why there is no answer, as a clause without capital and full stop."""
    if answer.kind == "too large":
        return answer.failed[0]
    if answer.kind not in _REASON_TEMPLATES:
        return "; ".join(answer.failed)
    words = {}
    # The answer's numbers are losses, but for counts of patients or hospitals ("n", "most").
    for name, figure in answer.numbers.items():
        words[name] = error_words(figure, planner.settings)
        if name in ("n", "most"):
            words[name] = amount(figure)
        elif planner.energetic:  # the loss is the share of energy that is lost
            words[name] = f"{100 * max(1 - figure, 0):.3g} % captured"
    return _REASON_TEMPLATES[answer.kind].format(**words)


def error_words(sine: float, settings: Settings) -> str:
    """Return an error ‖sin Θ‖ as a phrase in the unit on screen."""
    metric = goal_unit(settings)
    shown = value_text(metric, float(in_unit(metric, sine, settings["k"])))
    return {"share": f"{shown} recovered", "degrees": f"an angle of {shown}"}.get(metric, f"error {shown}")


def short_reason(answer: PlanAnswer, planner: Planner) -> str:
    """Return why there is no answer, in a few words for a cell of the table."""
    if answer.kind == "simulation" and planner.limited:
        return "no formula"
    return {
        "guess": "a random guess does",
        "gap": "no eigengap",
        "first order": "target too rough",
        "assumption": "formula does not hold",
        "sampling": "none: too few patients",
        "simulation": "by simulation",
        "evaluating": "…",
        "too large": "too many features",
        "epsilon": "none up to 10",
    }.get(answer.kind, "none")


def table(planner: Planner) -> pd.DataFrame:
    """Return a row for every method: its three answers by closed form, and the simulated one if there is any.

    For two stages the predicted chance that all features that matter are kept stands beside what is asked.
    """
    at = f"at ε = {text.number(planner.epsilon)}"
    columns: dict[Asked, str] = {
        "patients": f"patients {at}",
        "epsilon": f"ε with {planner.n:,} patients",
        "hospitals": f"hospitals of {planner.size:,} {at}",
    }
    # For a visitor's table no such chance is predicted.
    two_stages = planner.table is None and any(view.method(name).chooses_rows for name in planner.listed)
    rows = []
    for name in planner.listed:
        row = {
            "method": view.title(name),
            "whom it trusts": text.TRUST_TITLES[PLANNED_METHODS[name].trust].lower(),
        }
        for key, column in columns.items():
            answer = planner.answer(name, key)
            # No smaller number was tried, so less may do; there is no less than a single hospital.
            at_most = "≤ " if answer.at_lower_limit and key != "hospitals" else ""
            row[column] = short_reason(answer, planner)
            if answer.value is not None:
                row[column] = at_most + number(answer.value, key) + uncertainty_mark(answer)
            if two_stages and key == planner.asked:
                chance = "" if answer.chance is None else text.chance(answer.chance)
                row["all features that matter kept"] = chance
        if planner.settings["plan.tuned"] == "tuned":
            row["tuned to"] = tuned_to(planner, name)
        if planner.simulations:
            simulated = simulated_cell(planner.simulations.get(name), planner.asked)
            row[f"{columns[planner.asked]}, simulated [95 %]"] = simulated
        rows.append(row)
    return pd.DataFrame(rows)


def below_chart(planner: Planner, drawn: view.DrawnPlan) -> str:
    """Return what the chart's lines are, or why there is no bold one."""
    study = planner.plan()
    if study.no_formula and not study.predicted:
        return f"Lines: {goal(planner)}, by methods with a formula. Diamond: this method, simulated."
    measure = "share captured" if planner.energetic else "error"
    focus = view.title(planner.focus)
    bold = f"Bold line: {focus} reaches {goal(planner)}."
    if planner.focus not in drawn.reaching:
        answer = planner.answer()
        why = "its answer is off the chart" if planner.focus in drawn.curves else "it is being worked out"
        why = why if answer.value is not None else short_reason(answer, planner)
        bold = f"{focus} has no bold line here: {why}."
    thin = "Thin lines: other methods."
    if study.predicted:
        return f"{bold} {thin}"
    return (
        f"{bold} Dotted: its lines of equal {measure}. Hatched: no answer by formula. Grey: too few patients "
        f"at any ε. {thin}"
    )


def below_table(planner: Planner) -> str:
    """Return what the numbers of the table mean, and which methods have another guarantee."""
    k, table = planner.settings["k"], planner.table
    if table is not None:
        return (
            f"Predicted, rounded up, in half of the runs. {own_table_text.FOLLOW} "
            f"{own_table_text.spectrum(table, table.patterns(k))}"
        )
    kinds = {view.title(name): view.method(name).guarantee_at(k) for name in planner.listed}
    other = text.guarantee_notes(kinds)
    notes = "Closed form to the left, rounded up; simulation, where asked for, with its 95 % interval."
    notes += f" {other}" if other else ""
    notes += " Methods without a formula are simulated one at a time: choose one as *Method*."
    if any(view.method(name).chooses_rows for name in planner.listed):
        notes += (
            " Two stages, and methods without a formula, are judged by the median error, others by the root "
            "mean square error."
        )
    if planner.bundled is not None:
        name = planner.bundled.title.split(",")[0]  # "Breast cancer", without "Wisconsin"
        notes += (
            f" For a population like {name}: its spectrum, as if its rows were Gaussian. Nobody can simulate "
            "more patients than a table has."
        )
    return notes


def not_simulated(planner: Planner) -> str:
    """Return the sentence that nothing can be simulated, and why."""
    answer, why = planner.answer(), "there is nowhere to begin"
    if answer.kind == "evaluating":
        why = "its formula is being evaluated first"
    elif planner.table is not None and answer.solution is not None:
        why = own_table_text.NO_SIMULATION
    elif planner.bundled is not None:
        why = "a table has only its own patients"
    return f"No simulation here: {why}."


def limits(planner: Planner) -> list[str]:
    """Return, for the report, which assumptions of the closed form fail and whether it was simulated."""
    assumptions, simulation = planner.assumptions(), planner.simulation
    sentences = ["There is no formula for this method here, so nothing but simulation speaks for it."]
    if planner.plan().predicted:
        sentences = ["Small simulations predict the error of this method: it has no formula."]
    if lacking := [words for held, words in assumptions if not held]:
        sentences = [f"The closed form needs, and does not have: {'; '.join(lacking)}."]
    elif count := len(assumptions):
        sentences = [f"{count} of the {count} assumptions that the formula rests on hold here."]
    if simulation is None:
        by_formula = "By prediction only: no simulation was asked for."
        study = planner.plan()
        only = study.no_formula and not study.predicted
        sentences.append("Nothing was simulated." if only else by_formula)
    elif simulation.state == "measuring":
        sentences.append("The simulation had not ended when this was made.")
    if planner.table is not None:
        sentences.append(own_table_text.FOLLOW if simulation is None else own_table_text.INVENTED)
    elif planner.bundled is not None:
        sentences.append("Nobody can simulate more patients than a table has.")
    return sentences


_OTHER_METHOD = "choose another *Method*, and see how the answer depends on whom you trust."


def try_this(planner: Planner) -> str:
    """Return a suggestion of what to do next, with the answer that it will give."""
    asked, name, now = planner.asked, planner.focus, planner.answer()
    higher_is_better = planner.energetic or more_is_better(goal_unit(planner.settings))
    if now.kind in ("simulation", "evaluating", "too large"):
        return _OTHER_METHOD
    if now.value is None:
        # With these two reasons the target is too lax, with any other too strict. A share is stricter
        # upwards, an error downwards.
        up = (now.kind in ("guess", "first order")) == higher_is_better
        way_out = f"move *{_target_name(planner)}* {'up' if up else 'down'}"
        return f"{way_out}, or choose another *Method*, until a bold line appears."
    key, option = planner.suggestion()
    choice, changed = CHOICES[key], planner.changed({key: option})
    needed_then = changed.answer(name).value
    # A real table has no other number of patients, and a slider at its end stays where it is.
    if needed_then is None or (key == "n" and planner.limited) or option == planner.settings[key]:
        return _OTHER_METHOD
    label, option_text = choice.label, choice.text(option)
    if key == "plan.target":
        label, option_text = _target_name(planner), target_in_words(planner.settings, float(option))
    change = f"{value(now.value, asked)} to {value(needed_then, asked)}"
    hint = f"set *{label}* to {option_text}: {view.title(name)} goes from {change}."
    if asked == "hospitals" and name == "dps_pca":
        summed = [each.answer("dps_pca_summed").value for each in (planner, changed)]
        if None not in summed:
            hint += (
                " Each hospital adds noise of its own, so small ones are many times worse; where sums are "
                f"kept secret they go from {' to '.join(value(needed, asked) for needed in summed)}."
            )
    return hint if planner.limited else hint + " Then confirm it by simulation."


def about(planner: Planner) -> tuple[str, str]:
    """Return where the numbers come from, and a table of the methods with their sources and closed forms."""
    on_table = planner.table is not None
    lines = ["| method | source | whom it trusts | guarantee | closed form |", "|---|---|---|---|---|"]
    for name in planner.listed:
        planned, method = PLANNED_METHODS[name], view.method(name)
        trust = text.TRUST_TITLES[planned.trust].lower()
        cells = (view.title(name), method.reference, trust, method.guarantee_at(planner.settings["k"]))
        predicted = "none: by small simulations" if planner.plan(name).predicted else "none: by simulation"
        formula = BOUNDS[planned.rule].title if planned.rule else predicted
        if on_table:
            formula = planner.untuned_plan(name).rule.title
        lines.append(f"| {' | '.join(cells)} | {formula} |")
    basis = own_table_text.SOURCE if on_table else f"{CLOSED_FORM} {SIMULATION} {TUNING}"
    return basis, "\n".join(lines)
