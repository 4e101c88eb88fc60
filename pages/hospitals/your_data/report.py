"""Build the report on a visitor's own table: only what was released, what is public, and what is synthetic.

Nothing here reads a row, a file's name or what only the owner may see: `build` gets a release, its public
dictionary, the account and the twin (the rehearsal of the release on invented patients), and is
not given the table. `plain` is whether the report is in the words of the plain view, for readers without
statistics; k is the number of components.
"""

from dataclasses import dataclass, field

from dppca_core.accounts.account import Account
from dppca_core.methods import METHODS
from dppca_core.release import bundle, how_chosen
from dppca_core.release.private_release import USABLE_SHARE, Released
from dppca_core.release.request import OFFERED, Request
from dppca_core.tables import Column, Schema, dictionary_lines
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.patients import Counting, is_at_random
from pages.hospitals.your_data import (
    account_panel,
    account_text,
    analyst_text,
    charts,
    plain_text,
    rehearsal,
    sources,
    twin_text,
    upload_text,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.rehearsal import Twin
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.settings import EQUAL_WEIGHT, UNKNOWN
from pages.hospitals.your_data.synthetic_twin_panel import paid_spectrum
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.plain import rows as share_rows
from pages.shared.reports import phrases
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.reports.sources import made, today
from pages.shared.settings.catalogue import Settings


@dataclass(frozen=True)
class PublicRecord:
    """Hold what may leave the server: what is public about a table, its account, a release and its rehearsal.

    `assignment` states how patients were assigned to hospitals, and `sizes` how many each has. `counting`
    is how the rows of one patient count, None where no column names the patients. `account` is as it is now,
    `released` the release that is shown, if any. `request` is what was released or, before that, what a press
    of Release would make or why it would refuse. `rows` is how many rows one patient can have at most by the
    owner's answer now. `twin` is the rehearsal, or why there is none. `usable_share` is that
    of the patients whom the rehearsal counts, as the owner states it or stated it at the release; None where
    it is not stated.
    """

    schema: Schema
    assignment: str
    sizes: tuple[int, ...]
    counting: Counting | None
    account: Account | None
    released: Released | None
    request: Request | str
    rows: int
    twin: Twin | str | None = field(repr=False)
    usable_share: float | None

    @property
    def stated_rows(self) -> int:
        """Return how many rows a patient can have, by the request or, without one, by the answer now."""
        return self.rows if isinstance(self.request, str) else self.request.rows_per_patient


def public_record(
    prepared: PreparedTable | None,
    account: Account | None,
    release: ReleaseJob | None,
    request: Request | str,
    twin: Twin | None,
    rows: int,
    settings: Settings,
) -> PublicRecord | None:
    """Return the record of the release that is shown or, without one, of the table as it is prepared.

    A release of another table or dictionary than the present one has no account and no twin here. None if
    there is neither table nor release. release: the job of the release that is shown on the page. request,
    twin: what a press of Release would make now, and its rehearsal. rows: as in `PublicRecord`.
    """
    if release is None:
        if prepared is None:
            return None
        # From its second field on, an identity has the first four fields of the record.
        usable_share = usable_patients.stated_share(prepared.schema, settings)
        return PublicRecord(*prepared.identity[1:], account, None, request, rows, twin, usable_share)
    request, table = release.what.request, release.what.table
    usable_share = release.result.document[USABLE_SHARE]
    if prepared is None or prepared.identity[:2] != table[:2]:  # key and dictionary
        rows = request.rows_per_patient
        return PublicRecord(*table[1:], None, release.result, request, rows, None, usable_share)
    settings = settings | {"own.usable": usable_share or UNKNOWN}
    twin = rehearsal.rehearse(request, table.schema, table.sizes, settings, paid_spectrum(table))
    return PublicRecord(*table[1:], account, release.result, request, rows, twin, usable_share)


def build(record: PublicRecord, settings: Settings) -> Report:
    """Return the report: the release in full or, before one, the rehearsal; in plain view in short."""
    released, plain = record.released, settings["view"] == "plain"
    title = "A rehearsal on invented patients" if plain else "A rehearsal, and nothing released"
    texts = []
    if released is not None:
        title = "What was released of our own table"
        if released.eigenvalues is not None and not plain:
            texts = [("Strength of the directions", text.unmarked(page_text.eigenvalues(released)))]
    return Report(
        title=title,
        sentence=_sentence(record, plain),
        settings=_plain_settings(record) if plain else _settings(record, settings),
        figures=_figures(record, plain),
        tables=[_public_table(record.schema)] if plain else _tables(record),
        texts=texts,
        guarantee=_guarantee(record, plain),
        limits=_plain_limits(record) if plain else _limits(record),
        sources=_sources(record, settings["view"]),
        # The link restores the settings, with what only the owner may see switched off, and holds no table.
        link=streamlit.link(settings | {"own.shown": False}),
        made=today(),
    )


def _guarantee(record: PublicRecord, plain: bool) -> str:
    """Return what the release promises each patient, and what all releases of the table cost together."""
    released, account, words = record.released, record.account, plain_text if plain else analyst_text
    sentences = ["Nothing was released, so nothing is promised yet."]
    if released is not None:
        request = bundle.recipe(released.document)
        sentences = [page_text.promise(released), page_text.how_noise_is_drawn(request.method)]
        sentences.append(page_text.odds(request))
        if plain:
            sentences = [plain_text.promise(request, sum(record.sizes))]
        # What it costs by the owner's present answer on rows of a patient, if that was another then.
        sentences.append(page_text.restated(released, record.rows, words.restated))
    if account is not None and account.limit is not None:
        left = words.left(account_text.spending(account))
        sentences.append(f"{left}." if plain else f"All releases of this table together: {left}.")
        sentences.append("" if plain else page_text.patient_total(account, record.rows))
    return text.unmarked(" ".join(filter(None, sentences)))


def _rows_of_one_patient(record: PublicRecord, rows: int) -> str:
    """Return how many rows of one patient there are at most, or how they count where patients are named."""
    averaged = not isinstance(record.request, str) and record.request.averaged
    if not averaged:
        return page_text.stated(rows)
    if isinstance(record.counting, int):
        return f"the first {record.counting:,}, each counting 1/{record.counting:,}"
    return str(record.counting)


def _hospitals(record: PublicRecord, where: str) -> str:
    """Return `where`, a phrase on hospitals, or for invented ones that patients were assigned to them."""
    invented = f"assigned at random to {len(record.sizes):,} hospitals that do not exist"
    return invented if is_at_random(record.assignment) else where


def _size_in_words(record: PublicRecord) -> str:
    """Return how many patients a release is or would be of, and in how many hospitals they are."""
    where = _hospitals(record, f"in {upload_text.where_patients_are(len(record.sizes))}")
    return f"{sum(record.sizes):,} {page_text.noun(record.stated_rows)} {where}"


def _sentence(record: PublicRecord, plain: bool) -> str:
    """Return the report's first sentence: what was released, or that nothing was."""
    released = record.released
    if released is None:
        nothing = f"Nothing of {_size_in_words(record)} was released: this is a rehearsal."
        return plain_text.NO_RELEASE if plain else nothing
    k = released.basis.shape[1]
    if plain:
        return text.unmarked(plain_text.released(k, _size_in_words(record)))
    cost = page_text.epsilon(released.document["parameters"]["budget"]["epsilon"])
    return f"Released with {cost}: {text.count(k, 'component', 'components')} of {_size_in_words(record)}."


def _plain_settings(record: PublicRecord) -> list[tuple[str, str]]:
    """Return the names and values of settings that the plain report lists."""
    entries = [
        (page_text.noun(record.stated_rows).capitalize(), f"{sum(record.sizes):,}"),
        ("Hospitals", _hospitals(record, f"{len(record.sizes):,}")),
        ("Measurements", f"{record.schema.d:,}"),
        *_usable(record),
    ]
    if isinstance(record.request, str):
        return entries
    budget = record.request.budget
    return [
        *entries,
        ("Patterns", f"{record.request.k}"),
        ("Privacy loss ε (smaller protects more)", text.number(budget.epsilon)),
        ("Privacy loss of a patient", f"{record.request.patient_epsilon:.4g}"),
        ("Failure chance", text.one_in(budget.delta)),
    ]


def _settings(record: PublicRecord, settings: Settings) -> list[tuple[str, str]]:
    """Return the names and values of settings that the analyst's report lists, as they were used."""
    request = record.request
    sizes, rows = sorted(record.sizes), record.stated_rows
    noun = page_text.noun(rows).capitalize()
    entries = [
        (noun, f"{sum(sizes):,}"),
        ("Rows of one patient", _rows_of_one_patient(record, rows)),
        ("Hospitals", _hospitals(record, f"{len(sizes):,}" if len(sizes) > 1 else "all in one place")),
        (f"{noun} of each", upload_text.spread(sizes)),
        ("Features d", f"{record.schema.d:,}"),
        (upload_text.BOUND, f"{record.schema.bound:.4g}"),
        *_usable(record),
    ]
    if isinstance(request, str):
        return entries
    # The request's numbers, which can differ from what the controls show by now.
    as_used = {"own.delta": request.budget.delta, "neighbours": request.budget.neighbours, "own.k": request.k}
    as_used |= {f"own.{key}": value for key, value in request.method_options.items()}
    if request.fitted:
        as_used["own.counts"] = EQUAL_WEIGHT if request.standardised else "ranges"
    if shares := page_text.shares(request):
        entries.append(("Of the budget", shares))
    if isinstance(record.twin, Twin):
        entries.append(("Pattern of the twin", record.twin.pattern.title))
    entries += [
        ("Method", METHODS[request.method].title),
        ("Privacy loss ε for a row", text.number(request.budget.epsilon)),
        ("Privacy loss ε for a patient", f"{request.patient_epsilon:.4g}"),
    ]
    return entries + phrases.settings_in_words(settings | as_used, keys=as_used)


def _usable(record: PublicRecord) -> list[tuple[str, str]]:
    """Return the entry of the settings on usable patients; none where the dictionary leaves nobody out."""
    name = f"Usable {page_text.noun(record.stated_rows)}"
    return [(name, usable_patients.in_words(record.usable_share))] if record.schema.leaves_rows_out else []


def _figures(record: PublicRecord, plain: bool) -> list[ReportFigure]:
    """Return the figures of the loadings and of the rehearsal, as far as there are any."""
    figures, words, released = [], plain_text if plain else analyst_text, record.released
    if released is not None:
        features, nouns = record.schema.features, {"component": words.COMPONENT, "loading": words.LOADING}
        drawn = charts.loadings(features, released.basis, released.loading_std, **nouns)
        title = "Loadings of the released components"
        says = f"{charts.describe_loadings(drawn, words.COMPONENT)} {page_text.told_from_zero(released)}"
        if plain:
            title = "What the released patterns are made of"
            says = plain_text.apart(*page_text.apart_from_zero(released))
        figures.append(ReportFigure(drawn, title, says))
    if not isinstance(record.twin, Twin):
        return figures
    if plain:
        shares = rehearsal.shares(record.twin)
        recovered = plain_text.rehearsed(shares.rows[0].share, shares.guess)  # the worst comes first
        says = text.unmarked(f"{recovered} {plain_text.WORST}")
        about = f"{says} {share_rows.description(shares)}"
        figures.append(ReportFigure(share_rows.figure(shares), plain_text.REHEARSED, about))
    elif record.twin.is_only_predicted:
        drawn = rehearsal.predicted_figure(record.twin)
        says = f"{charts.describe_predicted(drawn)} {twin_text.only_predicted(record.schema.d)}"
        figures.append(ReportFigure(drawn, "Predicted errors of a table of the same size", says))
    else:
        drawn = rehearsal.payload(record.twin)
        sentence = drawn["words"][drawn["active"]]["sentence"]  # that of the release's epsilon
        note = f"These {page_text.noun(record.stated_rows)} are invented: none of the table has a part in it."
        figures.append(ReportFigure(drawn, "The rehearsal", f"{sentence} {note}"))
    return figures


def _tables(record: PublicRecord) -> list[ReportTable]:
    """Return the tables of released loadings, of what is public, and of all releases on the account."""
    tables = []
    if record.released is not None:
        frame = bundle.loadings(record.released.document)
        listed = frame.iloc[charts.strongest(record.released.basis)]
        which = "All" if len(listed) == len(frame) else f"The {len(listed):,} strongest"
        listed = listed.map(lambda cell: cell if isinstance(cell, str) else f"{cell:.4f}")
        tables.append(phrases.table(f"{which} released loadings", listed))
    tables.append(_public_table(record.schema))
    if record.account is not None and record.account.payments:
        frame = account_panel.releases(record.account)
        tables.append(phrases.table("All releases on the account of this table", frame))
    return tables


def _public_table(schema: Schema) -> ReportTable:
    """Return what counts as public of each measurement: of a wide table the first, and how many follow."""
    listed = schema.columns[: charts.MOST_LISTED]
    rest = len(schema.columns) - len(listed)
    more = f" {rest:,} more stand in the data dictionary." if rest else ""
    return ReportTable(
        "What counts as public",
        ("measurement", "range or categories", "if missing"),
        [_public_line(column) for column in listed],
        "Taken as known before anybody looked at a patient: ranges read off the patients are not public."
        + more,
    )


def _public_line(column: Column) -> tuple[str, str, str]:
    """Return a column's line in the table of what is public: name, range or categories, if missing."""
    values, written = ", ".join(column.categories), str
    if column.kind == "number":
        written = dictionary_lines.number_text
        values = f"{written(column.low)} to {written(column.high)}"
    if column.usual is not None:
        values += f", usually {written(column.usual)}"
    missing = "row left out" if column.fill is None else f"{written(column.fill)} filled in"
    # A blank filling is that of a category: the cell counts as none of its answers.
    return column.name, values, "counts as none of them" if column.fill == "" else missing


def _limits(record: PublicRecord) -> list[str]:
    """Return sentences on what the report cannot say or does not cover, for analysts."""
    rows = record.stated_rows
    limits = [upload_text.counts_public(record.assignment, record.schema, rows)]
    if is_at_random(record.assignment):
        limits.append(upload_text.at_random(rows))
    if not isinstance(record.request, str):
        limits.append(page_text.elsewhere(record.request))
    if record.released is not None:
        delta = record.released.document["parameters"]["budget"]["delta"]
        limits += [
            text.large_delta(delta, sum(record.sizes)),
            "How far this is from the answer without privacy is not said: that would be computed from the "
            "patients' rows, and is not private.",
            "Choosing columns, ranges or the number of directions by looking at the patients costs privacy "
            "that is not counted.",
            f"How columns and k were chosen: {record.released.document[how_chosen.KEY]}.",
            page_text.centring(record.released),
        ]
    if isinstance(record.twin, Twin):
        limits += [
            f"The twin says what to expect of {page_text.noun(rows)} like its own, on the worst of the "
            "populations rehearsed; the real ones may differ.",
            twin_text.centre(record.twin.experiment, rows),
        ]
    limits += [
        page_text.CHANGED_TABLE_CAVEAT,
        "The link restores the settings. The table itself stays with its owner and is in no link.",
    ]
    return [limit for limit in limits if limit]


def _plain_limits(record: PublicRecord) -> list[str]:
    """Return sentences on what the report cannot say or does not cover, for the plain view."""
    limits = [plain_text.PUBLIC]
    if is_at_random(record.assignment):
        limits.append(upload_text.at_random(record.stated_rows))
    if record.released is not None:
        limits += [
            "" if record.released.document["mean"] is not None else plain_text.UNCENTRED,
            "How good the release is cannot be said here: that would tell something of the patients.",
            f"How measurements and patterns were chosen: {record.released.document[how_chosen.KEY]}.",
        ]
    if isinstance(record.twin, Twin):
        limits.append("The rehearsal is of invented patients. Yours may differ.")
    return [limit for limit in (*limits, page_text.CHANGED_TABLE_CAVEAT) if limit]


def _sources(record: PublicRecord, view: str) -> list[str]:
    """Return where methods, noise and numbers come from, with the formulas but in plain view."""
    released = record.released
    when = made(None if released is not None else 0)  # a rehearsal has seed 0, a release none
    if view == "plain":
        lines = [] if isinstance(record.request, str) else [METHODS[record.request.method].reference]
        return [*(f"Method: {line}." for line in lines), *sources.PAPERS, when]
    lines = [f"Synthetic twin: simulation {sources.TWIN}"] if isinstance(record.twin, Twin) else []
    if released is not None:
        lines.append(f"The release: {sources.RELEASE} {released.document['noise']}")
        lines.append(f"{released.document['what']}: {released.document['reference']}.")
    else:
        lines += [f"{METHODS[name].title}: {METHODS[name].reference}." for name in OFFERED]
    lines.append(
        "A number x in [l, h] becomes (x − (l+h)/2) / ((h−l)/2), clipped to [−1, 1]; one of c categories "
        "becomes c indicators less 1/max(c, 2); rows are clipped to norm B (a fitted b: about their "
        "mean) and divided by it. The noise has σ = Δ z, for T steps √T Δ z, with Δ = √2 (replace one) or 1 "
        "and "
        "δ = Φ(1/(2z) − εz) − e^ε Φ(−1/(2z) − εz) (Balle & Wang 2018)."
    )
    return [*lines, *sources.PAPERS, when]
