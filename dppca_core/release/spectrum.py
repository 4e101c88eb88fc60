"""All eigenvalues of a second moment, paid for by themselves: what a population looks like, cheaply.

S = sum x x^T over n rows with |x| <= 1, n public. Sorted eigenvalues move by no more than the matrix does
(Hoffman & Wielandt 1953):

    |lambda(S) - lambda(S')|_2 <= |S - S'|_F <= sqrt 2 (replace-one) or 1 (add-remove),

so noise of the std that one entry of S would need does for each eigenvalue, while the same noise on all of S
moves its eigenvalues by up to about 2 std sqrt(d). Sorting and clipping at zero afterwards are free.

Hardened as `discrete_gaussian` is: S is exact in integers, its computed eigenvalues are rounded to
multiples of a unit g, and OpenDP adds discrete Gaussian noise to these integers. A symmetric eigensolver
errs by less than 4 d 2^-52 |S|_2 <= d n 2^-50 (LAPACK Users' Guide, section 4.7, with 4 d for its p(d)); g
is at least twice that, so that errors and rounding move two neighbours' integers apart by at most 2 sqrt(d)
more:

    sensitivity = Delta + 2 sqrt(d) g.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.accounting import gaussian
from dppca_core.accounting.events_json import to_plain
from dppca_core.accounts.account import Balance, Payment, size_details
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array, Part, PatientRows
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.privacy import Budget, Event, Release
from dppca_core.release import discrete_gaussian, stages
from dppca_core.release.request import ReleaseRequest

TITLE = "Eigenvalues"
_FINEST = 2.0**-20  # of a row's largest contribution


@dataclass(frozen=True)
class SpectrumRequest(ReleaseRequest):
    """Hold a request for eigenvalues. rows_per_patient: how many rows a patient can have, for the payment."""

    budget: Budget
    rows_per_patient: int = 1

    @staticmethod
    def from_asked(asked: Mapping[str, Any]) -> "SpectrumRequest":
        """Return the request that `as_asked` wrote. Raises ValueError for anything else."""
        try:
            return SpectrumRequest(
                Budget(**asked["spectrum"]["budget"]), asked["spectrum"]["rows_per_patient"]
            )
        except (KeyError, TypeError) as error:
            raise ValueError("this is no request for eigenvalues") from error

    @property
    def events(self) -> tuple[Event, ...]:
        """Return the one Gaussian release that it costs. Raises ValueError for accounting as printed."""
        checks.one_of(discrete_gaussian.ACCOUNTINGS, accounting=self.budget.accounting)
        return (Release(gaussian.noise_multiplier(self.budget)),)


@dataclass(frozen=True)
class Spectrum:
    """Hold released eigenvalues of S/n, (d,), falling, none below 0.

    std: of the noise in each, before sorting. payment: what paid. document: all of it as plain JSON.
    """

    eigenvalues: Array
    std: float
    payment: Payment
    document: dict[str, Any]

    @staticmethod
    def from_document(document: dict[str, Any], payment: Payment) -> "Spectrum":
        return Spectrum(np.array(document["eigenvalues"]), document["std"], payment, document)


def rounding_step(n: int, d: int) -> float:
    """Return g: the eigenvalues of S, a sum over n rows of d entries, are rounded to multiples of it.

    It is at least twice d n 2^-50, by which an eigensolver errs at most, and no finer than 2^-20. Raises
    ValueError unless n and d are whole and positive.
    """
    checks.whole(1, n=n, d=d)
    return max(_FINEST, 2 * d * n * 2.0**-50)


def sensitivity(budget: Budget, n: int, d: int) -> float:
    """Return the l2 sensitivity of S's d eigenvalues as they are computed and rounded.

    To that of exact ones, errors and rounding add 2 sqrt(d) g at most; the proof is in the module's text.
    """
    return symmetric_gaussian.sensitivity(budget) + 2 * math.sqrt(d) * rounding_step(n, d)


def whole_eigenvalues(summed: discrete_gaussian.IntegerSum) -> Array:
    """Return the eigenvalues of S in units of g, rounded to whole numbers, falling. Reads private rows."""
    n, d = summed.n, len(summed.total)
    # eigvalsh returns them rising, of a sum that is in units of 4^-bits.
    values = np.linalg.eigvalsh(summed.total / 4.0**summed.bits)[::-1]
    return np.round(values / rounding_step(n, d))


def make(
    request: SpectrumRequest,
    rows: Sequence[Part],
    payer: Payer,
    *,
    features: Sequence[str],
    public: Mapping[str, Any],
    expected: Balance | None = None,
    resumed: Payment | None = None,
) -> Spectrum:
    """Pay for the eigenvalues of all hospitals' clipped rows, draw noise, and return them.

    features, public, expected, resumed: as for `private_release.make`.

    Raises OverLimitError, before anything is read, if the limit would be passed. Raises ValueError for the
    noise that a paper prints, which may not keep its promise, for neighbours that are not the account's, for
    rows longer than 1, for noise that integers cannot hold, and where `resumed` paid for something else.
    """
    sizes, d, budget = [*map(stages.patients, rows)], stages.matrix_of(rows[0]).shape[1], request.budget
    n, averaged = sum(sizes), isinstance(rows[0], PatientRows)
    stages.check(rows, d, averaged)
    asked = as_asked(request, sizes, features, public, averaged)
    about = {
        "method": "eigenvalues",
        **size_details(n, request.rows_per_patient, averaged),
        "budget": asdict(budget),
    }
    # The std of the noise in each eigenvalue of S, whose integers are in units of `step`.
    step, std = rounding_step(n, d), gaussian.noise_multiplier(budget) * sensitivity(budget, n, d)
    discrete_gaussian.check_std(std / step, budget)
    payment = resumed or payer.pay(TITLE, request.events, about, expected, budget.neighbours, asked)
    drawn = payer.drawn(payment.id)
    if drawn is None or drawn.asked != asked:
        raise ValueError("what was paid for is something else, or of another table or dictionary")
    if (finished := drawn.document) is not None:
        return Spectrum.from_document(finished, payment)

    def draw() -> Array:
        """Return the noisy eigenvalues of S/n, not yet sorted, (d,). Reads private rows."""
        (summed,) = stages.whole_moments(stages.Source(rows, 1, budget, drawn), d)
        whole = whole_eigenvalues(summed)
        return discrete_gaussian.add_noise(whole, std / step) * step / n

    eigenvalues = np.maximum(np.sort(drawn.once("eigenvalues", draw))[::-1], 0.0)
    document = asked | {
        "what": TITLE,
        "at": payment.at,
        "events": to_plain(request.events),
        "eigenvalues": eigenvalues.tolist(),
        "std": std / n,
    }
    return Spectrum.from_document(drawn.finish(document), payment)


def as_asked(
    request: SpectrumRequest,
    sizes: Sequence[int],
    features: Sequence[str],
    public: Mapping[str, Any],
    averaged: bool,
) -> dict[str, Any]:
    """Return what eigenvalues are of, as plain JSON; a payment is resumed only for exactly the same.

    sizes: number of patients of each hospital. averaged: whether a patient's rows count as one. It goes
    through JSON and back, since it is compared with what was read from a file.
    """
    asked = {"spectrum": asdict(request), "hospitals": sizes, "features": features, "public": public}
    plain: dict[str, Any] = json.loads(json.dumps(asked | {"averaged": averaged}))
    return plain
