"""The sentences of the story's steps, formed from their numbers. No Streamlit here.

They are as plain as a newspaper's. For each of the eight steps one function returns its `StepText` from what
was measured, a tuple of `view`: `sharing`, `rebuilt`, `pattern`, `attack`, `cost`, `bought`, `joined` and
`decision`, in this order. A spread holds an error's quantiles over runs, and a unit says it as the share of
the pattern recovered or as an angle. An answer is of little use where its error is above a third of a
guess's.
"""

import math
from collections.abc import Sequence

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.verdicts import Gain, costs_nothing, gain
from dppca_core.privacy import Budget
from pages.learn.story import glossary, view
from pages.learn.story.glossary import StepText, useless
from pages.learn.story.units import Spread, Unit
from pages.learn.story.view import NEARLY_FREE, Curve, Decision, Joined
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.settings.catalogue import Settings

STEPS = (
    "Eight steps show why hospitals join, and what that takes.",
    "Next or an arrow key goes on; sliders change the numbers.",
    "The bold sentence answers the question above it.",
)
_SLOW = 1000  # measurements per patient from which the chart over patients takes seconds


def sharing(sharing: view.Sharing) -> StepText:
    """Return step 1: what the largest hospital alone and all together recover, both without privacy."""
    setting, unit = sharing.setting, sharing.unit
    alone, together = unit.pattern(sharing.alone), unit.value(sharing.together)
    count = len(setting.sizes)
    if count == 1:
        finding = f"There is one hospital here. It recovers {alone}."
        follows = "Nobody is there to join."
    elif useless(sharing.together, setting):
        finding = f"Even all {count} hospitals together recover {unit.pattern(sharing.together, 'only')}."
        follows = glossary.why_unseen(setting)
    elif useless(sharing.alone, setting):
        finding = f"The largest hospital alone recovers {unit.pattern(sharing.alone, 'only')}."
        follows = f"All {count} together: {together}."
    else:
        finding = f"Alone, the largest hospital recovers {alone}. All {count} together: {together}."
        follows = "Together they recover more."
        if _gain(unit, setting, sharing.together, sharing.alone) != "less":
            follows = "Hospitals this large find the pattern alone. Try 100 small ones."
    truth = ("The whole table counts as the truth here.",) if _is_table(setting) else ()
    more = (follows, *truth, glossary.a_guess(unit))
    terms = (glossary.PATTERN, glossary.recovered(unit), glossary.GUESS)
    return StepText(finding, more, terms, _try_sharing(sharing))


def _is_table(setting: CollaborationSetting) -> bool:
    """Return whether the patients are those of a real table; its name then stands for a population."""
    return isinstance(setting.population, str)


def _try_sharing(sharing: view.Sharing) -> str:
    """Return a move after which it differs whether one hospital alone sees the pattern."""
    setting, table = sharing.setting, _is_table(sharing.setting)
    hidden = useless(sharing.alone, setting)
    if table or (len(setting.sizes) == 1 and not hidden):
        control = f"*Hospitals* {'down' if hidden else 'up'}"
    else:
        control = f"*Patients in total* to the {'right' if hidden else 'left'}"
    return f"move {control}. Can one hospital see it alone then?"


def rebuilt(record: view.RebuiltRecord) -> StepText:
    """Return step 2: how much of a patient's record two exact totals give away."""
    setting, size = record.setting, max(record.setting.sizes)
    values = f"all {setting.d} values of one patient, right to {min(record.digits, 12)} digits"
    totals = "One total has the patient, the other does not. All the others cancel out."
    crowd = (
        f"So even {size:,} patients together hide nobody." if size > 1 else "Here there is not even a crowd."
    )
    finding = f"From two exact totals, an attacker works out {values}."
    move = (
        f"pick another patient, then move {'*Hospitals*' if _is_table(setting) else '*Patients in total*'}."
    )
    return StepText(finding, (totals, crowd), (glossary.TOTAL, glossary.ATTACKER), move)


