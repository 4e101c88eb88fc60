"""The transcript of a simulated run between hospitals and server: every message, with and without its noise.

The run is that of the federated protocol (`federated.protocol`), in one process. In each round, numbered from
1 on, the server asks all hospitals one question and each sends one answer; an exchange defines both for a
method. A message without noise comes from the same step with a generator that returns zeros. With secure
aggregation the server receives the sum of all answers and no single one; its key is `ALL` in place of a
hospital's index.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.federated import coordinator, in_process, one_round, protocol
from dppca_core.federated.exchange import ALL
from dppca_core.federated.message import Arrays
from dppca_core.federated.plan import Plan
from dppca_core.federated.power_rounds import PowerRounds
from dppca_core.federated.prior_round import PriorRound
from dppca_core.federated.record import Record
from dppca_core.federated.two_stages import TwoStages
from dppca_core.methods import METHODS, dps_pca
from dppca_core.numerics import subspace_metrics
from dppca_core.numerics.moments import DelegatesToHeldRows
from dppca_core.populations.gaussian_patients import PatientsGiven, rows_drawn

MESSAGE_PROTOCOLS = tuple(key for key, chosen in PROTOCOLS.items() if chosen.method in protocol.EXCHANGES)
_MESSAGE_BYTES = 2**28  # of all messages of a run, and as many without noise
_MOST_SECONDS = 20.0
_HELD_BYTES = 2**28  # of patients' rows that are kept for all rounds; more are drawn anew in each
_PRODUCT_SECONDS = 6e-10  # of a product of rows and a block: of each row, feature and component
_ROW_SECONDS, _HEAVY_ROW_SECONDS = 5e-11, 2e-10  # of a row that is drawn given a moment, times d^2
MOST_BYTES = 2 * _MESSAGE_BYTES + 2**24  # of one run
_FIXED_BYTES = 2**16  # of a transcript, for what does not grow with the features
_PASSING_MATRICES = 6  # a population, its root, a draw, and a sum of them


def why_refused(setting: CollaborationExperiment, chosen: Protocol) -> str | None:
    """Return why a run of a protocol cannot be simulated message by message in this setting, or None."""
    if setting.too_large:
        return setting.too_large
    traffic = setting.traffic(chosen)
    size = sum(traffic.bytes_sent) * len(setting.sizes)
    if size > _MESSAGE_BYTES:
        return f"the messages of all {len(setting.sizes)} hospitals take {size / 1e9:.1f} GB"
    if (takes := seconds(setting, chosen)) > _MOST_SECONDS:
        return f"it would take about {takes:.0f} s"
    return None


def seconds(setting: CollaborationExperiment, chosen: Protocol) -> float:
    """Estimate the seconds of a simulation: all questions are asked twice, the second time without noise."""
    rounds, d, drawn = setting.traffic(chosen).rounds, setting.d, _rows_drawn(setting, chosen)
    products = 2 * rounds * setting.k * (drawn or d * len(setting.sizes)) * d * _PRODUCT_SECONDS
    draws = 1 if _holds_rows(setting, chosen) else 1 + rounds
    drawing = draws * drawn * d**2 * _ROW_SECONDS
    if getattr(setting.population, "tails", None) is not None:  # of which all methods see clipped rows
        drawing += sum(rows_drawn(n, d) for n in setting.sizes) * d**2 * _HEAVY_ROW_SECONDS
    return setting.seconds(chosen, with_moments=True) + products + drawing


def _rows_drawn(setting: CollaborationExperiment, chosen: Protocol) -> int:
    """Return how many patients' rows are drawn, where the hospitals of a simulated population need them."""
    if isinstance(setting.population, str) or not METHODS[chosen.method].chooses_rows:
        return 0
    return sum(rows_drawn(n, setting.d) for n in setting.sizes)


def _holds_rows(setting: CollaborationExperiment, chosen: Protocol) -> bool:
    return 0 < 8 * _rows_drawn(setting, chosen) * setting.d <= _HELD_BYTES


def kept_bytes(setting: CollaborationExperiment, chosen: Protocol) -> int:
    """Estimate the bytes of a transcript: all messages with and without noise, and every round's basis."""
    traffic = setting.traffic(chosen)
    # Of each round the question and the basis, (d, k) each, and room for another d R numbers, R the rank.
    bases = 8 * setting.d * (2 * setting.k + setting.rank)
    return len(setting.sizes) * 2 * sum(traffic.bytes_sent) + traffic.rounds * bases + _FIXED_BYTES


