"""Releases on real patients: paid for first, drawn once from the operating system's entropy, documented.

Methods that begin with a noisy second moment get it from `discrete_gaussian` (OpenDP's discrete Gaussian on
exact integer sums); all that follows is post-processing, and the eigenvalues come with it. Stacked rounds and
two stages read the rows again for each of theirs (`exact_stages`). DPS-PCA multiplies rows by a basis in
floating point, and draws its noise there too: the result says so.

Each step that is drawn is kept (`drawn`) until the release is downloaded, so that one that was paid for and
interrupted goes on with `resumed`, and costs nothing more.
"""

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounting.events_json import to_plain
from dppca_core.arrays import Array, Indices, Moment, Provider
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, paid_centre, paid_scale, stacked, two_stage
from dppca_core.methods import METHODS, dpdis_pca, dps_pca
from dppca_core.numerics import block_power, linalg, moments
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.privacy import Budget, Event
from dppca_core.records import RELEASED, Estimate
from dppca_core.release import chosen as how_chosen
from dppca_core.release import discrete_gaussian as hardened
from dppca_core.release import exact_stages
from dppca_core.release.code_version import code_version
from dppca_core.release.discrete_gaussian import IntegerSum, Progress, StoppedError
from dppca_core.release.drawn import Drawn
from dppca_core.release.exact_stages import Reader, Use
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account, Entry

STAGES = ("two_stage", "two_stage_sealed", "two_stage_own_noise")
ROUNDS = ("stacked_rounds", "stacked_rounds_sealed", "stacked_rounds_own_noise")
_EQUAL_ROUNDS = [1 / stacked.ROUNDS] * stacked.ROUNDS  # parts of the budget
_MOMENTS = ("analyze_gauss", "analyze_gauss_sparse", "sealed_sparse", "own_noise_sparse", "dpdis_pca")
HARDENED = (*STAGES, *ROUNDS, *_MOMENTS)
OFFERED = (*HARDENED, "dps_pca")
_MOST_IN_FLOATING_POINT = 2_000  # beyond, nothing predicts its error before it is paid for


class PatientRows(NamedTuple):
    """Hold rows of n patients who can have several, (m, d), and what each is multiplied by, (m, 1).

    The squares of one patient's weights add up to 1 at most: 1/sqrt(the patient's rows) where rows are
    averaged, 1/sqrt(M) where at most M rows of each are kept. of_mean: 1/sqrt(the patient's rows) there too,
    for the mean, which patients with fewer rows would pull to 0.
    """

    rows: Array
    weights: Array
    n: int
    of_mean: Array | None = None


Part = Array | IntegerSum | PatientRows


