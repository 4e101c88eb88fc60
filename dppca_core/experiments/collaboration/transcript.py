"""A simulated run between hospitals and server, message by message, beside what the messages hide.

The run is the protocol's own (`federated.protocol`), in one process. What a message would have been without
noise comes from the same step with a silent generator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration import setting
from dppca_core.experiments.collaboration.protocols import WAYS, Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.federated import coordinator, in_process, one_round, protocol
from dppca_core.federated.exchange import ALL
from dppca_core.federated.message import Arrays
from dppca_core.federated.plan import Plan
from dppca_core.federated.power_rounds import PowerRounds
from dppca_core.federated.protocol import Noise
from dppca_core.federated.record import Record
from dppca_core.methods import dps_pca
from dppca_core.numerics import subspace_metrics

CARRIED = tuple(key for key, way in WAYS.items() if way.method in protocol.EXCHANGES)
_MESSAGE_BYTES = 2**28  # of all messages of a run, and as many without noise
_MOST_SECONDS = 20.0
MOST_BYTES = 2 * _MESSAGE_BYTES + 2**24  # of one run
_LITTLE = 2**16  # of what does not grow with the features
_MATRICES = 6  # a population, its root, a draw, and a sum of them


def plan_of(of: CollaborationSetting, way: Protocol) -> Plan:
    """What these hospitals would agree on."""
    own = way.options(s_hat=of.s_hat, iterations=of.iterations, burn_in=of.burn_in, rank=of.rank, d=of.d)
    return Plan("simulated", way.method, of.sizes, of.d, of.k, of.budget, tuple(sorted(own.items())))


def refused(of: CollaborationSetting, way: Protocol) -> str | None:
    """Why a run is not simulated message by message here, or None."""
    if not of.divides:
        size = 8e-9 * len(of.sizes) * of.d**2
        return f"{len(of.sizes)} hospitals' own moments take {size:.1f} GB at {of.d:,} features"
    kept = of.traffic(way).up * of.traffic(way).rounds * len(of.sizes)
    if kept > _MESSAGE_BYTES:
        return f"the messages of all {len(of.sizes)} hospitals take {kept / 1e9:.1f} GB"
    seconds = of.seconds_dealt(way)
    if seconds > _MOST_SECONDS:
        return f"it would take about {seconds:.0f} s"
    return None


def kept_bytes(of: CollaborationSetting, way: Protocol) -> int:
    """Return the bytes of a run that is kept: all messages with and without noise, and what came of them."""
    sent = of.traffic(way)
    each_round = len(of.sizes) * 2 * sent.up + 8 * of.d * (2 * of.k + of.rank)
    return sent.rounds * each_round + _LITTLE


def passing_bytes(of: CollaborationSetting) -> int:
    """Return the bytes that simulating takes beside: the hospitals' own moments, and matrices on the way."""
    return 8 * (len(of.sizes) + _MATRICES) * of.d**2


@dataclass(frozen=True, eq=False)
class Transcript:
    """A run's record, the messages without their noise by round and hospital, and the errors on the way.

    Of a secure aggregation `record` holds the sum alone, under `ALL`, while `hidden` holds each hospital's
    part as well. errors: sin Theta of the start, if there is one, and after each round.
    """

    record: Record
    hidden: tuple[Mapping[int, Arrays], ...]
    errors: Array

    @property
    def plan(self) -> Plan:
        """What was agreed on."""
        return self.record.plan


def simulate(of: CollaborationSetting, key: str, repeat: int = 0) -> Transcript:
    """One run of one way, with the patients of this repeat. Raises ValueError for one without messages."""
    if key not in CARRIED:
        raise ValueError(f"way must be one of {', '.join(CARRIED)}, got {key!r}")
    plan, cohort = plan_of(of, WAYS[key]), of.cohort(repeat)
    base = (of.seed, repeat, *key.encode())
    noise = [Noise(seed=(*base, 1 + i), shared=(*base, 0)) for i in range(plan.hospitals)]
    start = coordinator.public_start(plan, np.random.default_rng([*base, 0, 0]))
    record, _ = in_process.simulate(plan, cohort, noise, start)
    if record.ended:
        raise ValueError(record.ended)
    exchange, silent = protocol.exchange_of(plan), Noise(silent=True).for_round(0)
    hidden = []
    for done in record.rounds:
        asked = done.question.arrays
        parts = {i: exchange.answer(i, one, asked, silent) for i, one in enumerate(cohort)}
        if exchange.summed:
            parts[ALL] = {name: np.sum([part[name] for part in parts.values()], axis=0) for name in parts[0]}
        hidden.append(parts)
    truth = setting.truth(of.population, of.n, of.k, of.scaling).basis
    return Transcript(record, tuple(hidden), errors(record, truth))


