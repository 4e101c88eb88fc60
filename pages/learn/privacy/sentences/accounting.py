"""Say what delta lets happen, and what rounds cost by each accounting."""

import pandas as pd

from dppca_core.accounting.compare import ACCOUNTINGS
from dppca_core.auditing import outright_publication
from dppca_core.privacy import Budget
from pages.learn.privacy.model import ROUNDS, Accounted, Attack
from pages.learn.privacy.sentences import figures, promise_text, share
from pages.shared import text

QUANTITIES = {"noise": "noise σ in each round", "charged": "ε charged"}


def failure(n: int, budget: Budget) -> str:
    published = outright_publication.published(n, budget.delta)
    expected, delta = published.expected, budget.delta
    shown = text.number(float(f"{expected:.2g}")) if expected < 100 else f"{expected:,.0f}"
    close = f" That is no protection: keep δ well below 1 in {n:,}."
    return (
        f"**{text.NEVER_PUBLISHED}** The worst program that keeps this part of the promise publishes each "
        f"record in the clear with probability δ = {text.number(delta)}. Of {n:,} patients it is expected to "
        f"publish {shown}; the chance of at least one is {share(published.chance_of_any)}."
        f"{close if delta > 1 / n else ''}"
    )


def beyond(attack: Attack, budget: Budget) -> str:
    """Return what delta means for Gaussian noise, by Theorem 8 of Balle & Wang (ICML 2018)."""
    _, misses = attack.best.touching(budget.epsilon)
    delta = attack.best.delta(budget.epsilon)
    return (
        "The Gaussian noise of our method uses δ differently: with a chance of "
        f"{figures(1 - misses)} a release favours the patient by a likelihood ratio above e^ε. The excess "
        f"over e^ε adds up to {figures(delta)}; δ = {text.number(budget.delta)} is allowed."
    )


def rounds(costs: Accounted, budget: Budget) -> str:
    order = sorted((name for name in ACCOUNTINGS if name != "exact"), key=costs.ratio)
    others = "; ".join(f"{ACCOUNTINGS[name].title} {figures(costs.ratio(name))} times" for name in order)
    needs = (
        f"**At {promise_text(budget)}, {text.count(costs.steps, 'round needs', 'rounds each need')} noise of "
        f"{figures(costs.std)}, counted exactly. Other ways of counting need more to be as safe: {others}.**"
    )
    noise, basic = costs.noise, ACCOUNTINGS["basic"].title.lower()
    better = [t for t in ROUNDS if noise["advanced"][t] < noise["basic"][t]]
    since = f"from {better[0]} rounds on" if better else f"in none of up to {ROUNDS[-1]} rounds"
    return f"{needs} Advanced composition, made for many rounds, needs less than {basic} {since}."


def moves(costs: Accounted, columns: int) -> str:
    return (
        "σ is on the scale of sums over a hospital's patients. One patient moves a message of "
        f"{text.count(columns, 'column', 'columns')} by at most {'√2' if costs.sensitivity > 1 else '1'}; "
        "Ge et al. count 2."
    )


def charges(costs: Accounted) -> pd.DataFrame:
    noise, charged = costs.noise.loc[costs.steps], costs.charged.loc[costs.steps]
    columns = {QUANTITIES["noise"]: noise, "times the exact": noise / costs.std}
    columns[f"{QUANTITIES['charged']} for the exact noise"] = charged
    shown = pd.DataFrame(columns).map(figures)
    shown.insert(0, "counted", [ACCOUNTINGS[str(name)].title for name in shown.index])
    return shown