@dataclass(frozen=True)
class Request:
    """Hold what is to be released. Raises ValueError for a method not offered, or a field out of range.

    s_hat: features kept, of the sparse methods; of two stages also "released", for those that stand out of
    stage 1's noise. rank: R of DPdisPCA. iterations, burn_in: of DPS-PCA. budget:
    for one row. rows_per_patient: how many rows one patient can have at most, a public statement of the
    table's owner; it changes no noise, only what is said of a patient. mean_share: of the budget (as 1/z^2),
    pays for the mean at which rows are centred (`mechanisms.paid_centre`); 0 centres them in public.
    scale_share: likewise, for the scales that they are divided by (`mechanisms.paid_scale`).
    averaged: rows of one patient count as one row at most, so that a row's guarantee is the patient's.
    """

    method: str
    d: int
    k: int
    budget: Budget
    s_hat: int | str | None = None
    rank: int | None = None
    iterations: int = 4
    burn_in: int = 2
    rows_per_patient: int = 1
    mean_share: float = 0.0
    averaged: bool = False
    scale_share: float = 0.0

    def __post_init__(self) -> None:
        checks.one_of(OFFERED, method=self.method)
        checks.whole(1, rows_per_patient=self.rows_per_patient)
        stages = self.method in STAGES
        by_rounds = self.method in (*STAGES, *ROUNDS)
        checks.whole(2, most_features(self.method), d=self.d)
        checks.whole(1, min(self.d - 1, exact_stages.MOST_DIRECTIONS if by_rounds else math.inf), k=self.k)
        if not (stages and self.s_hat == RELEASED):
            room = min(self.d, hardened.MOST_FEATURES) if stages else self.d
            checks.whole(self.k, room, s_hat=self.d if self.s_hat is None else self.s_hat)
        if self.rank is not None:
            checks.whole(self.k, self.d, rank=self.rank)
        checks.whole(1, iterations=self.iterations)
        checks.whole(0, burn_in=self.burn_in)
        checks.one_of(hardened.ACCOUNTINGS, accounting=self.budget.accounting)
        for share in (self.mean_share, self.scale_share, self.prior_share):
            if share:
                gaussian.remaining(self.budget, share)

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "Request":
        """Return a request from what `asdict` made of it. Raises ValueError for anything else."""
        try:
            return Request(**{**plain, "budget": Budget(**plain["budget"])})
        except (KeyError, TypeError) as error:
            raise ValueError("this is no request of a release") from error

    @property
    def plain(self) -> dict[str, Any]:
        """Return what `from_plain` reads; without paid scales it is as before these could be asked for."""
        plain = asdict(self)
        return plain if self.scale_share else {key: plain[key] for key in plain if key != "scale_share"}

    @property
    def trust(self) -> str:
        """Return whom the hospitals trust."""
        return METHODS[self.method].trust

    @property
    def kept(self) -> int | str:
        """Return how many features are kept, or by which rule."""
        return self.d if self.s_hat is None else self.s_hat

    @property
    def method_options(self) -> dict[str, Any]:
        """Return the method's parameters, as its `fit` names them."""
        sparse = {"s_hat": self.kept}
        given: dict[str, dict[str, Any]] = {
            **dict.fromkeys(("analyze_gauss_sparse", "sealed_sparse", "own_noise_sparse", *STAGES), sparse),
            "dpdis_pca": {"rank": self.rank or min(2 * self.k, self.d)},
            "dps_pca": sparse | {"iterations": self.iterations, "burn_in": self.burn_in},
        }
        return given.get(self.method, {})

    @property
    def prior_share(self) -> float:
        """Return the share of the budget that mean and scales take before the method."""
        return self.mean_share + self.scale_share

    @property
    def remainder(self) -> "Request":
        """Return what is asked of rows that were centred and scaled: the method with what these leave."""
        if not self.prior_share:
            return self
        budget = gaussian.remaining(self.budget, self.prior_share)
        return replace(self, budget=budget, mean_share=0.0, scale_share=0.0)

    @property
    def events(self) -> tuple[Event, ...]:
        """Return what it costs, known before anything is read."""
        if self.prior_share:
            shares = (share for share in (self.mean_share, self.scale_share) if share)
            prior = (paid_centre.price(self.budget, share) for share in shares)
            return (*prior, *self.remainder.events)
        spends = METHODS[self.method].spends
        assert spends is not None  # all that is offered is private
        return spends(self.budget, d=self.d, k=self.k, **self.method_options)

    @property
    def patient_epsilon(self) -> float:
        """Return the epsilon of a patient with all their rows, at the budget's delta."""
        return patient_epsilon(self.events, self.budget, self.rows_per_patient)


