"""Releases on real patients: paid for first, drawn once from the operating system's entropy, documented.

Methods that begin with a noisy second moment get it from `discrete_gaussian` (OpenDP's discrete Gaussian on
exact integer sums); all that follows is post-processing, and the eigenvalues come with it. Stacked rounds and
two stages read the rows again for each of theirs (`exact_stages`). DPS-PCA multiplies rows by a basis in
floating point, and draws its noise there too: the result says so.

Each step that is drawn is kept in the book (`accounts.book`), so that a release that was paid for and
interrupted goes on with `resumed`, and costs nothing more.

`Part` is what one hospital hands in (`patient_rows`): its clipped rows, or their exact sum for a table that
is too large to hold. A reader hands the rows of such a table over once more, piece by piece.
"""

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dppca_core.accounting.events_json import to_plain
from dppca_core.accounts.account import Account, Payment, size_details
from dppca_core.accounts.book import Drawn, Payer
from dppca_core.arrays import Array, Indices, Provider
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import normalised_product, paid_centre, paid_scale, stacked, two_stage
from dppca_core.methods import METHODS, dpdis_pca, dps_pca
from dppca_core.numerics import block_power, linalg
from dppca_core.numerics.unit_rows import unit_rows
from dppca_core.records import Estimate
from dppca_core.release import (
    discrete_gaussian,
    exact_stages,
    how_chosen,
    loading_noise,
    mean_and_scales,
    patient_rows,
    release_text,
)
from dppca_core.release.code_version import code_version
from dppca_core.release.discrete_gaussian import IntegerSum, Progress
from dppca_core.release.exact_stages import Reader
from dppca_core.release.patient_rows import Part, bits_of, patients
from dppca_core.release.request import (
    HARDENED,
    STACKED_ROUNDS,
    TWO_STAGES,
    Request,
    noisy_sums,
    parameters,
)

USABLE_SHARE = "usable share of patients, as stated"
_EQUAL_PARTS = [1 / stacked.ROUNDS] * stacked.ROUNDS  # what each round takes of the budget, in 1/z^2


@dataclass(frozen=True)
class Released:
    """Hold what is published of a release.

    basis: the components, (d, k). eigenvalues: along them, of the second moment of the scaled rows, (k,), or
    None where the method releases none; of two stages they are of rows restricted to the features kept.
    payment: what paid. document: all of it as plain JSON, with what is needed to check it.
    loading_std: the std of what noise alone adds to each loading, (d, k), in the first order; 1 where it
    cannot be told. eigenvalue_error: how far noise moves any eigenvalue, in 95 of 100 draws; None without
    eigenvalues.
    """

    basis: Array
    eigenvalues: Array | None
    payment: Payment
    document: dict[str, Any]
    loading_std: Array
    eigenvalue_error: float | None

    @property
    def is_noise(self) -> NDArray[np.bool_]:
        """Return which components are axes of noise, (k,): none of their loadings can be told from 0."""
        return np.asarray(self.loading_std.min(axis=0) >= 1)

    @staticmethod
    def from_document(document: dict[str, Any], payment: Payment) -> "Released":
        """Return a release from its document, which holds all of its numbers, and what paid."""
        basis, noise = (np.array(document[name]).T for name in ("components", "noise of components"))
        values = document["eigenvalues"]
        eigenvalues = None if values is None else np.array(values)
        return Released(basis, eigenvalues, payment, document, noise, document["error of eigenvalues"])


