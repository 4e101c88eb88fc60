"""The sentences of the story's two curves, over privacy and over patients. No Streamlit here."""

import math

from pages.learn.story import glossary
from pages.learn.story.glossary import WAY_TITLES, StepText, useless
from pages.learn.story.view import NEARLY_FREE, Curve
from pages.shared import text


def _finding(curve: Curve) -> tuple[str, str]:
    """Return what noise does to the answer, and what follows from it."""
    setting, unit, way = curve.setting, curve.unit, WAY_TITLES[curve.way]
    now, little = (unit.pattern(curve.now, only) for only in ("", "only"))
    without = unit.value(curve.without)
    if useless(curve.without, setting):
        finding = f"{way}, we recover {little}. Even without noise: {without}."
        return finding, glossary.why_unseen(setting)
    if useless(curve.now, setting):
        follows = f"{glossary.a_guess(unit)} That is of little use."
        if any(curve.useful[: curve.here]):  # with more noise for its size, and yet better
            return f"Here the answer fails: we recover {little}.", f"{follows} Noise alone is not why."
        return f"Here privacy costs too much: we recover {little}.", follows
    if curve.cost < NEARLY_FREE:
        costs = (
            f"Without noise: {without}."
            if curve.cost and unit.value(curve.now) != without
            else "Noise costs hardly anything here."
        )
        return f"{way}, privacy is almost free: we recover {now}.", costs
    return f"{way}, we recover {now}.", f"Noise costs {text.percent(curve.cost)} of the pattern."


def _terms(curve: Curve) -> tuple[tuple[str, str], ...]:
    trusted = (glossary.SEALED,) if curve.way == "sealed sum" else ()
    return (glossary.recovered(curve.unit), glossary.NOISE, *trusted, glossary.GUESS)


def cost(curve: Curve) -> StepText:
    """Return step 5."""
    finding, follows = _finding(curve)
    return StepText(finding, (follows, _useful(curve)), _terms(curve), _try_cost(curve))


def _useful(curve: Curve) -> str:
    """Return at which privacy settings the answer is of use; more noise need not always mean more error."""
    useful = [text.number(setting) for setting, use in zip(curve.at, curve.useful, strict=True) if use]
    if not useful:
        return "No setting up to 10 gives a useful answer."
    if all(curve.useful):
        return "Every setting drawn here gives a useful answer."
    if all(curve.useful[-len(useful) :]):
        return f"Below a privacy setting of about {useful[0]}, noise drowns the pattern."
    if len(useful) == 1:
        return f"Only a setting of {useful[0]} gives a useful answer here."
    return f"Useful answers lie between settings of {useful[0]} and {useful[-1]}."


def _try_cost(curve: Curve) -> str:
    """Return a move that the chart shows to be possible."""
    useful, here = curve.useful, curve.here
    table = isinstance(curve.setting.population, str)
    control = "*Patterns to find*" if table else "*Measurements per patient*"
    if not any(useful):
        return f"move {control} to the left. Does any setting become useful?"
    if all(useful):
        more = "move *Privacy setting* to the left, for more privacy"
        return f"{more}. Does the ring near the long dashes? Then move {control}."
    right = all(useful[:here]) if useful[here] else any(useful[here:])
    move = f"move *Privacy setting* to the {'right' if right else 'left'}"
    return f"{move} until the ring meets the long dashes, then move {control}."


def bought(curve: Curve) -> StepText:
    """Return step 6."""
    setting, at, here = curve.setting, curve.at, curve.here
    finding, follows = _finding(curve)
    far = next((i for i, n in enumerate(at) if n >= 10 * at[here]), None)
    # Where not even the error without noise is of use, why that is says more than another number.
    if not useless(curve.without, setting):
        if far is not None:
            there = curve.private[far]
            follows = f"With {text.patients(at[far])} patients it would be {curve.unit.value(there)}."
            if useless(there, setting):
                follows += " That is still of little use."
        elif isinstance(setting.population, str) and here > 0:
            fewer = curve.unit.value(curve.private[0])
            follows = f"With only {at[0]:,.0f} of these patients it is {fewer}."
    return StepText(finding, (follows, _enough(curve)), _terms(curve), _try_bought(curve))


def _enough(curve: Curve) -> str:
    """Return from how many patients on noise adds little."""
    setting, at, relaxed = curve.setting, curve.at, curve.relaxed
    if relaxed is None:
        if curve.cost < NEARLY_FREE:
            return "That is about the crowd that it takes."  # with a few more it need not be so in every draw
        table = isinstance(setting.population, str)
        most = f"all {setting.n:,}" if table else text.patients(at[-1])
        return f"Even {most} patients do not make privacy free."
    # Round up to one digit: more is not known from a few runs, and fewer patients may not do.
    unit = 10.0 ** math.floor(math.log10(relaxed))
    since = f"From about {text.patients(math.ceil(relaxed / unit) * unit)} patients on"
    if useless(curve.free[-1], setting):
        return f"{'At any size' if relaxed <= at[0] else since}, noise hardly adds to that."
    if relaxed <= at[curve.here]:
        return "With still more patients, too, noise costs almost nothing."
    return f"{since}, privacy is almost free."


def _try_bought(curve: Curve) -> str:
    """Return a move that the numbers show to be possible."""
    if isinstance(curve.setting.population, str):
        return "move *Privacy setting* to the left, then move *Hospitals*. Does the ring move both times?"
    if useless(curve.private[-1], curve.setting):
        return "move *Patients in total* to the right. Does the ring ever pass the long dashes?"
    if curve.relaxed is not None and curve.at[0] < curve.relaxed <= curve.at[curve.here]:
        return "move *Patients in total* to the left until the lines part. Where would you stop?"
    return "move *Privacy setting* to the left, then move *Patients in total* until the lines meet again."
