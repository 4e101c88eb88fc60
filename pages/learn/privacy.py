"""What an attacker can learn about one patient: the best test, delta, several rounds, and an audit."""

import pandas as pd
import streamlit as st

from pages.shared import (
    cached,
    controls,
    exports,
    failed_runs,
    live,
    privacy_charts,
    privacy_cost_charts,
    privacy_cost_words,
    privacy_origins,
    privacy_view,
    privacy_words,
    spoken,
)

st.title("What can an attacker learn about one patient?")
st.markdown(
    "Two data sets that differ in one patient, what is released from them under the promise set on the "
    "left, and how well the best attacker tells which of the two it was."
)
controls.view_switches(("view",))
with st.container():  # always there: what follows must keep its place, or the figure is built anew
    controls.notices()
settings = controls.settings()
plain, method = settings["view"] == "board", settings["attack.method"]
budget, n, draws = privacy_view.budget(settings), privacy_view.patients(settings), settings["attack.draws"]
found = cached.draws(privacy_view.attacked(settings))
attack = privacy_view.attack_of(found, settings["attack.alarms"], draws)
bug, none_here = privacy_view.bug(settings)
honest = privacy_view.audit_of(found, "true", draws)
broken = privacy_view.audit_of(found, bug, draws) if bug else None
if attack is None:
    st.markdown(f"**{failed_runs.NO_ANSWER}**")
else:
    st.markdown(f"**{privacy_words.headline(attack, found.case.epsilon, budget, method)}**")
for column, key in zip(st.columns(3), ("attack.method", "attack.alarms", "attack.draws"), strict=True):
    with column:
        controls.choose(key)
failed_runs.show(found.failed)
if attack is None or honest is None:
    st.stop()
draws = len(attack.here)  # fewer than asked for where some have failed

st.header("One patient more or less")
picture = cached.picture(budget, settings["seed"])
st.markdown(privacy_words.scene(picture, attack.limit, budget, plain))
live.figure(
    privacy_charts.releases(picture, attack.limit, plain), key="releases figure", save="dppca-releases"
)

st.header("The attacker's best test")
st.markdown(privacy_words.chosen(attack, plain))
left, right = st.columns(2)
with left:
    live.figure(
        privacy_charts.readings(attack, plain),
        key="readings figure",
        save="dppca-readings",
        says=spoken.readings(attack),
    )
with right:
    live.figure(
        privacy_charts.errors(attack, budget, plain),
        key="errors figure",
        save="dppca-errors",
        says=spoken.errors(attack, budget),
    )
st.markdown(privacy_words.measured(attack, draws))
st.caption(privacy_words.attacked(method, settings))

st.header("What the chance of failure lets happen" if plain else "What δ lets happen")
told = privacy_cost_words.failure(n, budget, plain)
st.markdown(told)
live.figure(
    privacy_cost_charts.published(n, budget.delta, plain),
    key="failure figure",
    save="dppca-failure",
    says=spoken.plainly(told),
)
if not plain:
    st.caption(privacy_cost_words.beyond(attack, budget))

st.header("One budget, several rounds")
rounds = cached.accountings(budget, privacy_view.sensitivity(settings), settings["T"])
told = privacy_cost_words.rounds(rounds, budget, plain)
st.markdown(told)
left, right = st.columns(2)
with left:
    live.figure(
        privacy_cost_charts.noise(rounds, plain),
        key="noise figure",
        save="dppca-rounds-noise",
        says=spoken.plainly(told),
    )
with right:
    live.figure(
        privacy_cost_charts.charged(rounds, plain),
        key="charged figure",
        save="dppca-rounds-cost",
        says=spoken.charged(rounds, plain),
    )
st.table(privacy_cost_words.charges(rounds, budget, plain), hide_index=True, border="horizontal")
if not plain:
    st.caption(privacy_cost_words.moves(rounds, settings["k"]))

st.header("Is the promise kept?")
left, right = st.columns([2, 3], vertical_alignment="bottom")
with left:
    controls.choose("audit.bug")
if none_here:
    right.info(f"Nothing is planted: {none_here}.")
truly = found.case.epsilon
said = [("audit shows at least", honest.epsilon)]
if broken is not None:
    said.append(("with the mistake planted", broken.epsilon))
moved = found.drawn(bug).mu if bug and broken is not None else attack.mu
told = privacy_cost_words.audited(honest, broken, bug or "", moved, truly, budget, draws)
st.markdown(told)
live.figure(
    privacy_charts.audits(budget.epsilon, truly, said, plain),
    key="audit figure",
    save="dppca-audit",
    says=spoken.plainly(told),
)

refuted = broken is not None and broken.epsilon > budget.epsilon
st.markdown(f"**Try this:** {privacy_words.try_this(settings, refuted)}")
exports.downloads(
    lambda: pd.DataFrame({"with": attack.here, "without": attack.there}),
    lambda: privacy_charts.errors(attack, budget, plain),
    "dppca-privacy",
)
privacy_origins.page(settings)
