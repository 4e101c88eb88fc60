"""Where patients lie on two released components: a noisy histogram of their scores, paid for by itself.

A patient adds amounts a >= 0 to cells, of group and grid, with sum a <= 1: 1 to one cell or, of several rows
that count together, w^2 to each row's cell, w its weight, the squares of which add up to 1 (`PatientRows`).

    |a|_2 <= |a|_1 <= 1,    |a - b|_2^2 = |a|^2 + |b|^2 - 2 a.b <= 2    as a, b >= 0,

so replacing a patient, in another group too, moves the counts by at most sqrt 2, and emptying or filling one
by 1, as an empty row is in no cell: a = 0. Empty is a row that was left out for a missing entry in the table,
and not one of zeros, whose entries are all at the dictionary's usual values: `present` tells these apart, by
each row's own entries alone. Without a column that names the patients it is a row that is meant.

A score is a row's coordinate along a component. A cell is a rectangle of the grid over two scores. A group is
one category of a column that splits the picture. "The release" is that of the components, earlier and paid
for on its own.

Cells depend on released numbers and on public ones only, and on one patient's row to the last bit: the
outermost take what lies beyond. Amounts are rounded towards zero to multiples of 2^-20, so that sums are
exact, and OpenDP adds discrete Gaussian noise to these whole numbers (`discrete_gaussian`).
"""

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.accounting.events_json import to_plain
from dppca_core.accounts.account import Account, Payment, size_details
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array, Indices
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event, Release
from dppca_core.release import discrete_gaussian, patient_rows, release_text
from dppca_core.release.discrete_gaussian import IntegerSum, Progress
from dppca_core.release.exact_stages import Reader
from dppca_core.release.patient_rows import Part
from dppca_core.release.request import ReleaseRequest, noisy_sums

TITLE = "Score histogram"
OTHER = "other"
MOST_CELLS = 40  # of an axis
MOST_GROUPS = 10
_FEWEST_CELLS = 3  # of an axis
_AMOUNT_UNIT = 2.0**-20  # of a patient, to which amounts are rounded
# What of a release's document scores depend on, and how it is recognised.
_RELEASE_KEYS = (
    *("at", "method", "hospitals", "public", "features", "components", "eigenvalues"),
    *("mean", "scales", "length after scaling"),
)


@dataclass(frozen=True)
class Group:
    """Hold a column by whose public categories patients are counted apart; any other entry is in "other".

    Raises ValueError for no or more than 10 categories, for two of one name, and for one called "other".
    """

    column: str
    categories: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for too few or too many categories, and for names that are not different."""
        checks.whole(1, MOST_GROUPS, groups=len(self.categories))
        # With "other" there are as many different names as categories and one more.
        if len(set(self.names)) <= len(self.categories):
            raise ValueError(f"groups must have different names, and none is called {OTHER!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all groups in the order of counts, "other" last."""
        return (*self.categories, OTHER)


