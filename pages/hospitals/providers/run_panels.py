"""The views of the providers page that show one run: its rounds, its messages, and two messages together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.federated.exchange import ALL
from pages.hospitals.providers import message_charts, message_text, network_diagram, run_text, runs
from pages.hospitals.providers.runs import ShownRun
from pages.shared import text
from pages.shared.background import cache
from pages.shared.figure import component
from pages.shared.reports import downloads
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, Settings

_UPLOADED = "record uploaded"


def rounds(of: CollaborationSetting, settings: Settings) -> None:
    """The ring of Figure 1, drawn from the run, and the error after each round."""
    shown = _run(of, settings)
    if shown is not None:
        with _drawable(settings):
            _rounds(of, shown, settings)


def _rounds(of: CollaborationSetting, shown: ShownRun, settings: Settings) -> None:
    st.markdown(run_text.headline(shown))
    figure = network_diagram.figure(shown, settings)
    numbers = [step[0] for step in network_diagram.steps(shown)]
    component.figure(
        figure, key="ring figure", on_use=lambda: _keep("ring figure", numbers), save="dppca-rounds"
    )
    if shown.record.ended:
        st.text(text.brief(shown.record.ended))
    st.caption(
        f"{_unknown(shown)} {run_text.overhead(shown)}".strip() or "The result goes to all who joined."
    )
    downloads.downloads(_table_of(of, shown, settings), lambda: figure, "dppca-rounds")


def sees(of: CollaborationSetting, settings: Settings) -> None:
    """A hospital's message beside what it hides."""
    shown = _run(of, settings)
    if shown is not None:
        with _drawable(settings):
            _sees(of, shown, settings)


@contextmanager
def _drawable(settings: Settings) -> Iterator[None]:
    """One sentence where a record that was given reads well, but holds numbers that nothing can draw."""
    try:
        yield
    except (ArithmeticError, TypeError, ValueError, MemoryError):
        if settings["join.source"] != "own":
            raise
        st.text("This run cannot be drawn: numbers in its record are too large, or do not belong together.")


def _sees(of: CollaborationSetting, shown: ShownRun, settings: Settings) -> None:
    plan = shown.record.plan
    if shown.summed:
        st.caption("Single messages are masked: the server sees their sum, and nothing of any one of them.")
        hospital = ALL
    else:
        hospital = _hospital("join.hospital", plan.hospitals) - 1
    names = TABLES[of.population].features if isinstance(of.population, str) and shown.seen else ()
    figure = message_charts.message(shown, hospital, settings, names)
    component.figure(figure, key="sees figure", on_use=lambda: _keep("sees figure"), save="dppca-message")
    st.caption(_sees_note(shown, settings))
    downloads.downloads(_table_of(of, shown, settings), lambda: figure, "dppca-message")


def pair(of: CollaborationSetting, settings: Settings) -> None:
    """Two messages together, with shared noise and with noise of their own."""
    if len(of.sizes) < 2:
        st.info("One hospital has nobody to compare its messages with: raise the number of hospitals.")
        return
    first, second = st.columns(2)
    with first:
        one = _hospital("join.hospital", len(of.sizes))
    with second:
        other = _hospital("join.other", len(of.sizes))
    if one == other:
        other = one % len(of.sizes) + 1
        st.caption(f"A hospital and itself have nothing to compare: shown beside hospital {other}.")
    found = [_simulated(of, key) for key in ("dps_pca shared", "dps_pca")]
    if None in found:
        return
    shared, own = found
    figure = message_charts.pair(shared, own, one - 1, other - 1, settings)
    component.figure(figure, key="pair figure", on_use=lambda: _keep("pair figure"), save="dppca-pair")
    st.markdown(
        f"{message_text.what_it_means(shared.name(one - 1), shared.name(other - 1))} {message_text.secure()}"
    )

    def compared() -> pd.DataFrame:
        again = [_again(of, key) for key in ("dps_pca shared", "dps_pca")]
        return differences(again[0], again[1], one - 1, other - 1)

    downloads.downloads(compared, lambda: figure, "dppca-pair")


def _table_of(of: CollaborationSetting, shown: ShownRun, settings: Settings) -> Callable[[], pd.DataFrame]:
    """Return what makes the table once its button is pressed.

    A button is held as long as its visitor's session: with the run in it no cache could let the run go.
    """
    if settings["join.source"] != "simulated":
        return lambda: table(shown)
    way = settings["join.way"]
    return lambda: table(_again(of, way))


def _again(of: CollaborationSetting, way: str) -> ShownRun:
    """Return the run of these settings: from the cache, or simulated anew where it was given up."""
    return runs.of_simulation(cache.transcript(_once(of), way))


