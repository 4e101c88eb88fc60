"""Form the sentences of this page that analysts read in other words than readers of the plain view.

`plain_text` has functions of the same names, so that a caller takes either module (`layout.PageLayout`). No
Streamlit here.
"""

from dppca_core.experiments.explorer.experiment import EPSILONS
from pages.hospitals.your_data.account_text import Spending, again
from pages.hospitals.your_data.rehearsal import StopSign
from pages.hospitals.your_data.text import TOO_MUCH, epsilon, loss, noise_would, noun
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.text import literal

COMPONENT, LOADING = "component", "loading"


def price(what: str, cost: float, spent: Spending, rows: int, of_patient: float) -> str:
    """Return what a release will cost for one row and, where patients have several, for a patient.

    what: begins the sentence, as "A release by DPS-PCA". cost, of_patient: epsilon for a row, and for a
    patient with as many rows as one can have.
    """
    if spent.exceeds_limit:
        total, limit = epsilon(spent.after), text.number(spent.most)
        asked = f"{again(spent)} with {epsilon(cost)}"
        return f"{asked} would bring the total to {total}, beyond the limit {limit}: ask for less."
    title = f"{what} with {epsilon(cost)}"
    sentence = (
        f"{title}: you have used {text.short(spent.now)} of your limit {text.number(spent.most)}, afterwards "
        f"it is {text.short(spent.after)}, and {_rest_in_words(spent)} is left."
    )
    if rows == 1:
        return sentence
    return (
        f"{sentence} These numbers are for one row. For a patient with {rows:,} rows the release has "
        f"{epsilon(of_patient)}."
    )


def left(spent: Spending) -> str:
    limit = text.number(spent.most)
    return f"{text.short(spent.after)} of the limit ε = {limit} is spent, {_rest_in_words(spent)} is left"


def _rest_in_words(spent: Spending) -> str:
    return text.short(spent.rest) if spent.rest > 0 else "nothing"


def named(title: str, when: str, cost: float) -> str:
    return f"{literal(title)} on {when}, {epsilon(cost)}"


def restated(then: str, now: str, cost: float) -> str:
    return (
        f"This release states {then} per patient. By your answer now, {now}, it has ε = {loss(cost)} for a "
        "patient."
    )


def cannot_know(rows: int) -> str:
    return (
        "**Whether noise would spoil the answer cannot be known:** nobody has stated which share of the "
        f"{noun(rows)} is usable. State it above, or fill in missing cells."
    )


def stop(sign: StopSign) -> str:
    units = noun(sign.rows)
    recovered, unprotected, goal = (
        phrases.percent(sign.recovered(share)) for share in (sign.share, sign.unprotected, TOO_MUCH)
    )
    if not sign.is_noise:
        return (
            f"**Even with no privacy the answer would be poor:** PCA would recover {unprotected} of the "
            f"pattern, and a release {recovered}. A larger ε would hardly help."
        )
    would = noise_would(sign.share)
    begin = f"**{would}:** a release would recover {recovered}, and {unprotected} without privacy."
    if sign.needed is None:
        return f"{begin} With {sign.n:,} {units} no ε up to {EPSILONS[-1]:g} recovers {goal}."
    return (
        f"{begin} To recover {goal}, {sign.n:,} {units} need ε = {text.number(sign.needed)}; "
        f"ε = {text.number(sign.epsilon)} needs at most about {text.patients(sign.patients)} {units}."
    )
