"""The privacy page: what the best attacker learns about one patient, delta, several rounds, and an audit."""

from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments.demonstrations import neighbours
from pages.learn.privacy import accounting_charts, accounting_text, attack_charts, attack_text, view
from pages.learn.privacy.settings import patients
from pages.shared.background import cache, failed_runs
from pages.shared.figure import component
from pages.shared.reports import downloads, sources
from pages.shared.settings import widgets


def show(figure: dict[str, Any], name: str, says: str, save: str = "") -> None:
    """Show a figure and what it says to those who do not see it."""
    component.figure(figure, key=f"{name} figure", save=f"dppca-{save or name}", says=says)


OF_ATTACK = ("attack.method", "attack.alarms", "attack.draws")

settings = widgets.head(attack_text.TITLE, attack_text.INTRODUCTION, attack_text.STEPS)
plain, method = settings["view"] == "plain", settings["attack.method"]
budget, n, asked = view.budget(settings), patients(settings), settings["attack.draws"]
draws = cache.attack_draws(view.attack_setting(settings))
attack = view.attack(draws, settings["attack.alarms"], asked)
bug, why_no_bug = view.bug(settings)
honest = view.audit(draws, "true", asked)
broken = view.audit(draws, bug, asked) if bug else None
headline = failed_runs.NO_ANSWER if attack is None else attack_text.headline(attack, draws)
widgets.headline(headline, "epsilon", "delta")
failed_runs.show(draws.failed)
if attack is None or honest is None:
    widgets.choose_beside(*OF_ATTACK)
    st.stop()
count = len(attack.here)  # fewer than asked for where some have failed

st.header("One patient more or less")
picture = neighbours.picture(budget, seed=settings["seed"])
releases = attack_charts.releases(picture, attack.limit)
component.figure(releases, key="releases figure", save="dppca-releases")
st.markdown(attack_text.experiment(picture, attack.limit, budget, plain))

st.header("The attacker's best test")
widgets.choose_beside(*OF_ATTACK)
chosen, measured = attack_text.chosen(attack, budget), attack_text.measured(attack, count)
st.markdown(chosen)
left, right = st.columns(2)
with left:
    show(attack_charts.readings(attack), "readings", chosen)
with right:
    show(attack_charts.errors(attack, budget, plain), "errors", f"{chosen} {measured}")
st.markdown(measured)
st.caption(attack_text.attacked(method, settings))

st.header("What the chance of failure lets happen" if plain else "What δ lets happen")
failure = accounting_text.failure(n, budget, plain)
st.markdown(failure)
show(accounting_charts.published(n, budget.delta, plain), "failure", failure)
if not plain:
    st.caption(accounting_text.beyond(attack, budget))

st.header("One budget, several rounds")
rounds = view.accounted(budget, view.sensitivity(settings), settings["iterations"])
comparison = accounting_text.rounds(rounds, budget, plain)
st.markdown(comparison)
left, right = st.columns(2)
with left:
    show(accounting_charts.against_rounds(rounds, "noise", plain), "noise", comparison, "rounds-noise")
with right:
    show(accounting_charts.against_rounds(rounds, "charged", plain), "charged", comparison, "rounds-cost")
st.table(accounting_text.charges(rounds, plain), hide_index=True, border="horizontal")
if not plain:
    st.caption(accounting_text.moves(rounds, settings["k"]))

st.header("Is the promise kept?")
left, right = st.columns([2, 3], vertical_alignment="bottom")
with left:
    widgets.choose("audit.bug")
if why_no_bug:
    right.info(f"Nothing is planted: {why_no_bug}.")
bars = {"audit shows at least": honest.epsilon}
if broken is not None:
    bars["with the mistake planted"] = broken.epsilon
verdict = accounting_text.audited(honest, broken, bug or "", draws, count)
st.markdown(verdict)
show(attack_charts.audits(budget.epsilon, draws.case.epsilon, bars, plain), "audit", verdict)

st.markdown(f"**Try this:** {attack_text.try_this(plain)}")
downloads.downloads(
    lambda: pd.DataFrame({"with": attack.here, "without": attack.there}),
    lambda: attack_charts.errors(attack, budget, plain),
    "dppca-privacy",
)
sources.foot(
    settings, lambda: (attack_text.PAPERS, attack_text.about(method)), attack_text.FORMULAS, sources.LIMITS
)
