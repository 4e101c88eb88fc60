"""Releases on real patients: paid for first, drawn once from the operating system's entropy, documented.

Methods that begin with a noisy second moment get it from `discrete_gaussian` (OpenDP's discrete Gaussian on
exact integer sums); all that follows is post-processing, and the eigenvalues come with it. DPS-PCA
multiplies rows by a basis between its releases, which no such sum holds: its noise is drawn in floating
point, and the result says so.
"""

import math
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.accounting.events_json import to_plain
from dppca_core.arrays import Array, Moment, Provider
from dppca_core.cohort import Cohort
from dppca_core.methods import METHODS, dpdis_pca
from dppca_core.numerics import linalg, moments
from dppca_core.privacy import Budget, Event
from dppca_core.records import Estimate
from dppca_core.release import discrete_gaussian as hardened
from dppca_core.release.discrete_gaussian import IntegerSum, Progress
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account, Entry

HARDENED = ("analyze_gauss", "analyze_gauss_sparse", "dpdis_pca")
OFFERED = (*HARDENED, "dps_pca")
Part = Array | IntegerSum


@dataclass(frozen=True)
class Request:
    """Hold what is to be released. Raises ValueError for a method not offered, or a field out of range.

    s_hat: features kept, of the sparse methods. rank: R of DPdisPCA. iterations, burn_in: of DPS-PCA. budget:
    for one row. rows_per_patient: how many rows one patient can have at most, a public statement of the
    table's owner; it changes no noise, only what is said of a patient.
    """

    method: str
    d: int
    k: int
    budget: Budget
    s_hat: int | None = None
    rank: int | None = None
    iterations: int = 4
    burn_in: int = 2
    rows_per_patient: int = 1

    def __post_init__(self) -> None:
        checks.one_of(OFFERED, method=self.method)
        checks.whole(1, rows_per_patient=self.rows_per_patient)
        checks.whole(2, hardened.MOST_FEATURES if self.method in HARDENED else math.inf, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        for name, kept in (("s_hat", self.s_hat), ("rank", self.rank)):
            if kept is not None:
                checks.whole(self.k, self.d, **{name: kept})
        checks.whole(1, iterations=self.iterations)
        checks.whole(0, burn_in=self.burn_in)
        checks.one_of(hardened.ACCOUNTINGS, accounting=self.budget.accounting)

    @property
    def method_options(self) -> dict[str, int]:
        """Return the method's parameters, as its `fit` names them."""
        sparse = {"s_hat": self.s_hat or self.d}
        given = {
            "analyze_gauss_sparse": sparse,
            "dpdis_pca": {"rank": self.rank or min(2 * self.k, self.d)},
            "dps_pca": sparse | {"iterations": self.iterations, "burn_in": self.burn_in},
        }
        return given.get(self.method, {})

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what it costs, known before anything is read."""
        spends = METHODS[self.method].spends
        assert spends is not None  # all that is offered is private
        return spends(self.budget, d=self.d, k=self.k, **self.method_options)

    @property
    def patient_epsilon(self) -> float:
        """Return the epsilon of a patient with all their rows, at the budget's delta."""
        return patient_epsilon(self.events, self.budget, self.rows_per_patient)


def patient_epsilon(events: Sequence[Event], budget: Budget, rows_per_patient: int) -> float:
    """Return what events that were calibrated to a budget for one row cost a patient with so many rows.

    At the budget's delta. With one row it is the budget's own epsilon, which the noise meets or beats.
    """
    if rows_per_patient == 1:
        return budget.epsilon
    return closed_form.epsilon_of(closed_form.grouped(events, rows_per_patient), budget.delta)


@dataclass(frozen=True)
class Released:
    """Hold what leaves: (d, k) components, k eigenvalues of the scaled rows if paid for, the ledger's entry.

    document: all as plain JSON, with what is needed to check it.
    """

    basis: Array
    eigenvalues: Array | None
    entry: Entry
    document: dict[str, Any]


def make(
    request: Request,
    rows: Sequence[Part],
    ledger: Ledger,
    *,
    features: Sequence[str],
    public: dict[str, Any],
    by_column: bool = False,
    expected: Account | None = None,
    progress: Progress = lambda share: True,
) -> Released:
    """Pay, draw, and return the release of hospitals' clipped rows, (n_i, d) each, of norm at most 1.

    A hospital may also be the exact sum of its rows (`discrete_gaussian.Adder`), of a table too large to
    hold. features: names of the d columns. public: what is public about the table (bounds, categories,
    sizes), for the document. by_column: hospitals follow from a patient's own row, so that their sizes tell
    of it. expected: as for `Ledger.spend`. Raises OverLimitError beyond the limit, and ValueError for rows
    that are longer than 1 or do not fit the request, and for noise that cannot be drawn exactly, before
    anything is paid; and `discrete_gaussian.StoppedError` where `progress` says so: then it is paid for,
    unseen.
    """
    _refuse(request, rows, features)
    sizes = [patients(part) for part in rows]
    about = {
        "method": request.method,
        "rows": sum(sizes),
        "rows per patient": request.rows_per_patient,
        "parameters": parameters(request),
    }
    method, exact = METHODS[request.method], request.budget.accounting == "exact"
    entry = ledger.spend(method.title, request.events, about, expected, request.budget.neighbours)
    basis, eigenvalues = (
        _from_moments(request, rows, progress)
        if request.method in HARDENED
        else (_in_floating_point(request, rows), None)
    )
    document = {
        "what": method.title,
        "reference": method.reference,
        "at": entry.at,
        "noise": _noise_sentence(request),
        "hardened": request.method in HARDENED,
        "unit": "row",
        "rows per patient": request.rows_per_patient,
        "epsilon for a patient": request.patient_epsilon,
        "method": request.method,
        "parameters": parameters(request),
        "events": to_plain(request.events),
        "calibration": "Balle & Wang 2018, T steps as one" if exact else "zCDP, Bun & Steinke 2016",
        "hospitals": sizes,
        "public": public,
        "features": list(features),
        "components": basis.T.tolist(),
        "eigenvalues": None if eigenvalues is None else eigenvalues.tolist(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "opendp", "dp-accounting")},
        "guarantee": guarantee(request, by_column),
    }
    return Released(basis, eigenvalues, entry, document)


