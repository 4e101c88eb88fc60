"""Render the panels that show one run: its rounds, its messages, and two messages together.

A run is a `Transcript`: every message between hospitals and server. It is simulated here, which also gives
the messages without noise (`noiseless`), or the record of one over a network, stored or uploaded.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.collaboration.transcript import Transcript
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.federated.exchange import ALL
from pages.hospitals.who_sees_what import message_charts, network_diagram, run_text, runs
from pages.shared.background import cache
from pages.shared.reports import take_along
from pages.shared.server import uploads
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

# The protocols whose messages are compared in pairs: with one noise for all hospitals, and one for each.
_PAIR_PROTOCOLS = ("dps_pca shared", "dps_pca")


def run(recipe: CollaborationSetting, settings: Settings) -> None:
    """Render a run round by round, or what the server sees of one hospital in it, by the page's panel."""
    shown = _choose_run(recipe, settings)
    if shown is None:
        return
    try:
        render = _render_rounds if settings["sees.panel"] == "rounds" else _render_message
        render(recipe, shown, settings)
    except (ArithmeticError, TypeError, ValueError, MemoryError):
        # An uploaded record may be valid and still hold numbers that nothing can draw; any other run is ours,
        # so its failure is a bug and is raised.
        if settings["join.source"] != "own":
            raise
        st.text(run_text.CANNOT_BE_DRAWN)


def _render_rounds(recipe: CollaborationSetting, shown: Transcript, settings: Settings) -> None:
    """Render a run as a diagram of server and hospitals that plays round by round."""
    st.markdown(run_text.headline(shown, settings))
    figure, code = network_diagram.figure(shown, settings), None
    if settings["join.source"] == "simulated":
        code = FigureRecipe("collaboration.rounds", {"setting": recipe, "protocol": settings["join.way"]})
    elif settings["join.source"] == "stored":
        code = FigureRecipe("collaboration.stored", {"name": _stored_name()})
    numbers = [number for number, _answering in network_diagram.steps(shown)]
    take_along.show(
        *(figure, "ring figure", "dppca-rounds", "Round by round"),
        on_use=partial(_keep_round, numbers=numbers),
        **_table_and_code(recipe, shown, settings["join.way"], code),
    )
    if shown.record.ended:
        st.text(runs.brief(shown.record.ended))
    st.caption(run_text.below_figure(shown))


def _render_message(recipe: CollaborationSetting, shown: Transcript, settings: Settings) -> None:
    """Render one hospital's messages, or with secure aggregation their sum, as the server sees them."""
    if shown.sealed:
        st.caption(run_text.MASKED)
        hospital = ALL
    else:
        hospital = _choose_hospital("join.hospital", shown.record.plan.hospitals, settings)
    # Only a simulated run is surely of the page's table, so only its features can be named.
    table = recipe.population if isinstance(recipe.population, str) and shown.noiseless else None
    features = TABLES[table].features if table else ()
    figure, code = message_charts.message(shown, hospital, settings, features), None
    if shown.noiseless:
        values = {"setting": recipe, "protocol": settings["join.way"], "hospital": hospital}
        code = FigureRecipe("collaboration.message", values)
    take_along.show(
        *(figure, "sees figure", "dppca-message", "What the server sees"),
        on_use=_keep_round,
        **_table_and_code(recipe, shown, settings["join.way"], code),
    )
    st.caption(run_text.message_note(shown, message_charts.MOST_ROWS))


def pair(recipe: CollaborationSetting, settings: Settings) -> None:
    """Render two hospitals' messages together, with shared noise and with independent noise."""
    count, chosen = len(recipe.sizes), []
    if count < 2:
        st.info(run_text.NOBODY_TO_COMPARE)
        return
    for column, key in zip(st.columns(2), ("join.hospital", "join.other"), strict=True):
        with column:
            chosen.append(_choose_hospital(key, count, settings))
    first, second = chosen
    if first == second:
        second = (first + 1) % count
        st.caption(f"A hospital and itself have nothing to compare: shown beside hospital {second + 1}.")
    shared, independent = (_simulated(recipe, key) for key in _PAIR_PROTOCOLS)
    if shared is None or independent is None:
        return
    figure = message_charts.pair(shared, independent, first, second, settings)
    take_along.show(
        *(figure, "pair figure", "dppca-pair", "Two messages together"),
        on_use=_keep_round,
        # Simulated again or taken from the cache: the menu must not hold runs, as `_table_and_code` says.
        table=lambda: differences(*(_simulate(recipe, key) for key in _PAIR_PROTOCOLS), first, second),
        code=lambda: FigureRecipe(
            "collaboration.pair", {"setting": recipe, "first": first, "second": second}
        ),
    )
    st.markdown(run_text.below_pair(runs.name(shared, first), runs.name(shared, second)))


def _keep_round(index: int, numbers: list[int] | None = None) -> None:
    """Set the link's round to that of the frame the visitor scrubbed to.

    numbers: each frame's round, where frames are not rounds 1, 2, 3 and so on.
    """
    widgets.set_to("join.round", int(index) + 1 if numbers is None else numbers[int(index)])


