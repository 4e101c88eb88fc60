"""Suggest by names alone: which column of one table is which of another, its unit, and who the patient is.

No cell is looked at.

Names agree that differ in capitals, blanks, underscores, accents, camelCase or a unit, whether in brackets or
at the end. Else one's words must be among the other's (`SHARED_WORDS`), or the letters nearly agree
(`LIKENESS`). Numbers in names, and units where both state one, must be the same: visit 1 is not visit 2, and
months are not years. Other names that a dictionary states for a column come before. All are suggestions, for
a person to confirm.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

LIKENESS = 0.9  # ratio of difflib; weight and height have 0.83, hypertension and hypotension 0.87
SHARED_WORDS = 2 / 3  # of the words of both, so that "age" is not "age at death"
_MOST_PAIRS = 40_000  # of names that are compared with each other
_MOST_LETTERS = 40  # of names that are compared letter by letter: longer ones take long
_BRACKETS = re.compile(r"[(\[{]([^)\]}]*)[)\]}]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")  # not within dL
_WORD = re.compile(r"[^\W\d_]+|\d+|%")
_SAME_UNIT = {"yr": "year", "yrs": "year", "years": "year", "mo": "month", "months": "month"}
_SAME_UNIT |= {"days": "day", "hrs": "hour", "hours": "hour", "pct": "%", "percent": "%"}
_UNITS = {*_SAME_UNIT, *_SAME_UNIT.values()}
_UNITS |= {"kg", "mg", "ug", "ng", "cm", "mm", "hg", "mmhg", "bpm", "dl", "ml", "mmol", "umol", "iu"}
# As they are proposed; a name has them in any capitals, and with or without the signs between letters.
_WRITTEN_UNITS = (
    *("kg", "g", "mg", "µg", "ng", "cm", "mm", "m", "kg/m²", "ml", "ml/min", "%", "°C", "mmHg"),
    *("kPa", "bpm", "1/min", "years", "months", "weeks", "days", "hours", "ms", "g/l", "g/dl"),
    *("mg/l", "mg/dl", "µg/l", "µg/ml", "ng/ml", "ng/l", "pg/ml", "mmol/l", "µmol/l", "nmol/l", "pmol/l"),
    *("mmol/mol", "U/l", "IU/l", "IU/ml", "mU/l", "10^9/l", "10^12/l"),
)
# Names of what is written as a code, also where the codes are numbers.
_CODES = {"sex", "gender", "geschlecht", "sexe", "sesso", "sexo", "race", "ethnicity", "bloodgroup"}
_CODES |= {"blutgruppe", "smoker", "raucher", "smoking", "smokingstatus", "diagnosis", "diagnose", "icd"}
_PATIENTS = (  # names of a column that names the patients, the likeliest first
    *("recordid", "patientid", "patid", "patientennummer", "patientennr", "patientnumber", "patientno"),
    *("patientnr", "patnr", "patientenid", "subjectid", "participantid", "studyid", "mrn", "pid"),
    *("patient", "subject", "participant", "record", "id"),
)


class _Name(NamedTuple):
    """Hold a column's name as words in small letters, without accents, and the unit that it states, or ""."""

    words: tuple[str, ...]
    unit: str

    @property
    def letters(self) -> str:
        return "".join(self.words)

    @property
    def numbers(self) -> list[str]:
        return [word for word in self.words if word.isdigit()]


def suggest(
    names: Sequence[str], columns: Sequence[str], other_names: Mapping[str, Sequence[str]] | None = None
) -> dict[str, str]:
    """Return the likeliest column for each name that has one; no column is used twice.

    names: of one table. columns: of the other. other_names: what files call a column, by its name, as a
    dictionary states it. Columns of the very same name come first, then those of another name that is stated,
    then those that differ in writing only, then the most alike. Where more than 40,000 pairs would be left
    for that last step, it is left out, as it would take too long.
    """
    known = set(columns)
    matched = {name: name for name in names if name in known}
    stated, taken = other_names or {}, set(matched.values())
    for name in names:
        column = next(
            (other for other in stated.get(name, ()) if other in known and other not in taken), None
        )
        if name not in matched and column is not None:
            matched[name] = column
            taken.add(column)
    parsed = {name: _parse(name) for name in (*names, *columns)}
    by_letters = defaultdict[str, list[str]](list)  # columns not matched yet, by their names' letters
    for column in columns:
        if column not in taken:
            by_letters[parsed[column].letters].append(column)
    # First take columns that state the same unit; then also those where one of the two states none.
    for same_unit in (True, False):
        for name in names:
            if name in matched or not parsed[name].letters:
                continue
            candidates = by_letters[parsed[name].letters]
            for column in candidates:
                same = parsed[name].unit == parsed[column].unit
                if same if same_unit else _units_agree(parsed[name], parsed[column]):
                    matched[name] = column
                    candidates.remove(column)
                    break
    taken = set(matched.values())
    left = [name for name in names if name not in matched]
    free = [column for column in columns if column not in taken]
    if len(left) * len(free) > _MOST_PAIRS:
        return matched
    # What is left is matched by likeness, the most alike first; pairs with a likeness of 0 do not count.
    pairs = [
        (likeness, name, column)
        for name in left
        for column in free
        if (likeness := _likeness(parsed[name], parsed[column]))
    ]
    for _, name, column in sorted(pairs, key=lambda pair: -pair[0]):
        if name not in matched and column not in taken:
            matched[name] = column
            taken.add(column)
    return matched


