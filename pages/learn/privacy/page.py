"""Show what the best attacker learns about one patient, the role of delta and of rounds, and an audit.

`draws` hold releases from two data sets that differ in one patient, as numbers that the attacker reads;
`attack` is a test of these, and an audit turns them into a lower bound on epsilon.
"""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.experiments.demonstrations import neighbours
from dppca_core.experiments.figure_tables import privacy as tables
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.learn.privacy import accounting_charts, attack_charts, plain, text, view
from pages.shared.background import cache, failed_runs
from pages.shared.document import streamlit
from pages.shared.reports import sources, take_along
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, sizes


def show(
    figure: dict[str, Any], name: str, says: str, title: str, code: str, values: dict[str, Any], **more: Any
) -> None:
    """Show a figure with its menu, which offers its data, pictures of it, and Python code of its numbers.

    name: in the figure's key and its files' name. says: the finding, for who does not see the figure. code,
    values: the name of the table of its numbers, and its arguments, for the Python code that the menu offers.
    title: what stands above it in a picture. more: the menu's other arguments.
    """
    recipe = FigureRecipe(f"privacy.{code}", values)
    names = f"{name} figure", f"dppca-{name}", title
    take_along.show(figure, *names, says=says, code=lambda: recipe, **more)


# The controls of the attack; they are shown further down, or at once where there is nothing else to show.
OF_ATTACK = ("attack.method", "attack.alarms", "attack.draws")

settings = widgets.head(text.TITLE, text.INTRODUCTION, text.STEPS)
method = settings["attack.method"]
widgets.in_plain_view(partial(plain.show, settings))
budget, (n, _), asked = view.budget(settings), sizes(settings), settings["attack.draws"]
draws = cache.attack_draws(view.attack_setting(settings))
attack = view.attack(draws, settings["attack.alarms"], asked)
bug, why_no_bug = view.bug(settings)
honest = view.audit(draws, "true", asked)
broken = view.audit(draws, bug, asked) if bug else None
headline = failed_runs.NO_ANSWER if attack is None else text.headline(draws)
widgets.headline(headline, "epsilon", "delta")
streamlit.show_block(failed_runs.notice(draws.failed))
if attack is None or honest is None:
    widgets.show_control_row(*OF_ATTACK)
    st.stop()
with st.expander(text.THREE_ODDS):
    st.markdown(text.three_odds(attack, draws))
count = len(attack.with_patient)  # fewer than asked for where some have failed

title = text.releases_title(budget)
st.header(title)
picture = neighbours.picture(budget, seed=settings["seed"])
drawn = {"budget": budget, "seed": settings["seed"]}
show(attack_charts.releases(picture), "releases", "", title, "releases", drawn)
st.markdown(text.experiment(picture, budget))

st.header("The attacker's best test")
widgets.show_control_row(*OF_ATTACK)
chosen, measured = text.chosen(attack, budget), text.measured(attack, count)
st.markdown(chosen)
test = {"attacked": draws.attacked, "alarms": attack.alarms, "count": count, "level": view.LEVEL}


def readings() -> pd.DataFrame:
    """Return what the attacker reads off each release with and without the patient, for the figure's menu."""
    return pd.DataFrame({"with": attack.with_patient, "without": attack.without_patient})


best_test = partial(show, code="best_test", values=test, table=readings)
left, right = st.columns(2)
with left:
    readings_chart = attack_charts.readings(attack, budget)
    best_test(readings_chart, "readings", chosen, "What the attacker reads")
with right:
    errors = attack_charts.errors(attack, draws.attacked)
    best_test(errors, "errors", f"{chosen} {measured}", "The attacker's errors")
st.markdown(measured)
st.caption(text.attacked(method, settings))

st.header("What δ lets happen")
failure = text.failure(n, budget)
st.markdown(failure)
deltas = [float(option) for option in CHOICES["delta"].options]
values = {"n": n, "least": deltas[0], "most": deltas[-1]}
published = accounting_charts.published(tables.failure(**values), n, budget.delta)
show(published, "failure", failure, "Patients whom the worst mechanism publishes", "failure", values)
st.caption(text.beyond(attack, budget))

st.header("One budget, several rounds")
rounds = view.accounted(budget, view.sensitivity(settings), settings["iterations"])
comparison = text.rounds(rounds, budget)
st.markdown(comparison)
for column, quantity in zip(st.columns(2), ("noise", "charged"), strict=True):
    with column:
        drawn = accounting_charts.against_rounds(rounds, quantity)
        values = {"budget": budget, "sensitivity": rounds.sensitivity, "steps": rounds.steps}
        values |= {"rounds": view.ROUNDS, "quantity": quantity}
        show(drawn, quantity, comparison, "One budget, several rounds", "accounting", values)
st.table(text.charges(rounds), hide_index=True, border="horizontal")
st.caption(text.moves(rounds, settings["k"]))

st.header("Is the promise kept?")
left, right = st.columns([2, 3], vertical_alignment="bottom")
with left:
    widgets.show_control("audit.bug")
if why_no_bug:
    right.info(f"Nothing is planted: {why_no_bug}.")
bars = {"audit shows at least": honest.epsilon}
if broken is not None:
    bars["with the mistake planted"] = broken.epsilon
verdict = text.audited(honest, broken, bug or "", draws, count)
st.markdown(verdict)
audits = attack_charts.audits(draws.attacked, draws.case.epsilon, bars)
kinds = ("true",) if bug is None else ("true", bug)
audit = {"attacked": draws.attacked, "kinds": kinds, "count": count, "level": view.LEVEL}
show(audits, "audit", verdict, "Is the promise kept?", "audit", audit)

st.markdown(f"**Try this:** {text.try_this()}")
streamlit.show_blocks(
    [sources.fold(settings, lambda: (text.PAPERS, text.about(method), text.FORMULAS), sources.LIMITS)]
)
