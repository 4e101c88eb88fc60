"""One hospital's answer to a plan: the noisy sums that it released, in one file.

{"format": "dppca joint answer 1", "plan": DIGEST, "words": "abandon ability ...", "hospital": "North",
 "patients": 900, "promise": "(ε, δ)", "epsilon": 1.0, "delta": 1e-06, "neighbours": "replace-one",
 "arrays": {NAME: {"dtype": "float64", "shape": [3], "data": BASE64}}, "digest": SHA-256 of all the rest}

What the arrays are follows from the plan (`shapes`). A symmetric matrix is sent as its upper triangle. They
carry their noise, so a file holds nothing that its hospital has not released, and can be read by anybody. The
digest tells a damaged file from a whole one. It has no key: whether a file is of the hospital whose name it
bears is for people to check, as with any letter.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Indices
from dppca_core.federated import fitted_rounds, message, protocol
from dppca_core.federated.exchange import SPREAD, Exchange, check_sent
from dppca_core.federated.message import Message, Shapes
from dppca_core.federated.plan import Plan
from dppca_core.joint import strict_json
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import METHODS

FORMAT = "dppca joint answer 1"
_LOUDER = 1.5  # times the mean square length that squares and mean give
MOST_TIMES = 2  # as many patients as stated, or half as many, at most and at least
_KEYS = (
    "format",
    "plan",
    "words",
    "hospital",
    "patients",
    "promise",
    "epsilon",
    "delta",
    "neighbours",
    "arrays",
    "digest",
)


@dataclass(frozen=True, eq=False)
class JointAnswer:
    """Hold what one hospital sent. patients: how many its table has. arrays: by name, as `shapes` says."""

    hospital: PlannedHospital
    patients: int
    arrays: Mapping[str, Array] = field(repr=False)

    def to_json(self, plan: JointPlan) -> bytes:
        """Return the file, the same bytes for the same numbers."""
        plain: dict[str, Any] = {
            "format": FORMAT,
            "plan": plan.digest,
            "words": " ".join(plan.words),
            "hospital": self.hospital.name,
            "patients": self.patients,
            "promise": METHODS[plan.method].guarantee,
            "epsilon": self.hospital.epsilon,
            "delta": self.hospital.delta,
            "neighbours": plan.neighbours,
            "arrays": {name: message.array_to_json(array) for name, array in self.arrays.items()},
        }
        return strict_json.indented(plain | {"digest": strict_json.digest(plain)})


def from_json(plan: JointPlan, data: bytes, what: str = "the answer") -> JointAnswer:
    """Return the answer to this plan that a file holds.

    Raises ValueError, one sentence on `what`, for a file that is none, was damaged or changed, answers
    another plan, or holds what no hospital of the plan can have released.
    """
    json_value = strict_json.parse(data, what)
    if json_value.get("format") != FORMAT:
        raise ValueError(f"{what} is no answer to a joint plan")
    given = dict(strict_json.check_keys(what, json_value, _KEYS))
    stated = given.pop("digest")
    if strict_json.digest(given) != stated:
        raise ValueError(f"{what} was damaged or changed on the way: ask for it again")
    if given["plan"] != plan.digest:
        words = " ".join(str(given["words"]).split()[:2])[:40]
        raise ValueError(f"{what} answers another plan, whose words begin with {words!r}")
    try:
        hospital = plan.hospital(str(given["hospital"]))
        return _checked(plan, hospital, given)
    except ValueError as reason:
        raise ValueError(f"{what} cannot be used: {strict_json.one_sentence(reason)}") from None


def _checked(plan: JointPlan, hospital: PlannedHospital, given: Mapping[str, Any]) -> JointAnswer:
    expected = {
        "words": " ".join(plan.words),
        "hospital": hospital.name,
        "promise": METHODS[plan.method].guarantee,
        "epsilon": hospital.epsilon,
        "delta": hospital.delta,
        "neighbours": plan.neighbours,
    }
    for name, value in expected.items():
        if given[name] != value:
            raise ValueError(f"{name} is not as the plan says")
    patients = check_patients(hospital, given["patients"])
    arrays = message.arrays_from_json(given["arrays"])
    check_arrays(plan, hospital, patients, arrays)
    return JointAnswer(hospital, patients, arrays)


def check_patients(hospital: PlannedHospital, patients: object) -> int:
    """Return a hospital's number of patients. Raises ValueError for one far from what the plan states."""
    checks.whole(2, patients=patients)
    assert isinstance(patients, int)
    if not hospital.patients <= MOST_TIMES * patients <= MOST_TIMES**2 * hospital.patients:
        raise ValueError(
            f"{hospital.name} has {patients:,} patients where the plan states {hospital.patients:,}: agree "
            "on another plan"
        )
    return patients