def most_features(method: str) -> int:
    """Return how many features a release by this method can take: a moment has their square in numbers."""
    if method in (*STAGES, *ROUNDS):
        return exact_stages.MOST_FEATURES
    return hardened.MOST_FEATURES if method in _MOMENTS else _MOST_IN_FLOATING_POINT


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

    Of two stages the eigenvalues are of rows that are restricted to what was kept. loading_std: what noise
    alone adds to each loading, (d, k), in the first order.

    document: all as plain JSON, with what is needed to check it.
    """

    basis: Array
    eigenvalues: Array | None
    entry: Entry
    document: dict[str, Any]
    loading_std: Array

    @staticmethod
    def from_document(document: dict[str, Any], entry: Entry) -> "Released":
        """Return a release from its document, which holds all of its numbers, and the entry that paid."""
        basis, noise = (np.array(document[name]).T for name in ("components", "noise of components"))
        values = document["eigenvalues"]
        return Released(basis, None if values is None else np.array(values), entry, document, noise)


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
    read: Reader | None = None,
    resumed: Entry | None = None,
    chosen: str = "",
) -> Released:
    """Pay, draw, and return the release of hospitals' clipped rows, (n_i, d) each, of norm at most 1.

    A hospital may also be the exact sum of its rows (`discrete_gaussian.Adder`), of a table too large to
    hold. features: names of the d columns. public: what is public about the table (bounds, categories,
    sizes), for the document. by_column: hospitals follow from a patient's own row or table, so that their
    sizes tell of it. expected: as for `Ledger.spend`. read: hands over the rows of a table of which `rows`
    are sums. resumed: an entry that paid for this release before; it costs nothing then, and what was drawn
    is not drawn again. chosen: how columns and k were chosen, by `chosen.statement`; public, on the ledger
    too.

    Raises OverLimitError beyond the limit. Raises ValueError, before anything is paid, for rows that are
    longer than 1 or do not fit the request, for noise that cannot be drawn exactly, and where `resumed` paid
    for another request or table. Raises `discrete_gaussian.StoppedError` where `progress` says so: then it is
    paid for, unseen.
    """
    _refuse(request, rows, features, read)
    sizes = [patients(part) for part in rows]
    asked = as_asked(request, sizes, features, public)
    about = {
        "method": request.method,
        # A ledger knows its table by its rows, of which patients have several.
        "averaged patients" if request.averaged else "rows": sum(sizes),
        "rows per patient": request.rows_per_patient,
        "unit": "patient" if request.averaged else "row",
        "parameters": parameters(request),
    } | ({how_chosen.KEY: chosen} if chosen else {})
    method, exact = METHODS[request.method], request.budget.accounting == "exact"
    entry = resumed or ledger.spend(
        method.title, request.events, about, expected, request.budget.neighbours, asked
    )
    drawn = ledger.drawn(entry.id)
    if drawn is None or drawn.asked != asked:
        raise ValueError("what was paid for is another release, or of another table or dictionary")
    mean, scales, inner = None, None, request.remainder
    eigenvalues, stages = None, None
    if not request.prior_share and METHODS[request.method].scaling == "inside":
        read = None  # sums that are held will do
    if request.mean_share:
        mean = drawn.once("mean", partial(_mean, request, rows, read or _reader(rows), progress))
        rows, read = _changed(rows, read, partial(paid_centre.centred, mean=mean))
    if request.scale_share:
        squares = partial(_mean, request, rows, read or _reader(rows), progress, squared=True)
        scales = _scales(request, rows, drawn.once("squares", squares))
        rows, read = _changed(rows, read, partial(paid_scale.scaled, scales=scales))
    whole = read or _reader(rows)
    source = _source(inner, rows, whole, drawn, progress)
    if request.method in STAGES:
        basis, eigenvalues, loading_std, stages = _by_stages(inner, rows, source, features)
    elif request.method in ROUNDS:
        basis, loading_std = _by_rounds(source)
    elif request.method in HARDENED:
        basis, eigenvalues, loading_std = _from_moments(inner, rows, read, drawn, progress)
    else:
        kept = drawn.once("basis", lambda: _in_floating_point(inner, _as_sums(inner, rows, read)))
        # An earlier version kept the basis alone, which must not be drawn again: then nothing is certain.
        basis, loading_std = kept if kept.ndim == 3 else (kept, np.ones(kept.shape))
    loading_std = _where_it_holds(loading_std)
    document = {
        "what": method.title,
        "reference": method.reference,
        "at": entry.at,
        "noise": _noise_sentence(request),
        "hardened": request.method in HARDENED,
        "unit": "patient" if request.averaged else "row",
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
        "noise of components": loading_std.T.tolist(),
        "stages": stages,
        "centred": _centre_sentence(request),
        "mean": None if mean is None else mean.tolist(),
        "scaled": _scale_sentence(request),
        "scales": None if scales is None else scales.each.tolist(),
        "length after scaling": None if scales is None else scales.bound,
        "scores": _score_sentence(request),
        "eigenvalues": None if eigenvalues is None else eigenvalues.tolist(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "opendp", "dp-accounting")},
        "guarantee": guarantee(request, by_column),
        "delta times n": request.budget.delta * sum(sizes),
        how_chosen.KEY: how_chosen.stated(entry.about.get(how_chosen.KEY)),
        "code": dict(code_version()),
    }
    return Released(basis, eigenvalues, entry, document, loading_std)


def as_asked(
    request: Request, sizes: Sequence[int], features: Sequence[str], public: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a release is of, as plain JSON, to recognise it when it goes on."""
    asked = {"request": request.plain, "hospitals": sizes, "features": features, "public": public}
    plain: dict[str, Any] = json.loads(json.dumps(asked))
    return plain


