"""Show what only the owner may see of a release, as blocks that no file can have. One switch hides it all."""

from functools import partial

from dppca_core.numerics.subspace_metrics import in_unit
from dppca_core.tables import limits
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import owner_only_document, plain_text, rehearsal, session, twin_runs
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.owner_only_document import ReleaseVerdict
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.text import TOO_MUCH
from pages.hospitals.your_data.twin_runs import Twin
from pages.shared.charts.metric_axis import error_unit
from pages.shared.document import streamlit
from pages.shared.document.blocks import Block, Note, OwnersOnly, Text


def show(prepared: PreparedTable, twin: Twin | None, release: ReleaseJob | None, layout: PageLayout) -> None:
    """Rehearse for the patients that are usable, and compare the release with the answer without privacy.

    twin: the rehearsal that all may see. release: the one that is shown above.
    """
    if not layout.settings["own.shown"]:
        if release is not None:
            _show(Note(owner_only_document.HIDDEN))
        return
    _show(Text(owner_only_document.NOT_PRIVATE))
    if prepared.usable < prepared.n:
        _show_usable(prepared, twin, layout)
    if prepared.d > limits.MOST_MATRIX_FEATURES:
        _show(Note(owner_only_document.TOO_WIDE))
    elif release is None:
        _show(Note(owner_only_document.NO_RELEASE))
    elif release.what.table[:2] != prepared.identity[:2]:  # key and dictionary
        _show(Note(owner_only_document.ANOTHERS))
    else:
        _show_comparison(prepared, release, layout)


def _show(*blocks: Block) -> None:
    streamlit.show_block(OwnersOnly(blocks))


def _show_usable(prepared: PreparedTable, twin: Twin | None, layout: PageLayout) -> None:
    usable, rows = prepared.usable, session.current().rows_per_patient or 1
    _show(Text(owner_only_document.usable(prepared.n, usable, rows, prepared.counting)))
    if twin is None:
        return
    sizes = tuple(max(1, round(size * usable / prepared.n)) for size in prepared.sizes)
    rehearse = partial(rehearsal.rehearse_for_owner, twin, prepared.schema, sizes)
    patterns = tuple(each.pattern for each in twin.rehearsed)
    owners_twin = session.current().cached_for_table(("usable", twin.request, patterns), rehearse)
    error = twin_runs.share_of_guess(owners_twin)
    if layout.plain:
        shares = twin_runs.recovered(owners_twin), twin_runs.recovered_by_guess(owners_twin)
        _show(Text(plain_text.usable(usable, *shares, error > TOO_MUCH)))
    with layout.details():
        title = owners_twin.pattern.title
        _show(Text(owner_only_document.rehearsed_for_usable(usable, error, title, rows)))


def _show_comparison(prepared: PreparedTable, release: ReleaseJob, layout: PageLayout) -> None:
    compare = partial(owner_only_document.compare, prepared, release.result)
    compared: ReleaseVerdict = session.current().cached_for_table(("compared", release.number), compare)
    if layout.plain:
        k = release.result.basis.shape[1]
        shares = (float(in_unit("share", error, k)) for error in (compared.error, compared.guess))
        _show(Text(plain_text.verdict(*shares)))
    with layout.details():
        # Details have the analyst's unit in every view.
        metric = error_unit(layout.settings | {"view": "full"})
        _show(*owner_only_document.blocks(compared, release.result, metric))
