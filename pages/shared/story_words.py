"""What the story says at each step, from its numbers, as a newspaper would. Plain functions, no Streamlit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dppca_core import tradeoff
from dppca_core.datasets import TABLES
from dppca_core.experiments.alliances import Alliance
from pages.shared import text
from pages.shared.story_data import (
    NEARLY_FREE,
    TOO_MUCH,
    Curve,
    Given,
    Hidden,
    Joined,
    Offer,
    Sharing,
    Weights,
    guess,
)

TITLES = (
    "Why work together at all?",
    "Why not just share the totals?",
    "What is it that we want to share?",
    "How does noise protect a patient?",
    "What does noise cost?",
    "Do more patients buy it back?",
    "Who sees what?",
    "What would we release, and at what cost?",
)
WAY_TITLES = {
    "dps_pca": "Each hospital adds its own noise",
    "dps_pca secure": "A sealed sum",
    "analyze_gauss_sparse": "One trusted place",
}
_SEES = {
    "dps_pca": "noisy numbers from each",
    "dps_pca secure": "one noisy sum",
    "analyze_gauss_sparse": "all exact totals",
}


def server_sees(way: str) -> str:
    """What reaches the server."""
    return _SEES[way]


PATTERN = ("Pattern", "measurements that rise and fall together in many patients.")
ERROR = ("Error", "how far what we find is from the truth. 0 is exact.")
GUESS = ("Blind guess", "patterns drawn by lot, without a look at any patient.")
TOTAL = ("Total", "one sum over all patients, for each pair of measurements.")
WEIGHT = ("Weight", "how much a measurement counts. 0 is not at all, 1 is in full.")
NOISE = ("Noise", "random numbers, added on purpose before anything leaves.")
SPY = ("Spy", "someone who knows all other patients and asks about this one.")
SETTING = ("Privacy setting", "how much one patient may change what leaves. Less is more private.")
SERVER = ("Server", "the computer that adds up what hospitals send.")
SEALED = ("Sealed sum", "hospitals hide their numbers from all. Only the sum can be read.")
GLOSSARY = (PATTERN, ERROR, GUESS, TOTAL, WEIGHT, NOISE, SPY, SETTING, SERVER, SEALED)

_SLOW = 1000  # measurements per patient from which the chart over patients takes seconds

# What a step's controls are called, in the story's own words.
CONTROLS = {
    "n": "Patients in total",
    "N": "Hospitals",
    "d": "Measurements per patient",
    "k": "Patterns to find",
    "shat": "Measurements kept",
    "share": "Largest hospital's share",
    "eps": "Privacy setting",
    "story.patient": "Which patient",
    "story.draw": "Draw again",
    "story.way": "How hospitals work together",
}


class Said(NamedTuple):
    """A step's words: its title, what was found, what follows, terms in plain words, what to try."""

    title: str
    finding: str
    more: tuple[str, ...]
    glosses: tuple[tuple[str, str], ...]
    try_this: str

    @property
    def sentences(self) -> str:
        """All that it says."""
        return " ".join((self.finding, *self.more))


def error(value: float) -> str:
    """An error as a reader says it."""
    return "below 0.001" if 1e-7 < value < 1e-3 else text.error(value)