def errors(record: Record, truth: Array) -> Array:
    """sin Theta of the start, if there is one, and of the basis after each round that has one."""
    starts = [] if record.start is None else [record.start]
    bases = [*starts, *(done.basis for done in record.rounds if done.basis is not None)]
    return np.array([subspace_metrics.sin_theta(basis, truth) for basis in bases])


def moves(record: Record) -> Array:
    """How far each round moved the basis from the one before, sin Theta; NaN where there was none before."""
    before, found = record.start, []
    for done in record.rounds:
        if done.basis is not None:
            found.append(np.nan if before is None else subspace_metrics.sin_theta(done.basis, before))
            before = done.basis
    return np.array(found)


def matrix(arrays: Arrays, plan: Plan, hospital: int) -> Array:
    """What a message says, as one matrix: H (d, k) as a mean, or a symmetric (d, d).

    Compressed directions P count as P P^T, which does not depend on their signs.
    """
    if "weighted product" in arrays:
        whole = sum(plan.sizes) if hospital == ALL else plan.sizes[hospital]
        mean: Array = arrays["weighted product"] / whole
        return mean
    if "product" in arrays:
        return arrays["product"]
    for name in ("directions", "basis"):
        if name in arrays:
            product: Array = arrays[name] @ arrays[name].T
            return product
    return one_round.unpacked(arrays["moment" if "moment" in arrays else "projector"], plan.d)


def noise_std(plan: Plan, hospital: int) -> float | None:
    """std of each entry of the noise in `matrix` of a DPS-PCA message; None for another method's."""
    exchange = protocol.exchange_of(plan)
    if not isinstance(exchange, PowerRounds):
        return None
    if hospital == ALL:
        return dps_pca.sum_noise_std(plan.budget, k=plan.k, iterations=exchange.rounds) / sum(plan.sizes)
    return exchange.noise_std(hospital)


@dataclass(frozen=True, eq=False)
class Difference:
    """n_i H_i - n_j H_j as two who compare their messages have it, beside n_i S_i Q - n_j S_j Q.

    relative: |observed - exact| / |exact|. std: of the entries of observed - exact; expected: sigma sqrt 2
    where each has its own noise, 0 where the noise is shared.
    """

    observed: Array
    exact: Array
    relative: float
    std: float
    expected: float


def difference(seen: Transcript, number: int, one: int, other: int) -> Difference:
    """What the messages of two hospitals in a round of DPS-PCA give together.

    Raises ValueError for one hospital twice, or a run of which nobody sees single messages.
    """
    plan, exchange = seen.plan, protocol.exchange_of(seen.plan)
    if one == other:
        raise ValueError(f"other must be another hospital than {one}")
    if not isinstance(exchange, PowerRounds) or exchange.summed:
        raise ValueError("seen must be a run of DPS-PCA of which single messages arrive")
    answers, hidden = seen.record.rounds[number - 1].answers, seen.hidden[number - 1]

    def between(first: Array, second: Array) -> Array:
        return plan.sizes[one] * first - plan.sizes[other] * second

    observed = between(answers[one].message.arrays["product"], answers[other].message.arrays["product"])
    exact = between(hidden[one]["product"], hidden[other]["product"])
    rest = observed - exact
    sigma = exchange.noise_std(one) * plan.sizes[one]
    shared = exchange.provider_noise == "shared"
    return Difference(
        observed,
        exact,
        float(np.linalg.norm(rest) / np.linalg.norm(exact)),
        float(rest.std()),
        0.0 if shared else sigma * 2**0.5,
    )
