"""Render the picture of patients on two released components: on the twin for nothing, then as a release.

The picture is a noisy histogram of patients' scores, their coordinates along the components, and is paid for
by itself (`dppca_core.release.score_histogram`). The twin is the rehearsal of a release on invented patients.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dppca_core import tables
from dppca_core.accounts.account import Account
from dppca_core.accounts.book import Drawn
from dppca_core.arrays import Array, Indices
from dppca_core.experiments.demonstrations import twin_scores
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.privacy import Budget
from dppca_core.release import bundle, score_histogram
from dppca_core.release.request import Request, noisy_sums
from dppca_core.release.score_histogram import Group, ScoreHistogram, ScoreRequest
from dppca_core.tables import Column, Schema, safe_csv
from dppca_core.tables.encode import PreparedTable, Rows
from pages.hospitals.your_data import (
    book_releases,
    bundle_panel,
    charts,
    confirmation,
    figure_code,
    score_rehearsal,
    score_text,
    session,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import choose_or_none
from pages.hospitals.your_data.rehearsal import Twin
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order
from pages.hospitals.your_data.settings import BY_RULE
from pages.shared.reports import take_along
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES


def show_losses(twin: Twin) -> None:
    """Render what released components lose against the best ones, measured on the twin's invented rows."""
    measured = score_rehearsal.run(twin)
    with st.expander("What the release loses for a use, on the twin", key="own losses"):
        if measured is None:
            st.caption(score_text.TOO_WIDE)
            return
        show_table(measured.losses)
        st.caption(score_text.LOSSES)


def show_table(frame: pd.DataFrame) -> None:
    """Render a table whose columns are shares, but for the first, as percentages."""
    shares = {name: st.column_config.NumberColumn(format="percent") for name in frame.columns[1:]}
    st.dataframe(frame, hide_index=True, height="content", column_config=shares)


def show(
    prepared: PreparedTable | None,
    account: Account | None,
    release: ReleaseJob | None,
    twin: Twin | None,
    stopped: bool,
) -> None:
    """Render the twin's picture and the offer to release the table's, then the pictures that were released.

    prepared, account: None while there is no table, or its account is not known. release: the one shown on
    the page. stopped: whether the rehearsal warns that the components would be mostly noise.
    """
    pictures = [job for job in session.current().confirmed if job.what.kind == "scores" and job.result]
    offered = prepared is not None and account is not None and (twin is not None or release is not None)
    if offered or pictures:
        st.subheader(score_text.TITLE)
    if offered:
        _show_offer(prepared, account, release, twin, stopped)
    if pictures:
        _show_picture(pictures, release)


def _show_offer(
    prepared: PreparedTable, account: Account, release: ReleaseJob | None, twin: Twin | None, stopped: bool
) -> None:
    """Render the picture's controls, the twin's picture and, after a release of this table, the price.

    Nothing is offered on axes of noise, as those that were released can be told to be, or else by the
    rehearsal (stopped).
    """
    settings = widgets.settings()
    rows = session.current().rows_per_patient or 1
    is_released = release is not None and release.what.table == prepared.identity
    # The components of this table's release or, before one, of the rehearsed release; without either 2.
    if (release.result.basis.shape[1] if is_released else twin.request.k if twin else 2) < 2:
        st.caption(score_text.ONE_COMPONENT)
        return
    if release.result.is_noise[:2].any() if is_released else stopped:
        st.caption(score_text.ON_NOISE if is_released else score_text.ON_REHEARSED_NOISE)
        return
    widgets.show_control_row("own.scores_slice", "own.scores_cells")
    group = _choose_group(prepared)
    if isinstance(group, str):
        st.error(page_text.refusal(group))
        return
    neighbours = CHOICES["neighbours"].default if account.limit is None else account.limit.neighbours
    budget = Budget(settings["own.scores_slice"], settings["own.delta"], neighbours)
    groups = 1 if group is None else len(group.names)
    # Where hospitals trust nobody each adds its own noise, by the method of the release or of the rehearsal.
    asked = release.what.request if is_released else twin.request if twin else None
    noises = noisy_sums(asked.method, len(prepared.sizes)) if isinstance(asked, Request) else 1
    usable = sum(usable_patients.sizes(prepared.schema, prepared.sizes, settings))
    std, cells_along = score_histogram.noise_std(budget, noises), settings["own.scores_cells"]
    cells_along = (
        score_histogram.readable_cells(usable, std, groups) if cells_along == BY_RULE else cells_along
    )
    st.caption(score_text.grid(cells_along, std, rows, groups))
    shown = twin is not None and not stopped
    too_noisy = shown and _show_twin(twin, usable / groups, groups, cells_along, std)
    if not is_released or account.limit is None:
        st.caption(score_text.AFTER)
        return
    document = score_histogram.part_for_scores(release.result.document)
    request = ScoreRequest(
        document, score_histogram.grid(document, cells_along), budget, rows, prepared.averaged, group
    )
    order = Order("scores", request, account, prepared.identity, prepared.raw.name)
    question = score_text.question(request, prepared.n)
    label = "Release this picture anyway …" if too_noisy else "Release this picture …"
    confirmation.show(order, label, "This picture", question, make, end=score_text.END)