def times(ratio: float) -> str:
    """2.3 times; 46 times."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{text.patients(ratio)} times"


def _patterns(of: Alliance) -> str:
    return "the pattern" if of.k == 1 else f"the {of.k} patterns"


def useless(value: float, of: Alliance) -> bool:
    """Whether an error leaves a pattern of little use."""
    return value > TOO_MUCH * guess(of)


def _blind(of: Alliance) -> str:
    return f"A blind guess has {text.short(guess(of))}."


def _why_unseen(of: Alliance) -> str:
    """Why not even all patients without noise show the pattern."""
    if _too_few_kept(of):
        return f"We keep only {of.s_hat} of {of.d} measurements here, and that is too few."
    return "There are too few patients for this, with or without privacy."


def sharing(found: Sharing) -> Said:
    """Step 1."""
    of, alone, together = found.of, found.alone.middle, found.together.middle
    count = len(of.sizes)
    if count == 1:
        finding = f"There is one hospital here, and it finds {_patterns(of)} with error {error(together)}."
        follows = "Nobody is there to join."
    elif useless(together, of):
        finding = f"Not even all {count} hospitals together see {_patterns(of)}: error {error(together)}."
        follows = _why_unseen(of)
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
        more = (follows, "The whole table counts as the truth here.", _blind(of))
    else:
        more = (follows, _blind(of))
    return Said(TITLES[0], finding, more, (PATTERN, ERROR, GUESS), _try_sharing(found))


def _too_few_kept(of: Alliance) -> bool:
    """Whether rows that count are thrown away."""
    return of.s_hat < (of.d if isinstance(of.population, str) else of.population.s)


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
    more = (seen, f"The error is {error(found.error.middle)}. {_blind(of)}")
    moves = (
        "*Measurements kept* down" if isinstance(of.population, str) else "*Patients in total* to the left"
    )
    return Said(TITLES[2], finding, more, (PATTERN, WEIGHT), f"move {moves}. Which bars go wrong first?")


def hidden(found: Hidden) -> Said:
    """Step 4."""
    budget = found.budget
    most = 100 * tradeoff.best_guess(budget.epsilon, budget.delta)
    truly = 100 * tradeoff.gaussian_guess(found.picture.mu)
    finding = (
        f"A spy reads {found.tries} noisy releases, half of them with the patient. The best guess is right "
        f"{found.right} times."
    )
    half, luck = found.tries // 2, round(math.sqrt(found.tries))  # two standard deviations of a coin
    more = [
        f"A coin is right about {half} times, give or take {luck} by luck. On average, this spy is right "
        f"{_hundred(truly)}."
    ]
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


def _share(value: float, of: Alliance) -> str:
    return f"{text.percent(min(value / guess(of), 1.0))} of a blind guess"


def _judged(found: Curve) -> tuple[str, str]:
    """What noise does to the error: what was found, and what follows from it."""
    of, now, without = found.of, found.now, found.without
    if useless(without, of):
        return (
            f"The error is {error(now)}, and even without noise it is {error(without)}.",
            _why_unseen(of),
        )
    if useless(now, of):
        share = f"That is {_share(now, of)}, and of little use."
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
        f"{more} It is {_share(now, of)}.",
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
        price = f"Even without noise the error is {error(found.free.middle)}. {_why_unseen(of)}"
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
    alone = found.errors["alone"].middle
    if seen and not lone and alone < mine and error(alone) != error(mine):
        price += " Here, one hospital alone would do better."
    return Said(
        TITLES[6],
        sees,
        (keeps, price),
        (SERVER, SEALED),
        "move *Hospitals* up. Whose bar grows, and whose does not?",
    )


_TRUST = {
    "dps_pca": "more noise",
    "dps_pca secure": "sealed sums",
    "analyze_gauss_sparse": "trust in one place",
}


def promise(of: Alliance) -> str:
    """The guarantee in odds."""
    budget = of.budget
    return text.odds(budget.epsilon, budget.delta, budget.neighbours)


def failure(of: Alliance) -> str:
    """What delta leaves open."""
    told = text.margin(of.budget.delta)
    if of.budget.delta > 1 / of.n:
        told += f" For {of.n:,} patients that is too wide."
    return told


def _released(of: Alliance) -> str:
    count = text.count(of.k, "pattern", "patterns")
    return f"{count} in {of.d} measurements of {of.n:,} patients"


def advisable(found: Offer) -> bool:
    """Whether what is released is of any use."""
    return not useless(found.weights.error.middle, found.weights.of)


def offer(found: Offer) -> Said:
    """Step 8."""
    of, mine, free = found.weights.of, found.weights.error.middle, found.free.middle
    sends = text.size(found.sent.up * found.sent.rounds)
    hospitals = text.count(len(of.sizes), "hospital", "hospitals")
    if advisable(found):
        finding = f"We would release {_released(of)}, and nothing else."
        cost = f"The cost: an error of {error(mine)}, where {error(free)} would be without noise."
        if error(mine) == error(free):
            cost = f"The cost: an error of {error(mine)}, with noise and without."
    elif useless(free, of):
        finding = f"We would not release this. Even without noise the error is {error(free)}."
        cost = f"{_why_unseen(of)} {_blind(of)}"
    else:
        finding = f"We would not release this. The error is {error(mine)}."
        cost = f"That is {_share(mine, of)}, and too much. Without noise it is {error(free)}."
    budget = of.budget
    most = 100 * tradeoff.best_guess(budget.epsilon, budget.delta)
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


def listed(settings: Mapping[str, Any], of: Alliance) -> Sequence[tuple[str, str]]:
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
