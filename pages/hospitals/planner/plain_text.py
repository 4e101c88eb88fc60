"""Form the planner's sentences for plain view, from numbers and words for them. No Streamlit here."""

from collections.abc import Mapping, Sequence

from dppca_core.experiments.planning.planning import Asked
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
_REASONS = {  # why there is no number, by the `kind` of a `PlanAnswer`
    "guess": "a random guess does as well",
    "first order": "so rough a target cannot be predicted",
    "sampling": "there are too few patients, however weak the protection",
    "epsilon": "no privacy loss here is large enough",
    "patients": "no number of patients is enough",
    "hospitals": "no number of such hospitals is enough",
}
_NO_FORMULA = "no formula applies"


def goal(kind: str, shown: str) -> str:
    """Return the aim of a study. kind: "share", "degrees" or "energy". shown: the target with its unit."""
    return {
        "share": f"recover at least {shown} of the pattern",
        "degrees": f"find the pattern to within {shown}",
        "energy": f"capture at least {shown} of the signal",
    }[kind]


def needed(asked: Asked, number: str) -> str:
    """Return an answer, given as a number in words, with what it counts: "20,000 patients"."""
    hospitals = "hospital" if number == "1" else "hospitals"
    form = {"epsilon": "a privacy loss of {}", "patients": "{} patients", "hospitals": f"{{}} {hospitals}"}
    return form[asked].format(number)


def headline(asked: Asked, answers: Mapping[str, str]) -> str:
    """Return what a study needs under the least trust and under the most for which there is an answer.

    answers: numbers in words by trust, the least trust first, without trusts that have no answer.
    """
    verb = {"patients": "You need", "hospitals": "You need", "epsilon": "You can keep"}[asked]
    if not answers:
        return "There is no number for this target."
    least_trust, number = next(iter(answers.items()))
    most_trust, last_number = list(answers.items())[-1]
    # Every trust has an answer, and all answers read alike.
    if set(answers.values()) == {number} and len(answers) == len(phrases.ROWS):
        return f"{verb} {needed(asked, number)} in every case."
    last = f"; {last_number} {_IF_TRUST[most_trust]}" if last_number != number else ""
    return f"{verb} {needed(asked, number)} {_IF_TRUST[least_trust]}{last}."


def row(trust: str, asked: Asked, number: str) -> str:
    """Return the sentence on what a study needs under one trust. number: the answer, in words."""
    verb = "the privacy loss can be as low as" if asked == "epsilon" else "the study needs at least"
    amount = number if asked == "epsilon" else needed(asked, number)
    return f"{_begin(trust)}, {verb} {amount}."


def no_answer(trust: str, kind: str) -> str:
    """Return why there is no number under a trust. kind: that of the `PlanAnswer`."""
    return f"{_begin(trust)}, there is no number: {_REASONS.get(kind, _NO_FORMULA)}."


def _begin(trust: str) -> str:
    """Return the condition of a trust as the beginning of a sentence: "If nobody is trusted"."""
    words = _IF_TRUST[trust]
    return words[0].upper() + words[1:]


def enough(n: int, trusts: Sequence[str]) -> str:
    """Return under which trusts the present `n` patients suffice. trusts: those under which they do."""
    begin = f"Your {n:,} patients are"
    if not trusts:
        return f"{begin} too few in every case."
    if len(trusts) == len(phrases.ROWS):
        return f"{begin} enough in every case."
    return f"{begin} enough {' or '.join(_IF_TRUST[trust] for trust in trusts)}."


def cautious(epsilon: str, strict: str) -> str:
    """Return the case of one cautious hospital, which asks for `strict` where others ask for `epsilon`.

    Both are privacy losses, in words.
    """
    return f"Suppose one hospital asks for a privacy loss of {strict}, and the others for {epsilon}."


def cautious_row(trust: str, before: str, after: str, share: float) -> str:
    """Return what the cautious hospital costs under a trust.

    before, after: the patients needed without and with it, in words. share: the increase, 0.1 for 10 %.
    """
    more = f"{text.percent(share)} more" if share >= 0.005 else "hardly more"  # which would round to 0 %
    return f"{_begin(trust)}: {after} patients instead of {before}, {more}."


def plan(target: str, k: int, d: int, amount: str, where: str) -> str:
    """Return the plan for a study protocol.

    target: as `goal` returns it. k, d: patterns and measurements. amount: as `needed` returns it. where: in
    which hospitals, as the end of the sentence.
    """
    pattern = f"{text.count(k, 'pattern', 'patterns')} in {d:,} measurements"
    return f"To {target} ({pattern}), the study needs at least {amount}{where}. {NO_SIMULATION}"


def promise(epsilon: float, delta: float, n: float) -> str:
    """Return what each of `n` patients is promised, with a warning where `delta` is too large for so many."""
    parts = (
        f"Differential privacy protects each patient, with a privacy loss of {text.number(epsilon)}.",
        text.odds(epsilon, delta),
        text.margin(delta),
        phrases.delta_too_large(delta, n),
    )
    return " ".join(part for part in parts if part)


def population(k: int, s: int, times: float) -> str:
    """Return the model of synthetic patients: k patterns carried by s measurements.

    times: a pattern's variance, in units of the largest other one.
    """
    pattern = text.count(k, "pattern lies", "patterns lie")
    return (
        f"Patients are alike in all hospitals. {pattern} in {s} measurements, {times:.3g} times as strong as "
        "anything else."
    )


def like_own_table(cases: int, paid: bool) -> str:
    """Return what is assumed of a visitor's own table.

    cases: how many spectra are tried. paid: whether privacy budget was spent on measuring the spectrum.
    """
    if paid:
        return "Patients are like those of your table. How strong the pattern is was paid for."
    return (
        f"Patients are like those of your table. Nobody knows its pattern: the worst of {cases} cases counts."
    )