def _choose_group(prepared: PreparedTable) -> Group | str | None:
    """Let a column be chosen by whose categories the picture is split. Return it, or None for no split.

    The categories of a column that is not in the dictionary are typed. Where these are not possible, the
    reason is returned as a text.
    """
    if not isinstance(prepared.held, Rows):
        st.caption(score_text.IN_PIECES)
        return None
    state = session.current()
    known = {column.name: column.categories for column in prepared.schema.columns}
    # A column that the dictionary has as a number has no categories, and is no group. A column that the
    # dictionary lacks can be chosen, since its categories are typed.
    free = [
        name for name in prepared.raw.columns if known.get(name, "typed") and name != state.named_patients
    ]
    listed = free[: charts.MOST_LISTED]
    if len(listed) < len(free):
        st.caption(score_text.first_columns(len(listed), len(free)))
    left, right = st.columns(2, vertical_alignment="bottom")
    key = f"own score group {state.generation}"
    name = choose_or_none("Split by a public group", "do not split", listed, begin=0, place=left, key=key)
    if name is None:
        return None
    words = known.get(name, ())
    if not words:
        typed = right.text_input(
            "Its groups, separated by commas",
            key=f"own score words {state.generation} {1 + listed.index(name)}",
            help="Take them from the code book, not from the rows: they become public. Any other answer "
            "counts as “other”.",
        )
        words = tuple(filter(None, map(str.strip, typed.split(","))))
    if len(words) < 2:
        return "type at least two groups"
    try:
        Column(name, "category", categories=words)  # refuses words that count as missing, or alike
        return Group(name, words)
    except ValueError as reason:
        return str(reason)


def _show_twin(twin: Twin, n: float, groups: int, count: int, std: float) -> bool:
    """Render the twin's picture with and without noise. Return whether noise moves too much of it.

    n: patients of one group, if all are as large. groups: how many there are. count: cells along a component.
    std: of the noise in each cell.
    """
    run = score_rehearsal.run(twin)
    if run is None:
        st.caption(score_text.TOO_WIDE)
        return False
    if run.scores.shape[1] < 2:
        return False
    rehearsed = twin_scores.picture(run.scores, run.eigenvalues, n, count, std)
    code = partial(figure_code.twin_scores, twin, n, count, std)
    peak = float(max(rehearsed.noisy.max(), rehearsed.exact.max(), 1.0))
    drawings = (("as released", rehearsed.noisy, std), ("without noise", rehearsed.exact, 0.0))
    for column, (name, counts, noise) in zip(st.columns(2), drawings, strict=True):
        with column:
            st.markdown(f"**The twin, {name}**")
            _show_map(counts, rehearsed.edges, noise, peak, f"own twin scores {name}", code)
    st.caption(score_text.twin(rehearsed.distance, groups))
    too_much = rehearsed.distance > score_rehearsal.TOO_MUCH
    if too_much:
        st.warning(score_text.stop(rehearsed.distance))
    return too_much


def _show_map(
    counts: Array,
    edges: Sequence[Sequence[float]],
    std: float,
    peak: float,
    key: str,
    code: Callable[[], FigureRecipe],
) -> None:
    """Render one picture; the parameters are those of `charts.score_map`, and code makes its recipe."""
    drawn, says = charts.score_map(counts, edges, std, peak), charts.describe_score_map(counts, edges, std)
    take_along.show(drawn, key, "scores", "Score plot, with noise", says=says, code=code)