def shapes(plan: JointPlan) -> Shapes:
    """Return the arrays of an answer by name, with their shapes, in the order in which they are drawn."""
    if not plan.fitted:
        return _exchange(plan, plan.hospitals[0], plan.hospitals[0].patients).reply_to(1)
    numbers = fitted_rounds.numbers_of(plan.layout)
    return {step: (numbers[step],) for step in plan.rule(plan.hospitals[0], plan.hospitals[0].patients).steps}


def check_arrays(plan: JointPlan, hospital: PlannedHospital, n: int, arrays: Mapping[str, Array]) -> None:
    """Raise ValueError for arrays that no n patients and no noise of this plan can give.

    These are the checks of the network run's answers (`dppca_core.federated`): names, shapes, finite numbers,
    and the greatest lengths that honest sums have.
    """
    message.check(Message(plan.digest, 1, arrays), plan.digest, 1, shapes(plan))
    if not plan.fitted:
        _exchange(plan, hospital, n).check_reply(1, 0, arrays)
        _check_public_trace(plan, hospital, n, arrays)
        return
    rule = plan.rule(hospital, n)
    for step in rule.steps:
        check_sent(step, arrays[step], fitted_rounds.most_length(rule, step, n))
    _check_fitted_values(plan, hospital, n, arrays)


def _check_public_trace(
    plan: JointPlan, hospital: PlannedHospital, n: int, arrays: Mapping[str, Array]
) -> None:
    """Raise ValueError for a moment of rows no longer than 1 whose trace is beyond 1 and its noise.

    DPdisPCA's directions P have the trace of P P^T, the sum of R eigenvalues at most, in which noise of std s
    adds no more than R times its norm, s (2 sqrt d + 50) (`exchange.SPREAD`).
    """
    std = symmetric_gaussian.sum_noise_std(plan.budget(hospital)) / n
    if "moment" in arrays:
        trace, most = float(arrays["moment"][_diagonal(plan.d)].sum()), SPREAD * std * math.sqrt(plan.d)
    elif "directions" in arrays:
        rank = arrays["directions"].shape[1]
        trace, most = (
            float(np.square(arrays["directions"]).sum()),
            rank * std * (2 * math.sqrt(plan.d) + SPREAD),
        )
    else:
        return
    if not -most <= trace <= 1 + most:
        raise ValueError("sent a moment that no patients can give")


def _diagonal(d: int) -> Indices:
    """Return where the entries of the diagonal are in the upper triangle, row by row, (d,)."""
    return np.cumsum([0, *range(d, 1, -1)])


def _check_fitted_values(
    plan: JointPlan, hospital: PlannedHospital, n: int, arrays: Mapping[str, Array]
) -> None:
    """Raise ValueError for entries beyond what single numbers can be: squares and tails lie in [0, 1].

    A moment of rows no longer than 1 has a trace between 0 and 1, to which d noises add.
    """
    rule, d = plan.rule(hospital, n), plan.d
    for step in {"squares", "tails"} & set(rule.steps):
        std = rule.sum_std(step) / n
        if not (np.abs(arrays[step] - 0.5) <= 0.5 + SPREAD * std).all():
            raise ValueError(f"sent {step} that no patients can give")
    trace, std = float(arrays["moment"][_diagonal(d)].sum()), rule.sum_std("moment", 1.0) / n * math.sqrt(d)
    if not -SPREAD * std <= trace <= 1 + SPREAD * std:
        raise ValueError("sent a moment that no patients can give")
    # Shortened rows are no longer than rows are by their squares and mean, but for what shortening moves the
    # mean, and the noise in these: so nobody can be louder than patients at the ends of their ranges.
    frame = rule.released_frame(arrays)
    bound = rule.bound(arrays["tails"], frame)
    slack = SPREAD * (std * bound**2 / frame.usable + float(np.linalg.norm(frame.stds)))
    if not trace * bound**2 / frame.usable <= _LOUDER * frame.mean_square + slack:
        raise ValueError("sent a moment that is too large for its squares and mean")


@lru_cache(maxsize=256)
def _exchange(plan: JointPlan, hospital: PlannedHospital, n: int) -> Exchange:
    """Return the exchange of the network run that has this answer: of one hospital, at its own budget."""
    options: dict[str, Any] = {}
    if plan.method == "own_noise_sparse":
        options["rank"] = plan.d  # a moment that is not compressed
    elif plan.method == "dpdis_pca":
        options["rank"] = plan.rank or min(2 * plan.k, plan.d)
    method = "dpdis_pca" if options else plan.method
    agreed = Plan("by-mail", method, (n,), plan.d, plan.k, plan.budget(hospital), tuple(options.items()))
    return protocol.exchange_of(replace(agreed, names=(hospital.name,)))
