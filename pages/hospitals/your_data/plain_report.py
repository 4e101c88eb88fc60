"""The report of plain view on a table of one's own: as `report`, only of what is public."""

from dppca_core.methods import METHODS
from dppca_core.release import chosen
from pages.hospitals.your_data import (
    charts,
    ledger_text,
    plain_rehearsal,
    plain_text,
    report,
    sources,
    upload_text,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.rehearsal import Twin
from pages.hospitals.your_data.report import PublicRecord
from pages.shared import text
from pages.shared.plain import rows
from pages.shared.reports import html_report
from pages.shared.reports.html_report import Report, ReportFigure
from pages.shared.settings.catalogue import Settings


def build(record: PublicRecord, settings: Settings) -> Report:
    """Return the report: the release or, before one, the rehearsal."""
    released = record.released
    return Report(
        title="What was released of our own table" if released else "A rehearsal on invented patients",
        sentence=_sentence(record),
        settings=_settings(record),
        figures=_figures(record),
        tables=[report.public_table(record.schema)],
        guarantee=" ".join(_promised(record)),
        limits=_limits(record),
        sources=_sources(record),
        link=html_report.link(settings | {"own.shown": False}, "your_data"),
        made=html_report.today(),
    )


def _sentence(record: PublicRecord) -> str:
    if record.released is None:
        return plain_text.NO_RELEASE
    k = record.released.basis.shape[1]
    return text.unmarked(plain_text.released(k, report.whole(record)))


def _settings(record: PublicRecord) -> list[tuple[str, str]]:
    entries = [
        (page_text.noun(record.stated_rows).capitalize(), f"{sum(record.sizes):,}"),
        ("Hospitals", report.hospitals(record, f"{len(record.sizes):,}")),
        ("Measurements", f"{record.schema.d:,}"),
    ]
    if isinstance(record.request, str):
        return entries
    budget = record.request.budget
    return [
        *entries,
        ("Patterns", f"{record.request.k}"),
        ("Privacy loss (smaller protects more)", text.number(budget.epsilon)),
        ("Privacy loss of a patient", f"{record.request.patient_epsilon:.4g}"),
        ("Chance that privacy fails", text.one_in(budget.delta)),
    ]


def _figures(record: PublicRecord) -> list[ReportFigure]:
    figures = []
    if record.released is not None:
        words = plain_text.COMPONENT, plain_text.LOADING
        features, released = record.schema.features, record.released
        drawn = charts.loadings(features, released.basis, released.loading_std, *words)
        says = plain_text.apart(*page_text.apart_from_zero(released))
        figures.append(ReportFigure(drawn, "What the released patterns are made of", says))
    if isinstance(record.twin, Twin):
        says = text.unmarked(f"{plain_rehearsal.sentence(record.twin)} {plain_text.WORST}")
        shares = plain_rehearsal.shares(record.twin)
        about = f"{says} {rows.description(shares)}"
        figures.append(ReportFigure(rows.figure(shares), plain_text.REHEARSED, about))
    return figures


def _promised(record: PublicRecord) -> list[str]:
    sentences = ["Nothing was released, so nothing is promised yet."]
    if record.released is not None:
        document = record.released.document
        budget, cost = document["parameters"]["budget"], document["epsilon for a patient"]
        sentences = [plain_text.promise(cost, budget["delta"], budget["neighbours"], sum(record.sizes))]
        sentences.append(page_text.restated(record.released, record.rows, plain_text.restated))
    if record.account is not None and record.account.limit is not None:
        sentences.append(f"{plain_text.left(ledger_text.spending(record.account))}.")
    return [sentence for sentence in sentences if sentence]


def _limits(record: PublicRecord) -> list[str]:
    limits = [plain_text.PUBLIC]
    if report.is_at_random(record.assignment):
        limits.append(upload_text.at_random(record.stated_rows))
    if record.released is not None:
        limits += [
            "" if record.released.document["mean"] is not None else plain_text.UNCENTRED,
            "How good the release is cannot be said here: that would tell something of the patients.",
            f"How measurements and patterns were chosen: {record.released.document[chosen.KEY]}.",
        ]
    if isinstance(record.twin, Twin):
        limits.append("The rehearsal is of invented patients. Yours may differ.")
    return list(filter(None, [*limits, page_text.EVADES]))


def _sources(record: PublicRecord) -> list[str]:
    lines = [] if isinstance(record.request, str) else [METHODS[record.request.method].reference]
    made = html_report.made(None if record.released is not None else 0)
    return [*(f"Method: {line}." for line in lines), *sources.PAPERS, made]