def make(
    request: Request,
    rows: Sequence[Part],
    payer: Payer,
    *,
    features: Sequence[str],
    public: dict[str, Any],
    by_column: bool = False,
    expected: Account | None = None,
    progress: Progress = lambda share: True,
    read: Reader | None = None,
    resumed: Payment | None = None,
    chosen: str = "",
    usable_share: float | None = None,
) -> Released:
    """Pay for a release of components, draw its noise, and return it.

    request: what is released, and for which budget. rows: of each hospital, clipped to norm at most 1, (n_i,
    d), or their exact sum (`discrete_gaussian.Adder`), of a table too large to hold. payer: of the table.
    features: names of the d columns. public: what is public about the table (bounds, categories, sizes), for
    the document. by_column: hospitals follow from a patient's own row or table, so that their sizes tell of
    it. expected: as for `Payer.pay`. progress: is told the share done, and answers whether to go on. read:
    hands over the rows of a table of which `rows` are sums. resumed: what paid for this release
    before; it costs nothing then, and what was drawn is not drawn again. chosen: how columns and k were
    chosen, by `how_chosen.statement`; public, and in the payment too. usable_share: of the patients, on which
    the rehearsal rested, as the owner stated it; None where nothing was stated. It is only repeated in the
    document.

    Raises OverLimitError beyond the limit. Raises ValueError, before anything is paid, for rows that are
    longer than 1 or do not fit the request, for noise that cannot be drawn exactly, and where `resumed` paid
    for another request or table. Raises `discrete_gaussian.StoppedError` where `progress` says no: it stays
    paid for, and can be resumed.
    """
    _check_releasable(request, rows, features, read)
    sizes = [patients(part) for part in rows]
    asked = as_asked(request, sizes, features, public)
    about = {
        "method": request.method,
        **size_details(sum(sizes), request.rows_per_patient, request.averaged),
        "parameters": parameters(request),
    } | ({how_chosen.KEY: chosen} if chosen else {})
    method, exact = METHODS[request.method], request.budget.accounting == "exact"
    # Pay before any noise is drawn, unless an interrupted release of before has paid already.
    payment = resumed or payer.pay(
        method.title, request.events, about, expected, request.budget.neighbours, asked
    )
    drawn = payer.drawn(payment.id)
    if drawn is None or drawn.asked != asked:
        raise ValueError("what was paid for is another release, or of another table or dictionary")
    if (finished := drawn.document) is not None:
        return Released.from_document(finished, payment)
    # What the mean and the scales leave of the budget is for the method.
    mean, scales, remainder = None, None, request.remainder
    eigenvalues, eigenvalue_error, stages = None, None, None
    if not request.prior_share and METHODS[request.method].scaling == "inside":
        # Rows are neither centred nor scaled, here or by the method: the sums in `rows` will do.
        read = None

    def released_mean(squared: bool) -> Array:
        """Return the noisy mean of the rows as they are by now, or of their squared entries, (d,)."""
        return mean_and_scales.release_mean(
            request, rows, read or patient_rows.reader(rows), progress, squared
        )

    if request.mean_share:
        mean = drawn.once("mean", partial(released_mean, squared=False))
        rows, read = patient_rows.with_changed_rows(rows, read, partial(paid_centre.centred, mean=mean))
    if request.scale_share:
        squares = drawn.once("squares", partial(released_mean, squared=True))
        scales = mean_and_scales.scales_of(request, rows, squares)
        rows, read = patient_rows.with_changed_rows(rows, read, partial(paid_scale.scaled, scales=scales))
    source = _source(remainder, rows, read or patient_rows.reader(rows), drawn, progress)
    if request.method in TWO_STAGES:
        (basis, eigenvalues, loading_std, eigenvalue_error), stages = _release_stages(
            remainder, rows, source, features
        )
    elif request.method in STACKED_ROUNDS:
        basis, loading_std = _release_rounds(source)
    elif request.method in HARDENED:
        basis, eigenvalues, loading_std, eigenvalue_error = _release_moments(
            remainder, rows, read, drawn, progress
        )
    else:
        basis, loading_std = drawn.once(
            "basis", lambda: _release_powers(remainder, _rows_or_sums(remainder, rows, read))
        )
    loading_std = loading_noise.where_it_holds(loading_std, eigenvalues, eigenvalue_error)
    document = {
        "what": method.title,
        "reference": method.reference,
        "at": payment.at,
        "noise": release_text.noise_sentence(request),
        "hardened": request.method in HARDENED,
        "unit": "patient" if request.averaged else "row",
        "rows per patient": request.rows_per_patient,
        "epsilon for a patient": request.patient_epsilon,
        **release_text.mu_of(request.events, request.rows_per_patient),
        "method": request.method,
        "parameters": parameters(request),
        "events": to_plain(request.events),
        "calibration": "Balle & Wang 2018, T steps as one" if exact else "zCDP, Bun & Steinke 2016",
        "hospitals": sizes,
        USABLE_SHARE: usable_share,
        "public": public,
        "features": list(features),
        "components": basis.T.tolist(),
        "noise of components": loading_std.T.tolist(),
        "stages": stages,
        "centred": release_text.centre_sentence(request),
        "mean": None if mean is None else mean.tolist(),
        "scaled": release_text.scale_sentence(request),
        "scales": None if scales is None else scales.divisors.tolist(),
        "length after scaling": None if scales is None else scales.bound,
        "scores": release_text.score_sentence(request),
        "eigenvalues": None if eigenvalues is None else eigenvalues.tolist(),
        "error of eigenvalues": eigenvalue_error,
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "opendp", "dp-accounting")},
        "guarantee": release_text.guarantee(request, by_column),
        "delta times n": request.budget.delta * sum(sizes),
        how_chosen.KEY: how_chosen.stated(payment.about.get(how_chosen.KEY)),
        "code": dict(code_version()),
    }
    return Released.from_document(drawn.finish(document), payment)


