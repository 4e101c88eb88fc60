"""Put the answers of a joint study together: anybody can, and everybody who has the same files gets the same.

No file needs to be trusted for privacy, since each carries its own noise, and whatever is done here is free.
What each hospital's numbers are brought to, and why the pool is unbiased, stands in `pooling`. Answers of
DPdisPCA and of averaged projectors are combined by the functions that the network run calls
(`federated.one_round`). Files are taken in the plan's order, so that the order in which they come does not
matter, and numbers are given out to nine digits, which no two machines round differently but by rare chance.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dppca_core.arrays import Array
from dppca_core.federated import one_round
from dppca_core.joint import answer as answers
from dppca_core.joint import forecast, pooling
from dppca_core.joint.answer import JointAnswer
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.joint.pooling import HospitalMoment, PooledMoment
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import dpdis_pca, federated_projector
from dppca_core.numerics import linalg, subspace_metrics
from dppca_core.records import Estimate
from dppca_core.release import loading_noise, projector

DIGITS = 9


@dataclass(frozen=True, eq=False)
class JointResult:
    """Hold what a joint study gives.

    Attributes:
        plan: The study's.
        there: The hospitals that answered, in the plan's order.
        patients: How many each of them has.
        shares: The weight of each, which add up to 1.
        components: (d, k), strongest first.
        loading_std: The std of what noise alone adds to each loading, (d, k), 1 where it cannot be told.
        eigenvalues: Along the components, (k,), of the pooled moment; None for projectors.
        eigenvalue_error: How far noise moves any of them in 95 of 100 draws; None for projectors.
        mean: At which rows are centred, (d,), in units of the encoded rows; None for public middles.
        divisors: By which columns about the mean are divided, (d,); None unless rows are standardised.
        turned: By how much the result turns without each hospital, sin Theta, (N,); None for one hospital.
        usable: Share of each hospital's patients that have all cells, as released; none where all have.
    """

    plan: JointPlan
    there: tuple[PlannedHospital, ...]
    patients: tuple[int, ...]
    shares: Array
    components: Array
    loading_std: Array = field(repr=False)
    eigenvalues: Array | None = None
    eigenvalue_error: float | None = None
    mean: Array | None = field(repr=False, default=None)
    divisors: Array | None = field(repr=False, default=None)
    turned: Array | None = None
    usable: tuple[float, ...] = ()

    @property
    def missing(self) -> tuple[PlannedHospital, ...]:
        """Return the hospitals of the plan that sent no answer."""
        return tuple(hospital for hospital in self.plan.hospitals if hospital not in self.there)

    @property
    def is_noise(self) -> Array:
        """Return which components are axes of noise, (k,): none of their loadings can be told from 0."""
        return np.asarray(self.loading_std.min(axis=0) >= 1)


def read(plan: JointPlan, files: Mapping[str, bytes]) -> list[JointAnswer]:
    """Return the answers that files hold, by file name, in the plan's order.

    Raises ValueError, one sentence that names the file, for one that is damaged, answers another plan or
    cannot be of a hospital of the plan, and where a hospital, or its numbers, are there twice.
    """
    read_answers: dict[str, tuple[str, JointAnswer]] = {}
    numbers: dict[bytes, str] = {}
    for name in sorted(files):
        answer = answers.from_json(plan, files[name], name)
        # No two draws of noise agree.
        same = numbers.setdefault(b"".join(array.tobytes() for array in answer.arrays.values()), name)
        if same != name and answer.hospital.name not in read_answers:
            raise ValueError(f"{same} and {name} hold the same numbers: one hospital answered for two")
        if answer.hospital.name in read_answers:
            first, _ = read_answers[answer.hospital.name]
            raise ValueError(f"{first} and {name} are both of {answer.hospital.name}: leave one out")
        read_answers[answer.hospital.name] = name, answer
    return _in_order(plan, [answer for _, answer in read_answers.values()])


def combine(plan: JointPlan, received: Sequence[JointAnswer]) -> JointResult:
    """Return what the answers give together. No row is read, and it costs nothing.

    Raises ValueError for no answer, or two of one hospital.
    """
    ordered = _in_order(plan, received)
    if not ordered:
        raise ValueError("no hospital has answered yet")
    if len({answer.hospital.name for answer in ordered}) < len(ordered):
        raise ValueError("a hospital is there twice")
    result = _combined(plan, ordered)
    return result if len(ordered) < 2 else replace(result, turned=_rounded(turned_without(plan, ordered)))


def turned_without(plan: JointPlan, received: Sequence[JointAnswer]) -> Array:
    """Return by how much the components turn without each of these answers, sin Theta, (N,)."""
    ordered = _in_order(plan, received)
    basis = basis_of(plan, ordered)
    others = (basis_of(plan, [*ordered[:i], *ordered[i + 1 :]]) for i in range(len(ordered)))
    return np.array([subspace_metrics.sin_theta(basis, other) for other in others])


def _in_order(plan: JointPlan, received: Sequence[JointAnswer]) -> list[JointAnswer]:
    places = {hospital.name: place for place, hospital in enumerate(plan.hospitals)}
    return sorted(received, key=lambda answer: places[answer.hospital.name])


def _weights(plan: JointPlan, received: Sequence[JointAnswer]) -> Array:
    return forecast.weights(
        plan, [answer.hospital for answer in received], [answer.patients for answer in received]
    )


def basis_of(plan: JointPlan, received: Sequence[JointAnswer]) -> Array:
    """Return the components of these answers alone, (d, k), without what noise adds to them."""
    if plan.method == projector.METHOD:
        return _projected(plan, received)[0]
    return _directions(plan, _pool(plan, received, _weights(plan, received)).moment)


def _combined(plan: JointPlan, received: Sequence[JointAnswer]) -> JointResult:
    there = tuple(answer.hospital for answer in received)
    patients = tuple(answer.patients for answer in received)
    shares = _weights(plan, received)
    if plan.method == projector.METHOD:
        basis, moment, std, shares = _projected(plan, received)
        noise = loading_noise.where_it_holds(loading_noise.of_moment(moment, plan.k, std))
        return JointResult(plan, there, patients, _rounded(shares), _rounded(basis), _rounded(noise))
    pool = _pool(plan, received, shares)
    basis = _directions(plan, pool.moment)
    values, rotation = linalg.top_eigenpairs(basis.T @ pool.moment @ basis, plan.k)
    noise, error = pool.loading_stds(plan.k), pool.eigenvalue_error()
    noise[~np.any(basis, axis=1)] = 0.0  # what was cut is released as 0, without noise
    noise = loading_noise.where_it_holds(noise, values, error)
    standardised = plan.rows == "standardised"
    return JointResult(
        plan,
        there,
        patients,
        _rounded(shares),
        _rounded(linalg.oriented(basis @ rotation)),
        _rounded(noise),
        eigenvalues=_rounded(values),
        eigenvalue_error=float(_rounded(np.array(error))),
        mean=_rounded(pool.mean + plan.layout.middle) if plan.fitted else None,
        divisors=_rounded(pool.divisors) if standardised else None,
        usable=_usable(plan, received),
    )


def _directions(plan: JointPlan, moment: Array) -> Array:
    sparse = plan.s_hat if plan.method == "own_noise_sparse" and plan.s_hat != plan.d else None
    return Estimate.from_moment(moment, plan.k, s_hat=sparse).basis


def _pool(plan: JointPlan, received: Sequence[JointAnswer], shares: Array) -> PooledMoment:
    if plan.fitted:
        moments = [fitted_moment(plan, answer) for answer in received]
        standardised = plan.rows == "standardised"
        return pooling.pooled(moments, shares, layout=plan.layout, standardised=standardised)
    return pooling.pooled([_public_moment(plan, a) for a in received], shares, layout=None)


def _usable(plan: JointPlan, received: Sequence[JointAnswer]) -> tuple[float, ...]:
    if not plan.fitted or plan.layout.complete:
        return ()
    frames = (plan.rule(each.hospital, each.patients).released_frame(each.arrays) for each in received)
    return tuple(float(_rounded(np.array(frame.usable))) for frame in frames)


def fitted_moment(plan: JointPlan, answer: JointAnswer) -> HospitalMoment:
    """Return what a hospital's sums say, with its scales and its bound multiplied back."""
    rule, arrays = plan.rule(answer.hospital, answer.patients), answer.arrays
    frame = rule.released_frame(arrays)
    bound = rule.bound(arrays["tails"], frame)
    scales, squares = frame.divisors, np.square(frame.divisors)
    moment = one_round.symmetric_from_triangle(arrays["moment"], plan.d) * bound**2 / frame.usable
    mean_bound = rule.mean_bound(arrays.get("squares", np.zeros(0)))
    return HospitalMoment(
        moment=moment * np.outer(scales, scales),
        mean=frame.mean,
        mean_std=rule.mean_std("mean", mean_bound) / frame.usable,
        noise_std=rule.mean_std("moment", bound) / math.sqrt(2) / frame.usable,
        scales=scales,
        variances=frame.variances * squares,
        stds=frame.stds * squares,
    )


