"""Releases on real patients: paid for first, drawn once from the operating system's entropy, documented.

`stages` draws every number that is read from rows, on exact integer sums with OpenDP's discrete Gaussian; all
that follows is post-processing, and the eigenvalues come with a noisy second moment. Stacked rounds and two
stages read the rows again for each of theirs.

Each step that is drawn is kept in the book (`accounts.book`), so that a release that was paid for and
interrupted goes on with `resumed`, and costs nothing more.
"""

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dppca_core.accounting.events_json import to_plain
from dppca_core.accounts.account import Balance, Payment, size_details
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array, Part
from dppca_core.mechanisms import normalised_product, paid_centre, paid_scale, stacked, two_stage
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.methods import METHODS, dpdis_pca
from dppca_core.numerics import linalg
from dppca_core.records import Estimate
from dppca_core.release import (
    discrete_gaussian,
    fitted_bound,
    how_chosen,
    loading_noise,
    mean_and_scales,
    release_text,
    stages,
)
from dppca_core.release.code_version import code_version
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.fitted_bound import Fit
from dppca_core.release.request import STACKED_ROUNDS, TWO_STAGES, Request, noisy_sums, parameters
from dppca_core.release.stages import Source

USABLE_SHARE = "usable share of patients, as stated"
# Finding a version parses a file of the package, and what is imported keeps its version.
_version = cache(metadata.version)
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
    expected: Balance | None = None,
    progress: Progress = lambda share: True,
    resumed: Payment | None = None,
    chosen: str = "",
    usable_share: float | None = None,
    layout: Layout | None = None,
) -> Released:
    """Pay for a release of components, draw its noise, and return it.

    request: what is released, and for which budget. rows: of each hospital, clipped to norm at most 1, (n_i,
    d), or with their patients (`PatientRows`). payer: of the table. features: names of the d columns.
    public: what is public about the table (bounds, categories, sizes), for the document. by_column: hospitals
    follow from a patient's own row or table, so that their sizes tell of it. expected: as for `Payer.pay`.
    progress: is told the share done, and answers whether to go on. resumed: what paid for this release
    before; it costs nothing then, and what was drawn is not drawn again. chosen: how columns and k were
    chosen, by `how_chosen.statement`; public, and in the payment too. usable_share: of the patients, on which
    the rehearsal rested, as the owner stated it; None where nothing was stated. It is only repeated in the
    document. layout: of a request with a fitted bound, whose rows come as they were encoded: not shortened,
    nor divided by a bound.

    Raises OverLimitError beyond the limit. Raises ValueError, before anything is paid, for rows that are
    longer than 1 or do not fit the request, for noise that cannot be drawn exactly, and where `resumed` paid
    for another request or table. Raises `discrete_gaussian.StoppedError` where `progress` says no: it stays
    paid for, and can be resumed.
    """
    sizes = [stages.patients(part) for part in rows]
    rule = None
    if request.fitted:
        if layout is None:
            raise ValueError("a request with a fitted bound needs a layout of the encoded columns")
        rule = fitted_bound.rule_of(request, layout, sum(sizes), len(sizes))
    _check_releasable(request, rows, features, rule)
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
    source = Source(rows, noisy_sums(request.method, len(rows)), request.budget, drawn, progress)
    changed, fit = _changed(request, source, sizes), None
    if rule is not None:
        fit = fitted_bound.fit(rule, source)
        changed = _Changed(fit.source, fit.frame.mean + rule.layout.middle, None, fit.bound)
    # What is paid for before the method leaves it the rest of the budget.
    remainder, divided = request.remainder, None
    source = replace(changed.source, budget=remainder.budget)
    if request.method in TWO_STAGES:
        axes, divided = _release_stages(remainder, source, features)
    elif request.method in STACKED_ROUNDS:
        axes = _release_rounds(remainder, source)
    elif rule is not None and fit is not None:
        axes, divisors = _release_fitted(remainder, source, rule, fit)
        changed = changed._replace(divisors=divisors if request.standardised else None)
    else:
        axes = _release_moments(remainder, source)
    eigenvalues, error = axes.eigenvalues, axes.eigenvalue_error
    loading_std = loading_noise.where_it_holds(axes.loading_std, eigenvalues, error)
    document = {
        "what": method.title,
        "reference": method.reference,
        "at": payment.at,
        "noise": release_text.noise_sentence(),
        "hardened": True,
        "unit": "patient" if request.averaged else "row",
        "rows per patient": request.rows_per_patient,
        "epsilon for a patient": request.patient_epsilon,
        "trade-off": request.trade_off.to_json(),
        "trade-off for a patient": request.patient_trade_off.to_json(),
        "method": request.method,
        "parameters": parameters(request),
        "events": to_plain(request.events),
        "calibration": "Balle & Wang 2018, T steps as one" if exact else "zCDP, Bun & Steinke 2016",
        "hospitals": sizes,
        USABLE_SHARE: usable_share,
        "public": public,
        "features": list(features),
        "components": axes.basis.T.tolist(),
        "noise of components": loading_std.T.tolist(),
        "stages": divided,
        "centred": release_text.centre_sentence(request),
        "mean": None if changed.mean is None else changed.mean.tolist(),
        "scaled": release_text.scale_sentence(request),
        "scales": None if changed.divisors is None else changed.divisors.tolist(),
        "length after scaling": changed.length,
        "fitted bound": None
        if fit is None
        else {"squares": fit.squares.tolist(), "tails": fit.tails.tolist()},
        "scores": release_text.score_sentence(request),
        "eigenvalues": None if eigenvalues is None else eigenvalues.tolist(),
        "error of eigenvalues": error,
        "trace": axes.trace,
        "noise of trace": axes.trace_std,
        "versions": {"python": platform.python_version()}
        | {name: _version(name) for name in ("numpy", "scipy", "opendp", "dp-accounting")},
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


class _Axes(NamedTuple):
    """Hold components, (d, k), with the std of their loadings and, where a moment was released, eigenvalues.

    eigenvalue_error: how far noise moves any of them. trace: of the moment of all features, the sum of all
    its eigenvalues; trace_std: of the noise in it.
    """

    basis: Array
    eigenvalues: Array | None
    loading_std: Array
    eigenvalue_error: float | None
    trace: float | None = None
    trace_std: float | None = None


class _Changed(NamedTuple):
    """Hold the source of rows as the method takes them, and by what they were changed.

    A row is less `mean`, (d,), and divided by `divisors`, (d,), and by `length`, to which it is shortened
    before; None where that was not paid for.
    """

    source: Source
    mean: Array | None = None
    divisors: Array | None = None
    length: float | None = None


def _changed(request: Request, source: Source, sizes: Sequence[int]) -> _Changed:
    """Draw the mean and scales that a request without a fitted bound pays for, and change rows by them."""
    changed = _Changed(source)
    if request.fitted:
        return changed

    def released_mean(squared: bool) -> Array:
        std = mean_and_scales.noise_std(request, source.bits, squared)
        return stages.mean(changed.source, std, squared)

    if request.mean_share:
        mean = source.drawn.once("mean", partial(released_mean, squared=False))
        changed = _Changed(source.changed(partial(paid_centre.centred, mean=mean)), mean)
    if request.scale_share:
        squares = source.drawn.once("squares", partial(released_mean, squared=True))
        scales = mean_and_scales.scales_of(request, sizes, squares)
        scaled = changed.source.changed(partial(paid_scale.scaled, scales=scales))
        changed = _Changed(scaled, changed.mean, scales.divisors, scales.bound)
    return changed


def _check_releasable(
    request: Request, rows: Sequence[Part], features: Sequence[str], rule: FittedBound | None
) -> None:
    """Raise ValueError for what could not be released, or not with the guarantee that is stated."""
    if len(features) != request.d:
        raise ValueError(f"features must be the {request.d} columns that were asked for")
    stages.check(rows, request.d, request.averaged, clipped=rule is None)
    bits = stages.bits_of(rows)
    if rule is not None:
        fitted_bound.check(request, rule, rows)
    else:
        for share, squared in ((request.mean_share, False), (request.scale_share, True)):
            if share:
                mean_and_scales.noise_std(request, bits, squared=squared)  # for what it raises
    request = request.remainder  # the method's noise is for what earlier steps leave
    if request.method in TWO_STAGES:
        stages.check_stages(request.budget, _division(request, rows), bits)
    elif request.method in STACKED_ROUNDS:
        stages.check_rounds(request.budget, _EQUAL_PARTS, bits)
    else:
        discrete_gaussian.noise_std(request.d, bits, request.budget)


def _division(request: Request, rows: Sequence[Part]) -> two_stage.Division:
    """Return how two stages divide the budget between them, by the same rule as the method's `fit`.

    So a rehearsal of the method on synthetic patients divides it likewise. Where the number of patients is
    protected the rule may not use it.
    """
    factor = normalised_product.noise_factor(request.trust, len(rows))
    n = sum(map(stages.patients, rows)) if request.budget.neighbours == "replace-one" else None
    return two_stage.division(request.budget, factor, d=request.d, n=n, s_hat=request.kept)


def _release_rounds(request: Request, source: Source) -> _Axes:
    """Release stacked rounds; the components are in order, strongest first, and have no eigenvalues."""
    rounds = stages.release_rounds(source, request.k, _EQUAL_PARTS, stacked.LEFT_OUT, readings=stacked.ROUNDS)
    source.progress(1.0)
    basis, stack = rounds.bases[-1], np.hstack(rounds.answers[stacked.LEFT_OUT :])
    # Turn the basis within its own span to the stack's singular vectors, so that it has an order.
    within = basis.T @ stack
    squares, rotation = linalg.top_eigenpairs(within @ within.T, request.k)
    # All rounds have noise of the same std.
    loading_std = loading_noise.of_rounds(basis @ rotation, squares, rounds.stds[-1])
    return _Axes(basis @ rotation, None, loading_std, None)


def _release_stages(
    request: Request, source: Source, features: Sequence[str]
) -> tuple[_Axes, dict[str, Any]]:
    """Release two stages, with components that are zero outside the features kept.

    Also returns, for the document, how the run divided its budget and which features it kept.
    """
    division = _division(request, source.parts)
    basis, kept, moment = stages.release(source, request.k, division, request.kept)
    turned, values = _turned_to_axes(basis[kept], moment)
    public = {
        "share of the first stage": division.share,
        "rounds": division.rounds,
        "features kept": [features[row] for row in kept],
    }
    std = _entry_std(source, share=1 - division.share)
    noise = loading_noise.of_moment(moment, request.k, std)
    components, loading_std = (linalg.scatter_rows(block, kept, request.d) for block in (turned, noise))
    return _Axes(components, values, loading_std, loading_noise.of_eigenvalues(std, len(kept))), public


def _entry_std(source: Source, share: float = 1.0) -> float:
    """Return the std of the noise in an off-diagonal entry of the second moment of all hospitals' rows."""
    # Asked for 1 feature, as the std is the same for any number of them. It is of a diagonal entry; off the
    # diagonal the noise is sqrt 2 smaller.
    sum_std = (
        discrete_gaussian.noise_std(1, source.bits, source.budget, share) / 4.0**source.bits / math.sqrt(2)
    )
    return sum_std * math.sqrt(source.number_of_sums) / source.n


def _trace_std(std: float, roots: Array) -> float:
    """Return the std of the noise in the trace of a moment whose columns were divided by roots, (d,).

    std: of an off-diagonal entry of the noise before, whose diagonal has sqrt 2 times that.
    """
    return math.sqrt(2) * std * float(np.linalg.norm(1 / np.square(roots)))


def _turned_to_axes(basis: Array, moment: Array) -> tuple[Array, Array]:
    """Return the basis turned within its span to the axes of a moment, largest first, and its eigenvalues."""
    values, rotation = linalg.top_eigenpairs(basis.T @ moment @ basis, basis.shape[1])
    return basis @ rotation, values


def _release_fitted(request: Request, source: Source, rule: FittedBound, fit: Fit) -> tuple[_Axes, Array]:
    """Release the noisy moment of rows with a fitted bound.

    Also returns by what the columns of encoded rows were divided, (d,).
    """
    noisy, sizes = stages.moments(source, unit=False)
    std = _entry_std(source)
    whole = np.tensordot(np.divide(sizes, source.n), np.stack(noisy), axes=1)
    # The rule reckons in units of the encoded rows, in which `whole` is of rows b long.
    square, std = fit.bound**2, std / fit.frame.usable
    cleaned, divisors = rule.after(whole * square, fit.frame, fit.bound)
    moment, roots = cleaned / square, divisors / fit.frame.divisors
    basis = Estimate.from_moment(moment, request.k, **request.method_options).basis
    noise = loading_noise.of_moment(moment, request.k, std, roots)
    noise[~np.any(basis, axis=1)] = 0.0  # features that were cut are released as 0, without noise
    error = loading_noise.of_eigenvalues(std, request.d, roots)
    turned, values = _turned_to_axes(basis, moment)
    return _Axes(turned, values, noise, error, float(moment.trace()), _trace_std(std, roots)), divisors


def _release_moments(request: Request, source: Source) -> _Axes:
    """Release noisy second moments; all that follows them is post-processing."""
    noisy, sizes = stages.moments(source, unit=METHODS[request.method].scaling == "unit")
    options = request.method_options
    weights = dpdis_pca.shares(sizes, request.budget, weights="size")
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
    std = _entry_std(source)
    noise = loading_noise.of_moment(moment, request.k, std)
    noise[~np.any(basis, axis=1)] = 0.0  # features that were cut are released as 0, without noise
    turned, values = _turned_to_axes(basis, moment)
    error, trace_std = loading_noise.of_eigenvalues(std, request.d), _trace_std(std, np.ones(request.d))
    return _Axes(turned, values, noise, error, float(moment.trace()), trace_std)