def _refuse(request: Request, rows: Sequence[Part], features: Sequence[str]) -> None:
    """Raise ValueError for what could not be released, or not with the guarantee that is stated."""
    if len(features) != request.d or any(columns(part) != request.d for part in rows):
        raise ValueError(f"rows must have the {request.d} columns that were asked for")
    if not rows or min(patients(part) for part in rows) < 1:
        raise ValueError("every hospital must have a patient")
    if len({isinstance(part, IntegerSum) for part in rows}) > 1:
        raise ValueError("hospitals must be all rows, or all sums")
    for part in rows:
        if not isinstance(part, IntegerSum):
            hardened.check_clipped(part)
    if request.method in HARDENED:
        for blocks in _released_together(request, rows):
            hardened.noise_std(request.d, _bits(blocks), request.budget)


def patients(part: Part) -> int:
    """Return how many rows a hospital has."""
    return part.n if isinstance(part, IntegerSum) else len(part)


def columns(part: Part) -> int:
    """Return how many columns they have. Raises ValueError for what is no matrix."""
    matrix = part.total if isinstance(part, IntegerSum) else part
    if matrix.ndim != 2:
        raise ValueError(f"rows must be a matrix, got shape {matrix.shape}")
    return int(matrix.shape[1])


def sum_rows(parts: Sequence[Part], d: int) -> IntegerSum:
    """Return the exact sum of all rows of these hospitals. Reads private rows."""
    adder = hardened.Adder(d, _bits(parts))
    for part in parts:
        adder.add(part)
    return adder.sum