def passing_bytes(setting: CollaborationExperiment, chosen: Protocol) -> int:
    """Estimate the bytes of memory that only the simulation takes, and a transcript does not keep."""
    rows = _rows_drawn(setting, chosen) if _holds_rows(setting, chosen) else 0
    return 8 * setting.d * ((len(setting.sizes) + _PASSING_MATRICES) * setting.d + rows)


@dataclass(frozen=True, eq=False)
class Transcript:
    """Hold a run's record, the messages without their noise, and the errors after each round."""

    record: Record  # run as the server sees it. Of a secure aggregation it holds the sum alone, under `ALL`.
    # Messages without noise, for each round by hospital; with secure aggregation also the sum. Empty for a
    # run that took place between processes, where nobody may know them.
    noiseless: tuple[Mapping[int, Arrays], ...] = ()
    # sin Theta of the start, if there is one, and after each round; None without a known truth.
    errors: Array | None = None
    angles: Array | None = None  # same for the largest angle in degrees

    @property
    def over_network(self) -> bool:
        return not self.noiseless

    @property
    def sealed(self) -> bool:
        return protocol.exchange_of(self.record.plan).sealed

    @property
    def shared(self) -> bool:
        return self.record.plan.method_options.get("provider_noise") == "shared"

    def chosen_rows(self, number: int) -> Array | None:
        """Return the features that stage 1 chose, in the round that releases their moment; None in others."""
        plan, done = self.record.plan, self.record.rounds[number - 1]
        is_last = number == protocol.exchange_of(plan).rounds
        # Without the rounds for mean and scales, the plan's exchange is the method's own.
        in_stage_2 = is_last and isinstance(protocol.exchange_of(plan.after_scales), TwoStages)
        return done.question.arrays["rows"] if in_stage_2 else None


def simulate(setting: CollaborationExperiment, key: str) -> Transcript:
    """Simulate the first run of one of `MESSAGE_PROTOCOLS`, message by message."""
    checks.one_of(MESSAGE_PROTOCOLS, protocol=key)
    chosen, cohort = PROTOCOLS[key], setting.cohort(0)
    held = [_rows(provider) for provider in cohort] if _holds_rows(setting, chosen) else []
    options = tuple(sorted(setting.options(chosen).items()))
    plan = Plan("simulated", chosen.method, setting.sizes, setting.d, setting.k, setting.budget, options)
    # After the base, 0 seeds noise that all hospitals share, 1 + i that of hospital i, and 0, 0 the start.
    base = (setting.seed, 0, *key.encode())
    noise = [protocol.Noise(seed=(*base, 1 + i), shared=(*base, 0)) for i in range(plan.hospitals)]
    start = coordinator.public_start(plan, np.random.default_rng([*base, 0, 0]))
    record, _states = in_process.simulate(plan, cohort, noise, start)
    if record.ended:
        raise ValueError(record.ended)
    # Ask every hospital the recorded questions again, now without noise.
    exchange = protocol.exchange_of(plan)
    silent = protocol.Noise(silent=True).for_round(0)  # zeros, the same in every round
    answers = [
        [exchange.answer(done.number, i, site, done.question.arrays, silent) for done in record.rounds]
        for i, site in enumerate(cohort)  # one hospital after the other: its rows are drawn only once
    ]
    del held
    noiseless = [dict(enumerate(parts)) for parts in zip(*answers, strict=True)]
    if exchange.sealed:
        for parts in noiseless:
            parts[ALL] = {name: np.sum([part[name] for part in parts.values()], axis=0) for name in parts[0]}
    sines, angles = errors(record, setting.truth.basis)
    return Transcript(record, tuple(noiseless), errors=sines, angles=angles)


def _rows(provider: Provider) -> Array | None:
    """Return a simulated hospital's rows, which their cache gives again as long as somebody holds them."""
    given = provider.moment.held_rows() if isinstance(provider.moment, DelegatesToHeldRows) else None
    return given.rows if isinstance(given, PatientsGiven) else None


def errors(record: Record, truth: Array) -> tuple[Array, Array]:
    """Return sin Theta and the largest angle in degrees, of the start and after rounds with a basis."""
    known = [basis for basis in _bases(record) if basis is not None]
    largest = [subspace_metrics.largest_angles(basis[None], truth)[0] for basis in known]
    return np.array([subspace_metrics.sin_theta(basis, truth) for basis in known]), np.array(largest)


def basis_moves(record: Record) -> Array:
    """Return how far each round moved its basis, as sin Theta; the first is NaN without a start."""
    distances = [
        np.nan if before is None or after is None else subspace_metrics.sin_theta(after, before)
        for before, after in pairwise(_bases(record))
    ]
    return np.array(distances)


def _bases(record: Record) -> list[Array | None]:
    return [record.start, *(done.basis for done in record.rounds if done.basis is not None)]