def _refuse(request: Request, rows: Sequence[Part], features: Sequence[str], read: Reader | None) -> None:
    """Raise ValueError for what could not be released, or not with the guarantee that is stated."""
    if len(features) != request.d or any(columns(part) != request.d for part in rows):
        raise ValueError(f"rows must have the {request.d} columns that were asked for")
    if not rows or min(patients(part) for part in rows) < 1:
        raise ValueError("every hospital must have a patient")
    if len({isinstance(part, IntegerSum) for part in rows}) > 1:
        raise ValueError("hospitals must be all rows, or all sums")
    for part in rows:
        if not isinstance(part, IntegerSum):
            hardened.check_clipped(_rows(part))
        if is_averaged(part) != request.averaged:
            raise ValueError("rows must come with their patients exactly where these are averaged")
    if read is None and isinstance(rows[0], IntegerSum):
        if METHODS[request.method].scaling == "unit":
            raise ValueError("this method scales each row to length 1, and only sums of rows were kept")
        if request.prior_share:
            raise ValueError("rows are centred and scaled one by one, and only sums of rows were kept")
    for share, squared in ((request.mean_share, False), (request.scale_share, True)):
        if share:
            _mean_std(request, _bits(rows), squared)
    request = request.remainder
    if request.method in STAGES:
        exact_stages.check(request.budget, _division(request, rows), _bits(rows))
    elif request.method in ROUNDS:
        exact_stages.check_rounds(request.budget, _EQUAL_ROUNDS, _bits(rows))
    elif request.method in HARDENED:
        hardened.noise_std(request.d, _bits(rows), request.budget)


def is_averaged(part: Part) -> bool:
    """Return whether patients count and not rows."""
    return isinstance(part, PatientRows) or (isinstance(part, IntegerSum) and part.averaged)


def patients(part: Part) -> int:
    """Return how many rows a hospital has."""
    return len(part) if isinstance(part, np.ndarray) else part.n


def columns(part: Part) -> int:
    """Return how many columns they have. Raises ValueError for what is no matrix."""
    matrix = part.total if isinstance(part, IntegerSum) else _rows(part)
    if matrix.ndim != 2:
        raise ValueError(f"rows must be a matrix, got shape {matrix.shape}")
    return int(matrix.shape[1])


def sum_rows(parts: Sequence[Part], d: int) -> IntegerSum:
    """Return the exact sum of all rows of these hospitals. Reads private rows."""
    adder = hardened.Adder(d, _bits(parts))
    for part in parts:
        if isinstance(part, PatientRows):
            adder.add(part.rows, part.weights)
        else:
            adder.add(part)
    return adder.sum._replace(n=sum(map(patients, parts)))


def _rows(part: Array | PatientRows) -> Array:
    return part.rows if isinstance(part, PatientRows) else part


def _bits(parts: Sequence[Part]) -> int:
    """Return the bits of rounding that leave room for all patients: their rows, whose number is not public,
    count as one each (`Adder.add`).
    """
    first = parts[0]
    return first.bits if isinstance(first, IntegerSum) else hardened.bits_for(sum(map(patients, parts)))


def _released_together(request: Request, rows: Sequence[Part]) -> list[list[int]]:
    """Return whose rows go into one noisy sum: everybody's, or each hospital's own."""
    everybody = list(range(len(rows)))
    return [[hospital] for hospital in everybody] if request.trust == "untrusted server" else [everybody]


def _reader(rows: Sequence[Part]) -> Reader:
    """Return what hands over rows that are held."""

    def read(use: Use, progress: Progress, of_mean: bool = False) -> None:
        for hospital, part in enumerate(rows):
            assert not isinstance(part, IntegerSum)  # `_refuse` has seen to it
            matrix, weights = _rows(part), None
            if isinstance(part, PatientRows):
                weights = part.of_mean if of_mean and part.of_mean is not None else part.weights
            for piece in linalg.pieces(*matrix.shape):
                use(hospital, matrix[piece], 1.0 if weights is None else weights[piece])
            if not progress((hospital + 1) / len(rows)):
                raise StoppedError

    return read