def plain_unit(text: str) -> str:
    """Return a text, without brackets around it, that is a unit and nothing else; "" for another text."""
    bare = text.strip().strip("()[]{}").strip()
    return bare if _letters_of_unit(bare) in _UNIT_OF_LETTERS else ""


def bracket_unit(text: str) -> str:
    """Return the last unit that stands in brackets in a text, or ""."""
    return next(filter(None, map(plain_unit, reversed(_BRACKETS.findall(text)))), "")


def unit(name: str) -> str:
    """Return the unit that the name of a column states, as "kg" of weight_kg; "" where it states none."""
    if stated := bracket_unit(name):
        return _UNIT_OF_LETTERS[_letters_of_unit(stated)]
    words = _words(name)
    for begin in range(max(1, len(words) - 3), len(words)):
        letters = "".join(_SAME_UNIT.get(word, word) for word in words[begin:])
        # A single letter at the end, as in group_m, is hardly a unit.
        if len(letters) > 1 or letters == "%":
            for known in (letters, f"{letters}s"):
                if known in _UNIT_OF_LETTERS:
                    return _UNIT_OF_LETTERS[known]
    return ""


def _letters_of_unit(text: str) -> str:
    """Return a unit without what differs from one writer to the next: capitals, blanks, signs between."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("μ", "u")
    return "".join(letter for letter in folded if letter.isalnum() or letter == "%")


_UNIT_OF_LETTERS = {_letters_of_unit(written): written for written in _WRITTEN_UNITS}


def is_code(name: str) -> bool:
    """Return whether a column of this name holds codes, such as 1 and 2 for a sex, and no measurement."""
    return _parse(name).letters in _CODES


def patient_column(names: Sequence[str], record: str = "") -> str | None:
    """Return the name that most likely is of the column that names the patients, or None."""
    if record in names:
        return record
    by_letters = {_parse(name).letters: name for name in reversed(names)}
    return next((by_letters[letters] for letters in _PATIENTS if letters in by_letters), None)


def _parse(name: str) -> _Name:
    """Return a name without accents, cut into its words and its unit.

    The unit is what stands in brackets, and units among the last words; one word at least is no unit.
    """
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter)
    )
    words, unit = _words(_BRACKETS.sub(" ", plain)), _words(" ".join(_BRACKETS.findall(plain)))
    while len(words) > 1 and words[-1] in _UNITS:
        unit.insert(0, words.pop())
    return _Name(tuple(words), "".join(_SAME_UNIT.get(word, word) for word in unit))


def _words(text: str) -> list[str]:
    """Return the runs of letters, the numbers and the % signs of a text, in small letters."""
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def _units_agree(first: _Name, second: _Name) -> bool:
    return first.unit == second.unit or not first.unit or not second.unit


def _likeness(first: _Name, second: _Name) -> float:
    """Return how alike two names are, from 0 to 1: 0 if numbers or units differ, or below a threshold.

    It is the share of words that both have, if one has all words of the other, else difflib's ratio of their
    letters.
    """
    if first.numbers != second.numbers or not _units_agree(first, second):
        return 0.0
    ours, theirs = set(first.words), set(second.words)
    shared = len(ours & theirs) / max(len(ours | theirs), 1)
    if shared >= SHARED_WORDS and (ours <= theirs or theirs <= ours):
        return shared
    if not first.letters or max(len(first.letters), len(second.letters)) > _MOST_LETTERS:
        return 0.0
    matcher = SequenceMatcher(None, first.letters, second.letters, autojunk=False)
    # Each of the first two is quicker than the next, and never below it.
    for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio):
        if ratio() < LIKENESS:
            return 0.0
    return matcher.ratio()
