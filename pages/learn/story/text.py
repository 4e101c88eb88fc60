"""The sentences of the story's steps, formed from their numbers. No Streamlit here.

They are as plain as a newspaper's. Those of steps 5 and 6, which read a curve, are in `curve_text`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dppca_core.auditing import tradeoff_curves
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.privacy import Budget
from pages.learn.story import glossary, view
from pages.learn.story.glossary import StepText, error, useless
from pages.learn.story.view import NEARLY_FREE, Decision, Joined, Spread
from pages.shared import text
from pages.shared.text.verdicts import Gain, gain

STEPS = (
    "Eight steps show why hospitals join, and what that takes.",
    "Next or an arrow key goes on; sliders change the numbers.",
    "The bold sentence answers the question above it.",
)
_SLOW = 1000  # measurements per patient from which the chart over patients takes seconds
_CERTAIN = 99.5  # times in 100 from which a spy is as good as never wrong


def sharing(sharing: view.Sharing) -> StepText:
    """Return step 1."""
    setting, alone, together = sharing.setting, error(sharing.alone.middle), error(sharing.together.middle)
    count = len(setting.sizes)
    patterns = "the pattern" if setting.k == 1 else f"the {setting.k} patterns"
    if count == 1:
        finding = f"There is one hospital here, and it finds {patterns} with error {together}."
        follows = "Nobody is there to join."
    elif useless(sharing.together.middle, setting):
        finding = f"Not even all {count} hospitals together see {patterns}: error {together}."
        follows = glossary.why_unseen(setting)
    elif useless(sharing.alone.middle, setting):
        finding = f"The largest hospital cannot see it alone: error {alone}."
        follows = f"All {count} together can: error {together}."
    else:
        finding = f"Alone, the largest hospital has error {alone}. All {count} together: {together}."
        follows = "Each sees it by itself, but together they see it more clearly."
        if alone == together or sharing.alone.middle < NEARLY_FREE * sharing.together.middle:
            follows = "Working together hardly helps here."
    truth = ("The whole table counts as the truth here.",) if _is_table(setting) else ()
    more = (follows, *truth, glossary.blind_guess(setting))
    return StepText(finding, more, (glossary.PATTERN, glossary.ERROR, glossary.GUESS), _try_sharing(sharing))


def _is_table(setting: CollaborationSetting) -> bool:
    return isinstance(setting.population, str)


def _try_sharing(sharing: view.Sharing) -> str:
    setting, table = sharing.setting, _is_table(sharing.setting)
    hidden = useless(sharing.alone.middle, setting)
    if table and useless(sharing.together.middle, setting):
        return "go to step 3, move *Measurements kept* up, and come back."
    if table or (len(setting.sizes) == 1 and not hidden):
        control = f"*Hospitals* {'down' if hidden else 'up'}"
    else:
        control = f"*Patients in total* to the {'right' if hidden else 'left'}"
    return f"move {control}. Can one hospital see it alone then?"


def rebuilt(record: view.RebuiltRecord) -> StepText:
    """Return step 2."""
    setting, size = record.setting, max(record.setting.sizes)
    values = f"all {setting.d} values of one patient, right to {min(record.digits, 12)} digits"
    totals = "One total has the patient, the other does not. All the others cancel out."
    crowd = f"So a crowd of {size:,} hides nobody." if size > 1 else "Here there is not even a crowd."
    finding = f"From two exact totals, a spy works out {values}."
    move = (
        f"pick another patient, then move {'*Hospitals*' if _is_table(setting) else '*Patients in total*'}."
    )
    return StepText(finding, (totals, crowd), (glossary.TOTAL, glossary.SPY), move)


def pattern(weights: view.Weights) -> StepText:
    """Return step 3."""
    setting, count = weights.setting, weights.counted
    share = "all" if weights.agree == count else f"{weights.agree}"
    seen = f"Of the {count} that truly weigh most, we find {share}."
    if count < len(weights.rows):
        seen = f"Only {text.count(count, 'truly counts', 'truly count')}, and we find {share} of them."
    finding = "A pattern is a list of weights. It names measurements, not patients."
    errors = f"The error is {error(weights.error.middle)}. {glossary.blind_guess(setting)}"
    control = "*Measurements kept* down" if _is_table(setting) else "*Patients in total* to the left"
    move = f"move {control}. Which bars go wrong first?"
    more = (f"{seen} Nothing is hidden yet.", errors)
    return StepText(finding, more, (glossary.PATTERN, glossary.WEIGHT), move)


def attack(attack: view.SpyAttack) -> StepText:
    """Return step 4."""
    average = tradeoff_curves.gaussian_guess(attack.picture.mu)
    half, luck = attack.tries // 2, round(math.sqrt(attack.tries))  # two standard deviations of a coin
    coin = f"A coin is right about {half} times, give or take {luck} by luck."
    if attack.right <= half:
        coin = f"Luck was against the spy this time. {coin}"
    more = (f"{coin} On average, this spy is right {_hundred(average)}.", _no_more_than(attack.budget))
    releases = f"A spy reads {attack.tries} noisy releases, half of them with the patient."
    finding = f"{releases} The best guess is right {attack.right} times."
    move = "draw again, then move *Privacy setting* to the right."
    return StepText(finding, more, (glossary.NOISE, glossary.SPY, glossary.SETTING), move)


def _no_more_than(budget: Budget) -> str:
    """Return how often a spy is right at most."""
    most = tradeoff_curves.best_guess(budget.epsilon, budget.delta)
    if 100 * most >= _CERTAIN:
        return "There is next to no promise: a spy about one patient may be right almost every time."
    promise = f"The promise: a spy about any one patient is right at most {_hundred(most)}."
    return f"{promise} That is next to no promise." if most >= 0.95 else promise


def _hundred(chance: float) -> str:
    """Return a chance as 73 times in 100."""
    percent = 100 * chance
    if percent >= _CERTAIN:
        return "almost every time"
    return f"{percent:.0f} times in 100" if percent >= 50.5 else f"{percent:.3g} times in 100"


def joined(joined: Joined) -> StepText:
    """Return step 7."""
    setting, way = joined.setting, joined.way
    one_hospital = len(setting.sizes) == 1
    where = "the hospital" if one_hospital else "the largest hospital"
    rows = f"The patients' rows, {text.size(joined.kept)} in {where}, stay at home."
    errors = {name: used.error.middle for name, used in joined.ways.items()}
    best, chosen = min(errors, key=lambda name: errors[name]), errors[way]
    price = f"The error is {error(chosen)}."
    if useless(joined.free.middle, setting):
        price = f"Even without noise the error is {error(joined.free.middle)}. {glossary.why_unseen(setting)}"
    elif useless(errors[best], setting):
        price = "At this privacy setting, no way gives a useful answer."
    elif one_hospital:
        price += " One hospital has nobody else to trust."
    elif best == way or errors[best] > chosen / NEARLY_FREE or error(errors[best]) == error(chosen):
        price += " No way here is clearly better."
    else:
        price += f" “{glossary.WAY_TITLES[best]}” has {error(errors[best])}."
    if not useless(errors[best], setting) and not one_hospital:
        price += _better_alone(joined)
    sees, sent = glossary.SERVER_SEES[way], text.size(joined.sent[way])
    finding = f"The server sees {sees}. Each hospital sends {sent}."
    move = "move *Hospitals* up. Whose bar grows, and whose does not?"
    return StepText(finding, (rows, price), (glossary.SERVER, glossary.SEALED), move)


def _better_alone(joined: Joined) -> str:
    """Return where the largest hospital does better by itself than joined; empty where it does not."""
    for where, alone in (("In-house", joined.in_house.error), ("Here", joined.published.error)):
        if _gain(joined, alone) == "more":
            return f" {where}, one hospital alone would do better: {error(alone.middle)}."
    return ""


def _gain(joined: Joined, alone: Spread) -> Gain:
    return gain(joined.chosen, alone, view.guess(joined.setting))


def promise(setting: CollaborationSetting) -> str:
    """Return the guarantee in odds."""
    budget = setting.budget
    return text.odds(budget.epsilon, budget.delta, budget.neighbours)


def failure(setting: CollaborationSetting) -> str:
    """Return what delta leaves open."""
    margin = text.margin(setting.budget.delta)
    if setting.budget.delta <= 1 / setting.n:
        return margin
    return f"{margin} For {setting.n:,} patients that is too wide."


def is_advised(joined: Joined) -> bool:
    """Return whether the release is of use, and no hospital does better alone, in-house or in public."""
    setting = joined.setting
    if useless(joined.chosen.middle, setting) or _gain(joined, joined.published.error) == "more":
        return False
    return len(setting.sizes) == 1 or _gain(joined, joined.in_house.error) == "less"


def _decide(joined: Joined) -> tuple[str, str]:
    """Return what we would do, and the errors on which that rests."""
    setting, advised = joined.setting, is_advised(joined)
    spreads = (joined.chosen, joined.in_house.error, joined.published.error, joined.free)
    together, in_house, published, free = (error(spread.middle) for spread in spreads)
    if useless(joined.chosen.middle, setting):
        return _refuse(joined)
    count = text.count(setting.k, "pattern", "patterns")
    what = f"{count} in {setting.d} measurements of {setting.n:,} patients"
    release = f"would release {what}, and nothing else."
    if len(setting.sizes) == 1:
        no_noise = f"For use in-house, no noise is needed: without it, the error is {in_house}."
        if not advised:
            instead = f"To publish, do without a server: {published} against {together}, both with privacy."
            return instead, no_noise
        return f"To publish, we {release}", f"The error is {together}. {no_noise}"
    if together == in_house == published:
        finding = f"Alone or together, the error is {together}, with noise and without."
        return finding, "In-house or to publish, joining hardly helps."
    without = f"Together without noise: {free}."
    if advised:
        beside = f"The largest hospital alone has {in_house} in-house, and {published} if it publishes."
        return f"We {release}", f"The error is {together}. {beside} {without}"
    dense = joined.in_house.method == "pca" and glossary.too_few_kept(setting)
    keep = " and keep all measurements" if dense else ""
    inside = _advise(joined, joined.in_house.error, "together with privacy", keep)
    outside = _advise(joined, joined.published.error, "together")
    return f"For use in-house, {inside}.", f"To publish, {outside}, both with privacy. {without}"


def _advise(joined: Joined, alone: Spread, together: str, keep: str = "") -> str:
    """Return whether to join, with the errors together and of the largest hospital alone."""
    both, lone = f"{error(joined.chosen.middle)} {together}", f"{error(alone.middle)}"
    return {
        "less": f"join: error {both} against {lone} alone",
        "more": f"stay alone{keep}: error {lone} against {both}",
    }.get(_gain(joined, alone), f"joining changes little: error {lone} alone, {both}")


def _refuse(joined: Joined) -> tuple[str, str]:
    """Return why a useless answer is not released, and what the largest hospital has instead."""
    setting, chosen, free = joined.setting, joined.chosen.middle, joined.free.middle
    if useless(free, setting):
        finding = f"We would not release this. Even without noise the error is {error(free)}."
        return finding, f"{glossary.why_unseen(setting)} {glossary.blind_guess(setting)}"
    share = glossary.share_of_guess(chosen, setting)
    cost = f"That is {share}, and too much. Without noise it is {error(free)}."
    lone = {"For use in-house": joined.in_house, "To publish, with privacy": joined.published}
    for purpose, alone in lone.items():
        if len(setting.sizes) > 1 and not useless(alone.error.middle, setting):
            cost += f" {purpose}, stay alone: {error(alone.error.middle)}."
    return f"We would not release this. The error is {error(chosen)}.", cost


def decision(decision: Decision) -> StepText:
    """Return step 8."""
    joined = decision.joined
    setting, sent = joined.setting, text.size(joined.sent[joined.way])
    count = len(setting.sizes)
    finding, cost = _decide(joined)
    traffic = f"Each of {count:,} hospitals sends {sent}." if count > 1 else f"The hospital sends {sent}."
    more = [cost, f"{_no_more_than(setting.budget)} {traffic}"]
    if setting.budget.delta > 1 / setting.n:
        more.append(failure(setting))
    move = "find the most private setting that you would still release, if there is one. Print the summary."
    return StepText(finding, tuple(more), (glossary.ERROR, glossary.NOISE, glossary.SPY), move)


def opening(settings: Mapping[str, Any]) -> str:
    """Return what the page shows."""
    return f"Sharing a pattern, not a patient, shown on {described(settings).partition(',')[0]}."


def waiting(settings: Mapping[str, Any]) -> str:
    """Return what stands there while a step is measured; many measurements take a while on one of them."""
    if settings["story.step"] == 6 and settings["data"] not in TABLES and settings["d"] >= _SLOW:
        return f"Measuring crowds of up to a billion patients, {settings['d']:,} values each …"
    return text.MEASURING


def described(settings: Mapping[str, Any]) -> str:
    """Return whose patients these are."""
    table = TABLES.get(settings["data"])
    return f"a real table, {table.title}" if table else "made-up patients, drawn by the computer"


def listed(settings: Mapping[str, Any], setting: CollaborationSetting) -> Sequence[tuple[str, str]]:
    """Return the settings in words, for paper."""
    return (
        ("Patients", f"{setting.n:,}"),
        ("Hospitals", f"{len(setting.sizes)}; largest: {max(setting.sizes):,}"),
        ("Measurements", f"{setting.d}"),
        ("Patterns", str(setting.k)),
        ("Privacy setting (ε)", text.number(setting.budget.epsilon)),
        ("Chance of failure (δ)", text.number(setting.budget.delta)),
        ("Way of working", glossary.WAY_TITLES[settings["story.way"]]),
    )
