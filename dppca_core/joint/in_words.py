"""Say a joint study in sentences: what is agreed, what it costs, what leaves, and what came of it.

A sentence takes its numbers from the plan, from a payment or from the files, and never from a row.
"""

import math
from typing import NamedTuple

import numpy as np

from dppca_core.accounting import numerical
from dppca_core.accounts.account import NO_LIMIT
from dppca_core.accounts.book import Payer
from dppca_core.joint import answer as answers
from dppca_core.joint.combine import JointResult
from dppca_core.joint.forecast import Forecast, forecast
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.joint.take_part import Earlier, TakingPart
from dppca_core.methods import METHODS
from dppca_core.release import projector, release_text
from dppca_core.tables.patients import MERGED

_ROWS = {
    "centred": "Rows are taken about their hospital's mean, and shortened to a length that fits them.",
    "standardised": "Rows are taken about their hospital's mean, each column is divided by its spread, and "
    "rows are shortened to a length that fits them.",
    "public": "Rows are taken about the public middles of their ranges, and shortened to a public length.",
}
_WHAT_LEAVES = {
    "squares": "mean square of each of {numbers} measurements, about the middle of its range",
    "mean": "mean of each of {d} columns",
    "tails": "two shares that say how many rows are long",
    "moment": "mean product of each pair of {d} columns",
    "directions": "{rank} leading directions of the mean products of pairs, by their strength",
    "projector": "the {k} leading directions, as a projector of {d} columns",
    "worth": "the size of the noise, and how far the directions stand out",
}
NEIGHBOURS_IN_WORDS = {
    "replace-one": "The guarantee is for a patient whose record is replaced by any other.",
    "add-remove": "The guarantee is for a patient who is left out, with a row of zeros, or is not.",
}
FEWER_USABLE = 0.95  # share of patients with all cells, below which intervals are said to be too narrow
MOST_NAMED = 8  # loadings of a component that the report names


class LeavingField(NamedTuple):
    """Hold one field of an answer: what it is, in words; how many numbers it has, and their bytes.

    noisy: whether it is made of the hospital's rows, with noise; else it is public.
    """

    name: str
    what: str
    numbers: int
    size: int
    noisy: bool


def leaves(plan: JointPlan) -> tuple[LeavingField, ...]:
    """Return all that an answer to this plan holds, field by field."""
    public = LeavingField(
        "public",
        "names of plan and hospital, number of patients, privacy loss and failure chance",
        0,
        0,
        False,
    )
    fields = [public]
    for name, shape in answers.shapes(plan).items():
        count = math.prod(shape)
        rank = plan.rank or min(2 * plan.k, plan.d)
        what = _WHAT_LEAVES[name].format(d=plan.d, k=plan.k, rank=rank, numbers=count)
        if name == "mean" and count > plan.d:
            what += ", and the share of patients with all cells"
        fields.append(LeavingField(name, what, count, 8 * count, True))
    return tuple(fields)


def file_bytes(plan: JointPlan, hospital: PlannedHospital) -> int:
    """Return how many bytes the file of an answer has, which follows from the plan but for one digit of n."""
    empty = {name: np.zeros(shape) for name, shape in answers.shapes(plan).items()}
    return len(answers.JointAnswer(hospital, hospital.patients, empty).to_json(plan))


def plan(agreed: JointPlan) -> list[str]:
    """Return what the hospitals agree on, a sentence each."""
    columns, method = len(agreed.dictionary.columns), METHODS[agreed.method]
    hospitals = "; ".join(
        f"{each.name}: {each.patients:,} patients, ε = {each.epsilon:g}, δ = {each.delta:g}"
        for each in agreed.hospitals
    )
    kept = ""
    if agreed.s_hat is not None and agreed.s_hat < agreed.d:
        kept = f" They name at most {agreed.s_hat} of them."
    sentences = [
        f"Plan '{agreed.name}': {len(agreed.hospitals)} hospitals look for {agreed.k} components of "
        f"{agreed.d} encoded columns, made of {columns}.{kept}",
        f"{hospitals}.",
        f"Method: {method.title}. Each hospital adds its own noise and sends one file. No server is needed.",
        _ROWS[agreed.rows],
        unit(agreed),
        NEIGHBOURS_IN_WORDS[agreed.neighbours],
    ]
    if agreed.method == projector.METHOD:
        sentences.append(projector.ON_A_GOOD_EVENT)
    return sentences