def message_matrix(arrays: Arrays, plan: Plan, hospital: int) -> Array:
    """Return the content of a hospital's message as one matrix, to be drawn; hospital: `ALL` for a sum.

    A product H is (d, k), as a mean over patients. A moment or projector, sent as its upper triangle, is
    symmetric with d rows, or in stage 2 with as many rows as features were chosen. The mean of rows, of their
    squares or of the tails of their lengths is one column. Compressed directions P are returned as P P^T,
    which does not depend on their signs.
    """
    # Averaged projectors also send three numbers, "worth", by which the server weighs them.
    (name,) = arrays.keys() - {"worth"}
    values = arrays[name]
    # A weighted array was multiplied by its hospital's number of patients, for a sealed sum.
    if name.startswith("weighted "):
        values = values / (sum(plan.sizes) if hospital == ALL else plan.sizes[hospital])
    if name in ("directions", "basis"):
        values = values @ values.T
    if name.endswith(("mean", "squares", "tails")):
        return values[:, None]
    packed = name.endswith(("moment", "projector"))
    # The matrix with so many numbers in its upper triangle has this many rows.
    side = (math.isqrt(8 * len(values) + 1) - 1) // 2
    return one_round.symmetric_from_triangle(values, side) if packed else values


def noise_std(plan: Plan, number: int, hospital: int) -> float | None:
    """Return the std of the noise in each entry of `message_matrix`; of a moment, off its diagonal.

    None for DPdisPCA and averaged projectors, whose hospitals may compute further on what they released, and
    for a fitted bound, whose noise depends on what the rounds before released.
    """
    exchange = protocol.exchange_of(plan)
    if isinstance(exchange, PriorRound):
        if number == 1:
            return exchange.noise_std(hospital)
        # Later rounds are those of the plan without this one, with the budget that it leaves.
        rest = plan.after_mean if plan.mean_share else plan.after_scales
        return noise_std(rest, number - 1, hospital)
    if isinstance(exchange, TwoStages):
        hospitals = range(plan.hospitals) if hospital == ALL else (hospital,)
        whole = sum(plan.sizes_of(hospitals))
        std = math.hypot(*(plan.sizes[i] / whole * exchange.noise_std(number, i) for i in hospitals))
        # In the last round the std is of a moment's diagonal, sqrt 2 times that of its other entries.
        return std / math.sqrt(2) if number == exchange.rounds else std
    if not isinstance(exchange, PowerRounds):
        return None
    if hospital == ALL:
        return dps_pca.sum_noise_std(plan.budget, k=plan.k, iterations=exchange.rounds) / sum(plan.sizes)
    return exchange.noise_std(hospital)


class Difference(NamedTuple):
    """Hold the difference of two hospitals' messages, n_i H_i - n_j H_j, beside n_i S_i Q - n_j S_j Q.

    H_i = S_i Q plus noise is what hospital i sends in a round of DPS-PCA, S_i being the second moment of its
    n_i patients and Q the basis that it was asked with. Noise that both share cancels.
    """

    observed: Array  # difference of the messages, (d, k)
    exact: Array  # same without noise
    relative: float  # |observed - exact| / |exact|
    std: float  # standard deviation of the entries of observed - exact
    expected: float  # its expectation: sigma sqrt 2 where each has its own noise, 0 where the noise is shared


def difference(transcript: Transcript, number: int, hospital: int, other: int) -> Difference:
    """Subtract the messages of two hospitals in a round of DPS-PCA, as an attacker who sees both can.

    Raises ValueError for the same hospital twice, or a run in which nobody sees single messages.
    """
    plan = transcript.record.plan
    exchange = protocol.exchange_of(plan)
    if hospital == other:
        raise ValueError(f"other must be another hospital than {hospital}")
    if not isinstance(exchange, PowerRounds) or exchange.sealed:
        raise ValueError("transcript must be a run of DPS-PCA of which single messages arrive")
    answers, noiseless = transcript.record.rounds[number - 1].answers, transcript.noiseless[number - 1]

    def between(first: Array, second: Array) -> Array:
        return plan.sizes[hospital] * first - plan.sizes[other] * second

    observed = between(answers[hospital].message.arrays["product"], answers[other].message.arrays["product"])
    exact = between(noiseless[hospital]["product"], noiseless[other]["product"])
    noise = observed - exact
    sigma = exchange.noise_std(hospital) * plan.sizes[hospital]  # of a sum over patients
    shared = exchange.provider_noise == "shared"
    return Difference(
        observed,
        exact,
        relative=float(np.linalg.norm(noise) / np.linalg.norm(exact)),
        std=float(noise.std()),
        expected=0.0 if shared else sigma * 2**0.5,
    )
