"""Say what the attacker of the privacy page reads and concludes, and what audits show.

The promise is (ε, δ). An attacker knows all patients but one, reads one number off each release, and says
whether it is of the data with that patient. The attack's `mu` is how far the patient moves that number, in
standard deviations of the noise. Some methods add the noise printed in their papers, which may truly keep
another ε than the promised one.
"""

import math
from pathlib import Path

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.auditing import membership
from dppca_core.auditing.lower_bound import LowerBound
from dppca_core.experiments.demonstrations.attacks import AttackDraws
from dppca_core.experiments.demonstrations.neighbours import PATIENTS, Picture
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from pages.learn.privacy.model import LEVEL, Attack
from pages.learn.privacy.sentences import figures, promise_text, share
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Privacy"
NOBODYS_DATA = "Patients are drawn at random, or are a worst case: nobody's data."
STEPS = (
    "Each point is a patient; the two sets differ in one.",
    "Move privacy loss ε to the right: the attacker is right more often.",
    "A random guess is right 50 times in 100: then nothing was learned.",
)
INTRODUCTION = "**What can an attacker learn about one patient?** Here is the best possible attempt."
THREE_ODDS = "How often the attacker is right: promised, best possible, measured"
FORMULAS = Path(__file__).with_name("formulas.md").read_text(encoding="utf-8")

PAPERS = (
    "Trade-off curves: Wasserman & Zhou (JASA 2010); Dong, Roth & Su (JRSS-B 2022). "
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017). Calibration: Balle & "
    "Wang (ICML 2018). Composition: Dwork & Roth (2014), Theorems 3.16 and 3.20; Bun & Steinke "
    "(2016); Canonne, Kamath & Steinke (NeurIPS 2020); Dong, Roth & Su, Corollary 3.3; Ge et al. "
    "(AISTATS 2018), Lemma A.1. Audit: Jagielski, Ullman & Oprea (NeurIPS 2020); Nasr et al. "
    "(USENIX Security 2023). Intervals: Clopper & Pearson (1934)."
)


def kept_epsilon(draws: AttackDraws) -> float:
    """Return the epsilon that the noise truly keeps.

    It may differ from the one asked for where the noise is that printed in a paper. Up to a relative 1e-6 the
    difference comes from root finding, and the one asked for is returned.
    """
    asked, true = draws.attacked.budget.epsilon, draws.case.epsilon
    return asked if abs(true / asked - 1) <= 1e-6 else true


def headline(draws: AttackDraws) -> str:
    budget, kept = draws.attacked.budget, kept_epsilon(draws)
    noise = f"The noise of {METHODS[draws.attacked.method].title}"
    asked, true = text.number(budget.epsilon), figures(kept)
    odds = text.odds(kept, budget.delta)
    if kept > budget.epsilon:
        return f"{odds} {noise} does not keep its promise of {asked}: it truly gives {true}."
    return odds if kept == budget.epsilon else f"{odds} {noise} is set for {asked} and truly gives {true}."


def guarantee(draws: AttackDraws) -> str:
    budget = draws.attacked.budget
    return f"{promise_text(budget)}; {text.RELATIONS[budget.neighbours]}. {headline(draws)}"


def three_odds(attack: Attack, draws: AttackDraws) -> str:
    budget, rates, kept = draws.attacked.budget, attack.measured, kept_epsilon(draws)
    promise = f"ε = {text.number(float(f'{kept:.3g}'))}, δ = {text.number(budget.delta)}"
    method, drawn = METHODS[draws.attacked.method].title, f"{2 * attack.drawn:,} releases drawn here"
    # A span is the interval of one error rate, its lower end first. From even odds, the fewest errors of both
    # kinds make the most right guesses.
    most, least = (1 - sum(ends) / 2 for ends in zip(rates.false_alarm_span, rates.miss_span, strict=True))
    promised = _of_100(TradeOff.allowed(kept, budget.delta).best_guess())
    best = _of_100(attack.best.best_guess())
    measured, low, high = map(_of_100, (rates.right, least, most))
    return (
        "| | right of 100 | what it is |\n|---|---|---|\n"
        f"| **Promised** | at most {promised} | What {promise} allows, for any method and attack. |\n"
        f"| **Best possible** | {best} | The best test against the noise of {method}, "
        f"μ = {text.short(attack.mu)}, by formula. |\n"
        f"| **Measured** | {measured} ({low} to {high}) | The best of all tests with "
        f"{100 * attack.alarms:g} % false alarms, on {drawn}. |\n\nA random guess is right 50 of 100 times."
    )


def _of_100(chance: float) -> str:
    percent = 100 * chance  # never rounded to 100
    return f"{percent:.{1 if percent < 99.9 else 4}f}"


def releases_title(budget: Budget) -> str:
    replaced = budget.neighbours == "replace-one"
    return "One patient replaced by another" if replaced else "One patient more or less"


def sides(budget: Budget) -> tuple[str, str]:
    first, second = text.neighbour_names(budget.neighbours == "replace-one")
    return first.lower(), second.lower()


def experiment(picture: Picture, budget: Budget) -> str:
    change = "left out" if picture.instead is None else "replaced by another patient"
    return (
        f"**Two data sets of {PATIENTS} patients are alike, except that the patient is {change}.** From "
        f"each, {METHODS['analyze_gauss'].title} publishes a noisy result {len(picture.with_patient)} times "
        f"at {promise_text(budget)}; its main direction is drawn. The attacker knows all other patients, and "
        f"says “{sides(budget)[0]}” to the right of the line at {picture.limit:.2f}. "
        f"{text.luck(picture.right_guesses(), picture.tries)} Chance stays within these limits in "
        "19 of 20 tries."
    )