def _division(request: Request, rows: Sequence[Part]) -> two_stage.Division:
    """Return how two stages divide the budget: as the method does, which the twin rehearses."""
    factor = normalised_product.noise_factor(request.trust, len(rows))
    n = sum(patients(part) for part in rows) if request.budget.neighbours == "replace-one" else None
    return two_stage.division(request.budget, factor, d=request.d, n=n, s_hat=request.kept)


def _source(
    request: Request, rows: Sequence[Part], read: Reader, drawn: Drawn, progress: Progress
) -> exact_stages.Source:
    sizes = [patients(part) for part in rows]
    groups = _released_together(request, rows)
    d, k, bits = request.d, request.k, _bits(rows)
    return exact_stages.Source(read, groups, request.budget, drawn, sizes, d, k, bits, progress)


def _by_rounds(source: exact_stages.Source) -> tuple[Array, Array]:
    """Return components, the strongest first, and the noise of their loadings."""
    rounds = exact_stages.release_rounds(source, _EQUAL_ROUNDS, stacked.LEFT_OUT, len(_EQUAL_ROUNDS))
    source.progress(1.0)
    basis, stack = rounds.bases[-1], np.hstack(rounds.answers[stacked.LEFT_OUT :])
    within = basis.T @ stack
    squares, turn = linalg.top_eigenpairs(within @ within.T, source.k)
    return basis @ turn, _rounds_std(basis @ turn, squares, rounds.stds[-1])


def _rounds_std(basis: Array, squares: Array, std: float) -> Array:
    """Return what noise of this std in every entry of m stacked rounds adds to each loading, (d, k).

    A round carries a share b/l_i of the former's error into the next, b and l_i eigenvalues of rows of length
    1: in all 1/(1 - b/l_i) times as much. s_i^2 = `squares` less k m std^2 of noise, l_i is s_i^2/m over the
    squared mean length of q, and b what is left of 1.
    """
    (d, k), many = basis.shape, stacked.ROUNDS - stacked.LEFT_OUT
    squares = np.maximum(squares - k * many * std**2, np.finfo(float).tiny ** 0.25)
    spikes = squares / many / normalised_product.mean_length(k) ** 2
    carried = max(1 - float(spikes.sum()), 0.0) / (d - k) / spikes
    return _product_std(basis, squares, std, 1 / np.maximum(1 - carried, 1e-9))


def _product_std(basis: Array, squares: Array, std: float, carried: Array) -> Array:
    """Return the noise of the left singular vectors u_i = basis[:, i] of a product with such noise, (d, k).

    In the first order noise N moves u_i by (I - U U^T) N v_i/s_i, `carried` times as much with what former
    rounds leave, and towards u_j by sqrt(s_i^2 + s_j^2)/(s_i^2 - s_j^2) stds, s_i^2 = `squares`.
    """
    outside = std / np.sqrt(squares) * carried
    gaps = squares[:, None] - squares[None, :]
    np.fill_diagonal(gaps, np.inf)
    between = std**2 * (squares[:, None] + squares[None, :]) / np.maximum(np.square(gaps), 1e-300)
    shares = np.square(basis)
    noise: Array = np.sqrt(np.maximum(1 - shares.sum(axis=1), 0.0)[:, None] * outside**2 + shares @ between)
    return np.minimum(noise, 1.0)


def _by_stages(
    request: Request, rows: Sequence[Part], source: exact_stages.Source, features: Sequence[str]
) -> tuple[Array, Array, Array, dict[str, Any]]:
    """Return components, eigenvalues, the noise of loadings, and for the document the run's division."""
    division = _division(request, rows)
    basis, kept, moment = exact_stages.release(source, division, request.kept)
    turned, values = _by_falling_eigenvalue(basis[kept], moment)
    public = {
        "share of the first stage": division.share,
        "rounds": division.rounds,
        "features kept": [features[row] for row in kept],
    }
    noise = _loading_std(moment, request.k, _entry_std(request, rows, 1 - division.share))
    whole, spread = (linalg.scatter_rows(block, kept, request.d) for block in (turned, noise))
    return whole, values, spread, public


def _entry_std(request: Request, rows: Sequence[Part], share: float = 1.0) -> float:
    """Return the std of the noise in an off-diagonal entry of the mean moment over all rows."""
    groups, bits = len(_released_together(request, rows)), _bits(rows)
    summed = hardened.noise_std(1, bits, request.budget, share) / 4.0**bits / math.sqrt(2)
    return summed * math.sqrt(groups) / sum(patients(part) for part in rows)


