"""A noisy projector on the top k directions of one table, on integers: private on a good event only.

The method and its event are those of `methods.federated_projector` and `methods.spiked_projector`: noise on
the projector P suits rows that behave like a spiked model, up to a constant C. **Of other rows the promise
does not hold**, and nobody can check that without spending privacy. So it is for invented rows and for who
knows the model; every text that is made here says so.

Hardened as `spectrum` is. The sum S of x x^T is exact in integers.

1. Spectrum: the largest, the k-th, and the sum of the last d - k eigenvalues of S, rounded to multiples of g
   (`spectrum.rounding_step`), of which an eigensolver errs by half at most. The third is the exact trace less
   k eigenvalues. So neighbours' integers are apart by at most Delta + 2 (k + 2) g, Delta that of the exact
   numbers.
2. Projector: each entry of P is rounded to a multiple of h = 2^-30, so by h/2 at most. Neighbours' rounded
   matrices are apart by at most D + d h in Frobenius norm, D from the released spectrum. What the eigensolver
   errs in P, d 2^-50 lambda_1/(lambda_k - lambda_k+1) at most, belongs to the event.

OpenDP adds discrete Gaussian noise to these integers, on the diagonal of std s, above it of s/sqrt 2.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.accounting.events_json import to_plain
from dppca_core.accounts.account import Balance, Payment, size_details
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array, Part
from dppca_core.mechanisms import spiked_covariance
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg
from dppca_core.privacy import Budget, Event
from dppca_core.release import discrete_gaussian, how_chosen, spectrum, stages
from dppca_core.release.request import ReleaseRequest

METHOD = "federated_projector"
ON_A_GOOD_EVENT = (
    "Only on a good event: the promise holds for rows that behave like a spiked model, and for other rows it "
    "does not. Do not use it for real patients."
)
_FINEST = 2.0**-30  # h


@dataclass(frozen=True)
class ProjectorRequest(ReleaseRequest):
    """Hold a request for a noisy projector on k of d directions. averaged: as for `Request`."""

    d: int
    k: int
    budget: Budget
    averaged: bool = False
    rows_per_patient: int = 1

    def __post_init__(self) -> None:
        checks.whole(2, discrete_gaussian.MOST_FEATURES, d=self.d)
        checks.whole(1, self.d - 1, k=self.k)
        checks.one_of(discrete_gaussian.ACCOUNTINGS, accounting=self.budget.accounting)

    @property
    def events(self) -> tuple[Event, ...]:
        return spiked_covariance.spends(self.budget, covariance=False)


class NoisyProjector(NamedTuple):
    """Hold what is released: P and its noise, (d, d); the noise's std off the diagonal; and l and v."""

    matrix: Array
    std: float
    spike: float
    variance: float


def as_asked(
    request: ProjectorRequest, sizes: Sequence[int], features: Sequence[str], public: dict[str, Any]
) -> dict[str, Any]:
    """Return what a projector is of, as plain JSON; a payment is resumed only for exactly the same."""
    asked = {"projector": asdict(request), "hospitals": sizes, "features": features, "public": public}
    plain: dict[str, Any] = json.loads(json.dumps(asked))
    return plain


def make(
    request: ProjectorRequest,
    part: Part,
    payer: Payer,
    *,
    features: Sequence[str],
    public: dict[str, Any],
    expected: Balance | None = None,
    resumed: Payment | None = None,
    chosen: str = "",
) -> tuple[Payment, NoisyProjector]:
    """Pay for the spectrum and the projector of one table's clipped rows, draw noise, and return them.

    The arguments and errors are those of `private_release.make`.
    """
    n, d, k, budget = stages.patients(part), request.d, request.k, request.budget
    stages.check([part], d, request.averaged)
    asked = as_asked(request, [n], features, public)
    z = spiked_covariance.multipliers(budget, known=False, covariance=False)
    step = spectrum.rounding_step(n, d)
    exact = spiked_covariance.spectrum_sensitivity(budget, entries=3)
    spectrum_std = (exact + 2 * (k + 2) * step) * z["spectrum"]  # of sums, not of means
    discrete_gaussian.check_std(spectrum_std / step, budget)
    about = {
        "method": METHOD,
        **size_details(n, request.rows_per_patient, request.averaged),
        "budget": asdict(budget),
        "guarantee": METHODS[METHOD].guarantee,
    } | ({how_chosen.KEY: chosen} if chosen else {})
    payment = resumed or payer.pay(
        METHODS[METHOD].title, request.events, about, expected, budget.neighbours, asked
    )
    drawn = payer.drawn(payment.id)
    if drawn is None or drawn.asked != asked:
        raise ValueError("what was paid for is something else, or of another table or dictionary")

    def moment() -> Array:
        (summed,) = stages.whole_moments(stages.Source([part], 1, budget, drawn), d)
        return summed.total / 4.0**summed.bits

    def draw_spectrum() -> Array:
        total = moment()
        values, _ = linalg.top_eigenpairs(total, k)
        numbers = np.array([values[0], values[-1], total.trace() - values.sum()])
        return discrete_gaussian.add_noise(np.round(numbers / step), spectrum_std / step) * step / n

    first, last, rest = drawn.once("spectrum", draw_spectrum)
    last = first if k == 1 else last  # lambda_k is lambda_1 then
    flat = float(rest) / (d - k)
    spike, raised = spiked_covariance.move_cautiously(float(last), flat, spectrum_std / n, d, k)
    constant = spiked_covariance.default_constant(d, n)
    moved = spiked_covariance.projector_sensitivity(d, n, k, spike, raised, constant)
    std = (moved + d * _FINEST) * z["projector"]  # on the diagonal

    def draw_projector() -> Array:
        vectors = linalg.top_eigenspace(moment(), k)
        rows, columns = np.triu_indices(d)
        whole = np.round((vectors @ vectors.T)[rows, columns] / _FINEST)
        units = discrete_gaussian.check_std(std / _FINEST / math.sqrt(2), budget)
        noisy, diagonal = np.empty(len(whole)), rows == columns
        for chosen_entries, entry_std in ((diagonal, units * math.sqrt(2)), (~diagonal, units)):
            noisy[chosen_entries] = discrete_gaussian.add_noise(whole[chosen_entries], entry_std)
        matrix = np.zeros((d, d))
        matrix[rows, columns] = matrix[columns, rows] = noisy * _FINEST
        return matrix

    matrix = drawn.once("projector", draw_projector)
    released = NoisyProjector(matrix, std / math.sqrt(2), spike, flat)
    drawn.finish(
        asked
        | {
            "what": METHODS[METHOD].title,
            "at": payment.at,
            "events": to_plain(request.events),
            "guarantee": ON_A_GOOD_EVENT,
            "worth": [released.std, spike, flat],
        }
    )
    return payment, released