def _table_and_code(
    recipe: CollaborationSetting, shown: Transcript, protocol: str, code: FigureRecipe | None
) -> dict[str, Any]:
    """Return the table and the code that the menu below a run's figure offers; an uploaded run has no code.

    code: the recipe of the figure's numbers. protocol: the one that is simulated, a key of `PROTOCOLS`.

    A menu lives as long as its visitor's session, so it must not hold a simulated run: the cache could not
    free the run's memory.
    """
    recorded = None if shown.noiseless else shown
    return {
        "table": lambda: table(recorded or _simulate(recipe, protocol)),
        "code": code and (lambda: code),
    }


def _simulate(recipe: CollaborationSetting, key: str) -> Transcript:
    """Return the simulated run of a protocol, a key of `PROTOCOLS`, from the cache if it is there.

    Only the first repeat is ever simulated, so the cache is asked with one for any number of repeats.
    """
    return cache.transcript(replace(recipe, repeats=1), key)


def table(shown: Transcript) -> pd.DataFrame:
    """Return a row for each round and answer: its bytes, its seconds, and the error after the round.

    Where the truth is not known, how far the round moved the result stands in place of the error.
    """
    errors = dict(zip(*runs.curve(shown), strict=True))
    column = "sin_theta" if shown.errors is not None else "moved_sin_theta"
    rows = [
        {
            "round": round_.number,
            "hospital": "sum" if hospital == ALL else runs.name(shown, hospital),
            "bytes_asked": round_.question.payload,
            "bytes_sent": answer.message.payload,
            "bytes_of_message": answer.wire_bytes,
            "seconds": answer.seconds,
            column: errors.get(round_.number),
        }
        for round_ in shown.record.rounds
        for hospital, answer in round_.answers.items()
    ]
    return pd.DataFrame(rows)


def differences(shared: Transcript, independent: Transcript, first: int, second: int) -> pd.DataFrame:
    """Return a row for each kind of noise and round: how well two messages give the hospitals' difference.

    Args:
        shared: The run with the same noise for all hospitals.
        independent: The run in which each has noise of its own.
        first: The index of a hospital.
        second: The index of another.
    """
    rows = []
    for name, shown in (("shared", shared), ("independent", independent)):
        for round_ in shown.record.rounds:
            result = transcript.difference(shown, round_.number, first, second)
            rows.append((name, round_.number, result.relative, result.std, result.expected))
    return pd.DataFrame(rows, columns=["noise", "round", "relative_error", "std", "expected_std"])


def _choose_run(recipe: CollaborationSetting, settings: Settings) -> Transcript | None:
    """Let a run be chosen and return it, or None after saying on screen why there is none."""
    source = settings["join.source"]
    left, right = st.columns(2)
    with left:
        widgets.show_control("join.source")
    with right:
        if source == "simulated":
            widgets.show_control("join.way")
        else:
            recorded = _choose_recorded(source)
    if source == "simulated":
        return _simulated(recipe, settings["join.way"])
    st.caption(run_text.SLIDERS_DO_NOT_MOVE_IT)
    return recorded


def _simulated(recipe: CollaborationSetting, key: str) -> Transcript | None:
    """Return the simulated run of a protocol, or None after saying on screen why there is none.

    key: the protocol's in `PROTOCOLS`.
    """
    refusal = transcript.why_refused(recipe, PROTOCOLS[key])
    if refusal:
        st.info(f"Not simulated message by message: {refusal}.")
        return None
    with st.spinner(run_text.passing(recipe, PROTOCOLS[key])):
        try:
            return _simulate(recipe, key)
        except MemoryError as reason:
            st.info(str(reason) or "This server has no memory left for this run: try again later.")
            return None


def _choose_recorded(source: str) -> Transcript | None:
    """Let a stored run be chosen or one be uploaded, and return it; None after saying why there is none.

    source: "stored" or "own".
    """
    try:
        if source == "stored":
            names = runs.stored()
            if len(names) > 1:
                st.selectbox("Stored", names, key="stored run")
            return runs.open_stored(_stored_name())
        file = uploads.ask("A run's record, JSON lines", ["jsonl"], "record uploaded")
        if file is not None:
            return runs.read(file.getvalue())
        st.caption("The record that the server wrote: it holds what the server saw, and nothing else.")
    except ValueError as reason:
        st.text(str(reason))  # not Markdown: the reason may quote the file
    return None


def _stored_name() -> str:
    """Return the name of the stored run that is chosen."""
    return st.session_state.get("stored run", runs.stored()[0])


def _choose_hospital(key: str, count: int, settings: Settings) -> int:
    """Let one of `count` hospitals be chosen and return its index; a number beyond the last is the last."""
    chosen = min(settings[key], count)
    widgets.show_select_box(key, range(1, count + 1), chosen)
    return chosen - 1
