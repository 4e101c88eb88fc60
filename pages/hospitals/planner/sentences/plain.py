"""Form the planner's sentences for plain view, for those without statistics, such as a hospital's board."""

import math
from collections.abc import Iterator, Mapping

from dppca_core.experiments.planning.planning import Asked
from pages.hospitals.planner.model.evaluated import EVALUATING, title
from pages.hospitals.planner.model.plain import PlainPlanner
from pages.hospitals.planner.model.plans import TrustAnswer
from pages.hospitals.planner.sentences import answer as answers
from pages.hospitals.planner.sentences import methods, surroundings
from pages.hospitals.planner.sentences.answer import nothing_predicts, uncertainty_mark
from pages.hospitals.planner.sentences.numbers import goal_unit, number, target_in_words
from pages.hospitals.planner.sentences.reasons import reason
from pages.shared import text
from pages.shared.plain import phrases

INTRODUCTION = "A formula says at once what a study needs."
CAUTIOUS_TITLE = "What if one hospital insists on more privacy?"
FOLD_NOTE = "The analyst's view compares all methods, and checks the numbers by simulation."
WORKING = "Working it out …"
UNCERTAIN = "Estimate only. The analyst's view can check it by simulation."
NO_FORMULA = "Less may be enough: no formula predicts the method that we recommend."
NOT_CAUTIOUS = "We can say this for two hospitals or more, once the number of patients above is known."
NO_SIMULATION = "A formula gives these numbers. They were not checked by simulation here."
AXES: Mapping[Asked, str] = {
    "patients": "patients needed",
    "epsilon": "privacy loss (smaller protects more)",
    "hospitals": "hospitals needed",
}
_IF_TRUST = {
    "untrusted server": "if nobody is trusted",
    "secure aggregation": "with sealed sums",
    "central": "if all trust one place",
}
TRUST = {
    "untrusted server": "Each hospital adds its own noise before anything leaves it. Nobody is trusted.",
    "secure aggregation": "Only the sum of all hospitals is ever seen. One noise in it protects everybody.",
    "central": "One trusted place sees every hospital's numbers. Noise protects what it publishes.",
}
LIMITS = (
    "The numbers are averages: a single study may do worse.",
    "Patients who differ from these assumptions may need a larger or a smaller study.",
    "Looking at the data to choose measurements or limits costs privacy that is not counted here.",
)


def headline(planner: PlainPlanner) -> str:
    if EVALUATING in (each.answer for each in planner.least):
        return WORKING
    verb = "You can keep" if planner.asked == "epsilon" else "You need"
    answers = planner.known
    if not answers:
        return "There is no number for this target."
    (least_trust, first), *_ = answers.items()
    most_trust = list(answers)[-1]
    last = number(answers[most_trust], planner.asked)
    needs = f"{verb} {needed(first, planner.asked)}"
    if {number(each, planner.asked) for each in answers.values()} == {last}:
        everywhere = len(answers) == len(phrases.ROWS)
        return f"{needs} {'in every case' if everywhere else _IF_TRUST[least_trust]}."
    end = f"; {last} {_IF_TRUST[most_trust]}" if last != number(first, planner.asked) else ""
    return f"{needs} {_IF_TRUST[least_trust]}{end}."


def needed(answer: float, asked: Asked) -> str:
    """Return an answer with what it counts: "20,000 patients"."""
    words = number(answer, asked)
    if asked == "epsilon":
        return f"a privacy loss of {words}"
    return f"{words} {'hospital' if words == '1' and asked == 'hospitals' else asked}"


def lines(planner: PlainPlanner) -> list[str]:
    """Return a sentence for each trust, then under which of them the present patients are enough.

    Last are warnings: where a number rests on too small a chance that all features that matter are kept, and
    where the recommended method has no formula.
    """
    lines = [row(planner.asked, each) for each in planner.least]
    if planner.asked == "patients" and planner.known:
        lines.append(_enough(planner))
    if any(uncertainty_mark(each.answer) for each in planner.least if each.answer.value is not None):
        lines.append(UNCERTAIN)
    if any(
        each.trust in planner.known and nothing_predicts(planner, each.name, best.method)
        for each, best in planner.recommended()
    ):
        lines.append(NO_FORMULA)
    return lines


def row(asked: Asked, least: TrustAnswer) -> str:
    trust, answer = least.trust, least.answer
    if answer == EVALUATING:
        return f"{phrases.ROWS[trust]}: {WORKING}"
    if answer.value is None:
        return no_answer(least)
    if asked == "epsilon":
        return f"{_begin(trust)}, the privacy loss can be as low as {number(answer.value, asked)}."
    return f"{_begin(trust)}, the study needs at least {needed(answer.value, asked)}."


def no_answer(least: TrustAnswer) -> str:
    return f"{_begin(least.trust)}, there is no number: {reason(least.answer).plain}."


def _begin(trust: str) -> str:
    words = _IF_TRUST[trust]
    return words[0].upper() + words[1:]