def frames(picture: Picture) -> list[dict[str, str]]:
    count, before, frames = len(picture.with_patient), 0, []
    for index in range(1, count + 1):
        right = picture.right_guesses(index)
        here = ("wrong both times", "right once", "right both times")[right - before]
        notes = f"Result {index}: {here}. Right so far: {right} of {2 * index}."
        alt_text = f"Two data sets that differ in one patient, {index} of {count} results. {notes}"
        frames.append({"at": f"{index} of {count}", "notes": notes, "sentence": "", "alt_text": alt_text})
        before = right
    return frames


def chosen(attack: Attack, budget: Budget) -> str:
    promised = TradeOff.allowed(budget.epsilon, budget.delta)
    with_patient, other = sides(budget)
    return (
        f"What the attacker reads averages 0 {other} and {text.short(attack.mu)} {with_patient}, in units of "
        "the noise. From even odds a line half-way between is right most often, as in the picture above. "
        f"Here the attacker moves the line to {attack.limit + 0.0:.2f}, for {100 * attack.alarms:g} % false "
        f"alarms. Then every test misses {share(attack.misses)} or more. The promise alone demands "
        f"{share(float(promised.misses(attack.alarms)))}."
    )


def measured(attack: Attack) -> str:
    rates, silent = attack.measured, attack.silent  # of releases with noise, and without
    curve = "The exact curve passes through these intervals."
    if not membership.on_curve(rates, attack.mu):
        curve = "The exact curve misses these intervals, as chance alone makes it in at most 1 of 20 attacks."
    # From even odds the attacker is wrong by the mean of both error rates: here of their upper limits.
    least = 1 - (silent.false_alarm_span[1] + silent.miss_span[1]) / 2
    clear = f"{_measured(silent.right)} of the time"
    if silent.right == 1:
        clear = f"in every test, which shows at least {100 * least:.1f} % of the time"
    return (
        f"**Measured, {attack.drawn:,} times on each data set:** "
        f"{_measured(rates.false_alarms, rates.false_alarm_span)} false alarms, "
        f"{_measured(rates.misses, rates.miss_span)} misses. {curve} "
        f"This attack was right {_measured(rates.right)} of the time; a random guess, 50 %. Without noise "
        f"the attacker is right {clear}. Both intervals hold at once in {round(20 * LEVEL)} of 20 attacks."
    )


def _measured(share: float, span: tuple[float, float] | None = None) -> str:
    interval = "" if span is None else f" ({100 * span[0]:.1f} to {100 * span[1]:.1f} %)"
    return f"{100 * share:.1f} %{interval}"


def attacked(method: str, settings: Settings) -> str:
    count = text.count(settings["iterations"], "message", "messages")
    what = {
        "dps_pca": f"{'all' if settings['iterations'] > 1 else 'the'} {count} of one hospital in a run",
        "dp_oja": "the message of the batch that the patient enters",
        "two_stage": "both stages of one run, with the features named that tell most",
        "two_stage_own_noise": "both stages of one hospital, with the features named that tell most",
        "ldp_pca": "one patient's own message",
    }.get(method, "the noisy second moment")
    return (
        f"Seen by the attacker: {what}, drawn by the method's own release step for the two patients who "
        "change it most. All other data are known."
    )


def audited(honest: LowerBound, broken: LowerBound | None, bug: str, draws: AttackDraws, count: int) -> str:
    budget, cases = draws.attacked.budget, round(1 / honest.alpha)
    promise = f"the promise of {budget.epsilon:g}"
    rate = f"If a program keeps its promise, such an audit accuses it in at most 1 of {cases} cases."
    knows = "" if honest.mu is None else ", which knows that the noise is Gaussian,"  # mu only then
    shows = f"From {count:,} releases of each data set, the audit{knows} shows that ε is"
    first = f"**{shows} at least {figures(honest.epsilon)}, which does not contradict {promise}.**"
    if honest.epsilon > budget.epsilon:
        first = (
            f"**{shows} at least {figures(honest.epsilon)}: {promise} is refuted without any planted "
            f"mistake.** As printed, the noise truly gives {figures(draws.case.epsilon)}."
        )
    if broken is None:
        return f"{first} {rate}"
    # The epsilon that the noise with the mistake truly gives; without any noise it is infinite.
    mu = draws.drawn(bug).mu
    true = TradeOff.gaussian(mu).epsilon(budget.delta) if mu < math.inf else math.inf
    given = f"The true value is {'no finite number' if true == math.inf else figures(true)}"
    mistake = CHOICES["audit.bug"].text(bug)
    second = f"With the planted mistake, {mistake}, it shows at least {figures(broken.epsilon)}"
    if broken.epsilon > budget.epsilon:
        second = f"**{second}: the promise is refuted.** {given}."
    elif true <= budget.epsilon:
        second += f". {given}: the noise is so large that even so the promise is kept."
    else:
        second += f". {given}, which so few releases do not show: draw more."
    return f"{first} {second} {rate}"


def about(method: str) -> str:
    attacked, drawn = METHODS[method], METHODS["analyze_gauss"]
    return (
        f"Attacked: {attacked.title}, {attacked.reference}; the picture's releases are those of "
        f"{drawn.title}, {drawn.reference}. The picture's patients are drawn at random, the others are a "
        "worst case: nobody's data."
    )


def no_bug(reason: str) -> str:
    return f"Nothing is planted: {reason}." if reason else ""


def try_this() -> str:
    bug, epsilon = (CHOICES[key].label for key in ("audit.bug", "epsilon"))
    return (
        f"**Try this:** set *{bug}* to noise half as large, and see whether the audit notices from releases "
        f"alone. Move *{epsilon}* to the left until it no longer does, then draw more releases."
    )
