"""What the privacy page says of delta, several rounds and audits, from its numbers. No Streamlit here."""

from __future__ import annotations

import pandas as pd

from dppca_core.accounting import gaussian
from dppca_core.accounting.compare import ACCOUNTINGS
from dppca_core.auditing import outright_publication, tradeoff_curves
from dppca_core.auditing.cases.planted import LONG_ROW
from dppca_core.auditing.lower_bound import LowerBound
from dppca_core.privacy import Budget
from pages.learn.privacy.attack_text import at, figures, share
from pages.learn.privacy.view import ROUNDS, Accounted, Attack
from pages.shared import text


def failure(n: int, budget: Budget, plain: bool) -> str:
    """What delta lets happen among n patients."""
    told = outright_publication.published(n, budget.delta)
    chance = text.one_in(budget.delta) if plain else text.number(budget.delta)
    name = f"a chance of {chance}" if plain else f"probability δ = {chance}"
    few = text.number(float(f"{told.expected:.2g}")) if told.expected < 100 else f"{told.expected:,.0f}"
    close = f" That is no protection: keep {'this chance' if plain else 'δ'} well below 1 in {n:,}."
    return (
        f"**A program that publishes each record outright with {name} and says nothing else keeps this "
        f"part of the promise.** Of {n:,} patients it is expected to publish {few}; the chance of at "
        f"least one is {share(told.some)}.{close if told.expected >= 0.1 else ''}"
    )


def beyond(found: Attack, budget: Budget) -> str:
    """How the Gaussian noise uses delta instead."""
    _, misses = tradeoff_curves.touching(found.mu, budget.epsilon)
    truly = gaussian.delta_of(1 / found.mu, budget.epsilon)
    return (
        "Gaussian noise publishes no record. It uses δ otherwise: with a chance of "
        f"{figures(1 - misses)} a release speaks more strongly for the patient than e^ε to one, and "
        f"what is beyond e^ε adds up to {figures(truly)}, of δ = {text.number(budget.delta)} allowed."
    )


def accounting(name: str, plain: bool) -> str:
    """An accounting's name on screen."""
    if not plain:
        return ACCOUNTINGS[name].title
    return {
        "printed": "as printed in the paper",
        "basic": "simply adding up",
        "advanced": "advanced composition",
        "zcdp": "zCDP",
        "exact": "exact",
    }[name]


def rounds(found: Accounted, budget: Budget, plain: bool) -> str:
    """Which accounting needs how much more noise, and where advanced composition beats adding up."""
    order = sorted((name for name in ACCOUNTINGS if name != "exact"), key=found.ratio)
    first, *others = ((_in_sentence(name, plain), figures(found.ratio(name))) for name in order)
    asked = f"{first[0]} takes {first[1]} times as much, {', '.join(' '.join(pair) for pair in others)}"
    count = text.count(found.steps, "round", "rounds")
    said = (
        f"**{count} at {at(budget, plain)} {'need' if found.steps > 1 else 'needs'} noise of "
        f"{figures(found.std)}{' in each' if found.steps > 1 else ''}, counted exactly. To be as safe, "
        f"{asked}.**"
    )
    noise = found.noise
    better = [t for t in ROUNDS if noise["advanced"][t] < noise["basic"][t]]
    basic = _in_sentence("basic", plain)
    if found.steps in better:
        return f"{said} Advanced composition needs less than {basic} here."
    if not better:
        return f"{said} Up to {ROUNDS[-1]} rounds, advanced composition needs more than {basic}."
    return (
        f"{said} Advanced composition, made for many rounds, needs more than {basic} here; "
        f"less in {better[0]} rounds{'' if better[-1] == better[0] else ' or more'}."
    )


def moves(found: Accounted, columns: int) -> str:
    """What the noise is calibrated to."""
    by = "√2" if found.sensitivity > 1 else "1"
    return (
        f"σ is on the scale of sums over a hospital's patients. One patient moves a message of "
        f"{text.count(columns, 'column', 'columns')} by at most {by}; Ge et al. count 2."
    )


def _in_sentence(name: str, plain: bool) -> str:
    title = accounting(name, plain)
    if name == "printed":
        return "the printed formula"
    return title if plain or name == "zcdp" else title[:1].lower() + title[1:]


def charges(found: Accounted, budget: Budget, plain: bool) -> pd.DataFrame:
    """Noise needed, against the exact, and what the exact noise is said to cost."""
    names = list(ACCOUNTINGS)
    symbol, cost = ("noise in each round", "setting charged") if plain else ("σ in each round", "ε charged")
    return pd.DataFrame(
        {
            "counted": [accounting(name, plain) for name in names],
            symbol: [figures(float(found.noise[name][found.steps])) for name in names],
            "times the exact": [figures(found.ratio(name)) for name in names],
            f"{cost} for the exact noise": [
                figures(float(found.charged[name][found.steps])) for name in names
            ],
        }
    )


def audited(
    honest: LowerBound,
    broken: LowerBound | None,
    kind: str,
    moved: float,
    truly: float,
    budget: Budget,
    draws: int,
) -> str:
    """What the audit proves of the program as it is, and with the bug. moved: mu with the bug."""
    promised = f"{budget.epsilon:g}"
    one_in = round(1 / honest.alpha)
    rate = f"Such an audit accuses a program that keeps its promise in at most 1 of {one_in} cases."
    seen = f"From {draws:,} releases with the patient and as many without, the audit shows"
    proves = f"{seen} at least {figures(honest.epsilon)}"
    if honest.epsilon > budget.epsilon:
        first = f"**{proves}: the promise of {promised} is refuted without any planted mistake.** "
        first += f"As printed, the noise truly gives {figures(truly)}."
    else:
        first = f"**{proves}, which does not contradict the promise of {promised}.**"
    if broken is None:
        return f"{first} {rate}"
    real = gaussian.epsilon_of(1 / moved, budget.delta) if moved < float("inf") else float("inf")
    given = "no finite number" if real == float("inf") else figures(real)
    shown = f"With {_planted(kind)} it shows at least {figures(broken.epsilon)}"
    if broken.epsilon > budget.epsilon:
        second = f"**{shown}: the promise is refuted.** The true value is {given}."
    elif real <= budget.epsilon:
        second = (
            f"{shown}. The true value is {given}: the noise is so large that even so the promise is kept."
        )
    else:
        second = f"{shown}. The true value is {given}, which so few releases do not show: draw more."
    return f"{first} {second} {rate}"


def _planted(kind: str) -> str:
    return {
        "half": "noise of half its size",
        "sensitivity": "one patient's influence taken for 1 instead of √2",
        "shared": "one noise for two hospitals, seen together over two rounds,",
        "unclipped": f"a record of length {LONG_ROW:g} that nobody clipped to 1",
    }[kind]
