"""Write a data dictionary as lines of text, as people type it; read REDCap's and a CSV template.

A line may be incomplete: ranges and categories are typed from a code book, one after the other. The template
is a CSV that a spreadsheet fills in. Reading back what was written changes nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from dppca_core.tables import cells, export, name_matching
from dppca_core.tables.dictionary import Column
from dppca_core.tables.read import QuestionError, decoded

KINDS = ("number", "category")
NONE_OF_THEM = "none"  # typed as what is filled in (`none_of`): the cell counts as none of the categories
MARKS: dict[str, tuple[str | None, str]] = {  # as an example shows them: marks of decimals and of thousands
    "": (None, ""),
    "1234.5": (".", ""),
    "1,234.5": (".", ","),
    "1 234.5": (".", " "),
    "1'234.5": (".", "'"),
    "1234,5": (",", ""),
    "1.234,5": (",", "."),
    "1 234,5": (",", " "),
    "1'234,5": (",", "'"),
}
_MARKS_SHOWN = {marks: example for example, marks in MARKS.items()}
# By what separates words: one word up to the next, in quotation marks or as it stands.
_WORD = {mark: re.compile(rf'\s*(?:"((?:[^"]|"")*)"|([^{mark}]*?))\s*(?:{mark}|$)') for mark in ";,"}


@dataclass(frozen=True)
class DictionaryLine:
    """Hold one column as typed; a blank text or None was not typed.

    low, high: the range of a number. categories: of a category, separated by semicolons or commas. missing:
    what is filled into missing cells; blank leaves their rows out. usual: where most patients lie; blank if
    that is not known. codes: words that count as missing. synonyms: other words for categories or numbers, as
    "m = male; w = female" or "<0.5 = 0.25". marks: how numbers are written, one of `MARKS`. other_names: what
    files call the column too. unit: in which it is measured, as "mg/l".
    """

    kind: str = "number"
    low: float | None = None
    high: float | None = None
    categories: str = ""
    missing: str = ""
    usual: str = ""
    codes: str = ""
    synonyms: str = ""
    marks: str = ""
    other_names: str = ""
    unit: str = ""

    @property
    def without_words(self) -> DictionaryLine:
        """Return the line without codes and synonyms, which may be quoted from cells and so be private."""
        return replace(self, codes="", synonyms="")

    @property
    def incomplete(self) -> bool:
        if self.kind == "category":
            return not split_words(self.categories)
        return self.low is None or self.high is None


def split_words(typed: str) -> tuple[str, ...]:
    """Split a text at semicolons, or at commas where it has none, and leave out blank parts.

    A part in quotation marks is one word; a quotation mark within is written twice.
    """
    parts = _WORD[";" if ";" in typed else ","].findall(typed)
    words = (quoted.replace('""', '"') or plain for quoted, plain in parts)
    return tuple(word for word in words if word.strip())


def join_words(words: Sequence[str]) -> str:
    """Return a text that `split_words` splits into these."""
    return "; ".join(map(_quoted, words)) + (";" if len(words) == 1 and "," in words[0] else "")


def _quoted(word: str) -> str:
    """Return a word as it stands in a list of words, in quotation marks where it would be read otherwise."""
    return '"' + word.replace('"', '""') + '"' if ";" in word or word.startswith('"') else word


def other_names(lines: Mapping[str, DictionaryLine]) -> dict[str, tuple[str, ...]]:
    return {name: split_words(line.other_names) for name, line in lines.items()}


def none_of(categories: Sequence[str]) -> str:
    """Return what is typed to fill in none of these: "none" or, if that is one of them, "none of them"."""
    typed = NONE_OF_THEM
    while typed in map(str.casefold, categories):
        typed += " of them"
    return typed


def number_text(value: float | str | None) -> str:
    """Return the shortest text that is read as this number, "" for None."""
    return "" if value is None else repr(float(value)).removesuffix(".0")


def split_synonyms(typed: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of a word and what it stands for, which is "" where nothing is stated.

    Blanks about the sign mark it where a word has one of its own, as "<=5 = low".
    """
    pairs = (part.partition(" = " if " = " in part else "=") for part in split_words(typed))
    return tuple((word.strip(), meant.strip()) for word, _, meant in pairs)


def join_synonyms(synonyms: Sequence[tuple[str, str]]) -> str:
    """Return a text that `split_synonyms` splits into these pairs."""
    return join_words([f"{word} = {meant}" for word, meant in synonyms])


