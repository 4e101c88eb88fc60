"""The sentences of the story's two curves, error against privacy and against patients. No Streamlit here."""

import math

from pages.learn.story import glossary
from pages.learn.story.glossary import StepText, error, useless
from pages.learn.story.view import NEARLY_FREE, Curve
from pages.shared import text


def _finding(curve: Curve) -> tuple[str, str]:
    """Return what noise does to the error, and what follows from it."""
    setting, now, without = curve.setting, curve.now, curve.without
    alike, share = error(now) == error(without), glossary.share_of_guess(now, setting)
    if useless(without, setting):
        sentence = f"The error is {error(now)}, and even without noise it is {error(without)}."
        return sentence, glossary.why_unseen(setting)
    if useless(now, setting):
        follows = f"That is {share}, and of little use."
        if any(curve.useful[: curve.here]):  # with more noise for its size, and yet better
            return f"Here the answer fails: the error is {error(now)}.", f"{follows} Noise alone is not why."
        return f"Here privacy costs too much: the error is {error(now)}.", follows
    both = ", with noise and without." if alike else f". Without noise it is {error(without)}."
    if now < NEARLY_FREE * without:
        finding = f"Here privacy is almost free: error {error(now)}{both}"
        return finding, "What is left does not come from noise."
    follows = "Noise makes nearly all of it."
    if without > 1e-6:
        follows = f"Noise makes it {glossary.times(now / without)} as large."
    return f"The error is {error(now)}{both}", f"{follows} It is {share}."


def cost(curve: Curve) -> StepText:
    """Return step 5."""
    finding, follows = _finding(curve)
    terms = (glossary.ERROR, glossary.GUESS, glossary.NOISE, glossary.SETTING)
    return StepText(finding, (follows, _useful(curve)), terms, _try_cost(curve))


def _useful(curve: Curve) -> str:
    """Return at which privacy settings the answer is of use; more noise need not always mean more error."""
    useful = [text.number(setting) for setting, use in zip(curve.at, curve.useful, strict=True) if use]
    if not useful:
        return "No setting up to 10 gives a useful answer."
    if all(curve.useful):
        return "Every setting drawn here gives a useful answer."
    if all(curve.useful[-len(useful) :]):
        return f"Below a setting of about {useful[0]}, noise drowns the pattern."
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
        return f"move *Privacy setting* to the left. Does the ring near the long dashes? Then move {control}."
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
            there = curve.private[far].middle
            follows = f"With {text.patients(at[far])} patients the error would be {error(there)}."
            if useless(there, setting):
                follows += " That is still of little use."
        elif isinstance(setting.population, str) and here > 0:
            fewer = error(curve.private[0].middle)
            follows = f"With only {at[0]:,.0f} of these patients the error is {fewer}."
    return StepText(finding, (follows, _enough(curve)), (glossary.ERROR, glossary.NOISE), _try_bought(curve))


def _enough(curve: Curve) -> str:
    """Return from how many patients on noise adds little."""
    setting, at, relaxed = curve.setting, curve.at, curve.relaxed
    if relaxed is None:
        if curve.now < NEARLY_FREE * curve.without:
            return "That is about the crowd that it takes."  # with a few more it need not be so in every draw
        table = isinstance(setting.population, str)
        most = f"all {setting.n:,}" if table else text.patients(at[-1])
        return f"Even {most} patients do not make privacy free."
    # Round up to one digit: more is not known from a few runs, and fewer patients may not do.
    unit = 10.0 ** math.floor(math.log10(relaxed))
    since = f"From about {text.patients(math.ceil(relaxed / unit) * unit)} patients on"
    if useless(curve.free[-1].middle, setting):
        return f"{'At any size' if relaxed <= at[0] else since}, noise hardly adds to that."
    if relaxed <= at[curve.here]:
        return "More patients cost nothing in privacy."
    return f"{since}, privacy is almost free."


def _try_bought(curve: Curve) -> str:
    """Return a move that the numbers show to be possible."""
    if isinstance(curve.setting.population, str):
        return "move *Privacy setting* to the left, then move *Hospitals*. Does the ring move both times?"
    if useless(curve.private[-1].middle, curve.setting):
        return "move *Patients in total* to the right. Does the ring ever come below the long dashes?"
    if curve.relaxed is not None and curve.at[0] < curve.relaxed <= curve.at[curve.here]:
        return "move *Patients in total* to the left until the lines part. Where would you stop?"
    return "move *Privacy setting* to the left, then move *Patients in total* until the ring is low again."