def pattern(weights: view.Weights) -> StepText:
    """Return step 3: how many of the measurements that truly weigh most are found, without privacy."""
    setting, count = weights.setting, weights.counted
    share = "all" if weights.agree == count else f"{weights.agree}"
    seen = f"Of the {count} measurements that truly weigh most, we find {share}."
    if count < len(weights.rows):
        seen = f"Only {text.count(count, 'truly counts', 'truly count')}, and we find {share} of them."
    finding = "A pattern is a list of weights. It names measurements, not patients."
    unit = weights.unit
    shown = f"We recover {unit.pattern(weights.error)}. {glossary.a_guess(unit)}"
    control = "*Measurements kept* down" if _is_table(setting) else "*Patients in total* to the left"
    move = f"move {control}. Which bars go wrong first?"
    terms = (glossary.PATTERN, glossary.WEIGHT, glossary.recovered(unit), glossary.GUESS)
    return StepText(finding, (f"{seen} Nothing is hidden yet.", shown), terms, move)


def attack(attack: view.AttackPicture) -> StepText:
    """Return step 4: how often an attacker guesses right from noisy results, and what chance alone gives."""
    picture = attack.picture
    finding = text.luck(picture.right_guesses(), picture.tries)
    half = "The patient is in half of these results."
    move = "draw again, then move *Privacy loss ε* to the right."
    terms = (glossary.NOISE, glossary.ATTACKER, glossary.LOSS)
    return StepText(finding, (half, promise(attack.budget)), terms, move)


def _finding(curve: Curve) -> tuple[str, str]:
    """Return two sentences for steps 5 and 6: what noise does to the answer, and what follows from it.

    `only` is the word of answers of little use, as in "we recover only 12 % of the pattern".
    """
    setting, unit, trust = curve.setting, curve.unit, text.JOINING[curve.trust]
    now, little = (unit.pattern(curve.now, only) for only in ("", "only"))
    without = unit.value(curve.without)
    if useless(curve.without, setting):
        finding = f"{trust}, we recover {little}. No privacy: {without}."
        return finding, glossary.why_unseen(setting)
    if useless(curve.now, setting):
        follows = f"{glossary.a_guess(unit)} That is of little use."
        if glossary.too_few_kept(setting):
            return f"Here the answer fails: we recover {little}.", glossary.why_unseen(setting)
        # Noise alone cannot explain a failure where an answer with more noise, or fewer patients, is of use.
        if any(curve.useful[: curve.here]):
            return f"Here the answer fails: we recover {little}.", f"{follows} Noise alone is not why."
        return f"Here privacy costs too much: we recover {little}.", follows
    if curve.cost < NEARLY_FREE:
        # Give the number without privacy only where it reads differently from the private one.
        costs = text.NO_COST
        if curve.cost:
            same = unit.value(curve.now) == without
            costs = "Noise costs hardly anything here." if same else f"No privacy: {without}."
        return f"{trust}, privacy is almost free: we recover {now}.", costs
    return f"{trust}, we recover {now}.", f"Noise costs {text.percent(curve.cost)} of the pattern."


def _kept_too_few(curve: Curve) -> bool:
    """Return whether an answer fails because methods keep fewer measurements than count."""
    return useless(curve.now, curve.setting) and glossary.too_few_kept(curve.setting)


def _terms(curve: Curve) -> tuple[tuple[str, str], ...]:
    """Return the glossary's entries, each a term and its meaning, for steps 5 and 6."""
    trusted = (glossary.SEALED,) if curve.trust == "secure aggregation" else ()
    return (glossary.recovered(curve.unit), glossary.NOISE, *trusted, glossary.GUESS)


def cost(curve: Curve) -> StepText:
    """Return step 5: what noise costs at the current privacy loss, and at which the answer is of use."""
    finding, follows = _finding(curve)
    return StepText(finding, (follows, _useful(curve)), _terms(curve), _try_cost(curve))


def _useful(curve: Curve) -> str:
    """Return at which privacy losses the answer is of use; more noise need not always mean more error."""
    useful = [text.number(setting) for setting, use in zip(curve.values, curve.useful, strict=True) if use]
    if not useful:
        return "No privacy loss up to 10 gives a useful answer."
    if all(curve.useful):
        return "Every privacy loss in this chart still gives a useful result."
    if all(curve.useful[-len(useful) :]):  # all settings from the first useful one on
        return f"Stricter than {useful[0]}, noise hides the pattern."
    if len(useful) == 1:
        return f"Only a privacy loss of {useful[0]} gives a useful answer here."
    return f"Useful answers lie between privacy losses of {useful[0]} and {useful[-1]}."