def unit(agreed: JointPlan) -> str:
    """Return which rows are a patient's."""
    if not agreed.patient_column:
        return "Each row is a patient: nobody may have two rows."
    how = f"at most {agreed.counting} count" if isinstance(agreed.counting, int) else "they are averaged"
    how = "they are merged to one" if agreed.counting == MERGED else how
    return f"'{agreed.patient_column}' names the patients; where one has several rows, {how}."


def digest(agreed: JointPlan) -> list[str]:
    return [
        "Read these 12 words to the other hospitals. They must have the same ones:",
        f"    {' '.join(agreed.words)}",
    ]


def prediction(agreed: JointPlan, predicted: Forecast | None = None) -> list[str]:
    """Return what the plan should give, by the one recommendation."""
    at = forecast(agreed) if predicted is None else predicted
    if agreed.method == projector.METHOD:
        return ["No error is predicted, and this method is never recommended for real patients."]
    if at.error is None:
        return ["No error is predicted for this method."]
    least = "at least " if agreed.rows == "standardised" else ""  # `bounds.fitted_prediction` says why
    sentence = f"Predicted error: {least}{at.error:.2g}; a random guess has {at.guess:.2g}, and 0 is exact."
    if at.near_guess:
        sentence += " That is too near a guess: agree on more patients, a larger ε or fewer columns."
    sentences = [sentence]
    if at.better_by_rounds:
        sentences.append(
            f"{METHODS[at.advised.method].title} would err {at.advised.error:.2g}: it needs many rounds, "
            "and so a server and a network."
        )
    return sentences


def guarantee(part: TakingPart) -> list[str]:
    """Return what is promised to each patient of this hospital."""
    sentences = [release_text.guarantee(part.request)]
    if part.plan.method == projector.METHOD:
        return [projector.ON_A_GOOD_EVENT, f"On that event: {sentences[0]}"]
    right = 100 * part.request.trade_off.best_guess()
    sentences.append(
        "Whoever knows all other patients, and starts from 50:50, tells which of two records was used at "
        f"most {right:.1f} times in 100. All other hospitals learn no more: a file has its whole noise."
    )
    if part.hospital.delta * part.n >= 1:
        sentences.append(
            f"δ is not below 1/n: δ n = {part.hospital.delta * part.n:.3g}. Agree on a smaller δ."
        )
    return sentences


def price(part: TakingPart, payer: Payer, earlier: Earlier | None = None) -> list[str]:
    """Return what taking part costs, and what is left in the account."""
    before = part.earlier(payer) if earlier is None else earlier
    if before.payment is not None:
        return [
            "Your table has paid for this plan before: the same file is written again, and costs nothing. It "
            "is of the cells and the dictionary as they were then."
        ]
    sentences = others_paid(before)
    account = payer.balance()
    if account.limit is None:
        return [*sentences, f"Price: ε = {part.hospital.epsilon:g}, δ = {part.hospital.delta:g}. {NO_LIMIT}."]
    spent = account.spent().epsilon if account.payments else 0.0
    after, limit = account.spent(part.events).epsilon, account.limit
    sentences.append(
        f"Price: ε = {part.hospital.epsilon:g}, δ = {part.hospital.delta:g}. Your account has spent "
        f"ε = {spent:.4g} of {limit.epsilon:.4g} at δ = {limit.delta:g}; with this it will be {after:.4g}."
    )
    if not numerical.within(after, limit.epsilon):
        sentences.append("That is beyond your limit, and will be refused.")
    return sentences


