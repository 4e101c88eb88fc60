"""What the story says at each step, from its numbers, as a newspaper would. Plain functions, no Streamlit.

Steps 5 and 6, which read a curve, are in `story_curve_words`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dppca_core.auditing import tradeoff_curves
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.learn.story.glossary import (
    ERROR,
    GUESS,
    NOISE,
    PATTERN,
    SEALED,
    SERVER,
    SETTING,
    SPY,
    TITLES,
    TOTAL,
    WAY_TITLES,
    WEIGHT,
    Said,
    blind,
    error,
    share_of_guess,
    too_few_kept,
    useless,
    why_unseen,
)
from pages.learn.story.view import (
    NEARLY_FREE,
    Given,
    Hidden,
    Joined,
    Offer,
    Sharing,
    Spread,
    Weights,
    guess,
)
from pages.shared import text
from pages.shared.text.verdicts import Gain, gain

_SLOW = 1000  # measurements per patient from which the chart over patients takes seconds


def _patterns(of: CollaborationSetting) -> str:
    return "the pattern" if of.k == 1 else f"the {of.k} patterns"


def sharing(found: Sharing) -> Said:
    """Step 1."""
    of, alone, together = found.of, found.alone.middle, found.together.middle
    count = len(of.sizes)
    if count == 1:
        finding = f"There is one hospital here, and it finds {_patterns(of)} with error {error(together)}."
        follows = "Nobody is there to join."
    elif useless(together, of):
        finding = f"Not even all {count} hospitals together see {_patterns(of)}: error {error(together)}."
        follows = why_unseen(of)
    elif useless(alone, of):
        finding = f"The largest hospital cannot see it alone: error {error(alone)}."
        follows = f"All {count} together can: error {error(together)}."
    elif error(alone) == error(together):
        finding = f"Alone or together, the error is {error(together)}."
        follows = "The largest hospital sees it by itself. Working together hardly helps here."
    else:
        finding = (
            f"Alone, the largest hospital has error {error(alone)}. All {count} together: {error(together)}."
        )
        follows = "Each sees it by itself, but together they see it more clearly."
        if alone < NEARLY_FREE * together:
            follows = "Working together hardly helps here."
    if isinstance(of.population, str):
        more = (follows, "The whole table counts as the truth here.", blind(of))
    else:
        more = (follows, blind(of))
    return Said(TITLES[0], finding, more, (PATTERN, ERROR, GUESS), _try_sharing(found))


def _try_sharing(found: Sharing) -> str:
    of, table = found.of, isinstance(found.of.population, str)
    if useless(found.together.middle, of):
        if table:
            return "go to step 3, move *Measurements kept* up, and come back."
        return "move *Patients in total* to the right. Does that help?"
    if len(of.sizes) == 1:
        return "move *Hospitals* up. Can the largest still see it alone?"
    if useless(found.alone.middle, of):
        moves = "*Hospitals* down" if table else "*Patients in total* to the right"
        return f"move {moves}. Can one hospital see it alone then?"
    moves = "*Hospitals* up" if table else "*Patients in total* to the left"
    return f"move {moves}. Can one hospital still see it alone?"


def given(found: Given) -> Said:
    """Step 2."""
    of = found.of
    size = max(of.sizes)
    if found.digits >= 3:
        finding = (
            f"From two exact totals, a spy works out all {of.d} values of one patient, right to "
            f"{min(found.digits, 12)} digits."
        )
    else:
        finding = (
            f"From two exact totals, a spy works out the values of one patient to {found.digits} digits."
        )
    more = (
        "One total has the patient, the other does not. All the others cancel out.",
        f"So a crowd of {size:,} hides nobody." if size > 1 else "Here there is not even a crowd.",
    )
    moves = "*Hospitals*" if isinstance(of.population, str) else "*Patients in total*"
    return Said(TITLES[1], finding, more, (TOTAL, SPY), f"pick another patient, then move {moves}.")


def pattern(found: Weights) -> Said:
    """Step 3."""
    of, count = found.of, found.counted
    finding = "A pattern is a list of weights. It names measurements, not patients."
    share = "all" if found.agree == count else f"{found.agree}"
    seen = f"Of the {count} that truly weigh most, we find {share}. Nothing is hidden yet."
    if count < len(found.rows):
        seen = f"Only {count} truly count, and we find {share} of them. Nothing is hidden yet."
    if count == 1:
        seen = f"We find the one that truly weighs most: {'yes' if found.agree else 'no'}."
    more = (seen, f"The error is {error(found.error.middle)}. {blind(of)}")
    moves = (
        "*Measurements kept* down" if isinstance(of.population, str) else "*Patients in total* to the left"
    )
    return Said(TITLES[2], finding, more, (PATTERN, WEIGHT), f"move {moves}. Which bars go wrong first?")


def hidden(found: Hidden) -> Said:
    """Step 4."""
    budget = found.budget
    most = 100 * tradeoff_curves.best_guess(budget.epsilon, budget.delta)
    truly = 100 * tradeoff_curves.gaussian_guess(found.picture.mu)
    finding = (
        f"A spy reads {found.tries} noisy releases, half of them with the patient. The best guess is right "
        f"{found.right} times."
    )
    half, luck = found.tries // 2, round(math.sqrt(found.tries))  # two standard deviations of a coin
    more = [
        f"A coin is right about {half} times, give or take {luck} by luck. On average, this spy is right "
        f"{_hundred(truly)}."
    ]
    if found.right <= half:
        more[0] = f"Luck was against the spy this time. {more[0]}"
    if most < _CERTAIN:
        more.append(f"We promise that no spy is right more than {_hundred(most)}.")
    else:
        more.append("We promise next to nothing: a spy may be right almost every time.")
    if 95 <= most < _CERTAIN:
        more.append("That is next to no promise.")
    glosses = (NOISE, SPY, (SETTING[0], SETTING[1]))
    return Said(
        TITLES[3], finding, tuple(more), glosses, "draw again, then move *Privacy setting* to the right."
    )


_CERTAIN = 99.5  # times in 100, from which a spy is as good as never wrong


def _hundred(percent: float) -> str:
    """73 times in 100."""
    if percent >= _CERTAIN:
        return "almost every time"
    return f"{percent:.0f} times in 100" if percent >= 50.5 else f"{percent:.3g} times in 100"


def together(found: Joined, way: str) -> Said:
    """Step 7."""
    of, mine = found.of, found.errors[way].middle
    traffic = found.sent[way]
    sends = text.size(traffic.up * traffic.rounds)
    sees = {
        "dps_pca": f"The server sees noisy numbers. Each hospital sends {sends}.",
        "dps_pca secure": f"The server sees only a noisy sum. Each hospital sends {sends}.",
        "analyze_gauss_sparse": f"One place sees each hospital's exact totals. Each sends {sends}.",
    }[way]
    lone = len(of.sizes) == 1
    where = "the hospital" if lone else "the largest hospital"
    keeps = f"The patients' rows, {text.size(found.kept)} in {where}, stay at home."
    rivals = {name: found.errors[name].middle for name in WAY_TITLES}
    best = min(rivals, key=lambda name: rivals[name])
    if useless(found.free.middle, of):
        price = f"Even without noise the error is {error(found.free.middle)}. {why_unseen(of)}"
    elif useless(min(rivals.values()), of):
        price = "At this privacy setting, no way gives a useful answer."
    elif lone:
        price = f"The error is {error(mine)}. One hospital has nobody else to trust."
    elif best == way or rivals[best] > mine / NEARLY_FREE or error(rivals[best]) == error(mine):
        price = f"The error is {error(mine)}. No way here is clearly better."
    else:
        rival = f"“{WAY_TITLES[best]}” has {error(rivals[best])}, but asks for {_TRUST[best]}."
        price = f"The error is {error(mine)}. {rival}"
    seen = not useless(min(rivals.values()), of)
    if seen and not lone:
        price += _better_alone(found, way)
    return Said(
        TITLES[6],
        sees,
        (keeps, price),
        (SERVER, SEALED),
        "move *Hospitals* up. Whose bar grows, and whose does not?",
    )


def _better_alone(found: Joined, way: str) -> str:
    """Say where the largest hospital does better by itself than by this way; empty where it does not."""
    mine, of = found.errors[way], found.of
    if _gain(mine, found.in_house.error, of) == "more":
        return f" In-house, one hospital alone would do better: {error(found.in_house.error.middle)}."
    if _gain(mine, found.published.error, of) == "more":
        return " Here, one hospital alone would do better."
    return ""


def _gain(joined: Spread, alone: Spread, of: CollaborationSetting) -> Gain:
    """Return what joining gains over staying alone."""
    return gain(joined, alone, guess(of))


_TRUST = {
    "dps_pca": "more noise",
    "dps_pca secure": "sealed sums",
    "analyze_gauss_sparse": "trust in one place",
}


def promise(of: CollaborationSetting) -> str:
    """The guarantee in odds."""
    budget = of.budget
    return text.odds(budget.epsilon, budget.delta, budget.neighbours)


def failure(of: CollaborationSetting) -> str:
    """What delta leaves open."""
    told = text.margin(of.budget.delta)
    if of.budget.delta > 1 / of.n:
        told += f" For {of.n:,} patients that is too wide."
    return told


def _released(of: CollaborationSetting) -> str:
    count = text.count(of.k, "pattern", "patterns")
    return f"{count} in {of.d} measurements of {of.n:,} patients"


def advised(found: Offer) -> bool:
    """Return whether the release is of use, and no hospital does better alone, in-house or in public."""
    of, mine = found.weights.of, found.weights.error
    if useless(mine.middle, of) or _gain(mine, found.published.error, of) == "more":
        return False
    return len(of.sizes) == 1 or _gain(mine, found.in_house.error, of) == "less"


def _decision(found: Offer) -> tuple[str, str]:
    """Return the decision of step 8, and the errors on which it rests."""
    of, alone = found.weights.of, (found.in_house.error, found.published.error)
    mine, own, noisy, free = (error(each.middle) for each in (found.weights.error, *alone, found.free))
    if useless(found.weights.error.middle, of):
        return _refusal(found)
    if len(of.sizes) == 1:
        return _decision_of_one(found)
    if mine == own == noisy:
        finding = f"Alone or together, the error is {mine}, with noise and without."
        return finding, "In-house or to publish, joining hardly helps."
    together = f"Together, the error is {mine}, with noise and without."
    if mine != free:
        together = f"Together without noise: {free}."
    if advised(found):
        beside = f"The largest hospital alone has {own} in-house, and {noisy} if it publishes."
        costs = f"{beside} {together}" if mine == free else f"The error is {mine}. {beside} {together}"
        return f"We would release {_released(of)}, and nothing else.", costs
    keep = " and keep all measurements" if found.in_house.way == "pca" and too_few_kept(of) else ""
    in_house, public = (_gain(found.weights.error, each, of) for each in alone)
    finding = {
        "less": f"For use in-house, join: error {mine} together with privacy against {own} alone.",
        "more": f"For use in-house, stay alone{keep}: error {own} against {mine} together with privacy.",
    }.get(
        in_house,
        f"For use in-house, joining changes little: error {own} alone, {mine} together with privacy.",
    )
    publish = {
        "less": f"To publish, join: {mine} together against {noisy} alone, both with privacy.",
        "more": f"To publish, stay alone: {noisy} alone against {mine} together, both with privacy.",
    }.get(public, f"To publish, joining changes little: {noisy} alone, {mine} together, both with privacy.")
    return finding, f"{publish} {together}"


def _decision_of_one(found: Offer) -> tuple[str, str]:
    """Return the decision of a hospital that has nobody to join: it may only choose how to publish."""
    mine, own, noisy = (
        error(each.middle) for each in (found.weights.error, found.in_house.error, found.published.error)
    )
    in_house = f"For use in-house, no noise is needed: without it, the error is {own}."
    if not advised(found):
        return f"To publish, do without a server: {noisy} against {mine}, both with privacy.", in_house
    costs = (
        f"The error is {mine}, with noise and without." if mine == own else f"The error is {mine}. {in_house}"
    )
    return f"To publish, we would release {_released(found.weights.of)}, and nothing else.", costs


def _refusal(found: Offer) -> tuple[str, str]:
    """Return why a useless answer is not released, and what the largest hospital has instead."""
    of, mine, free = found.weights.of, found.weights.error.middle, found.free.middle
    if useless(free, of):
        finding = f"We would not release this. Even without noise the error is {error(free)}."
        return finding, f"{why_unseen(of)} {blind(of)}"
    cost = f"That is {share_of_guess(mine, of)}, and too much. Without noise it is {error(free)}."
    if len(of.sizes) > 1 and not useless(found.in_house.error.middle, of):
        cost += f" For use in-house, stay alone: {error(found.in_house.error.middle)}."
    if len(of.sizes) > 1 and not useless(found.published.error.middle, of):
        cost += f" To publish, stay alone: {error(found.published.error.middle)}, with privacy."
    return f"We would not release this. The error is {error(mine)}.", cost


def offer(found: Offer) -> Said:
    """Step 8."""
    of = found.weights.of
    sends = text.size(found.sent.up * found.sent.rounds)
    hospitals = text.count(len(of.sizes), "hospital", "hospitals")
    finding, cost = _decision(found)
    budget = of.budget
    most = 100 * tradeoff_curves.best_guess(budget.epsilon, budget.delta)
    guard = f"The promise: a spy about any one patient is right at most {_hundred(most)}."
    if most >= _CERTAIN:
        guard = "There is next to no promise: a spy about one patient may be right almost every time."
    traffic = f"Each of {hospitals} sends {sends}." if len(of.sizes) > 1 else f"The hospital sends {sends}."
    more = [cost, f"{guard} {traffic}"]
    if budget.delta > 1 / of.n:
        more.append(failure(of))
    return Said(
        TITLES[7],
        finding,
        tuple(more),
        (ERROR, NOISE, SPY),
        "find the most private setting that you would still release, if there is one. Print the summary.",
    )


def opening(settings: Mapping[str, Any]) -> str:
    """What the page shows."""
    whose = "a real table" if settings["data"] in TABLES else "made-up patients"
    return f"Sharing a pattern, not a patient, shown on {whose}."


def waiting(settings: Mapping[str, Any]) -> str:
    """While a step is measured; so many measurements for each patient take a while on one of them."""
    if settings["story.step"] == 6 and settings["data"] not in TABLES and settings["d"] >= _SLOW:
        return f"Measuring crowds of up to a billion patients, {settings['d']:,} values each …"
    return "Measuring …"


def described(settings: Mapping[str, Any]) -> str:
    """Whose patients these are."""
    table = TABLES.get(settings["data"])
    return f"a real table, {table.title}" if table else "made-up patients, drawn by the computer"


def listed(settings: Mapping[str, Any], of: CollaborationSetting) -> Sequence[tuple[str, str]]:
    """The settings in words, for paper."""
    return (
        ("Patients", f"{of.n:,}"),
        ("Hospitals", f"{len(of.sizes)}; largest: {max(of.sizes):,}"),
        ("Measurements", f"{of.d}"),
        ("Patterns", str(of.k)),
        ("Privacy setting (ε)", text.number(of.budget.epsilon)),
        ("Chance of failure (δ)", text.number(of.budget.delta)),
        ("Way of working", WAY_TITLES[settings["story.way"]]),
    )
