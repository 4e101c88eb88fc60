"""What an attacker can learn about one patient: the best test, delta, several rounds, and an audit."""

import pandas as pd
import streamlit as st

from pages.learn.privacy import (
    accounting_charts,
    accounting_text,
    attack_charts,
    attack_text,
    chart_descriptions,
    shared_costs,
    sources,
    view,
)
from pages.learn.privacy import settings as page_settings
from pages.shared.background import cache, failed_runs
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import widgets
from pages.shared.text import markdown

st.title("What can an attacker learn about one patient?")
st.markdown(
    "Two data sets that differ in one patient, what is released from them under the promise set on the "
    "left, and how well the best attacker tells which of the two it was."
)
widgets.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    widgets.notices()
settings = widgets.settings()
plain, method = settings["view"] == "board", settings["attack.method"]
budget, n, draws = view.budget(settings), page_settings.patients(settings), settings["attack.draws"]
found = cache.attack_draws(view.attacked(settings))
attack = view.attack_of(found, settings["attack.alarms"], draws)
bug, none_here = view.bug(settings)
honest = view.audit_of(found, "true", draws)
broken = view.audit_of(found, bug, draws) if bug else None
if attack is None:
    st.markdown(f"**{failed_runs.NO_ANSWER}**")
else:
    st.markdown(f"**{attack_text.headline(attack, found.case.epsilon, budget, method)}**")
for column, key in zip(st.columns(3), ("attack.method", "attack.alarms", "attack.draws"), strict=True):
    with column:
        widgets.choose(key)
failed_runs.show(found.failed)
if attack is None or honest is None:
    st.stop()
draws = len(attack.here)  # fewer than asked for where some have failed

st.header("One patient more or less")
picture = cache.picture(budget, settings["seed"])
st.markdown(attack_text.experiment(picture, attack.limit, budget, plain))
component.figure(
    attack_charts.releases(picture, attack.limit, plain), key="releases figure", save="dppca-releases"
)

st.header("The attacker's best test")
st.markdown(attack_text.chosen(attack, plain))
left, right = st.columns(2)
with left:
    component.figure(
        attack_charts.readings(attack, plain),
        key="readings figure",
        save="dppca-readings",
        says=chart_descriptions.readings(attack),
    )
with right:
    component.figure(
        attack_charts.errors(attack, budget, plain),
        key="errors figure",
        save="dppca-errors",
        says=chart_descriptions.errors(attack, budget),
    )
st.markdown(attack_text.measured(attack, draws))
st.caption(attack_text.attacked(method, settings))

st.header("What the chance of failure lets happen" if plain else "What δ lets happen")
told = accounting_text.failure(n, budget, plain)
st.markdown(told)
component.figure(
    accounting_charts.published(n, budget.delta, plain),
    key="failure figure",
    save="dppca-failure",
    says=markdown.plainly(told),
)
if not plain:
    st.caption(accounting_text.beyond(attack, budget))

st.header("One budget, several rounds")
rounds = shared_costs.accountings(budget, view.sensitivity(settings), settings["iterations"])
told = accounting_text.rounds(rounds, budget, plain)
st.markdown(told)
left, right = st.columns(2)
with left:
    component.figure(
        accounting_charts.noise(rounds, plain),
        key="noise figure",
        save="dppca-rounds-noise",
        says=markdown.plainly(told),
    )
with right:
    component.figure(
        accounting_charts.charged(rounds, plain),
        key="charged figure",
        save="dppca-rounds-cost",
        says=chart_descriptions.charged(rounds, plain),
    )
st.table(accounting_text.charges(rounds, budget, plain), hide_index=True, border="horizontal")
if not plain:
    st.caption(accounting_text.moves(rounds, settings["k"]))

st.header("Is the promise kept?")
left, right = st.columns([2, 3], vertical_alignment="bottom")
with left:
    widgets.choose("audit.bug")
if none_here:
    right.info(f"Nothing is planted: {none_here}.")
truly = found.case.epsilon
said = [("audit shows at least", honest.epsilon)]
if broken is not None:
    said.append(("with the mistake planted", broken.epsilon))
moved = found.drawn(bug).mu if bug and broken is not None else attack.mu
told = accounting_text.audited(honest, broken, bug or "", moved, truly, budget, draws)
st.markdown(told)
component.figure(
    attack_charts.audits(budget.epsilon, truly, said, plain),
    key="audit figure",
    save="dppca-audit",
    says=markdown.plainly(told),
)

refuted = broken is not None and broken.epsilon > budget.epsilon
st.markdown(f"**Try this:** {attack_text.try_this(settings, refuted)}")
downloads.downloads(
    lambda: pd.DataFrame({"with": attack.here, "without": attack.there}),
    lambda: attack_charts.errors(attack, budget, plain),
    "dppca-privacy",
)
sources.page(settings)