def line_from_column(column: Column) -> DictionaryLine:
    of_numbers = column.kind == "number"
    texts = [(word, number_text(meant) if of_numbers else str(meant)) for word, meant in column.synonyms]
    line = DictionaryLine(
        column.kind,
        usual="" if column.usual is None else str(column.usual),
        codes=join_words(column.missing_codes),
        synonyms=join_synonyms(texts),
        marks=_MARKS_SHOWN[column.decimal, column.group],
        other_names=join_words(column.other_names),
        unit=column.unit,
    )
    if of_numbers:
        usual, fill = number_text(column.usual), number_text(column.fill)
        return replace(line, low=float(column.low), high=float(column.high), missing=fill, usual=usual)
    # A blank filling is none of the categories.
    missing = "" if column.fill is None else str(column.fill) or none_of(column.categories)
    return replace(line, categories=join_words(column.categories), missing=missing)


def to_column(name: str, line: DictionaryLine) -> Column:
    """Return the column that a line states. Raises ValueError where it is incomplete or impossible."""
    missing, usual, synonyms = line.missing.strip(), line.usual.strip(), split_synonyms(line.synonyms)
    if line.marks not in MARKS:
        raise ValueError(f"the marks of '{name}' must be shown by one of the examples")
    decimal, group = MARKS[line.marks]
    stated: dict[str, Any] = {
        "decimal": decimal,
        "group": group,
        "missing_codes": split_words(line.codes),
        "other_names": split_words(line.other_names),
        "unit": line.unit.strip(),
    }
    if line.kind == "category":
        known = split_words(line.categories)
        fill = "" if missing.casefold() == none_of(known) else missing or None
        stated |= {"fill": fill, "usual": usual or None, "synonyms": synonyms}
        return Column(name, "category", categories=known, **stated)
    if line.low is None or line.high is None:
        raise ValueError(f"'{name}' needs its lowest and its highest value")
    filled = _parse_number(
        missing, f"what is filled into '{name}' must be a number, or blank to leave the patient out"
    )
    usually = _parse_number(usual, f"the usual value of '{name}' must be a number, or blank")
    otherwise = f"other words of '{name}' must each stand for a number"
    meant = tuple((word, _parse_number(number or "?", otherwise)) for word, number in synonyms)
    ends = float(line.low), float(line.high)
    return Column(name, "number", *ends, fill=filled, usual=usually, synonyms=meant, **stated)


def _parse_number(typed: str, otherwise: str) -> float | None:
    """Return a typed number, None for a blank, or raise ValueError with the sentence `otherwise`.

    A spreadsheet may write a decimal comma.
    """
    try:
        return float(typed if "." in typed else typed.replace(",", ".")) if typed else None
    except ValueError:
        raise ValueError(otherwise) from None


# The template, and REDCap's dictionary.

HEADINGS = {
    "name": "name",
    "kind": "kind",
    "low": "lowest",
    "high": "highest",
    "categories": "categories",
    "missing": "if missing",
    "usual": "usual",
    "codes": "missing codes",
    "synonyms": "other words",
    "marks": "numbers as",
    "other_names": "other names",
    "unit": "unit",
}
_REDCAP_NAME, _REDCAP_TYPE = "Variable / Field Name", "Field Type"
_CHOICES = "Choices, Calculations, OR Slider Labels"
_VALIDATION = "Text Validation Type OR Show Slider Number"
_LEAST, _MOST = "Text Validation Min", "Text Validation Max"
_NOTE, _LABEL = "Field Note", "Field Label"


def write_template(lines: Mapping[str, DictionaryLine]) -> str:
    """Return the lines, by name of column, as a CSV that a spreadsheet fills in and `lines_from_csv` reads.

    No cell is a formula, and each is behind an apostrophe that would begin like one.
    """
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(HEADINGS.values())
    for name, line in lines.items():
        cells = [getattr(line, each.name) for each in fields(DictionaryLine)]
        words = [number_text(cell) if isinstance(cell, float) else cell or "" for cell in cells]
        writer.writerow([_harmless(name), *map(_harmless, words)])
    return file.getvalue()


def _harmless(cell: str) -> str:
    """Return a cell, behind an apostrophe if a spreadsheet would run it; a negative number is none."""
    if not cells.word_numbers([cell]).unread[0]:
        return cell
    return "'" + cell if cell.startswith("'") or export.neutral(cell) != cell else cell


def lines_from_csv(data: bytes) -> dict[str, DictionaryLine]:
    """Return the lines, by name of column, of a template or of REDCap's data dictionary.

    Of REDCap's fields those without numbers or choices are left out, and those that name a patient. A number
    whose validation states no range has an incomplete line. Raises ValueError, with one sentence, for another
    file.
    """
    rows = _sheet(data)
    if _REDCAP_NAME in rows[0]:
        record = record_field(data)
        return {name: line for row in rows for name, line in _from_redcap(row) if name != record}
    lines = dict(map(_from_template, rows))
    if len(lines) < len(rows):
        raise ValueError("Two lines of the dictionary have the same name: rename one.")
    return lines


