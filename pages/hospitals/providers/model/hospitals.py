"""Read the table of hospitals: a line for each or, where many are alike, one for all in succession."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from dppca_core.experiments.collaboration.site_experiment import HEART
from dppca_core.experiments.decision.hospitals import MOST_HOSPITALS
from pages.hospitals.providers.sentences import table
from pages.hospitals.providers.settings import LARGEST, LEAST_LOSS, MOST_LOSS, loss_text
from pages.shared.settings.catalogue import Settings
from pages.shared.settings.hospitals import OURS, joining, named, ours, sizes
from pages.shared.settings.setting import printable

MOST_LINES = 10  # of hospitals that are listed unasked
MOST_LETTERS_OF_A_NAME = 24  # that `printable` leaves


class HospitalLine(NamedTuple):
    """Hold a line of the table, whose cells come from the browser and may hold anything."""

    name: Any = None
    count: Any = 1
    patients: Any = None
    epsilon: Any = None
    ours: Any = False


class ReadLines(NamedTuple):
    """Hold what lines set, the names that were typed, "" for others, and what is wrong in a sentence."""

    settings: dict[str, Any]
    names: tuple[str, ...]
    problem: str


def lines(settings: Settings, names: Sequence[str] = ()) -> list[HospitalLine]:
    """Return the table: a line for each hospital or, where that is too many, for those that are alike."""
    our = ours(settings)
    each = [
        HospitalLine(name, 1, hospital.patients, hospital.epsilon, i == our)
        for i, (name, hospital) in enumerate(zip(named(settings, names), joining(settings), strict=True))
    ]
    if settings["join.each"] or len(each) <= MOST_LINES:
        return each
    alike = [list(group) for _, group in groupby(each, key=lambda line: line[2:])]
    return [
        line._replace(name=OURS if line.ours else table.OTHERS, count=len(group))
        for group in alike
        for line in group[:1]
    ]


def are_few(listed: Sequence[HospitalLine], settings: Settings) -> bool:
    """Return whether lines are shown: not where they are many and nobody has asked for them."""
    return len(listed) <= MOST_LINES or bool(settings["join.each"])


def note(settings: Settings) -> str:
    now = sizes(settings)
    if settings["sites.data"] == HEART:
        return f"{table.facts(now)} {table.SIZES_ARE_REAL}"
    few = are_few(lines(settings), settings)
    return f"{table.facts(now)} {table.HOW}" if few else f"{table.facts(now)} {table.ranging(now)}"


def edited(base: Sequence[HospitalLine], changes: Mapping[str, Any]) -> list[HospitalLine]:
    """Return the lines after a data editor's edits, with one of ours at most: the one marked last."""
    edits = {int(row): values for row, values in changes.get("edited_rows", {}).items()}
    added = [HospitalLine(**_fields(values)) for values in changes.get("added_rows", [])]
    result = [line._replace(**_fields(edits.get(i, {}))) for i, line in enumerate(base)] + added
    before = [line.ours is True for line in base] + [False] * len(added)
    marked = [i for i, line in enumerate(result) if line.ours is True]
    new = [i for i in marked if not before[i]] or marked
    deleted = set(changes.get("deleted_rows", []))
    return [line._replace(ours=i in new[-1:]) for i, line in enumerate(result) if i not in deleted]


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in HospitalLine._fields}


def read(typed: Sequence[HospitalLine], settings: Settings) -> ReadLines:
    """Return what lines set; one that cannot be read is left out, and said to be.

    settings: those of the page, whose sliders apply where nothing else was typed.
    """
    members: list[tuple[str, int, float, bool]] = []
    unreadable = []
    slider = float(settings["epsilon"])
    for number, line in enumerate(typed, start=1):
        count, patients = _whole(line.count, MOST_HOSPITALS), _whole(line.patients, LARGEST)
        epsilon = slider if line.epsilon is None else _within(line.epsilon)
        if count is None or patients is None or epsilon is None:
            unreadable.append(number)
        else:
            members += [(_typed_name(line.name), patients, epsilon, line.ours is True)] * count
    parts = [table.not_read(unreadable)] if unreadable else []
    parts += [table.TOO_MANY] if len(members) > MOST_HOSPITALS else []
    members = members[:MOST_HOSPITALS]
    if not members:
        return ReadLines({key: settings[key] for key in SETTINGS}, (), table.NONE_LEFT)
    names, patients_of, losses, marked = zip(*members, strict=True)
    without = settings | dict.fromkeys(("join.sizes", "join.losses"), "")
    same_sizes, same_losses = patients_of == sizes(without), set(losses) == {slider}
    if settings["sites.data"] == HEART:
        same_sizes, names = True, ()
    values = {
        "join.sizes": "" if same_sizes else "-".join(map(str, patients_of)),
        "join.losses": "" if same_losses else "-".join(map(loss_text, losses)),
        "join.ours": (marked.index(True) if any(marked) else 0) + 1,
    }
    return ReadLines(values, names, " ".join(parts))


SETTINGS = ("join.sizes", "join.losses", "join.ours")


def _typed_name(cell: object) -> str:
    """Return a name that is safe in a sentence; "" for what we call a hospital ourselves."""
    name = printable(cell) if isinstance(cell, str) else ""
    return "" if table.is_default(name) else name


def _whole(cell: object, most: int) -> int | None:
    number = _number(cell)
    return int(number) if number is not None and number == int(number) and 1 <= number <= most else None


def _within(cell: object) -> float | None:
    number = _number(cell)
    return float(loss_text(number)) if number is not None and LEAST_LOSS <= number <= MOST_LOSS else None


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return None
    return cell if abs(cell) < 1e300 else None  # not NaN either, which is less than nothing
