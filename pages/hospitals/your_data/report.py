"""A person's own table as a report: only what was released, what is public, and what is synthetic.

Nothing here reads a row, a file's name or what only the owner may see: `build` takes a release, its public
dictionary, the account on the ledger and the twin's figure, and is not given the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dppca_core.methods import METHODS
from dppca_core.release import private_release
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import OFFERED, Released, Request
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import (
    charts,
    ledger_panel,
    price_text,
    sources,
    unit_text,
)
from pages.hospitals.your_data import (
    synthetic_twin_panel as twin,
)
from pages.hospitals.your_data import (
    text as page_text,
)
from pages.hospitals.your_data.prepared_table import PreparedTable, is_at_random, is_by_column
from pages.hospitals.your_data.session import ConfirmedRelease, TableSession
from pages.shared import text
from pages.shared.reports import html_report, phrases
from pages.shared.reports.html_report import Report, ReportFigure, ReportTable
from pages.shared.settings.catalogue import CHOICES, Settings

_TITLE = "What was released of our own table"
_REHEARSED = "A rehearsal on a synthetic twin"


@dataclass(frozen=True)
class PublicRecord:
    """What may leave: the dictionary, hospitals' sizes, whether they follow from a column or from chance, the
    ledger as it stands, one release, what a press of Release would ask for, and how the figure of the twin
    is built.

    rows: how many one patient can have at most, by the owner's answer now; a release holds the answer then.
    """

    schema: Schema
    sizes: tuple[int, ...]
    by_column: bool
    at_random: bool
    book: Account | None
    released: Released | None
    asked: Request | None
    rows: int = 1
    twin: Callable[[], dict[str, Any]] | None = field(repr=False, default=None)


def public_record(
    prepared: PreparedTable | None,
    book: Account | None,
    made: ConfirmedRelease | None,
    asked: Request | None,
    twin: Callable[[], Any] | None,
    rows: int = 1,
) -> PublicRecord | None:
    """Of the release that is shown and, where it is of the table at hand, its ledger and twin."""
    released = made.released if made is not None else None
    if made is not None and released is not None:
        here = prepared is not None and (made.key, made.schema) == (prepared.raw.key, prepared.schema)
        dealt = str(released.document["public"]["dealt"])
        hospitals = tuple(released.document["hospitals"]), is_by_column(dealt), is_at_random(dealt)
        rows = rows if here else int(released.document["rows per patient"])
        return PublicRecord(
            made.schema, *hospitals, book if here else None, released, asked, rows, twin if here else None
        )
    if prepared is None:
        return None
    hospitals = prepared.sizes, prepared.by_column, prepared.at_random
    return PublicRecord(prepared.schema, *hospitals, book, None, asked, rows, twin)


def link(settings: Settings) -> str:
    """The page with these settings, what only the owner may see switched off: the table is in no link."""
    return html_report.link(settings | {"own.shown": False}, "your_data")


def file(state: TableSession, record: PublicRecord, settings: Settings) -> bytes:
    """Return the report as a file, written anew only when it says something else."""
    made = build(record, settings, link(settings))
    if state.report is None or state.report[0] != made:
        state.report = made, html_report.html(made).encode()
    return state.report[1]


def build(record: PublicRecord, settings: Settings, address: str) -> Report:
    """The release in full; before one, the rehearsal."""
    plain, released = settings["view"] == "board", record.released
    promised = "Nothing was released, so nothing is promised yet."
    if released is not None:
        method = released.document["method"]
        promised = f"{page_text.promise(released, plain)} {price_text.hardening(method, plain)}"
        promised += f" {restated}" if (restated := unit_text.restated(released, record.rows, plain)) else ""
    limited = record.book is not None and record.book.limit is not None
    if record.book is not None and limited:
        promised += f" All releases of this table together: {price_text.left(record.book, plain)}."
        promised += f" {total}" if (total := unit_text.total(record.book, record.rows, plain)) else ""
    return Report(
        title=_REHEARSED if released is None else _TITLE,
        sentence=_sentence(record, plain),
        settings=_settings(record, settings),
        figures=[*_release(record, plain), *_twin(record)],
        tables=_tables(record, plain),
        texts=[("Strength of the directions", page_text.eigenvalues(released, plain))]
        if released is not None and released.eigenvalues is not None
        else [],
        guarantee=text.unmarked(promised),
        limits=_limits(record, plain),
        sources=_sources(record, settings["view"] == "researcher"),
        link=address,
        made=html_report.made(None) if released is not None else html_report.made(0),
    )


def _sentence(record: PublicRecord, plain: bool) -> str:
    n, noun, d = sum(record.sizes), unit_text.noun(_rows(record)), record.schema.d
    where = f"in {page_text.where_patients_are(len(record.sizes))}"
    if record.at_random:
        where = page_text.dealt_at_random(len(record.sizes))
    whole = f"{n:,} {noun} {where}, {text.count(d, 'measurement', 'measurements')} of each"
    released = record.released
    if released is None:
        return f"Nothing of {whole}, has been released: this is a rehearsal on invented {noun}."
    budget, k = released.document["parameters"]["budget"], released.basis.shape[1]
    what = text.count(k, *(("direction", "directions") if plain else ("component", "components")))
    cost = price_text.privacy(budget["epsilon"], plain)
    at = released.entry.at[:16].replace("T", " ")
    return (
        f"{page_text.centring(released, plain)} {what} of {whole}, {'was' if k == 1 else 'were'} released on "
        f"{at} UTC by {released.document['what']} with {cost}."
    )


def _rows(record: PublicRecord) -> int:
    """How many rows a patient can have: as the release states it, before one by the answer now."""
    return record.rows if record.released is None else int(record.released.document["rows per patient"])


def _settings(record: PublicRecord, settings: Settings) -> list[tuple[str, str]]:
    plain, released = settings["view"] == "board", record.released
    sizes, rows = sorted(record.sizes), _rows(record)
    noun, unit = unit_text.noun(rows).capitalize(), "patient" if rows == 1 else "row"
    hospitals = f"{len(sizes):,}" if len(sizes) > 1 else "all in one place"
    if record.at_random:
        hospitals = page_text.dealt_at_random(len(sizes))
    entries = [
        (noun, f"{sum(sizes):,}"),
        ("Rows of one patient", unit_text.stated(rows)),
        ("Hospitals", hospitals),
        (f"{noun} of each", f"{sizes[0]:,} to {sizes[-1]:,}" if sizes[0] < sizes[-1] else f"{sizes[0]:,}"),
        ("Measurements" if plain else "Features d", f"{record.schema.d:,}"),
        (f"Most that one {unit} counts for" if plain else "Row bound B", f"{record.schema.bound:.4g}"),
    ]
    if released is not None:
        method, given = released.document["method"], released.document["parameters"]
        of_patient = released.document["epsilon for a patient"]
    elif record.asked is not None:
        method, given = record.asked.method, private_release.parameters(record.asked)
        of_patient = record.asked.patient_epsilon
    else:
        return entries
    budget = given["budget"]
    options = ("k", "s_hat", "rank", "iterations", "burn_in")
    chance = text.one_in(budget["delta"]) if plain else text.number(budget["delta"])
    entries += [
        ("Method", METHODS[method].title),
        (f"{'Privacy loss' if plain else 'Privacy loss ε'} for a row", text.number(budget["epsilon"])),
        (f"{'Privacy loss' if plain else 'Privacy loss ε'} for a patient", f"{of_patient:.4g}"),
        (CHOICES["own.delta"].name(plain), chance),
        (CHOICES["neighbours"].name(plain), CHOICES["neighbours"].text(budget["neighbours"])),
    ]
    method_entries = [(CHOICES[f"own.{key}"].name(plain), str(given[key])) for key in options if key in given]
    if record.twin is None:
        return entries + method_entries
    used = settings | {"own.s": twin.mattering(settings, int(given["k"]), record.schema.d)}
    return entries + method_entries + phrases.settings_said(used, ("own.ratio", "own.s"))


def _release(record: PublicRecord, plain: bool) -> list[ReportFigure]:
    released, features = record.released, record.schema.features
    if released is None:
        return []
    first = [features[int(place)] for place in charts.heaviest(released.basis[:, :1], 3)]
    direction = "direction" if plain else "component"
    sentence = f"The first {direction}, which may be the mean, rests most on {', '.join(first)}. "
    sentence += "Its sign has no meaning."
    title = "What the released directions are made of" if plain else "Loadings of the released components"
    return [ReportFigure(charts.loadings(features, released.basis, plain), title, sentence)]


def _twin(record: PublicRecord) -> list[ReportFigure]:
    if record.twin is None:
        return []
    payload = record.twin()
    sentence = payload["words"][payload["active"]]["sentence"]
    note = f"These {unit_text.noun(_rows(record))} are invented: none of the table has a part in it."
    return [ReportFigure(payload, "A synthetic twin of the same size", f"{sentence} {note}")]


def _tables(record: PublicRecord, plain: bool) -> list[ReportTable]:
    released, tables = record.released, []
    if released is not None:
        frame = page_text.loadings(released, record.schema.features, plain)
        weights = [f"{value:.4f}" for value in released.basis.ravel()]
        k = released.basis.shape[1]
        rows = [(name, *weights[i * k : i * k + k]) for i, name in enumerate(record.schema.features)]
        title = "All released weights" if plain else "All released loadings"
        tables.append(ReportTable(title, tuple(frame.columns), rows))
    tables.append(
        ReportTable(
            "What counts as public",
            ("measurement", "range or categories", "if missing"),
            [(column.name, _range(column), _missing(column)) for column in record.schema.columns],
            "Taken as known before anybody looked at a patient: ranges read off the patients are not public.",
        )
    )
    if record.book is not None and record.book.entries:
        frame = ledger_panel.releases(record.book, plain)
        tables.append(phrases.table("All releases on the ledger of this table", frame))
    return tables


def _range(column: Column) -> str:
    if column.kind == "number":
        return f"{column.low:g} to {column.high:g}"
    return ", ".join(column.categories)


def _missing(column: Column) -> str:
    if column.fill is None:
        return "row left out"
    return "counts as none of them" if column.fill == "" else f"{column.fill} filled in"


def _limits(record: PublicRecord, plain: bool) -> list[str]:
    released, n = record.released, sum(record.sizes)
    limits = [page_text.counts_public(record.by_column, record.schema, _rows(record))]
    if record.at_random:
        limits.append(page_text.at_random(_rows(record)))
    if released is not None:
        budget = released.document["parameters"]["budget"]
        limits.append(text.large_delta(budget["delta"], n, plain))
        limits.append(
            "How far this is from the answer without privacy is not said: that would be computed from the "
            "patients' rows, and is not private."
        )
        limits.append(
            "Choosing columns, ranges or the number of directions by looking at the patients costs privacy "
            "that is not counted."
        )
    if record.twin is not None:
        limits.append(
            f"The twin says what to expect of {unit_text.noun(_rows(record))} like the guesses made for it; the "
            "real ones may differ."
        )
        limits.append(page_text.mean_zero(_rows(record)))
    limits.append(unit_text.EVADES)
    limits.append("The link restores the settings. The table itself stays with its owner and is in no link.")
    return [limit for limit in limits if limit]


def _sources(record: PublicRecord, formulas: bool) -> list[str]:
    released = record.released
    lines = [f"Synthetic twin: simulation {sources.TWIN}"] if record.twin is not None else []
    if released is not None:
        lines.append(f"The release: {sources.RELEASE} {released.document['noise']}")
        lines.append(f"{released.document['what']}: {released.document['reference']}.")
    else:
        lines += [f"{METHODS[name].title}: {METHODS[name].reference}." for name in OFFERED]
    if formulas:
        lines.append(
            "A number x in [l, h] becomes (x − (l+h)/2) / ((h−l)/2), clipped to [−1, 1]; one of c categories "
            "becomes c indicators less 1/max(c, 2); rows are clipped to norm B and divided by it. The noise "
            "has σ = Δ z, for T steps √T Δ z, with Δ = √2 (replace one) or 1 and "
            "δ = Φ(1/(2z) − εz) − e^ε Φ(−1/(2z) − εz) (Balle & Wang 2018)."
        )
    return [*lines, *sources.PAPERS]
