"""Render the page's last part: what only the owner may see of a release. One switch hides it all.

The answer without privacy is PCA of the same clipped rows, by their covariance and by their second moment
(`owner_only_diagnostics`). `held` is a table's clipped rows.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from dppca_core.arrays import Array
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.methods import METHODS
from dppca_core.tables import JoinedTable, limits
from dppca_core.tables.encode import PreparedTable, Rows
from pages.hospitals.your_data import (
    charts,
    figure_code,
    owner_only_diagnostics,
    owner_only_text,
    plain_text,
    rehearsal,
    session,
)
from pages.hospitals.your_data.layout import PageLayout, choose_or_none
from pages.hospitals.your_data.owner_only_diagnostics import TableTruths
from pages.hospitals.your_data.rehearsal import Twin
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.text import TOO_MUCH, is_fitted, is_unit, noun
from pages.shared.charts.metric_axis import in_unit, unit
from pages.shared.figure import component
from pages.shared.reports import take_along


def show(prepared: PreparedTable, twin: Twin | None, release: ReleaseJob | None, layout: PageLayout) -> None:
    """Rehearse for the patients that are usable, and compare the release with the answer without privacy.

    twin: the rehearsal that all may see. release: the one that is shown above.
    """
    if not layout.settings["own.shown"]:
        st.caption("Hidden. Turn on *Show exact values* at the top.")
        return
    st.markdown(owner_only_text.NOT_PRIVATE)
    _show_usable(prepared, twin, layout)
    if prepared.d > limits.MOST_MATRIX_FEATURES:
        st.caption(owner_only_text.TOO_WIDE)
        return
    if release is None:
        st.caption("After a release: how far it is from the answer without privacy.")
        return
    if release.what.table[:2] != prepared.identity[:2]:  # key and dictionary
        st.caption("The release shown above is of another table, or of other columns.")
        return
    released = release.result
    fitted, held = is_fitted(released), prepared.held
    compute = partial(owner_only_diagnostics.truths, prepared, clipped=not fitted)
    truths = session.current().cached_for_table(("truth", fitted), compute)
    if fitted:
        # Divide what released components are compared with as their rows were divided.
        scales = released.document["scales"]
        if scales is not None:
            st.caption(owner_only_text.SCALED)
        lengths = np.array(scales or np.ones(prepared.d)) * released.document["length after scaling"]
        truths = owner_only_diagnostics.divide_columns(truths, lengths)
        held = replace(held, rows=held.encoded / lengths)
    k = released.basis.shape[1]
    verdict = owner_only_diagnostics.verdict(truths.covariance, released.basis)
    shares = (float(in_unit("share", error, k)) for error in (verdict.error, verdict.guess))
    layout.say(plain_text.verdict(*shares))
    with layout.details():
        # Details have the analyst's unit in every view.
        _show_details(prepared, release, truths, held, unit(layout.settings | {"view": "full"}))


def _show_usable(prepared: PreparedTable, twin: Twin | None, layout: PageLayout) -> None:
    """Render how many patients are usable, and the rehearsal for these; nothing where all are."""
    usable = prepared.usable
    if usable == prepared.n:
        return
    rows = session.current().rows_per_patient or 1
    st.markdown(owner_only_text.usable(prepared.n, usable, rows, prepared.counting))
    if twin is None:
        return
    sizes = tuple(max(1, round(size * usable / prepared.n)) for size in prepared.sizes)
    rehearse = partial(rehearsal.rehearse_for_owner, twin, prepared.schema, sizes)
    patterns = tuple(each.pattern for each in twin.rehearsed)
    owners_twin = session.current().cached_for_table(("usable", twin.request, patterns), rehearse)
    shown, error = (
        rehearsal.shares(owners_twin, {METHODS[twin.request.method].trust: owners_twin}),
        rehearsal.share_of_guess(owners_twin),
    )
    layout.say(plain_text.usable(usable, shown.rows[0].share, shown.guess, error > TOO_MUCH))
    with layout.details():
        st.markdown(owner_only_text.rehearsed_for_usable(usable, error, owners_twin.pattern.title, rows))


def _show_details(
    prepared: PreparedTable, release: ReleaseJob, truths: TableTruths, held: Rows, metric: str
) -> None:
    """Render errors, scree plot and biplot.

    truths, held: the matrices and the rows that released components are of.
    metric: the unit of errors.
    """
    released = release.result
    k, rows = released.basis.shape[1], int(released.document["rows per patient"])
    # The mean is private, so that the first component is near it is said here and nowhere else.
    cosine = owner_only_diagnostics.mean_cosine(truths, released.basis)
    centred, uncentred = (
        owner_only_diagnostics.verdict(truth, released.basis) for truth in (truths.covariance, truths.moment)
    )
    st.markdown(owner_only_text.near_the_mean(cosine, rows))
    st.markdown(owner_only_text.verdict(centred, uncentred, k, cosine, metric))
    if released.document["mean"] is None:
        st.markdown(owner_only_text.verdict_uncentred(uncentred, k, metric))
    unit_rows = is_unit(released.document["method"], is_fitted(released))
    if unit_rows:
        centred_rows = released.document["mean"] is not None
        measure_scaled = partial(owner_only_diagnostics.verdict_on_scaling, held, truths, k, centred_rows)
        scaled = session.current().cached_for_table(("scaled", release.number, centred_rows), measure_scaled)
        st.markdown(owner_only_text.verdict_on_scaling(scaled, k, metric))
    is_reproducible = _reproducible(prepared, released.document)
    recipes = (figure_code.SPECTRUM, figure_code.BIPLOT) if is_reproducible else (None, None)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Scree**")
        spectra = truths.covariance.eigenvalues, truths.moment.eigenvalues, released.eigenvalues
        drawn = charts.scree(*spectra, unit_rows, released.eigenvalue_error or 0.0, released.is_noise)
        _show_figure("scree", drawn, charts.describe_scree(drawn), recipes[0])
    with right:
        st.markdown("**Biplot**")
        label = _choose_label(prepared)
        if released.is_noise[:2].any():
            st.caption(owner_only_text.ON_NOISE)
        else:
            _show_biplot(prepared, held, released.basis[:, :2], label, recipes[1])


def _reproducible(prepared: PreparedTable, document: dict[str, Any]) -> bool:
    """Return whether code can compute both figures from a file: each row counts once, in public units."""
    held, raw = prepared.held, prepared.raw
    plain = held.weights is None and not isinstance(raw, JoinedTable)
    return plain and document["fitted bound"] is None


def _choose_label(prepared: PreparedTable) -> str | None:
    """Let the owner choose a column that colours the patients. Return its name, or None."""
    find = partial(owner_only_diagnostics.label_columns, prepared)
    names = session.current().cached_for_table("labels", find)
    if not names:
        st.caption("A column with two to ten values, not among the features, could colour the patients.")
        return None
    return choose_or_none("Colour by", "no column", names, begin=1, key="own label")


def _show_biplot(
    prepared: PreparedTable, held: Rows, basis: Array, label: str | None, source: FigureRecipe | None
) -> None:
    """Render the biplot of patients on two released components, (d, 2), coloured by the column `label`."""
    rows = session.current().rows_per_patient or 1
    if basis.shape[1] < 2:
        st.caption("One direction alone has no picture of this kind.")
        return
    labels = session.current().cached_for_table(
        ("labels", label), lambda: owner_only_diagnostics.labelled_rows(prepared.raw, held, label)
    )
    names = list(labels) if label else [noun(rows)] * len(labels)
    points = held.rows[labels.index] @ basis
    drawn = charts.biplot(points, names, prepared.schema.features, basis)
    _show_figure("biplot", drawn, charts.describe_biplot(drawn), source)
    if len(labels) < prepared.n:
        st.caption(f"{len(labels):,} of {prepared.n:,} {noun(rows)} are drawn.")


def _show_figure(name: str, drawn: dict[str, Any], says: str, source: FigureRecipe | None) -> None:
    """Render a figure, with its description `says`, and downloads that are marked as not private."""
    component.figure(drawn, key=f"own {name}", says=says)
    take_along.picture_menu(f"own {name}", f"not-private-{name}", f"NOT PRIVATE: {name} of the table", source)