def _try_cost(curve: Curve) -> str:
    """Return a move, possible as the chart shows, to where the answer begins or ceases to be of use.

    The ring marks the current setting, the long dashes where an answer is of little use.
    """
    useful, here = curve.useful, curve.here
    table = isinstance(curve.setting.population, str)
    control = "*Patterns to find*" if table else "*Measurements per patient*"
    if not any(useful):
        return f"move {control} to the left. Does any privacy loss become useful?"
    if all(useful):
        more = "move *Privacy loss ε* to the left, for more privacy"
        return f"{more}. Does the ring near the long dashes? Then move {control}."
    # From a useful answer go to where it is not, from a useless one to where it is.
    right = all(useful[:here]) if useful[here] else any(useful[here:])
    move = f"move *Privacy loss ε* to the {'right' if right else 'left'}"
    return f"{move} until the ring meets the long dashes, then move {control}."


def bought(curve: Curve) -> StepText:
    """Return step 6: what noise costs with these patients, and how many make privacy almost free."""
    setting, at, here = curve.setting, curve.values, curve.here
    finding, follows = _finding(curve)
    far = next((i for i, n in enumerate(at) if n >= 10 * at[here]), None)  # ten times the patients or more
    # Where noise is not why the answer fails, the reason says more than another number.
    if not useless(curve.without, setting) and not _kept_too_few(curve):
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
    """Return from how many patients on noise costs hardly anything, or that no number drawn is enough."""
    setting, at, relaxed = curve.setting, curve.values, curve.relaxed
    if _kept_too_few(curve):
        return "More patients do not change that."
    if relaxed is None:
        if curve.cost < NEARLY_FREE:
            return "That is about the crowd that it takes."  # with a few more it need not be so in every draw
        table = isinstance(setting.population, str)
        most = f"all {setting.n:,}" if table else text.patients(at[-1])
        return f"Even {most} patients do not make privacy free."
    # Round up to one digit: more is not known from a few runs, and fewer patients may not do.
    unit = 10.0 ** math.floor(math.log10(relaxed))
    since = f"From about {text.patients(math.ceil(relaxed / unit) * unit)} patients on"
    if relaxed <= at[curve.here]:
        return "With still more patients, too, noise costs almost nothing."
    return f"{since}, privacy is almost free."


def _try_bought(curve: Curve) -> str:
    """Return a move that the numbers show to be possible; the chart's ring marks the current patients."""
    if isinstance(curve.setting.population, str):
        return "move *Privacy loss ε* to the left, then move *Hospitals*. Does the ring move both times?"
    if useless(curve.private[-1], curve.setting):
        return "move *Patients in total* to the right. Does the ring ever pass the long dashes?"
    if curve.relaxed is not None and curve.values[0] < curve.relaxed <= curve.values[curve.here]:
        return "move *Patients in total* to the left until the lines part. Where would you stop?"
    return "move *Privacy loss ε* to the left, then move *Patients in total* until the lines meet again."


def joined(joined: Joined) -> StepText:
    """Return step 7: what the server sees, what each hospital sends, and what the choice of trust costs."""
    setting, trust = joined.setting, joined.trust
    one_hospital = len(setting.sizes) == 1
    where = "the hospital" if one_hospital else "the largest hospital"
    rows = f"The patients' rows, {text.size(joined.kept)} in {where}, stay at home."
    unit, chosen = joined.unit, joined.chosen
    best = min(joined.by_trust, key=lambda name: joined.by_trust[name].error.middle)  # a trust
    least = joined.by_trust[best].error
    price = f"We recover {unit.pattern(chosen)}."
    if useless(joined.free, setting):
        price = f"Even with no privacy we recover {unit.pattern(joined.free, 'only')}."
        price += f" {glossary.why_unseen(setting)}"
    elif useless(least, setting):
        price = "At this privacy loss, no trust gives a useful answer."
        if glossary.too_few_kept(setting):
            price = f"No trust gives a useful answer. {glossary.why_unseen(setting)}"
    elif one_hospital:
        price += " One hospital has nobody else to trust."
    elif chosen.lost - least.lost < NEARLY_FREE or unit.value(chosen) == unit.value(least):
        price += "" if trust == "central" else " A trusted server would do no better."
    else:
        price += f" {text.JOINING[best]}: {unit.value(least)}."
    if not useless(least, setting) and not one_hospital:
        price += _better_alone(joined)
    sees, sent = glossary.SERVER_SEES[trust], text.size(joined.sent[trust])
    finding = f"The server sees {sees}. Each hospital sends {sent}."
    move = "move *Hospitals* up. Whose bar grows, and whose does not?"
    return StepText(finding, (rows, price), (glossary.SERVER, glossary.SEALED), move)