def _public_moment(plan: JointPlan, answer: JointAnswer) -> HospitalMoment:
    """Return a moment about the public middles, of rows of length 1 at most; its mean is not released."""
    sent = one_round.sent_moment(answer.arrays, plan.d)
    moment = sent if "moment" in answer.arrays else dpdis_pca.mean_moment([sent], np.ones(1))
    none, budget = np.zeros(plan.d), plan.budget(answer.hospital)
    std = symmetric_gaussian.sum_noise_std(budget) / answer.patients / math.sqrt(2)
    return HospitalMoment(moment, none, 0.0, std, np.ones(plan.d), none, none)


def _projected(plan: JointPlan, received: Sequence[JointAnswer]) -> tuple[Array, Array, float, Array]:
    """Return the components, the mean projector, the std of its noise off the diagonal, and the weights."""
    sent = [one_round.sent_projector(answer.arrays, plan.d) for answer in received]
    sizes = [answer.patients for answer in received]
    basis, std = federated_projector.combine(sent, sizes, plan.k)
    precisions = [
        federated_projector.precision(each.std, each.spike, each.variance, n)
        for each, n in zip(sent, sizes, strict=True)
    ]
    weights = np.array(precisions) if any(precisions) else np.ones(len(sent))
    shares = weights / weights.sum()
    mean = np.tensordot(shares, np.stack([each.matrix for each in sent]), axes=1)
    return basis, mean, std, shares


def _rounded(numbers: Array) -> Array:
    """Return numbers to nine significant digits of the largest, so that machines give the same ones."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if not largest > 0:
        return numbers + 0.0
    places = DIGITS - 1 - math.floor(math.log10(largest))
    return np.round(numbers, places) + 0.0  # no -0.0