def record_field(data: bytes) -> str:
    """Return the field of REDCap's data dictionary that names its records, or "" for the template.

    It is the first field, unless that one has a range or choices, as where lines were taken out. Raises
    ValueError as `lines_from_csv` does.
    """
    first = _sheet(data)[0]
    if _REDCAP_NAME not in first or not all(line.incomplete for _, line in _from_redcap(first)):
        return ""
    return first[_REDCAP_NAME].strip()


def _sheet(data: bytes) -> list[dict[str, str]]:
    try:
        text = decoded(data)
    except QuestionError:
        raise ValueError("The dictionary is not in UTF-8: save it as 'CSV UTF-8'.") from None
    for delimiter in ",;\t":
        rows = _rows(text, delimiter)
        heads = {head.strip() for head in rows[0]} if rows else set()
        if {_REDCAP_NAME, _REDCAP_TYPE} <= heads or {HEADINGS["name"], HEADINGS["kind"]} <= heads:
            return rows
    raise ValueError(
        f"The dictionary must be a CSV with the columns '{HEADINGS['name']}' and '{HEADINGS['kind']}', or "
        "REDCap's data dictionary."
    )


def _rows(text: str, delimiter: str) -> list[dict[str, str]]:
    """Return the lines below the headings that are not blank, by heading."""
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
        rows = [{str(head).strip(): cell for head, cell in row.items() if head} for row in reader]
    except csv.Error:
        return []
    return [row for row in rows if any(map(str.strip, row.values()))]


def _from_template(row: Mapping[str, str]) -> tuple[str, DictionaryLine]:
    cells = {key: _without_apostrophe(row.get(head, "")) for key, head in HEADINGS.items()}
    name, kind = cells.pop("name"), cells["kind"].strip() or KINDS[0]
    if kind not in KINDS:
        raise ValueError(f"The kind of '{name[:100]}' must be '{KINDS[0]}' or '{KINDS[1]}'.")
    ends: dict[str, Any] = {}
    for end in ("low", "high"):
        ends[end] = _parse_number(
            cells[end].strip(),
            f"the {HEADINGS[end]} value of '{name[:100]}' must be a number, without a mark of thousands",
        )
    return name, DictionaryLine(**cells | ends | {"kind": kind, "marks": cells["marks"].strip()})


def _without_apostrophe(cell: str) -> str:
    return cell[1:] if cell.startswith("'") else cell


def _from_redcap(row: Mapping[str, str]) -> Iterator[tuple[str, DictionaryLine]]:
    """Yield the columns that a field of REDCap becomes in an export, each with its line."""
    name, kind = row[_REDCAP_NAME].strip(), row[_REDCAP_TYPE].strip().lower()
    if not name or row.get("Identifier?", "").strip().lower() == "y":
        return
    choices = [
        (code.strip(), label.strip())
        for code, _, label in (part.partition(",") for part in row.get(_CHOICES, "").split("|"))
        if code.strip()
    ]
    if kind == "checkbox":  # a column for each choice, 1 where it is ticked
        for code, _ in choices:
            column = f"{name}___{code.lower().replace('-', '_')}"
            # "Unchecked" is none of the categories, as 0 is.
            yield column, DictionaryLine("category", categories="1", synonyms="Checked = 1")
    elif kind in ("radio", "dropdown"):
        codes = [code for code, _ in choices]
        words = Counter(label.casefold() for _, label in choices)
        labels = [
            (label, code)
            for code, label in choices
            if cells.is_word(label) and words[label.casefold()] == 1 and label not in codes
        ]
        if len(labels) == len(choices):  # readers of a release know no codes
            known, meant = [label for label, _ in labels], [(code, label) for label, code in labels]
        else:
            known, meant = codes, labels
        yield name, DictionaryLine("category", categories=join_words(known), synonyms=join_synonyms(meant))
    elif kind in ("yesno", "truefalse"):
        yes = "Yes = 1" if kind == "yesno" else ""  # "true" is 1 anyway
        yield name, DictionaryLine("category", categories="1", synonyms=yes)
    elif kind in ("text", "calc", "slider"):
        validation = row.get(_VALIDATION, "").strip().lower()
        if kind == "text" and not validation.startswith(("integer", "number")):
            return
        least, most = (row.get(head, "").strip().replace(",", ".") for head in (_LEAST, _MOST))
        low, high = _end(least), _end(most)
        if kind == "slider" and low is high is None:
            low, high = 0.0, 100.0
        unit = name_matching.plain_unit(row.get(_NOTE, "")) or name_matching.bracket_unit(row.get(_LABEL, ""))
        marks = "1234,5" if "comma" in validation else ""
        yield name, DictionaryLine("number", low, high, marks=marks, unit=unit)


def _end(typed: str) -> float | None:
    try:
        return float(typed)
    except ValueError:
        return None