@dataclass(frozen=True)
class ScoreRequest(ReleaseRequest):
    """Hold what a histogram is of: the release that scores are of, a grid, and a budget.

    release: the part of its document that `part_for_scores` returns. edges: of the cells along each of the
    two components, rising. budget: for one row. rows_per_patient, averaged: as for `request.Request`.
    group: by what patients are counted apart, if by anything. Raises ValueError unless there are two
    components, for edges that do not rise or more than 40 cells, and for accounting as printed.
    """

    release: dict[str, Any]
    edges: tuple[tuple[float, ...], tuple[float, ...]]
    budget: Budget
    rows_per_patient: int = 1
    averaged: bool = False
    group: Group | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a field that a histogram cannot be released with (see the class)."""
        checks.one_of(discrete_gaussian.ACCOUNTINGS, accounting=self.budget.accounting)
        checks.whole(1, rows_per_patient=self.rows_per_patient)
        if len(self.release["components"]) != 2:
            raise ValueError("a picture needs two components")
        for axis_edges in self.edges:
            checks.whole(1, MOST_CELLS, cells=len(axis_edges) - 1)
            if not (np.isfinite(axis_edges).all() and (np.diff(axis_edges) > 0).all()):
                raise ValueError("edges of cells must rise")

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "ScoreRequest":
        """Return a request from what `as_asked` made of it. Raises ValueError for anything else."""
        try:
            group = plain["group"]
            return ScoreRequest(
                **{
                    **plain,
                    "budget": Budget(**plain["budget"]),
                    "edges": tuple(map(tuple, plain["edges"])),
                    "group": None if group is None else Group(group["column"], tuple(group["categories"])),
                }
            )
        except (KeyError, TypeError) as error:
            raise ValueError("this is no request of a score histogram") from error

    @staticmethod
    def from_document(document: Mapping[str, Any]) -> "ScoreRequest":
        """Return what a histogram was asked for, read off its document. Raises ValueError as `from_plain`."""
        try:
            plain = {name: document[name] for name in ("release", "edges", "budget", "group")}
            plain |= {"rows_per_patient": document["rows per patient"]}
            return ScoreRequest.from_plain(plain | {"averaged": document["unit"] == "patient"})
        except KeyError as error:
            raise ValueError("this is no document of a score histogram") from error

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the shape of the counts: the number of groups, and of cells along each component."""
        first, second = (len(axis_edges) - 1 for axis_edges in self.edges)
        return 1 if self.group is None else len(self.group.names), first, second

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the events that it costs: one Gaussian release that spends the budget."""
        return (Release(gaussian.noise_multiplier(self.budget)),)

    @property
    def noises(self) -> int:
        """Return how many hospitals add noise of their own: all where they trust nobody, else one for all."""
        return noisy_sums(self.release["method"], len(self.release["hospitals"]))

    @property
    def std(self) -> float:
        """Return the std of a cell's noise, in patients."""
        return noise_std(self.budget, self.noises)


@dataclass(frozen=True)
class ScoreHistogram:
    """Hold a released histogram.

    counts: noisy, in patients, not rounded to whole ones, (groups, cells along component 1, along 2). std: of
    the noise in each. payment: what paid. document: all of it as plain JSON.
    """

    counts: Array
    std: float
    payment: Payment
    document: dict[str, Any]

    @staticmethod
    def from_document(document: dict[str, Any], payment: Payment) -> "ScoreHistogram":
        """Return a histogram from its document, which holds all of its numbers, and what paid."""
        counts, std = np.array(document["counts"]), float(document["noise of a cell"])
        return ScoreHistogram(counts, std, payment, document)


def noise_std(budget: Budget, noises: int = 1) -> float:
    """Return the std of a cell's noise, in patients; noises: how many hospitals add their own noise to it."""
    return symmetric_gaussian.sensitivity(budget) * gaussian.noise_multiplier(budget) * math.sqrt(noises)


def readable_cells(n: int, std: float, groups: int = 1) -> int:
    """Return the largest number c of cells along an axis, 3 to 40, at which counts stand out of their noise.

    Of n patients, spread evenly over groups and c x c cells, a cell then has at least twice the std of its
    noise: n/(groups c^2) >= 2 std.
    """
    checks.whole(1, n=n, groups=groups)
    checks.positive(std=std)
    return min(max(int(math.sqrt(n / (2 * std * groups))), _FEWEST_CELLS), MOST_CELLS)