def _better_alone(joined: Joined) -> str:
    """Return for which purpose the largest hospital does better alone; empty where it does for neither."""
    for where, alone in (("For our own use", joined.in_house), ("To publish", joined.published.error)):
        if _compared(joined, alone) == "more":
            return f" {where}, one hospital alone would do better: {joined.unit.value(alone)}."
    return ""


def _gain(unit: Unit, setting: CollaborationSetting, together: Spread, alone: Spread) -> Gain:
    """Return whether joining errs "less" or "more" than staying alone, or is "level" with it.

    It is level too where both read the same in the unit, or differ by less than a board cares. Where both
    hardly beat a guess it is "neither".
    """
    if unit.value(together) == unit.value(alone):
        return "level"
    return gain(together.shares, alone.shares, 100 * setting.k / setting.d, setting.k)


def _compared(joined: Joined, alone: Spread) -> Gain:
    """Return `_gain` of joining under the chosen trust over the largest hospital alone."""
    return _gain(joined.unit, joined.setting, joined.chosen, alone)


def promise(budget: Budget) -> str:
    """Return the guarantee in words: how often an attacker is right at most."""
    return text.odds(budget.epsilon, budget.delta)


def failure(setting: CollaborationSetting) -> str:
    """Return that the promise may fail with a chance delta, and a safer chance if delta is above 1 in n."""
    delta = setting.budget.delta
    return f"{text.margin(delta)} {phrases.delta_too_large(delta, setting.n)}".strip()


def is_advised(joined: Joined) -> bool:
    """Return whether the release is of use, and no hospital does better alone, in-house or in public."""
    setting = joined.setting
    published = _compared(joined, joined.published.error)
    if useless(joined.chosen, setting) or published == "more":
        return False
    if len(setting.sizes) == 1:  # a server that only adds noise must bring something
        return joined.trust == "central" or published == "less"
    return _compared(joined, joined.in_house) == "less"


def _decide(joined: Joined) -> tuple[str, str]:
    """Return two sentences: what we would do, and what is recovered, on which that rests.

    A hospital can use its own result in-house without noise; what it publishes has noise, as what is joined.
    """
    setting, unit, advised = joined.setting, joined.unit, is_advised(joined)
    spreads = (joined.chosen, joined.in_house, joined.published.error, joined.free)
    together, in_house, published, free = (unit.value(spread) for spread in spreads)
    if useless(joined.chosen, setting):
        return _refuse(joined)
    count = text.count(setting.k, "pattern", "patterns")
    what = f"{count} in {setting.d} measurements of {setting.n:,} patients"
    release = f"would release {what}, and nothing else."
    recovers = f"We recover {unit.pattern(joined.chosen)}."
    if len(setting.sizes) == 1:
        no_noise = f"For our own use, no noise is needed: {in_house}."
        if not advised:
            instead = f"To publish, do without a server: {published} against {together}, both with privacy."
            return instead, no_noise
        return f"To publish, we {release}", f"{recovers} {no_noise}"
    if together == in_house == published:  # as text: a board sees no difference
        finding = f"Alone or together, with privacy or without, we recover {unit.pattern(joined.chosen)}."
        return finding, "For our own use or to publish, joining makes no difference."
    without = f"Together, no privacy: {free}."
    if costs_nothing(joined.chosen.shares[1], joined.free.shares):
        without = text.NO_COST
    if advised:
        beside = f"The largest hospital alone: {in_house} for its own use, {published} to publish."
        return f"We {release}", f"{recovers} {beside} {without}"
    # Where the features kept are too few, a hospital alone may do better by keeping more.
    keep = " and keep more measurements" if glossary.too_few_kept(setting) else ""
    inside = _advise(joined, joined.in_house, "together with privacy", keep)
    outside = _advise(joined, joined.published.error, "together")
    return f"For our own use, {inside}.", f"To publish, {outside}, both with privacy. {without}"