def others_paid(before: Earlier) -> list[str]:
    """Return how many answers to other plans, or from other tables, the account has paid for."""
    if not before.others:
        return []
    many = f"{before.others} other answer{'s' if before.others > 1 else ''} to joint plans"
    return [f"This account has paid for {many}. This plan, or table, is another, and costs again."]


def leaving(agreed: JointPlan, hospital: PlannedHospital) -> list[str]:
    """Return what leaves, field by field and in bytes."""
    lines = [f"What leaves is one file of about {file_bytes(agreed, hospital):,} bytes, and nothing else:"]
    for each in leaves(agreed):
        size = f"{each.size:,} bytes of noisy numbers" if each.noisy else "public"
        lines.append(f"    {each.name}: {each.what} ({size})")
    return lines


def missing(result: JointResult) -> list[str]:
    """Return who has not answered, and what that costs."""
    if not result.missing:
        return [f"All {len(result.there)} hospitals have answered."]
    names = ", ".join(hospital.name for hospital in result.missing)
    there, planned = len(result.there), len(result.plan.hospitals)
    sentence = f"{there} of {planned} hospitals have answered; missing: {names}."
    whole, fewer = forecast(result.plan).error, forecast(result.plan, result.there).error
    if whole is None or fewer is None:
        return [sentence]
    return [sentence, f"The predicted error is {fewer:.2g} with these, and {whole:.2g} with all."]


def result(made: JointResult) -> list[str]:
    """Return what the study found, a sentence each."""
    shares = "; ".join(
        f"{hospital.name} {100 * share:.0f} % ({n:,} patients)"
        for hospital, share, n in zip(made.there, made.shares, made.patients, strict=True)
    )
    weights = f"Weights, by precision: {shares}."
    return [*missing(made), *components(made), *left_out(made), weights, *turned(made)]


def left_out(made: JointResult) -> list[str]:
    """Return at which hospitals patients are left out, so that intervals are too narrow."""
    hospitals = zip(made.there, made.usable, strict=False)
    fewer = [f"{hospital.name} {100 * share:.0f} %" for hospital, share in hospitals if share < FEWER_USABLE]
    if not fewer:
        return []
    return [
        f"Share of patients with all cells: {', '.join(fewer)}. Where patients are left out, loadings can "
        "err by several times the noise that is stated."
    ]


def components(made: JointResult) -> list[str]:
    """Return which loadings of each component stand out of the noise, and how far it moves a strength."""
    features = made.plan.dictionary.features
    sentences = [projector.ON_A_GOOD_EVENT] if made.plan.method == projector.METHOD else []
    for i, column in enumerate(made.components.T):
        if made.is_noise[i]:
            sentences.append(f"Component {i + 1} is mostly noise: none of its loadings can be told from 0.")
            continue
        order = sorted(range(len(column)), key=lambda row: -abs(column[row]))
        clear = [row for row in order if abs(column[row]) > 2 * made.loading_std[row, i]][:MOST_NAMED]
        named = ", ".join(f"{features[r]} {column[r]:+.2f} ± {2 * made.loading_std[r, i]:.2f}" for r in clear)
        strength = "" if made.eigenvalues is None else f" (strength {made.eigenvalues[i]:.3g})"
        sentences.append(f"Component {i + 1}{strength}: {named}.")
    if made.eigenvalue_error is not None:
        sentences.append(
            f"Noise moves a strength by {made.eigenvalue_error:.2g} at most, in 95 of 100 draws."
        )
    return sentences


def turned(made: JointResult) -> list[str]:
    """Return without whom the result turns most; nothing for fewer than three hospitals."""
    if made.turned is None or len(made.turned) < 3:
        return []
    most, median = int(made.turned.argmax()), float(np.median(made.turned))
    return [
        f"Without {made.there[most].name} the result turns by {made.turned[most]:.2g}, more than without "
        f"any other; the median is {median:.2g}. {_TURNED}"
    ]


_TURNED = "One that turns it far more than the others differs from them, erred, or lied: ask it."