def _where_it_holds(loading_std: Array) -> Array:
    """Return the noise of each loading, (d, k), with 1 for components of which more than half is noise.

    The first order holds while a component is turned little, sin theta = sqrt(sum of squares) <= 1/2: there
    it is within a fifth of what releases of the breast cancer table err by. Beyond, nothing can be told.
    """
    turned = np.sqrt(np.square(loading_std).sum(axis=0))
    return np.where(turned > 0.5, 1.0, loading_std)


def _loading_std(moment: Array, k: int, std: float) -> Array:
    """Return what symmetric noise of this std adds to each loading of the top k eigenvectors, (d, k).

    In the first order v_i moves by sum_j w_j (w_j^T E v_i)/(l_i - l_j) over the other eigenvectors w_j, and
    each w_j^T E v_i has the std of an off-diagonal entry. All is computed from the noisy moment itself.
    """
    values, vectors = linalg.top_eigenpairs(moment, len(moment))
    gaps = values[:, None] - values[None, :k]
    np.fill_diagonal(gaps, np.inf)
    gaps = np.maximum(np.abs(gaps), np.finfo(float).tiny ** 0.25)
    noise: Array = std * np.sqrt(np.square(vectors) @ (1 / np.square(gaps)))
    return np.minimum(noise, 1.0)


def _mean_std(request: Request, bits: int, squared: bool = False) -> float:
    """Return the std of each entry of a sum of rows, or of their squares, in units of 4^-bits."""
    if squared:
        std = paid_scale.noise_std(request.budget, request.scale_share, n=1)
    else:
        std = paid_centre.noise_std(request.budget, request.mean_share, n=1)
    return hardened.check_std(std * 4.0**bits, request.budget)


def _mean(
    request: Request, rows: Sequence[Part], read: Reader, progress: Progress, squared: bool = False
) -> Array:
    """Return the noisy mean of all rows, or of their squares, (d,), from exact sums rounded towards zero.

    Hospitals that trust nobody each add noise to their own sum. Reads private rows.
    """
    groups, bits = _released_together(request, rows), _bits(rows)
    group_of = {hospital: index for index, group in enumerate(groups) for hospital in group}
    sums = np.zeros((len(groups), request.d))

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        # A patient's rows count as their mean: 1/m each.
        entries = np.square(part) if squared else part
        sums[group_of[hospital]] += np.trunc(entries * np.square(weights) * 4.0**bits).sum(axis=0)

    read(add, lambda share: progress(0.0), of_mean=True)
    noisy = [hardened.add_noise(whole, _mean_std(request, bits, squared)) for whole in sums]
    mean: Array = np.sum(noisy, axis=0) / (4.0**bits * sum(patients(part) for part in rows))
    return mean


def _scales(request: Request, rows: Sequence[Part], squares: Array) -> paid_scale.ColumnScales:
    """Return scales from noisy squares: those of hospitals that trust nobody have each hospital's noise."""
    sizes = [patients(part) for part in rows]
    return paid_scale.from_squares(squares, _squares_std(request, sizes), relative_bound(request, sizes))


def _effective(request: Request, sizes: Sequence[int]) -> float:
    """Return the patients over which noise is spread: hospitals that trust nobody each add their own."""
    return sum(sizes) / math.sqrt(len(sizes) if request.trust == "untrusted server" else 1)


def _squares_std(request: Request, sizes: Sequence[int]) -> float:
    """Return the std of each noisy mean of squares, in squares of the rows' greatest length."""
    return paid_scale.noise_std(request.budget, request.scale_share, _effective(request, sizes))


def hidden_spread(request: Request, sizes: Sequence[int]) -> float:
    """Return the least scale that a release can have, in the rows' greatest length, known before it."""
    return math.sqrt(paid_scale.floor(_squares_std(request, sizes), request.d))


def relative_bound(request: Request, sizes: Sequence[int]) -> float:
    """Return where scaled rows are shortened, in root mean square lengths, known before."""
    return paid_scale.relative_bound(request.remainder.budget, d=request.d, n=_effective(request, sizes))