def part_for_scores(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a release's document on which scores along its first two components depend."""
    return {name: document[name] for name in _RELEASE_KEYS} | {"components": document["components"][:2]}


def grid_half_width(eigenvalue: float | None) -> float:
    """Return how far the grid goes to both sides of 0 along a component: 3 root mean squares of the scores.

    eigenvalue: the released mean square of scores along it, or None. The result is at least .05 and at most
    1, the length to which rows were clipped; it is 1 where no eigenvalue was released, or none above 0.
    """
    if eigenvalue is None or eigenvalue <= 0:
        return 1.0
    return min(max(3 * math.sqrt(eigenvalue), 0.05), 1.0)


def grid(release: Mapping[str, Any], count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the `count` + 1 edges of the cells along each of the two components, evenly spaced.

    release: as `part_for_scores` returns it, whose eigenvalues say how far the grid goes (`grid_half_width`).
    """
    first, second = (
        tuple(np.linspace(-far, far, count + 1).tolist())
        for far in (grid_half_width(value) for value in (release["eigenvalues"] or (None, None))[:2])
    )
    return first, second


def scores(rows: Array, release: Mapping[str, Any]) -> Array:
    """Return the scores of clipped rows along the two components, (m, 2). Reads private rows.

    Rows are centred and scaled first where the release paid for that, and not shortened again.
    """
    # Scale the components and not the rows: a row's score is the same.
    directions = np.array(release["components"], dtype=float).T
    if release["scales"] is not None:
        directions = directions / (np.array(release["scales"]) * release["length after scaling"])[:, None]
    result = np.zeros((len(rows), 2))
    # Add column by column: a matrix product could add in an order that depends on where a row stands, and its
    # cell must depend on the row alone, to the last bit.
    for column, weights in zip(rows.T, directions, strict=True):
        result += column[:, None] * weights
    return result if release["mean"] is None else result - np.array(release["mean"]) @ directions


def whole_counts(
    request: ScoreRequest,
    rows: Sequence[Part],
    groups: Sequence[Indices] | None = None,
    read: Reader | None = None,
    progress: Progress = lambda share: True,
    present: Sequence[int] | None = None,
) -> Array:
    """Return exact counts, in units of 2^-20 patients, one histogram for each noise. Reads private rows.

    Args:
        request: The grid and the groups.
        rows: Of each hospital.
        groups: Number of each row's group, by hospital; rows beyond these are empty ones.
        read: Hands over rows of which `rows` are sums, without empty ones.
        progress: Is told the share of rows read, and answers whether to go on.
        present: How many rows of each hospital are not empty; these come first. None: rows that are not all
            zeros are not empty.

    Returns:
        Whole numbers, (noises, *request.shape): hospital i is counted in histogram i modulo noises.
    """
    shape = request.shape
    # How many rows of each hospital were read so far: where in `groups` and `present` the next one is.
    counts, rows_before = np.zeros((request.noises, math.prod(shape))), [0] * len(rows)

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        """Count the next rows of a hospital, (m, d), each with its weight, in its histogram."""
        discrete_gaussian.check_clipped(part)
        # The rows of this piece that count. Those of a reader are never empty.
        used = np.arange(len(part))
        if present is not None:
            used = used[rows_before[hospital] + used < present[hospital]]
        elif read is None:
            used = np.flatnonzero(part.any(axis=1))
        numbers = rows_before[hospital] + used  # of the used rows, in all of the hospital
        rows_before[hospital] += len(part)
        # Where each used row is counted: its group, then its cell along both components.
        places = [np.zeros(len(used), dtype=np.intp) if groups is None else groups[hospital][numbers]]
        for axis_edges, values in zip(request.edges, scores(part[used], request.release).T, strict=True):
            # The outermost cells take what lies beyond the grid.
            cell = np.searchsorted(axis_edges, values, side="right") - 1
            places.append(np.clip(cell, 0, len(axis_edges) - 2))
        # A row counts as its squared weight, rounded towards zero: those of one patient add up to 1 at most.
        amounts = np.broadcast_to(np.trunc(np.square(weights) / _AMOUNT_UNIT), (len(part), 1))[used, 0]
        flat_place = np.ravel_multi_index(tuple(places), shape)
        counts[hospital % request.noises] += np.bincount(flat_place, amounts, counts.shape[1])

    if read is None:  # what is held is read at once
        patient_rows.reader(rows)(add, lambda share: True, of_mean=True)
    else:
        read(add, progress, of_mean=True)
    return counts


def make(
    request: ScoreRequest,
    rows: Sequence[Part],
    payer: Payer,
    *,
    features: Sequence[str],
    public: dict[str, Any],
    groups: Sequence[Indices] | None = None,
    present: Sequence[int] | None = None,
    by_column: bool = False,
    expected: Account | None = None,
    progress: Progress = lambda share: True,
    read: Reader | None = None,
    resumed: Payment | None = None,
) -> ScoreHistogram:
    """Pay for a histogram of scores, draw its noise, and return it.

    Args:
        request: The release, the grid, the budget.
        rows: Clipped rows of each hospital, or their sums, as for `private_release.make`.
        payer: Of the table.
        features: Names of its columns.
        public: What is public about it, as in the document of the release.
        groups: Number of each row's group, by hospital, where the request has a group; "other" is the last.
        present: How many rows of each hospital are not empty; these come first. None: rows that are not all
            zeros are not empty.
        by_column: Whether hospitals follow from a patient's own row or table, so that their sizes tell of it.
        expected: The account for which the price was said.
        progress: Is told the share of rows read, and answers whether to go on.
        read: Hands over the rows of a table of which `rows` are sums.
        resumed: What paid for this before: nothing is drawn twice.

    Returns:
        The histogram.

    Raises:
        OverLimitError: Beyond the limit.
        ValueError: Before anything is paid, for rows that are longer than 1 or of another table than the
            release, and where `resumed` paid for something else.
        StoppedError: Where `progress` says no; it stays paid for, and can be resumed.
    """
    _check_releasable(request, rows, features, public, groups, read)
    asked = as_asked(request)
    about = {
        "method": "score histogram",
        **size_details(sum(request.release["hospitals"]), request.rows_per_patient, request.averaged),
        "budget": asdict(request.budget),
        "cells": list(request.shape),
    }
    # Pay before any noise is drawn, unless an interrupted release of before has paid already.
    payment = resumed or payer.pay(TITLE, request.events, about, expected, request.budget.neighbours, asked)
    drawn = payer.drawn(payment.id)
    if drawn is None or drawn.asked != asked or payment.events != request.events:
        raise ValueError("what was paid for is another picture, or of another release")
    if (finished := drawn.document) is not None:
        return ScoreHistogram.from_document(finished, payment)

    def draw() -> Array:
        """Count the rows, and return noisy counts in patients, of the request's shape."""
        whole = whole_counts(request, rows, groups, read, progress, present)
        std = noise_std(request.budget) / _AMOUNT_UNIT
        # Hospitals that trust nobody each add noise to their own counts.
        noisy = sum(discrete_gaussian.add_noise(each, std) for each in whole)
        return np.reshape(noisy, request.shape) * _AMOUNT_UNIT

    counts = drawn.once("counts", draw)
    document = drawn.finish(_document(request, payment, counts, by_column))
    return ScoreHistogram.from_document(document, payment)


def as_asked(request: ScoreRequest) -> dict[str, Any]:
    """Return what is asked, as plain JSON; a payment is resumed only for exactly the same.

    It goes through JSON and back, since it is compared with what was read from a file: tuples are lists
    there.
    """
    asked: dict[str, Any] = json.loads(json.dumps({"scores": asdict(request)}))
    return asked


def _check_releasable(
    request: ScoreRequest,
    rows: Sequence[Part],
    features: Sequence[str],
    public: dict[str, Any],
    groups: Sequence[Indices] | None,
    read: Reader | None,
) -> None:
    """Raise ValueError for what could not be released, or not with the guarantee that is stated."""
    release, d = request.release, len(features)
    if release["features"] != list(features) or any(patient_rows.columns(part) != d for part in rows):
        raise ValueError("the release is of other columns")
    if release["hospitals"] != list(map(patient_rows.patients, rows)) or release["public"] != public:
        raise ValueError("the release is of another table, dictionary or other hospitals")
    if (groups is None) != (request.group is None):
        raise ValueError("groups must be given exactly where the request has some")
    patient_rows.check(rows, request.averaged)
    if read is None and any(isinstance(part, IntegerSum) for part in rows):
        raise ValueError("scores are of rows, and only their sums were kept")
    discrete_gaussian.check_std(noise_std(request.budget) / _AMOUNT_UNIT, request.budget)


def _document(request: ScoreRequest, payment: Payment, counts: Array, by_column: bool) -> dict[str, Any]:
    """Return all that is published of a histogram, as plain JSON."""
    exact = request.budget.accounting == "exact"
    return {
        "what": TITLE,
        "at": payment.at,
        "release": request.release,
        "unit": "patient" if request.averaged else "row",
        "rows per patient": request.rows_per_patient,
        "epsilon for a patient": request.patient_epsilon,
        **release_text.mu_of(request.events, request.rows_per_patient),
        "budget": asdict(request.budget),
        "events": to_plain(request.events),
        "calibration": "Balle & Wang 2018" if exact else "zCDP, Bun & Steinke 2016",
        "group": None if request.group is None else asdict(request.group),
        "groups": ["all"] if request.group is None else list(request.group.names),
        "edges": [list(axis_edges) for axis_edges in request.edges],
        "beyond the edges": "counted in the outermost cells; rows left out for a missing cell in none",
        "counts": counts.tolist(),
        "axes of counts": ["group", "component 1", "component 2"],
        "noise of a cell": request.std,
        "noise": f"OpenDP {version('opendp')}'s discrete Gaussian, in units of 2^-20 of a patient, "
        "from the operating system's entropy",
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "opendp", "dp-accounting")},
        "guarantee": release_text.guarantee(request, by_column),
    }
