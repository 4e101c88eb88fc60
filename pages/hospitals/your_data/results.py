"""Describe what was rehearsed and what was released, for the screen and for a file. No Streamlit here.

A rehearsal follows from public numbers. What is said of a release follows from its `release.json` alone,
whatever the page is set to by then. Nothing here is given a row, a file's name or what only its owner sees.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

import pandas as pd

from dppca_core.methods import METHODS
from dppca_core.release import bundle, how_chosen
from dppca_core.release.private_release import USABLE_SHARE, Released
from dppca_core.release.request import Request
from dppca_core.tables import Column, Schema, dictionary_lines
from dppca_core.tables.patients import Counting, is_at_random
from pages.hospitals.your_data import (
    analyst_text,
    charts,
    figure_code,
    plain_text,
    rehearsal,
    sources,
    twin_runs,
    twin_text,
    upload_text,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.rehearsal import Rehearsal
from pages.hospitals.your_data.settings import COUNTS, EQUAL_WEIGHT, RANGES
from pages.shared import text
from pages.shared.document.blocks import Blocks, Figure, Fold, Frame, Note, Notice, Section, Table, Text
from pages.shared.document.html import Document
from pages.shared.plain import phrases, share_bars
from pages.shared.reports.sources import today

_STEM = "dppca-your-data"


def words_of(plain: bool) -> ModuleType:
    return plain_text if plain else analyst_text


def rehearsed(made: Rehearsal) -> Blocks:
    shares, recovered = rehearsal.shares(made), twin_runs.recovered(made.twin)
    yield Text(f"{plain_text.REHEARSAL} {plain_text.rehearsed(recovered, shares.guess)}")
    yield Figure(
        "rehearsal figure",
        share_bars.figure(shares),
        title=plain_text.REHEARSED,
        stem=_STEM,
        alt_text=share_bars.description(shares),
        code=partial(figure_code.rehearsal, made.by_trust),
    )
    if len(shares.rows) > 1:
        yield Note(f"{plain_text.WORST} {twin_text.chosen_trust(made.trust)}")
    else:
        yield Note(plain_text.WORST)


def warnings(made: Rehearsal, plain: bool) -> Iterator[str]:
    words, rows = words_of(plain), made.twin.request.rows_per_patient
    if made.sign is not None:
        counted = usable_patients.counted_by_stop_sign(made.usable_share, rows)
        yield f"{words.stop(made.sign)} {counted}".rstrip()
    elif made.usable_share is None:
        yield words.cannot_know(rows)


def how_rehearsed(made: Rehearsal) -> Blocks:
    twin, schema = made.twin, made.schema
    yield Text(twin_text.rehearsed(twin.request, len(made.sizes)))
    yield Text(twin_text.populations(rehearsal.errors(twin), twin.pattern.paid, twin.in_closed_form))
    yield Text(share_bars.table(rehearsal.shares(made), twin.request.k))
    if twin.is_only_predicted:
        yield Note(twin_text.only_predicted(schema.d))
        return
    yield Note(
        twin_text.invented(
            twin.experiment,
            twin.request.rows_per_patient,
            strength=twin.pattern.title,
            bound=schema.bound,
            method=twin.request.method,
            n=sum(made.sizes),
        )
    )


def released(result: Released, plain: bool) -> Blocks:
    words, sizes = words_of(plain), result.document["hospitals"]
    noun = page_text.noun(result.document["rows per patient"])
    k, day = result.basis.shape[1], result.document["at"][:10]
    yield Text(plain_text.released(k, f"{sum(sizes):,} {noun}", words.COMPONENT, day))
    features = result.document["features"]
    drawn = charts.loadings(features, result.basis, result.loading_std, words.COMPONENT, words.LOADING)
    yield Figure(
        "own loadings",
        drawn,
        title=f"Released {words.COMPONENT}s",
        stem="private-components",
        alt_text=charts.describe_loadings(drawn, words.COMPONENT),
        code=lambda: figure_code.RELEASED,
    )
    yield Text(plain_text.apart(*page_text.apart_from_zero(result), words.LOADING))
    if plain and result.document["mean"] is None:
        yield Text(plain_text.UNCENTRED)


def how_released(result: Released) -> Blocks:
    noise_drawn = page_text.how_noise_is_drawn(result.document["method"])
    yield Text(f"**{page_text.promise(result)}** {noise_drawn}")
    yield Text(page_text.centring(result))
    if eigenvalues := page_text.eigenvalues(result):
        yield Text(eigenvalues)
    yield Note(page_text.told_from_zero(result))
    yield Fold("Loadings as a table", "own loadings table", partial(_loadings, result))


def _loadings(result: Released) -> Blocks:
    frame = bundle.loadings(result.document)
    listed = frame.iloc[charts.strongest(result.basis)]
    yield Table(listed.reset_index(drop=True), wide=True)
    if len(listed) < len(frame):
        yield Note(page_text.strongest(len(listed), len(frame)))


def file_of_rehearsal(made: Rehearsal, plain: bool) -> Document:
    """Return the file of a rehearsal, such as for an ethics vote: nothing was released."""
    rows = made.twin.request.rows_per_patient
    limits = [
        plain_text.PUBLIC if plain else upload_text.counts_public(made.assignment, made.schema, rows),
        upload_text.at_random(rows) if is_at_random(made.assignment) else "",
        "The rehearsal is of invented patients. Yours may differ.",
        "" if plain else twin_text.centre(made.twin.experiment, rows),
    ]
    settings = _settings(made.twin.request, made.schema, made.sizes, made.counting, made.usable_share, plain)
    return _file(
        "A rehearsal, and nothing released",
        partial(_rehearsal, made, plain),
        Frame(settings, "Nothing was released, so nothing is promised yet.", limits, today()),
        made.twin.request.method,
    )


def _rehearsal(made: Rehearsal, plain: bool) -> Blocks:
    yield from rehearsed(made)
    yield from map(partial(Notice, warns=True), warnings(made, plain))
    yield Fold(phrases.FOLD, "how rehearsed", partial(how_rehearsed, made))
    yield from _public(made.schema)


def file_of_release(result: Released, plain: bool) -> Document:
    document = result.document
    request = bundle.recipe(document)
    schema = Schema.from_json(json.dumps(document["public"]["dictionary"]))
    rows, sizes, public = request.rows_per_patient, document["hospitals"], document["public"]
    promises = (
        [plain_text.promise(request, sum(sizes))]
        if plain
        else [page_text.promise(result), page_text.odds(request)]
    )
    limits = [
        plain_text.PUBLIC if plain else upload_text.counts_public(public["dealt"], schema, rows),
        upload_text.at_random(rows) if is_at_random(public["dealt"]) else "",
        "" if plain else page_text.two_releases(request),
        text.large_delta(request.budget.delta, sum(sizes)),
        page_text.NOT_COMPARED,
        f"How columns and k were chosen: {document[how_chosen.KEY]}.",
        page_text.CHANGED_TABLE_CAVEAT,
    ]
    counting = public.get("rows kept of a patient", public.get("rows of a patient"))
    settings = _settings(request, schema, sizes, counting, document[USABLE_SHARE], plain)
    return _file(
        "What was released of our own table",
        partial(_release, result, schema, plain),
        Frame(settings, text.unmarked(" ".join(promises)), limits, today()),
        request.method,
    )


def _release(result: Released, schema: Schema, plain: bool) -> Blocks:
    yield Section(f"Released {words_of(plain).COMPONENT}s")
    yield from released(result, plain)
    yield Fold(phrases.FOLD, "how released", partial(how_released, result))
    yield from _public(schema)
    yield Note(f"{result.document['what']}: {result.document['reference']}. {result.document['noise']}")


def _file(title: str, blocks: Callable[[], Blocks], frame: Frame, method: str) -> Document:
    def with_sources() -> Blocks:
        yield from blocks()
        yield sources.fold([method])

    return Document(title, "", _STEM, with_sources, lambda: frame)


def _settings(
    request: Request,
    schema: Schema,
    sizes: tuple[int, ...],
    counting: Counting | None,
    usable_share: float | None,
    plain: bool,
) -> list[tuple[str, str]]:
    noun, budget = page_text.noun(request.rows_per_patient), request.budget
    entries = [
        (noun.capitalize(), f"{sum(sizes):,}"),
        ("Rows of one patient", _rows_of_one_patient(request, counting)),
        ("Hospitals", f"{len(sizes):,}"),
    ]
    if schema.leaves_rows_out:
        entries.append((f"Usable {noun}", usable_patients.in_words(usable_share)))
    if request.fitted:
        entries.append(("What counts", COUNTS[EQUAL_WEIGHT if request.standardised else RANGES]))
    entries += [
        ("Measurements" if plain else "Features d", f"{schema.d:,}"),
        ("Patterns" if plain else "Components k", f"{request.k}"),
        ("Privacy loss ε", text.number(budget.epsilon)),
        ("Privacy loss ε of a patient", f"{request.patient_epsilon:.4g}"),
        ("Failure chance", text.one_in(budget.delta) if plain else text.number(budget.delta)),
    ]
    if plain:
        return entries
    options = [(text.symbols(name), f"{value}") for name, value in request.method_options.items()]
    return [
        *entries,
        ("Method", METHODS[request.method].title),
        *options,
        ("Of the budget", page_text.shares(request)),
    ]


def _rows_of_one_patient(request: Request, counting: Counting | None) -> str:
    if isinstance(counting, int):
        return f"the first {counting:,}, each counting 1/{counting:,}"
    return page_text.stated(request.rows_per_patient) if counting is None else str(counting)


def _public(schema: Schema) -> Blocks:
    """Yield what counts as public of each measurement: of a wide table the first, and how many follow."""
    listed = schema.columns[: charts.MOST_LISTED]
    rest = len(schema.columns) - len(listed)
    yield Section("What counts as public")
    names = ["measurement", "range or categories", "if missing"]
    yield Table(pd.DataFrame([_public_line(column) for column in listed], columns=names), wide=True)
    more = f" {rest:,} more stand in the data dictionary." if rest else ""
    yield Note(f"{page_text.RANGES_ARE_PUBLIC}{more}")


def _public_line(column: Column) -> tuple[str, str, str]:
    """Return a column's name, its range or categories, and what is filled in if a cell is missing."""
    written: Callable[[float | str | None], str] = str
    values = ", ".join(column.categories)
    if column.kind == "number":
        written = dictionary_lines.number_text
        values = f"{written(column.low)} to {written(column.high)}"
    if column.usual is not None:
        values += f", usually {written(column.usual)}"
    missing = "row left out" if column.fill is None else f"{written(column.fill)} filled in"
    # A blank filling is that of a category: the cell counts as none of its answers.
    return column.name, values, "counts as none of them" if column.fill == "" else missing