def _bits(parts: Sequence[Part]) -> int:
    first = parts[0]
    return first.bits if isinstance(first, IntegerSum) else hardened.bits_for(sum(map(patients, parts)))


def _released_together(request: Request, rows: Sequence[Part]) -> list[list[Part]]:
    """Return whose rows go into one noisy moment: everybody's, or each hospital's own."""
    return [[part] for part in rows] if request.method == "dpdis_pca" else [list(rows)]


def _from_moments(request: Request, rows: Sequence[Part], progress: Progress) -> tuple[Array, Array]:
    """Return components and eigenvalues, both from noisy moments alone, by falling eigenvalue."""
    parts, options = _released_together(request, rows), request.method_options
    noisy: list[Array] = []

    def report(share: float) -> bool:
        return progress((len(noisy) + share) / len(parts))

    for blocks in parts:
        noisy.append(hardened.release(sum_rows(blocks, request.d), request.budget, report))
    if request.method == "dpdis_pca":
        rank = options["rank"]
        sent = [moment if rank == request.d else dpdis_pca.compress(moment, rank, "eigh") for moment in noisy]
        share = dpdis_pca.shares([patients(part) for part in rows], request.budget, "size")
        basis = dpdis_pca.combine(sent, share, request.k, "eigh")
        moment = np.tensordot(share, np.stack(noisy), axes=1)
    else:
        basis, moment = Estimate.from_moment(noisy[0], request.k, **options).basis, noisy[0]
    values, turn = linalg.top_eigenpairs(basis.T @ moment @ basis, request.k)
    return basis @ turn, values


def _moment(part: Part) -> Moment:
    if isinstance(part, IntegerSum):
        return moments.DenseMoment(part.total / (4.0**part.bits * part.n))
    return moments.RowMoment(part.copy())


def _in_floating_point(request: Request, rows: Sequence[Part]) -> Array:
    providers = tuple(Provider(patients(part), _moment(part)) for part in rows)
    cohort = Cohort(providers, moments.SumMoment(providers))
    rng = np.random.default_rng()
    estimate = METHODS[request.method].fit(
        cohort, k=request.k, budget=request.budget, rng=rng, **request.method_options
    )
    return estimate.basis


def parameters(request: Request) -> dict[str, Any]:
    return {"d": request.d, "k": request.k, **request.method_options, "budget": asdict(request.budget)}


def guarantee(request: Request, by_column: bool = False) -> str:
    """Return the guarantee as a sentence. by_column: hospitals' sizes follow from rows, and are public."""
    budget, several = request.budget, request.rows_per_patient > 1
    row = "row" if several else "patient's row"
    if budget.neighbours == "replace-one":
        change = f"Replacing any one {row} by any other" + (" of the same hospital" if by_column else "")
    else:
        change = f"Emptying any one {row}, or filling an empty one, their number being public,"
    promised = (
        f"{change} changes the chance of any conclusion from this release by "
        f"at most a factor of {_factor(budget.epsilon)}, plus {budget.delta:g}."
    )
    if several:
        promised += (
            f" This is for one row. A patient can have up to {request.rows_per_patient:,} rows, and for all "
            f"of them the factor is {_factor(request.patient_epsilon)}, plus {budget.delta:g}."
        )
    if by_column:
        promised += f" How many {'rows' if several else 'patients'} each hospital has is public."
    return promised


def _factor(epsilon: float) -> str:
    return f"e^{epsilon:.4g}" + (f" = {math.exp(epsilon):.3g}" if epsilon < 10 else "")


def _noise_sentence(request: Request) -> str:
    if request.method in HARDENED:
        return (
            f"Noise: the discrete Gaussian of OpenDP {version('opendp')} on an exact integer sum, from the "
            "operating system's entropy."
        )
    return (
        "Noise: a Gaussian in floating point from the operating system's entropy. This is not hardened: last "
        "digits of floating-point noise can tell more than the guarantee allows."
    )
