"""Methods of one round: every hospital sends what it made of its own patients, and nothing is asked.

Each class is an `exchange.Exchange`: it says what hospitals send and how the server combines it. The methods
themselves, with their privacy proofs, stand in `dppca_core.methods`.

A symmetric (d, d) matrix travels as its upper triangle, d (d + 1)/2 numbers.
"""

import math
from collections.abc import Mapping

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.federated.exchange import SPREAD, Exchange, RoundNoise, ServerState, check_magnitude
from dppca_core.federated.message import Arrays
from dppca_core.federated.plan import Plan
from dppca_core.mechanisms import spiked_covariance, symmetric_gaussian
from dppca_core.methods import dpdis_pca, federated_projector
from dppca_core.privacy import Event


def upper_triangle(symmetric: Array) -> Array:
    """Return the upper triangle of a (d, d) matrix with its diagonal, row by row, (d (d + 1)/2,)."""
    return symmetric[np.triu_indices(len(symmetric))]


def symmetric_from_triangle(triangle: Array, d: int) -> Array:
    """Return the symmetric (d, d) matrix of an upper triangle as `upper_triangle` returns it."""
    whole = np.zeros((d, d))
    whole[np.triu_indices(d)] = triangle
    whole += np.triu(whole, 1).T
    return whole


def sent_moment(answer: Arrays, d: int) -> Array:
    """Return what `dpdis_pca.combine` takes of an answer: its noisy moment, (d, d), or directions, (d, R)."""
    if "moment" in answer:
        return symmetric_from_triangle(answer["moment"], d)
    return np.asarray(answer["directions"])


def sent_projector(answer: Arrays, d: int) -> federated_projector.SentProjector:
    """Return what `federated_projector.combine` takes of an answer."""
    whole = "projector" in answer
    matrix = symmetric_from_triangle(answer["projector"], d) if whole else np.asarray(answer["basis"])
    return federated_projector.SentProjector(matrix, *map(float, answer["worth"]))


class CompressedMoments(Exchange):
    """Exchange DPdisPCA's messages: each hospital's noisy second moment, compressed to some directions.

    For the rank d the moment is sent as it is. Options: rank, weights, decomposition, noise, as for
    `dpdis_pca.fit`.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, rank=min(2 * plan.k, plan.d), weights=None, decomposition="eigh", noise=None)
        # The rank d keeps all of a moment, so it is sent as its triangle, in fewer numbers.
        rank = self.settings["rank"]
        checks.whole(plan.k, plan.d, rank=rank)
        checks.one_of(("eigh", "svd"), decomposition=self.settings["decomposition"])
        dpdis_pca.shares(plan.sizes, plan.budget, self.settings["weights"])  # it checks the weights
        whole = rank == plan.d
        shape = (plan.d * (plan.d + 1) // 2,) if whole else (plan.d, rank)
        self.reply = {"moment" if whole else "directions": shape}

    def spends(self, number: int) -> tuple[Event, ...]:
        return dpdis_pca.spends(self.plan.budget)

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return one hospital's noisy moment, or its directions, from private rows."""
        options = {name: self.settings[name] for name in ("rank", "decomposition", "noise")}
        sent = dpdis_pca.message(provider, self.plan.budget, noise.rng, **options)
        return {"moment": upper_triangle(sent)} if "moment" in self.reply else {"directions": sent}

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        std = symmetric_gaussian.sum_noise_std(self.plan.budget) / self.plan.sizes[hospital]
        most_entry = 1 + SPREAD * std  # of the noisy moment
        # The directions P give P P^T the moment's largest eigenvalues, at most d times its largest entry.
        check_magnitude(arrays, most_entry if "moment" in arrays else math.sqrt(self.plan.d * most_entry))

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        weights = dpdis_pca.shares(self.plan.sizes_of(answers), self.plan.budget, self.settings["weights"])
        parts = (sent_moment(answers[i], self.plan.d) for i in sorted(answers))
        basis = dpdis_pca.combine(parts, weights, self.plan.k, self.settings["decomposition"])
        return ServerState(rounds=1, iterates=(basis,))


class AveragedProjectors(Exchange):
    """Exchange each hospital's noisy projector on its own top directions, which the server averages.

    An answer also holds "worth": the std of its noise, and the spike and bulk variance as released or
    public, (3,). The server weighs the projectors by these. Options: spike, variance, constant, send, as for
    `federated_projector.fit`; "basis" sends the directions, (d, k), in place of the projector.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, spike=None, variance=None, constant=None, send="projector")
        federated_projector.check(**self.settings)
        whole = self.settings["send"] == "projector"
        shape = (plan.d * (plan.d + 1) // 2,) if whole else (plan.d, plan.k)
        self.reply = {"projector" if whole else "basis": shape, "worth": (3,)}

    def spends(self, number: int) -> tuple[Event, ...]:
        return federated_projector.spends(
            self.plan.budget, spike=self.settings["spike"], variance=self.settings["variance"]
        )

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return one hospital's noisy projector or basis, and its worth, from private rows."""
        sent = federated_projector.message(
            provider, self.plan.k, self.plan.budget, noise.rng, **self.settings
        )
        worth = np.array([sent.std, sent.spike, sent.variance])
        if self.settings["send"] == "basis":
            return {"basis": sent.matrix, "worth": worth}
        return {"projector": upper_triangle(sent.matrix), "worth": worth}

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        # "worth" is the std of the noise, and the spike and variance (`answer`).
        plan, (std, *released) = self.plan, arrays["worth"]
        # z by release: the projector and, unless spike and variance are public, the spectrum behind them. No
        # eigenvalues are released beside (False).
        z = spiked_covariance.multipliers(plan.budget, self.settings["spike"] is not None, False)
        # Two projectors differ by sqrt(2 min(k, d - k)) at most, which no sensitivity exceeds.
        most_std = z["projector"] * math.sqrt(2 * min(plan.k, plan.d - plan.k))
        if not 0 < std <= most_std:
            raise ValueError(f"sent worth with a noise of {std:.3g}, which the plan does not have")
        spectrum_std = spiked_covariance.spectrum_std(
            plan.budget, plan.sizes[hospital], z.get("spectrum", 0.0)
        )
        # Spike and variance are released with that noise, or public numbers that the plan states.
        stated = max(self.settings["spike"] or 0.0, self.settings["variance"] or 0.0)
        check_magnitude({"worth": np.array(released)}, plan.d * max(1 + SPREAD * spectrum_std, stated))
        check_magnitude(
            {name: sent for name, sent in arrays.items() if name != "worth"}, 1 + SPREAD * most_std
        )

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        sent_projectors = (sent_projector(answers[i], self.plan.d) for i in sorted(answers))
        # The server needs no std of the mean's noise, which is returned too.
        basis, _ = federated_projector.combine(sent_projectors, self.plan.sizes_of(answers), self.plan.k)
        return ServerState(rounds=1, iterates=(basis,))