def make(order: Order, prepared: PreparedTable, **given: Any) -> ScoreHistogram:
    """Make the paid picture of a table; given: as `confirmation.release_keywords` returns."""
    group = order.request.group
    codes = None if group is None else _codes(prepared, group)
    return score_histogram.make(order.request, groups=codes, present=prepared.present, **given)


def _codes(prepared: PreparedTable, group: Group) -> list[Indices]:
    """Return, for each hospital, the number of each row's group; the last group is "other".

    Reads private rows.
    """
    held = prepared.held
    columns = (column for column in prepared.schema.columns if column.name == group.column)
    column = next(columns, None)
    if column is None or column.categories != group.categories:
        column = Column(group.column, "category", categories=group.categories)
    # A missing cell without a filling counts as "other", so that no row is left out here.
    column = column.changed(fill=column.fill or "")
    raw = prepared.raw
    # Encoding takes a centre off each category's indicator: put it back, and the chosen one is 1.
    answers = tables.encode(Schema((column,)), raw.table, raw.marks).rows + np.array(column.centres)
    codes = np.where(answers.any(axis=1), answers.argmax(axis=1), len(group.categories))
    codes = codes[held.kept]  # of the table's rows those that are in use, and of these each hospital's
    return [codes[members] for members in held.by_hospital]


def request_kept(drawn: Drawn, prepared: PreparedTable) -> ScoreRequest | None:
    """Return the request of a picture that was begun; None if it is not of the table as prepared now."""
    try:
        request = ScoreRequest.from_plain(drawn.asked["scores"])
    except (KeyError, ValueError):
        return None
    wanted = {
        "hospitals": list(prepared.sizes),
        "features": list(prepared.schema.features),
        "public": prepared.public,
    }
    return request if request.release | wanted == request.release else None


def _show_picture(pictures: list[ReleaseJob], release: ReleaseJob | None) -> None:
    """Render one of the released pictures, with a map for each group, and its downloads."""
    label, title = "Pictures released in this session", "{at} UTC, {name}"
    job = bundle_panel.choose_job(pictures, label, "own pictures", title)
    result = job.result
    document, request = result.document, job.what.request
    st.markdown("**Released**")
    if release is None or release.result.document["at"] != request.release["at"]:
        st.caption(score_text.UNLIKE)
    peak = float(max(result.counts.max(), 1.0))  # the same colours for all groups
    columns = st.columns(2)
    for i, (name, counts) in enumerate(zip(document["groups"], result.counts, strict=True)):
        with columns[i % 2]:
            if request.group is not None:
                st.markdown(f"{page_text.literal(request.group.column)}: **{page_text.literal(name)}**")
            _show_map(counts, request.edges, result.std, peak, f"own scores {i}", lambda: figure_code.SCORES)
    st.caption(f"{score_text.legend(request.rows_per_patient)} {score_text.cost(document)}")
    st.markdown(bundle_panel.where_kept())
    csv, written = safe_csv(cells(document)), json.dumps(document, indent=1, ensure_ascii=False)
    line = bundle.account_lines(book_releases.account_after(job), result.payment)
    files = (
        ("Download the counts (CSV)", csv, "scores.csv", "text/csv"),
        ("Download the picture (JSON)", written, "scores.json", "application/json"),
        ("Its payment (JSONL)", line, "scores-account.jsonl", "application/jsonl"),
    )
    bundle_panel.show_files(files, st.columns(3))
    bundle_panel.offer_deletion(job)


def cells(document: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells of a released picture as a table, a line each: group, limits, noisy count, std."""
    counts = np.array(document["counts"])
    first, second = (np.array(ends) for ends in document["edges"])
    group, i, j = (index.ravel() for index in np.indices(counts.shape))  # of every cell
    noise = document["noise of a cell"]
    return pd.DataFrame(
        {
            "group": np.array(document["groups"], dtype=object)[group],
            "component 1 from": first[i],
            "component 1 to": first[i + 1],
            "component 2 from": second[j],
            "component 2 to": second[j + 1],
            "count": counts.ravel(),
            "noise": noise,
        }
    )