def as_asked(
    request: Request, sizes: Sequence[int], features: Sequence[str], public: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a release is of, as plain JSON; a payment is resumed only for exactly the same.

    sizes: number of patients of each hospital. It goes through JSON and back, since it is compared with what
    was read from a file: tuples are lists there.
    """
    asked = {"request": asdict(request), "hospitals": sizes, "features": features, "public": public}
    plain: dict[str, Any] = json.loads(json.dumps(asked))
    return plain


def _check_releasable(
    request: Request, rows: Sequence[Part], features: Sequence[str], read: Reader | None
) -> None:
    """Raise ValueError for what could not be released, or not with the guarantee that is stated."""
    if len(features) != request.d or any(patient_rows.columns(part) != request.d for part in rows):
        raise ValueError(f"rows must have the {request.d} columns that were asked for")
    if not rows or min(patients(part) for part in rows) < 1:
        raise ValueError("every hospital must have a patient")
    if len({isinstance(part, IntegerSum) for part in rows}) > 1:
        raise ValueError("hospitals must be all rows, or all sums")
    patient_rows.check(rows, request.averaged)
    if read is None and isinstance(rows[0], IntegerSum):
        if METHODS[request.method].scaling == "unit":
            raise ValueError("this method scales each row to length 1, and only sums of rows were kept")
        if request.prior_share:
            raise ValueError("rows are centred and scaled one by one, and only sums of rows were kept")
    for share, squared in ((request.mean_share, False), (request.scale_share, True)):
        if share:
            mean_and_scales.noise_std(request, bits_of(rows), squared=squared)  # for what it raises
    request = request.remainder  # the method's noise is for what mean and scales leave
    if request.method in TWO_STAGES:
        exact_stages.check_stages(request.budget, _division(request, rows), bits_of(rows))
    elif request.method in STACKED_ROUNDS:
        exact_stages.check_rounds(request.budget, _EQUAL_PARTS, bits_of(rows))
    elif request.method in HARDENED:
        discrete_gaussian.noise_std(request.d, bits_of(rows), request.budget)


def _division(request: Request, rows: Sequence[Part]) -> two_stage.Division:
    """Return how two stages divide the budget between them, by the same rule as the method's `fit`.

    So a rehearsal of the method on synthetic patients divides it likewise. Where the number of patients is
    protected the rule may not use it.
    """
    factor = normalised_product.noise_factor(request.trust, len(rows))
    n = sum(patients(part) for part in rows) if request.budget.neighbours == "replace-one" else None
    return two_stage.division(request.budget, factor, d=request.d, n=n, s_hat=request.kept)


def _source(
    request: Request, rows: Sequence[Part], read: Reader, drawn: Drawn, progress: Progress
) -> exact_stages.Source:
    """Return all that releases by rounds or stages read, with the method's number of noisy sums.

    request: for the method alone, with the budget that mean and scales leave.
    """
    sizes = [patients(part) for part in rows]
    sums = noisy_sums(request.method, len(rows))
    d, k, bits = request.d, request.k, bits_of(rows)
    return exact_stages.Source(read, sums, request.budget, drawn, sizes, d, k, bits, progress)


def _release_rounds(source: exact_stages.Source) -> tuple[Array, Array]:
    """Release stacked rounds; return components, strongest first, and the std of loadings, (d, k) each."""
    rounds = exact_stages.release_rounds(source, _EQUAL_PARTS, stacked.LEFT_OUT, readings=stacked.ROUNDS)
    source.progress(1.0)
    basis, stack = rounds.bases[-1], np.hstack(rounds.answers[stacked.LEFT_OUT :])
    # Turn the basis within its own span to the stack's singular vectors, so that it has an order.
    within = basis.T @ stack
    squares, turn = linalg.top_eigenpairs(within @ within.T, source.k)
    # All rounds have noise of the same std.
    return basis @ turn, loading_noise.of_rounds(basis @ turn, squares, rounds.stds[-1])


def _release_stages(
    request: Request, rows: Sequence[Part], source: exact_stages.Source, features: Sequence[str]
) -> tuple[tuple[Array, Array, Array, float], dict[str, Any]]:
    """Release two stages.

    Returns what `_release_moments` does, with components that are zero outside the features kept; and for the
    document how the run divided its budget and which features it kept.
    """
    division = _division(request, rows)
    basis, kept, moment = exact_stages.release(source, division, request.kept)
    turned, values = _turned_to_axes(basis[kept], moment)
    public = {
        "share of the first stage": division.share,
        "rounds": division.rounds,
        "features kept": [features[row] for row in kept],
    }
    std = _entry_std(request, rows, share=1 - division.share)
    noise = loading_noise.of_moment(moment, request.k, std)
    components, loading_std = (linalg.scatter_rows(block, kept, request.d) for block in (turned, noise))
    return (components, values, loading_std, loading_noise.of_eigenvalues(std, len(kept))), public


def _entry_std(request: Request, rows: Sequence[Part], share: float = 1.0) -> float:
    """Return the std of the noise in an off-diagonal entry of the second moment of all hospitals' rows.

    share: of the budget, measured in 1/z^2, for this moment.
    """
    sums, bits = noisy_sums(request.method, len(rows)), bits_of(rows)
    # Asked for 1 feature, as the std is the same for any number of them. It is of a diagonal entry, in units
    # of 4^-bits; off the diagonal the noise is sqrt 2 smaller.
    sum_std = discrete_gaussian.noise_std(1, bits, request.budget, share) / 4.0**bits / math.sqrt(2)
    return sum_std * math.sqrt(sums) / sum(patients(part) for part in rows)


def _turned_to_axes(basis: Array, moment: Array) -> tuple[Array, Array]:
    """Return the basis turned within its span to the axes of a moment, largest first, and its eigenvalues."""
    values, turn = linalg.top_eigenpairs(basis.T @ moment @ basis, basis.shape[1])
    return basis @ turn, values


def _rows_or_sums(request: Request, rows: Sequence[Part], read: Reader | None) -> Sequence[Part]:
    """Return the rows as they are where there is no reader; else the sums of what the reader hands over.

    Rows that were centred or scaled piece by piece are nowhere held, so their sums are made now.
    """
    return rows if read is None else _exact_sums(request, rows, read, lambda share: True)


def _exact_sums(
    request: Request, rows: Sequence[Part], read: Reader | None, progress: Progress
) -> list[IntegerSum]:
    """Return the exact sums of x x^T that get noise: one of all hospitals, or one each. Reads private rows.

    The method says which, and whether rows are scaled to length 1 before.
    """
    number_of_sums, unit = noisy_sums(request.method, len(rows)), METHODS[request.method].scaling == "unit"
    groups = [rows[i::number_of_sums] for i in range(number_of_sums)]  # of hospitals, one for each sum
    if read is None and isinstance(rows[0], IntegerSum):
        return [patient_rows.sum_rows(group, request.d) for group in groups]
    adders = [discrete_gaussian.Adder(request.d, bits_of(rows)) for _ in groups]

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        """Add a piece of a hospital's rows, (m, d), each with its weight, to the hospital's sum."""
        adders[hospital % number_of_sums].add(unit_rows(part) if unit else part, weights)

    (read or patient_rows.reader(rows))(add, lambda share: progress(0.0))  # only asks whether to go on
    # An adder counts squared weights; a sum's n is the public number of patients.
    sizes = [sum(map(patients, group)) for group in groups]
    return [adder.sum._replace(n=n) for adder, n in zip(adders, sizes, strict=True)]


def _release_moments(
    request: Request, rows: Sequence[Part], read: Reader | None, drawn: Drawn, progress: Progress
) -> tuple[Array, Array, Array, float]:
    """Release noisy second moments; all that follows them is post-processing.

    Returns the components, (d, k); their eigenvalues, (k,); the std of loadings, (d, k); and how far noise
    moves an eigenvalue.
    """
    sums, options = _exact_sums(request, rows, read, progress), request.method_options
    noisy: list[Array] = []

    def report(share: float) -> bool:
        """Tell which share of all moments is drawn, and return whether to go on. share: of this moment."""
        return progress((len(noisy) + share) / len(sums))

    for number, summed in enumerate(sums, start=1):
        draw = partial(discrete_gaussian.release, summed, request.budget, report)
        noisy.append(drawn.once(f"moment {number}", draw))
    weights = dpdis_pca.shares([summed.n for summed in sums], request.budget, weights="size")
    moment = np.tensordot(weights, np.stack(noisy), axes=1)
    if request.method == "dpdis_pca":
        rank = options["rank"]
        sent = [each if rank == request.d else dpdis_pca.compress(each, rank, "eigh") for each in noisy]
        basis = dpdis_pca.combine(sent, weights, request.k, decomposition="eigh")
    else:
        basis = Estimate.from_moment(moment, request.k, **options).basis
    # This holds for DPdisPCA too. Where hospitals agree on eigenpairs, sending R of them multiplies the noise
    # between v_i and w_j by (l_i - f_j)/(l_i - l_j), with f_j = l_j if w_j is sent and 0 if not. The gap of
    # the mean becomes l_i - f_j, so that the factor cancels.
    std = _entry_std(request, rows)
    noise = loading_noise.of_moment(moment, request.k, std)
    noise[~np.any(basis, axis=1)] = 0.0  # features that were cut are released as 0, without noise
    return *_turned_to_axes(basis, moment), noise, loading_noise.of_eigenvalues(std, request.d)


def _release_powers(request: Request, rows: Sequence[Part]) -> Array:
    """Release by DPS-PCA; return components, the strongest first, above the std of loadings: (2, d, k).

    They are in one array, since a step that is kept (`Drawn.once`) is one array.
    """
    cohort = Cohort.together(Provider(patients(part), patient_rows.moment_of(part)) for part in rows)
    k, rounds, rng = request.k, request.iterations, np.random.default_rng()
    std = dps_pca.mean_noise_std(cohort, request.budget, k=k, iterations=rounds, provider_noise="independent")
    products: list[Array] = []

    def product(block: Array, kept: Indices | None, _: int) -> Array:
        """Return a round's noisy product, (d, k), and keep it; kept: features of the block's rows, or all."""
        products.append(dps_pca.release(cohort.pooled, block, kept, std, rng))
        return products[-1]

    # Of the bases after each round only the first and the last are needed.
    start, *_, basis = block_power.iterate(
        product,
        block_power.begin(None, request.d, k, rng),  # None: a random basis
        s_hat=int(request.kept),
        steps=rounds,
        burn_in=request.burn_in,
    )
    # Turn the basis within its own span to the last product's singular vectors, so that it has an order.
    within = basis.T @ products[-1]
    squares, turn = linalg.top_eigenpairs(within @ within.T, k)
    basis = basis @ turn
    return np.stack([basis, loading_noise.of_powers(basis, squares, std, rounds, start, products[0])])