def _changed(
    rows: Sequence[Part], read: Reader | None, change: Callable[[Array], Array]
) -> tuple[Sequence[Part], Reader | None]:
    """Return rows changed one by one, or what hands them over; a row that was left out stays zero."""

    def about(part: Array) -> Array:
        return paid_centre.empty_rows_kept(change(part), part)

    if read is None:
        held = (part for part in rows if not isinstance(part, IntegerSum))
        return [
            part._replace(rows=about(part.rows)) if isinstance(part, PatientRows) else about(part)
            for part in held
        ], None

    def read_about(use: Use, progress: Progress, of_mean: bool = False) -> None:
        read(lambda i, part, weights: use(i, about(part), weights), progress, of_mean)

    return rows, read_about


def _centre_sentence(request: Request) -> str:
    if not request.mean_share:
        return "in public, at the dictionary's usual values or the middle of its ranges, not at the mean"
    return f"at a mean that {request.mean_share:.3g} of the budget paid for"


def _scale_sentence(request: Request) -> str:
    if not request.scale_share:
        return "in public, by the dictionary's ranges and the bound of rows"
    return (
        f"divided by scales that {request.scale_share:.3g} of the budget paid for, shortened to the length "
        "after scaling, and divided by it"
    )


def _score_sentence(request: Request) -> str:
    steps = ["encode it by the dictionary", "divide it by the dictionary's bound"]
    steps += ["subtract the mean"] if request.mean_share else []
    steps += ["divide by the scales and by the length after scaling"] if request.scale_share else []
    return f"Scores of a new row, which is not shortened: {', '.join(steps)}, and multiply by each component."


def _by_falling_eigenvalue(basis: Array, moment: Array) -> tuple[Array, Array]:
    values, turn = linalg.top_eigenpairs(basis.T @ moment @ basis, basis.shape[1])
    return basis @ turn, values


def _as_sums(request: Request, rows: Sequence[Part], read: Reader | None) -> Sequence[Part]:
    """Return rows that are held, and of others each hospital's sum, of what the reader hands over."""
    if read is None:
        return rows
    bits, sizes = _bits(rows), [patients(part) for part in rows]
    adders = [hardened.Adder(request.d, bits) for _ in rows]
    read(lambda hospital, part, weights: adders[hospital].add(part, weights), lambda share: True)
    return [adder.sum._replace(n=n) for adder, n in zip(adders, sizes, strict=True)]


def _sums(
    request: Request, rows: Sequence[Part], read: Reader | None, progress: Progress
) -> list[IntegerSum]:
    """Return the exact sums that get noise, of rows as they are or of length 1. Reads private rows."""
    groups, unit = _released_together(request, rows), METHODS[request.method].scaling == "unit"
    if read is None and isinstance(rows[0], IntegerSum):
        return [sum_rows([rows[hospital] for hospital in group], request.d) for group in groups]
    bits = _bits(rows)
    adders = [hardened.Adder(request.d, bits) for _ in groups]
    group_of = {hospital: adder for group, adder in zip(groups, adders, strict=True) for hospital in group}

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        group_of[hospital].add(unit_rows(part) if unit else part, weights)

    (read or _reader(rows))(add, lambda share: progress(0.0))
    sizes = [sum(patients(rows[hospital]) for hospital in group) for group in groups]
    return [adder.sum._replace(n=n) for adder, n in zip(adders, sizes, strict=True)]


def _from_moments(
    request: Request, rows: Sequence[Part], read: Reader | None, drawn: Drawn, progress: Progress
) -> tuple[Array, Array, Array]:
    """Return components, eigenvalues and the noise of loadings, from noisy moments alone."""
    sums, options = _sums(request, rows, read, progress), request.method_options
    noisy: list[Array] = []

    def report(share: float) -> bool:
        return progress((len(noisy) + share) / len(sums))

    for number, summed in enumerate(sums, start=1):
        draw = partial(hardened.release, summed, request.budget, report)
        noisy.append(drawn.once(f"moment {number}", draw))
    share = dpdis_pca.shares([summed.n for summed in sums], request.budget, "size")
    moment = np.tensordot(share, np.stack(noisy), axes=1)
    if request.method == "dpdis_pca":
        rank = options["rank"]
        sent = [moment if rank == request.d else dpdis_pca.compress(moment, rank, "eigh") for moment in noisy]
        basis = dpdis_pca.combine(sent, share, request.k, "eigh")
    else:
        basis = Estimate.from_moment(moment, request.k, **options).basis
    # Of DPdisPCA too. Where hospitals agree on eigenpairs, sending R of them multiplies the noise between v_i
    # and w_j by (l_i - f_j)/(l_i - l_j), f_j = l_j or 0, and the gap of the mean becomes l_i - f_j.
    noise = _loading_std(moment, request.k, _entry_std(request, rows))
    noise[~np.any(basis, axis=1)] = 0.0
    return *_by_falling_eigenvalue(basis, moment), noise