def table(shown: ShownRun) -> pd.DataFrame:
    """Tidy: a row for each round and answer, with its bytes and, where the truth is known, the error."""
    at, values = runs.curve(shown)
    known = dict(zip(at, values, strict=True))
    column = "sin_theta" if shown.errors is not None else "moved_sin_theta"
    return pd.DataFrame(
        [
            {
                "round": done.number,
                "hospital": "sum" if hospital == ALL else shown.name(hospital),
                "bytes_asked": done.question.payload,
                "bytes_sent": answer.message.payload,
                "bytes_of_message": answer.wire_bytes,
                "seconds": answer.seconds,
                column: known.get(done.number),
            }
            for done in shown.record.rounds
            for hospital, answer in done.answers.items()
        ]
    )


def differences(shared: ShownRun, own: ShownRun, one: int, other: int) -> pd.DataFrame:
    """Tidy: a row for each round and kind of noise."""
    rows = []
    for name, run in (("shared", shared), ("independent", own)):
        for done in run.record.rounds:
            found = transcript.difference(run.seen, done.number, one, other)
            rows.append(
                {"noise": name, "round": done.number, "relative_error": found.relative}
                | {"std": found.std, "expected_std": found.expected}
            )
    return pd.DataFrame(rows)


def _run(of: CollaborationSetting, settings: Settings) -> ShownRun | None:
    """The run that is asked for; None, and a sentence on screen, where there is none."""
    left, right = st.columns(2)
    with left:
        widgets.choose("join.source")
    with right:
        if settings["join.source"] == "simulated":
            widgets.choose("join.way")
        else:
            shown = _stored() if settings["join.source"] == "stored" else _own()
    if settings["join.source"] == "simulated":
        return _simulated(of, settings["join.way"])
    st.caption("A run that took place has its own settings: the sliders do not move it.")
    return shown


def _simulated(of: CollaborationSetting, key: str) -> ShownRun | None:
    reason = transcript.refused(of, PROTOCOLS[key])
    if reason:
        st.info(f"Not simulated message by message: {reason}.")
        return None
    with st.spinner(run_text.passing(of, PROTOCOLS[key])):
        try:
            return _again(of, key)
        except MemoryError as reason:
            st.info(str(reason) or "This server has no memory left for this run: try again later.")
            return None


def _once(of: CollaborationSetting) -> CollaborationSetting:
    """The same hospitals with one repeat: how many repeats are compared elsewhere matters to no message."""
    return replace(of, repeats=1)


def _stored() -> ShownRun | None:
    names = runs.stored()
    if not names:
        st.info("No run is stored with this program.")
        return None
    chosen = st.selectbox("Stored", names, key="stored run") if len(names) > 1 else names[0]
    try:
        return runs.open_stored(chosen or names[0])
    except ValueError as reason:
        st.info(str(reason))
        return None


def _own() -> ShownRun | None:
    given = st.file_uploader("A run's record, JSON lines", type="jsonl", key=_UPLOADED)
    if given is None:
        st.caption("The record that the server wrote: it holds what the server saw, and nothing else.")
        return None
    try:
        return runs.read(given.getvalue())
    except ValueError as reason:
        st.text(str(reason))
        return None


def _hospital(key: str, count: int) -> int:
    """The hospital chosen; one beyond the last is the last."""
    chosen = min(st.session_state[key], count)
    st.session_state[key] = chosen
    st.selectbox(
        *(CHOICES[key].name(False), range(1, count + 1), chosen - 1),
        key=key,
        on_change=widgets.remember,
        args=(key,),
    )
    return chosen


def _keep(key: str, numbers: Sequence[int] | None = None) -> None:
    """Set the link's round to the one that was scrubbed to: of these numbers, else counted from 1."""
    index = int(st.session_state[key]["use"])
    widgets.set_to("join.round", index + 1 if numbers is None else numbers[index])


def _unknown(shown: ShownRun) -> str:
    """That nobody knows the error of a real run."""
    if shown.errors is not None:
        return "" if not shown.over_network else "The error is against PCA of the whole table, known here."
    return "Of a real run nobody knows the error: shown is how far each round moved the result."


def _sees_note(shown: ShownRun, settings: Settings) -> str:
    if shown.seen is None:
        return "Rows are those with the largest numbers in the last round."
    said = "Not private: what is without noise never leaves a hospital; it is here as this is a simulation."
    shape = shown.record.plan.method
    if shape == "dpdis_pca" and shown.record.plan.method_options.get("rank") != shown.record.plan.d:
        said += " Compressed directions are shown multiplied with themselves, where signs do not matter."
    return f"{said} {text.count(24, 'row', 'rows')} at most are shown, the heaviest without noise."
