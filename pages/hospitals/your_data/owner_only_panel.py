"""The screen's last part: what only the owner may see of a release. One switch hides it all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pandas as pd
import streamlit as st

from dppca_core.release.private_release import Released
from dppca_core.tables import Raw
from pages.hospitals.your_data import (
    chart_descriptions,
    charts,
    owner_only_diagnostics,
    session,
    text,
    unit_text,
)
from pages.hospitals.your_data.prepared_table import PreparedTable, Rows
from pages.hospitals.your_data.session import ConfirmedRelease
from pages.shared.figure import component
from pages.shared.settings.catalogue import Settings

Value = TypeVar("Value")


def show(prepared: PreparedTable, made: ConfirmedRelease | None, settings: Settings) -> None:
    """The release that is shown above, against the answer without privacy."""
    if not settings["own.shown"]:
        st.caption("Hidden: the switch at the top shows it.")
        return
    st.markdown(text.NOT_PRIVATE)
    if made is None or made.job is None or made.released is None:
        st.caption("After a release: how far it is from the answer without privacy.")
        return
    if made.key != prepared.raw.key or made.schema != prepared.schema:
        st.caption("The release shown above is of another table, or of other columns.")
        return
    released, plain = made.released, settings["view"] == "board"
    truths = _compute_once("truth", lambda: owner_only_diagnostics.truths(prepared))
    k = released.basis.shape[1]
    # The mean is private, so that the first component is near it is said here and nowhere else.
    cosine = owner_only_diagnostics.mean_cosine(truths, released.basis)
    covariance, moment = (
        owner_only_diagnostics.verdict(truth, released.basis) for truth in (truths.covariance, truths.moment)
    )
    rows = int(released.document["rows per patient"])
    st.markdown(text.near_the_mean(cosine, rows, plain))
    st.markdown(text.verdict(covariance, moment, k, cosine, plain))
    st.markdown(text.verdict_uncentred(moment, k, plain))
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Strength of every direction**" if plain else "**Scree**")
        drawn = charts.scree(
            truths.covariance.eigenvalues, truths.moment.eigenvalues, released.eigenvalues, plain
        )
        component.figure(
            drawn, key="own scree", save="not-private-scree", says=chart_descriptions.scree(drawn, plain)
        )
    raw, held = prepared.raw, prepared.held
    if not isinstance(raw, Raw) or not isinstance(held, Rows):
        right.caption("Of a table that was read in pieces there are no rows here to draw.")
        return
    with right:
        st.markdown("**Your rows along the released directions**" if plain else "**Biplot**")
        label = _label(prepared, raw)
        _scatter(prepared, raw, held, released, label, plain)
    if label is not None:
        _downstream(raw, held, made.job.number, released, label)


def _compute_once(key: object, compute: Callable[[], Value]) -> Value:
    """Computed once for this table and dictionary, in this session's memory."""
    known = session.current().diagnostics
    if key not in known:
        known[key] = compute()
    kept: Value = known[key]
    return kept


def _label(prepared: PreparedTable, raw: Raw) -> str | None:
    names = _compute_once("labels", lambda: owner_only_diagnostics.label_columns(prepared, raw))
    if not names:
        st.caption("A column with two to ten values, not among the features, could colour the patients.")
        return None
    place = st.selectbox(
        "Colour by", range(len(names) + 1), 1, key="own label", format_func=["no column", *names].__getitem__
    )
    return names[place - 1] if place else None


def _scatter(
    prepared: PreparedTable, raw: Raw, held: Rows, released: Released, label: str | None, plain: bool
) -> None:
    basis, rows = released.basis[:, :2], session.current().rows_per_patient or 1
    if basis.shape[1] < 2:
        st.caption("One direction alone has no picture of this kind.")
        return
    places, labels = _compute_once(
        ("labels", label),
        lambda: owner_only_diagnostics.sample(
            *owner_only_diagnostics.row_labels(raw, held, label), owner_only_diagnostics.MOST_POINTS
        ),
    )
    labels = labels if label else [unit_text.noun(rows)] * len(labels)
    points = held.rows[places] @ basis
    drawn = charts.biplot(points, labels, prepared.schema.features, basis, plain)
    component.figure(
        drawn, key="own biplot", save="not-private-biplot", says=chart_descriptions.biplot(drawn)
    )
    if len(places) < prepared.n:
        st.caption(f"{len(places):,} of {prepared.n:,} {unit_text.noun(rows)} are drawn.")


def _downstream(raw: Raw, held: Rows, number: int, released: Released, label: str) -> None:
    st.markdown("**Use: telling the label from few numbers**")
    key = ("downstream", number, label)
    known = session.current().diagnostics
    if key not in known:
        if not st.button("Measure it by cross-validation", key="own downstream"):
            return
        with st.spinner("Measuring"):
            try:
                known[key] = owner_only_diagnostics.downstream(raw, held, label, released.basis)
            except ValueError as reason:
                st.info(text.refusal(str(reason)))
                return
        st.rerun()
    scores: pd.DataFrame = known[key]
    shares = {name: st.column_config.NumberColumn(format="percent") for name in scores.columns[1:]}
    st.dataframe(scores, hide_index=True, height="content", column_config=shares)
    used = min(len(held.rows), owner_only_diagnostics.MOST_ROWS)
    noun = unit_text.noun(session.current().rows_per_patient or 1)
    st.caption(
        f"Share of {noun} whose {text.literal(label)} logistic regression gets right, in cross-validation "
        f"over {used:,} {noun}; the released components were found on all of them. "
        f"{text.worth(scores)}"
    )