def _moment(part: Part) -> Moment:
    if isinstance(part, IntegerSum):
        return moments.DenseMoment(part.total / (4.0**part.bits * part.n))
    if isinstance(part, PatientRows):  # the mean over patients, not over rows
        return moments.RowMoment(part.rows * part.weights * math.sqrt(len(part.rows) / part.n))
    return moments.RowMoment(part.copy())


def _in_floating_point(request: Request, rows: Sequence[Part]) -> Array:
    """Return components of DPS-PCA, the strongest first, and the noise of their loadings, (2, d, k)."""
    providers = tuple(Provider(patients(part), _moment(part)) for part in rows)
    cohort = Cohort(providers, moments.SumMoment(providers))
    k, rounds, rng = request.k, request.iterations, np.random.default_rng()
    std = dps_pca.mean_noise_std(cohort, request.budget, k=k, iterations=rounds, provider_noise="independent")
    products: list[Array] = []

    def product(block: Array, kept: Indices | None, _: int) -> Array:
        products.append(dps_pca.release(cohort.pooled, block, kept, std, rng))
        return products[-1]

    start, *_, basis = block_power.iterate(
        product,
        block_power.begin(None, request.d, k, rng),
        s_hat=int(request.kept),
        steps=rounds,
        burn_in=request.burn_in,
    )
    within = basis.T @ products[-1]
    squares, turn = linalg.top_eigenpairs(within @ within.T, k)
    basis = basis @ turn
    return np.stack([basis, _powers_std(basis, squares, std, rounds, start, products[0])])


def _powers_std(basis: Array, squares: Array, std: float, rounds: int, start: Array, first: Array) -> Array:
    """Return the noise of each loading after T rounds K = M Q + N, N of this std, (d, k).

    l_i^2 is the last K's i-th of `squares` within its r rows that are kept, less the r std^2 of noise. With
    X_t = (I - U U^T) Q_t (U^T Q_t)^-1 a round is X_t = M X_{t-1} L^-1 + N_t W_t L^-1, in the first order,
    L = diag(l_i) and W_t orthogonal from former rounds: N_t W_t are independent with the law of N_t. Each
    variance is the sum over t < T of (b/l_i)^2t std^2/l_i^2, where the noise of stacked rounds, which all
    count alike, adds up in length. The first product sees b = E^T M E/E^T E, E the random start outside of U;
    what is left of that start, X_0 (b/l_i)^T, is not noise. Rows that are cut are released as 0.
    """
    kept = np.any(basis, axis=1)
    squares = np.maximum(squares - kept.sum() * std**2, np.finfo(float).tiny ** 0.25)
    outside = start - basis @ (basis.T @ start)
    bulk = max(float(np.sum(outside * first) / np.sum(outside**2)), 0.0)
    ratios = np.minimum(bulk**2 / squares, 1 - 1e-9)
    noise = _product_std(basis, squares, std, np.sqrt((1 - ratios**rounds) / (1 - ratios)))
    noise[~kept] = 0.0
    return noise


def parameters(request: Request) -> dict[str, Any]:
    """Return what was asked, for the ledger and the document."""
    asked = {"d": request.d, "k": request.k, **request.method_options, "budget": asdict(request.budget)}
    shares = {"mean share": request.mean_share, "scale share": request.scale_share}
    return asked | {name: share for name, share in shares.items() if share}


class Promised(Protocol):
    """Describe what a guarantee is stated of: a request of this module or of another release."""

    @property
    def budget(self) -> Budget: ...
    @property
    def rows_per_patient(self) -> int: ...
    @property
    def averaged(self) -> bool: ...
    @property
    def patient_epsilon(self) -> float: ...


def guarantee(request: Promised, by_column: bool = False) -> str:
    """Return the guarantee as a sentence. by_column: hospitals' sizes follow from rows, and are public."""
    budget, several = request.budget, request.rows_per_patient > 1
    row = "row" if several else "patient's rows, however many," if request.averaged else "patient's row"
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