def _enough(planner: PlainPlanner) -> str:
    trusts = [each.trust for each in planner.least if (each.answer.value or math.inf) <= planner.n]
    where = (
        f"enough {' or '.join(_IF_TRUST[trust] for trust in trusts)}" if trusts else "too few in every case"
    )
    if len(trusts) == len(phrases.ROWS):
        where = "enough in every case"
    return f"Your {planner.n:,} patients are {where}."


def cautious(planner: PlainPlanner) -> list[str]:
    """Return how many more patients are needed, by trust, if one hospital asks for a smaller epsilon.

    The first sentence states the case. Empty for a single hospital, or where no number is known.
    """
    if not planner.has_cautious or not planner.known:
        return []
    strict, others = text.number(planner.strictest), text.number(planner.epsilon)
    lines = [f"Suppose one hospital asks for a privacy loss of {strict}, and the others for {others}."]
    for each in planner.least:
        if each.trust in planner.known:
            after = each._replace(answer=planner.with_cautious(each))
            if after.answer.value is None:  # it is being worked out, or none is enough
                lines.append(row(planner.asked, after))
            else:
                lines.append(cautious_row(each.trust, planner.known[each.trust], after.answer.value))
    return lines


def cautious_row(trust: str, before: float, after: float) -> str:
    share = after / before - 1
    more = f"{text.percent(share)} more" if share >= 0.005 else "hardly more"  # which would round to 0 %
    return f"{_begin(trust)}: {needed(after, 'patients')} instead of {number(before, 'patients')}, {more}."


def paragraph(planner: PlainPlanner) -> str:
    if planner.chosen.answer.value is None:
        return row(planner.asked, planner.chosen)
    parts = {"Plan": _plan(planner, planner.chosen.answer.value), "Privacy": guarantee(planner)}
    parts |= {"Assumptions": likeness(planner), "Limits": " ".join(LIMITS)}
    return "\n\n".join(f"{heading}. {words}" for heading, words in parts.items())


def _plan(planner: PlainPlanner, answer: float) -> str:
    asked = planner.asked
    where = f" in {text.count(planner.settings['providers'], 'hospital', 'hospitals')}"
    if asked == "hospitals":
        where = f" of {planner.size:,} patients{'' if number(answer, asked) == '1' else ' each'}"
    elif asked == "epsilon":
        where = f", with {planner.n:,} patients{where}"
    d, k = planner.untuned_plan(planner.chosen.name).experiment.d, planner.settings["k"]
    pattern = f"{text.count(k, 'pattern', 'patterns')} in {d:,} measurements"
    needs = f"the study needs at least {needed(answer, asked)}{where}"
    return f"To {aim(planner)} ({pattern}), {needs}. {NO_SIMULATION}"


def aim(planner: PlainPlanner) -> str:
    """Return the target as the verb phrase of a study's aim, such as "recover at least 99 % of ..."."""
    settings = planner.settings
    if planner.energetic:
        return f"capture at least {100 * settings['plan.share']:g} % of the signal"
    shown = target_in_words(settings, settings["plan.target"])
    if goal_unit(settings) == "degrees":
        return f"find the pattern to within {shown}"
    return f"recover at least {shown} of the pattern"


def guarantee(planner: PlainPlanner) -> str:
    answer, trust, delta = planner.chosen.answer.value, planner.chosen.trust, planner.settings["delta"]
    if answer is None:
        return row(planner.asked, planner.chosen)  # the sentence that tells why
    # The rounded epsilon is promised, since that is the one which the plan states.
    stated = float(number(answer, "epsilon")) if planner.asked == "epsilon" else answer
    n, epsilon, _ = planner.question.at(stated)
    parts = (
        f"Differential privacy protects each patient, with a privacy loss of {text.number(epsilon)}.",
        text.odds(epsilon, delta),
        text.margin(delta),
        phrases.delta_too_large(delta, n),
        TRUST[trust],
    )
    return " ".join(filter(None, parts))


def likeness(planner: PlainPlanner) -> str:
    settings = planner.settings
    if planner.bundled is not None:
        return f"Patients are like those of this table: {planner.bundled.title}."
    pattern = text.count(settings["k"], "pattern lies", "patterns lie")
    return (
        f"Patients are alike in all hospitals. {pattern} in {settings['s']} measurements, "
        f"{settings['spike'] / settings['bulk']:.3g} times as strong as anything else."
    )


def about(planner: PlainPlanner) -> Iterator[str]:
    lines = ["| whom they trust | method | closed form | source |", "|---|---|---|---|"]
    for trust, name, _ in planner.by_trust():
        study = planner.untuned_plan(name)
        formula = "small simulations" if study.predicted else "–"
        formula = formula if study.no_formula else study.rule.title
        lines.append(f"| {phrases.ROWS[trust]} | {title(name)} | {formula} | {study.method.reference} |")
    yield "\n".join(lines)
    yield methods.recommended(planner)
    if answers.floor(planner):
        yield surroundings.FLOOR
    yield FOLD_NOTE
