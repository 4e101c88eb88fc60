"""What the story says of its two curves, error against privacy and against patients, from their numbers."""

from __future__ import annotations

import math

from pages.learn.story.glossary import (
    ERROR,
    GUESS,
    NOISE,
    SETTING,
    TITLES,
    Said,
    error,
    share_of_guess,
    times,
    useless,
    why_unseen,
)
from pages.learn.story.view import NEARLY_FREE, Curve
from pages.shared import text


def _judged(found: Curve) -> tuple[str, str]:
    """What noise does to the error: what was found, and what follows from it."""
    of, now, without = found.of, found.now, found.without
    if useless(without, of):
        return (
            f"The error is {error(now)}, and even without noise it is {error(without)}.",
            why_unseen(of),
        )
    if useless(now, of):
        share = f"That is {share_of_guess(now, of)}, and of little use."
        if any(found.useful[: found.here]):  # with more noise for its size, and yet better
            return f"Here the answer fails: the error is {error(now)}.", f"{share} Noise alone is not why."
        return f"Here privacy costs too much: the error is {error(now)}.", share
    if now < NEARLY_FREE * without:
        both = f"{error(now)}, and {error(without)} without noise"
        if error(now) == error(without):
            both = f"{error(now)}, with noise and without"
        return f"Here privacy is almost free: error {both}.", "What is left does not come from noise."
    more = "Noise makes nearly all of it."
    if without > 1e-6:
        more = f"Noise makes it {times(now / without)} as large."
    both = f"{error(now)}. Without noise it is {error(without)}."
    if error(now) == error(without):
        both = f"{error(now)}, with noise and without."
    return (
        f"The error is {both}",
        f"{more} It is {share_of_guess(now, of)}.",
    )


def cost(found: Curve) -> Said:
    """Step 5."""
    finding, follows = _judged(found)
    return Said(
        TITLES[4], finding, (follows, _turns(found)), (ERROR, GUESS, NOISE, SETTING), _try_cost(found)
    )


def _turns(found: Curve) -> str:
    """From which privacy setting on the answer is of use. More noise need not mean more error everywhere."""
    useful, places = found.useful, [text.number(at) for at in found.at]
    if not any(useful):
        return "No setting up to 10 gives a useful answer."
    first = useful.index(True)
    if not all(useful[first:]):
        last = len(useful) - 1 - useful[::-1].index(True)
        if first == last:
            return f"Only a setting of {places[first]} gives a useful answer here."
        return f"Useful answers lie between settings of {places[first]} and {places[last]}."
    if first == 0:
        return "Every setting drawn here gives a useful answer."
    return f"Below a setting of about {places[first]}, noise drowns the pattern."


def _try_cost(found: Curve) -> str:
    """A move that the chart shows to be possible."""
    useful, here = found.useful, found.here
    moves = "*Patterns to find*" if isinstance(found.of.population, str) else "*Measurements per patient*"
    if not any(useful):
        return f"move {moves} to the left. Does any setting become useful?"
    if all(useful):
        return (
            f"move *Privacy setting* to the left. Does the ring come near the long dashes? Then move {moves}."
        )
    if useful[here]:
        way = "right" if all(useful[:here]) else "left"
    else:
        way = "right" if any(useful[here:]) else "left"
    return f"move *Privacy setting* to the {way} until the ring meets the long dashes, then move {moves}."


def bought(found: Curve) -> Said:
    """Step 6."""
    of, at, here = found.of, found.at, found.here
    fixed = isinstance(of.population, str)
    finding, follows = _judged(found)
    far = next((i for i, n in enumerate(at) if n >= 10 * at[here]), None)
    if useless(found.without, of):
        pass  # why nothing is seen says more than another number
    elif far is not None:
        follows = (
            f"With {text.patients(at[far])} patients the error would be {error(found.private[far].middle)}."
        )
        if useless(found.private[far].middle, of):
            follows += " That is still of little use."
    elif fixed and here > 0:
        less = found.private[0].middle
        follows = f"With only {at[0]:,.0f} of these patients the error is {error(less)}."
    return Said(TITLES[5], finding, (follows, _enough(found)), (ERROR, NOISE), _try_bought(found))


def _enough(found: Curve) -> str:
    """From how many patients on noise adds little."""
    of, at, free = found.of, found.at, found.relaxed
    if free is None and found.now < NEARLY_FREE * found.without:
        return "That is about the crowd that it takes."  # just so: with a few more it is not so in every draw
    if free is None:
        most = f"all {of.n:,}" if isinstance(of.population, str) else text.patients(at[-1])
        return f"Even {most} patients do not make privacy free."
    if useless(found.free[-1].middle, of):
        since = "At any size" if free <= at[0] else f"From about {text.patients(_round(free))} patients on"
        return f"{since}, noise hardly adds to that."
    if free <= at[found.here]:
        return "More patients cost nothing in privacy."
    return f"From about {text.patients(_round(free))} patients on, privacy is almost free."


def _round(value: float) -> float:
    """Up to one digit: more is not known from a few runs, and fewer patients may not do."""
    unit = 10.0 ** math.floor(math.log10(value))
    return math.ceil(value / unit) * unit


def _try_bought(found: Curve) -> str:
    """A move that the numbers show to be possible."""
    of, free = found.of, found.relaxed
    if isinstance(of.population, str):
        return "move *Privacy setting* to the left, then move *Hospitals*. Does the ring move both times?"
    if useless(found.private[-1].middle, of):
        return "move *Patients in total* to the right. Does the ring ever come below the long dashes?"
    if free is not None and found.at[0] < free <= found.at[found.here]:
        return "move *Patients in total* to the left until the lines part. Where would you stop?"
    moves = "then move *Patients in total* until the ring is low again"
    return f"move *Privacy setting* to the left, {moves}."
