"""The sentences of the privacy page on delta, rounds and audits, from its numbers. No Streamlit here."""

import math

import pandas as pd

from dppca_core.accounting import gaussian
from dppca_core.accounting.compare import ACCOUNTINGS
from dppca_core.auditing import outright_publication, tradeoff_curves
from dppca_core.auditing.lower_bound import LowerBound
from dppca_core.experiments.demonstrations.attacks import AttackDraws
from dppca_core.privacy import Budget
from pages.learn.privacy.attack_text import at, figures, share
from pages.learn.privacy.view import ROUNDS, Accounted, Attack
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES

QUANTITIES = {"noise": "noise σ in each round", "charged": "ε charged"}


def failure(n: int, budget: Budget) -> str:
    """Return what delta lets happen among n patients."""
    published = outright_publication.published(n, budget.delta)
    expected, delta = published.expected, budget.delta
    few = text.number(float(f"{expected:.2g}")) if expected < 100 else f"{expected:,.0f}"
    close = f" That is no protection: keep δ well below 1 in {n:,}."
    return (
        f"**A program that publishes each record in the clear with probability δ = {text.number(delta)} and "
        f"says nothing else keeps this part of the promise.** Of {n:,} patients it is expected to publish "
        f"{few}; the chance of at least one is {share(published.some)}.{close if delta > 1 / n else ''}"
    )


def beyond(attack: Attack, budget: Budget) -> str:
    """Return how Gaussian noise uses delta instead."""
    _, misses = tradeoff_curves.touching(attack.mu, budget.epsilon)
    delta = gaussian.delta_of(1 / attack.mu, budget.epsilon)
    return (
        "Gaussian noise publishes no record. It uses δ differently: with a chance of "
        f"{figures(1 - misses)} a release favours the patient by a likelihood ratio above e^ε. The excess "
        f"over e^ε adds up to {figures(delta)}; δ = {text.number(budget.delta)} is allowed."
    )


def rounds(costs: Accounted, budget: Budget) -> str:
    """Return which accounting needs how much more noise, and where advanced composition beats adding up."""
    order = sorted((name for name in ACCOUNTINGS if name != "exact"), key=costs.ratio)
    others = "; ".join(f"{ACCOUNTINGS[name].title} {figures(costs.ratio(name))} times" for name in order)
    needs = (
        f"**At {at(budget)}, {text.count(costs.steps, 'round needs', 'rounds each need')} noise of "
        f"{figures(costs.std)}, counted exactly. Other ways of counting need more to be as safe: {others}.**"
    )
    noise, basic = costs.noise, ACCOUNTINGS["basic"].title.lower()
    better = [t for t in ROUNDS if noise["advanced"][t] < noise["basic"][t]]
    since = f"from {better[0]} rounds on" if better else f"in none of up to {ROUNDS[-1]} rounds"
    return f"{needs} Advanced composition, made for many rounds, needs less than {basic} {since}."


def moves(costs: Accounted, columns: int) -> str:
    """Return what the noise is calibrated to."""
    return (
        "σ is on the scale of sums over a hospital's patients. One patient moves a message of "
        f"{text.count(columns, 'column', 'columns')} by at most {'√2' if costs.sensitivity > 1 else '1'}; "
        "Ge et al. count 2."
    )


def charges(costs: Accounted) -> pd.DataFrame:
    """Return the noise that each accounting needs, and what it charges for the exact noise."""
    noise, charged = costs.noise.loc[costs.steps], costs.charged.loc[costs.steps]
    spent, asked = QUANTITIES.values()
    columns = {spent: noise, "times the exact": noise / costs.std, f"{asked} for the exact noise": charged}
    shown = pd.DataFrame(columns).map(figures)
    shown.insert(0, "counted", [ACCOUNTINGS[str(name)].title for name in shown.index])
    return shown


def audited(honest: LowerBound, broken: LowerBound | None, bug: str, draws: AttackDraws, count: int) -> str:
    """Return what an audit of so many draws proves of the program as it is, and with the bug."""
    budget, cases = draws.attacked.budget, round(1 / honest.alpha)
    promise = f"the promise of {budget.epsilon:g}"
    rate = f"If a program keeps its promise, such an audit accuses it in at most 1 of {cases} cases."
    knows = "" if honest.mu is None else ", which knows that the noise is Gaussian,"
    shows = f"From {count:,} releases with the patient and as many without, the audit{knows} shows that ε is"
    first = f"**{shows} at least {figures(honest.epsilon)}, which does not contradict {promise}.**"
    if honest.epsilon > budget.epsilon:
        first = (
            f"**{shows} at least {figures(honest.epsilon)}: {promise} is refuted without any planted "
            f"mistake.** As printed, the noise truly gives {figures(draws.case.epsilon)}."
        )
    if broken is None:
        return f"{first} {rate}"
    mu = draws.drawn(bug).mu
    true = gaussian.epsilon_of(1 / mu, budget.delta) if mu < math.inf else math.inf
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