def _advise(joined: Joined, alone: Spread, together: str, keep: str = "") -> str:
    """Return a clause on whether to join or stay alone, with what is recovered by each.

    alone: what the largest hospital recovers. together: words after what the joined recover. keep: words
    after "stay alone".
    """
    both, lone = f"{joined.unit.value(joined.chosen)} {together}", joined.unit.value(alone)
    return {
        "less": f"join: {both} against {lone} alone",
        "more": f"stay alone{keep}: {lone} against {both}",
    }.get(_compared(joined, alone), f"there is no difference: {lone} alone, {both}")


def _refuse(joined: Joined) -> tuple[str, str]:
    """Return why a useless answer is not released, and for what the largest hospital should stay alone."""
    setting, unit = joined.setting, joined.unit
    finding = f"We would not release this: it recovers {unit.pattern(joined.chosen, 'only')}."
    if useless(joined.free, setting):
        without = f"No privacy: {unit.value(joined.free)}."
        return finding, f"{without} {glossary.why_unseen(setting)} {glossary.a_guess(unit)}"
    why = glossary.why_unseen(setting) if glossary.too_few_kept(setting) else glossary.a_guess(unit)
    cost = f"{why} No privacy: {unit.value(joined.free)}."
    # Joining is of no use, but staying alone may be.
    lone = {"For our own use": joined.in_house, "To publish, with privacy": joined.published.error}
    for purpose, alone in lone.items():
        if len(setting.sizes) > 1 and _compared(joined, alone) == "more":
            cost += f" {purpose}, stay alone: {unit.value(alone)}."
    return finding, f"{cost}{_other_trust(joined)}"


def _other_trust(joined: Joined) -> str:
    """Return under which trust the answer would be of use, the least trust first; empty where under none."""
    several = len(joined.setting.sizes) > 1
    for trust, each in joined.by_trust.items() if several else ():
        if not useless(each.error, joined.setting):
            return f" {text.JOINING[trust]}, together: {joined.unit.value(each.error)}."
    return ""


def decision(decision: Decision) -> StepText:
    """Return step 8: what we would release or do instead, what it recovers, and what it promises."""
    joined = decision.joined
    setting, sent = joined.setting, text.size(joined.sent[joined.trust])
    count = len(setting.sizes)
    finding, cost = _decide(joined)
    traffic = f"Each of {count:,} hospitals sends {sent}." if count > 1 else f"The hospital sends {sent}."
    more = [cost, f"{promise(setting.budget)} {traffic}"]
    if setting.budget.delta > 1 / setting.n:
        more.append(failure(setting))
    move = "find the most private setting that you would still release, if there is one. Print the summary."
    terms = (glossary.recovered(joined.unit), glossary.NOISE, glossary.ATTACKER, glossary.GUESS)
    return StepText(finding, tuple(more), terms, move)


def opening(settings: Settings) -> str:
    """Return the line beside the steps: what the story shows, and whose patients these are."""
    return f"Sharing a pattern, not a patient, shown on {described(settings).partition(',')[0]}."


def waiting(settings: Settings) -> str:
    """Return what stands there while a step is measured; step 6 takes seconds with many measurements."""
    if settings["story.step"] == 6 and settings["data"] not in TABLES and settings["d"] >= _SLOW:
        return f"Measuring crowds of up to a billion patients, {settings['d']:,} values each …"
    return text.MEASURING


def described(settings: Settings) -> str:
    """Return whose patients these are: a real table's, or simulated ones."""
    table = TABLES.get(settings["data"])
    return f"a real table, {table.title}" if table else "made-up patients, drawn by the computer"


def listed(settings: Settings, setting: CollaborationSetting) -> Sequence[tuple[str, str]]:
    """Return the settings as pairs of a label and a value in words, for the summary and the report."""
    return (
        ("Patients", f"{setting.n:,}"),
        ("Hospitals", f"{len(setting.sizes)}; largest: {max(setting.sizes):,}"),
        ("Measurements", f"{setting.d}"),
        ("Patterns", str(setting.k)),
        ("Privacy loss ε", text.number(setting.budget.epsilon)),
        ("Failure chance", text.one_in(setting.budget.delta)),
        ("Whom the hospitals trust", text.TRUST_TITLES[settings["trust"]].lower()),
    )
