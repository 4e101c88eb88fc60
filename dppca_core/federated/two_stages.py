"""Two stages between hospitals: T noisy rounds name the features that matter, then their moment is released.

Rounds 1 to T. Down: Q, (d, k). Up: the mean of v q^T with noise, (d, k) (`mechanisms.normalised_product`).
Round T + 1. Down: the s_hat rows J, ascending. Up: the noisy moment of the patients restricted to J and
scaled to length 1 again, as its upper triangle, s_hat (s_hat + 1)/2 numbers.

Every hospital's copy of the plan fixes s_hat, T and the shares of the budget. It answers each round once, so
that J is named once, after all rounds; another J, or one of another size, gets no answer.

A server that lies. J and Q are the server's words. Each release has the same sensitivity whatever they are,
so a server that names other rows learns no more about any patient than the plan allows. It harms the answer:
rows that carry nothing give directions of noise. Whoever has the record can compute J from the rounds.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.cohort import Cohort
from dppca_core.federated.exchange import Exchange, NoisyMean, RoundNoise, ServerState
from dppca_core.federated.message import Arrays, Shapes
from dppca_core.federated.one_round import symmetric_from_triangle, upper_triangle
from dppca_core.federated.plan import Plan
from dppca_core.mechanisms import normalised_product, symmetric_gaussian, two_stage
from dppca_core.numerics import linalg, stacked_rounds
from dppca_core.privacy import Event
from dppca_core.records import SIGNAL


class TwoStages(Exchange):
    """Exchange both stages of the module's text, each hospital adding noise of its own.

    Options: s_hat, iterations, share, signal, as for `two_stage_own_noise.fit`. The sizes in the plan are
    public, so that rules may use them under add or remove too.
    """

    needs_start = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, s_hat=plan.d, iterations=two_stage.ROUNDS, share=None, signal=SIGNAL)
        self.features_kept = self.settings["s_hat"]  # the number of features in J
        checks.whole(plan.k, plan.d, s_hat=self.features_kept)
        trust = "secure aggregation" if self.sealed else "untrusted server"
        factor = normalised_product.noise_factor(trust, plan.hospitals)
        # The share of stage 1 follows from all hospitals together, so that it is the same at each of them.
        self._pooled_noise = self._noise(factor, sum(plan.sizes), self.settings["share"])
        self.stage_one_rounds = self.settings["iterations"]  # T, the rounds of stage 1
        self.rounds = self.stage_one_rounds + 1

    def _noise(self, factor: float, n: int, share: float | None) -> two_stage.StageNoise:
        """Return the std of the noise of every release on the scale of means over n patients.

        factor: how many times one curator's noise is added. share: what stage 1 takes of the budget, w; None
        takes the rule's.
        """
        options = {name: self.settings[name] for name in ("signal", "iterations")}
        return two_stage.stage_noise(self.plan.budget, factor, d=self.plan.d, n=n, share=share, **options)

    def reply_to(self, number: int) -> Shapes:
        weighted = "weighted " if self.sealed else ""
        if number < self.rounds:
            return {f"{weighted}product": (self.plan.d, self.plan.k)}
        # A moment is symmetric, and sent as its upper triangle.
        return {f"{weighted}moment": (self.features_kept * (self.features_kept + 1) // 2,)}

    def spends(self, number: int) -> tuple[Event, ...]:
        return (self._events[number - 1],)

    @cached_property
    def _events(self) -> tuple[Event, ...]:
        share, iterations = self._pooled_noise.share, self.stage_one_rounds
        return two_stage.spends(self.plan.budget, share=share, iterations=iterations)

    def noise_std(self, number: int, hospital: int) -> float:
        """Return the std of the noise in each entry of a hospital's mean; of a moment, on its diagonal."""
        # N noises of 1/sqrt(N) of the std add up to one in a sealed sum.
        factor = self.plan.hospitals**-0.5 if self.sealed else 1.0
        noise = self._noise(factor, self.plan.sizes[hospital], self._pooled_noise.share)
        return noise.round_stds[number - 1] if number < self.rounds else noise.block_std

    def initial_state(self, start: Array | None) -> ServerState:
        return ServerState(iterates=(self.check_start(start),))

    def question(self, state: ServerState) -> Arrays:
        if state.rounds < self.stage_one_rounds:
            return {"block": state.iterates[-1]}
        return {
            "rows": linalg.largest_rows(self._leading(state.received), self.features_kept).astype(np.int64)
        }

    def check_question(self, number: int, arrays: Arrays) -> None:
        expected = "block" if number < self.rounds else "rows"
        if set(arrays) != {expected}:
            raise ValueError(f"asked with {', '.join(sorted(arrays)) or 'nothing'} instead of {expected}")
        array = arrays[expected]
        if number < self.rounds:
            self.check_block(array, self.plan.d)
        elif array.dtype != np.int64 or array.shape != (self.features_kept,):
            shape = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"asked for rows as {shape}, where the plan says {self.features_kept} rows")
        elif not (array[0] >= 0 and array[-1] < self.plan.d and (np.diff(array) > 0).all()):
            raise ValueError(f"asked for rows that are not ascending within {self.plan.d}")

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's noisy mean of v q^T, or its noisy restricted moment, from private rows.

        For a sealed sum either is multiplied by its number of patients.
        """
        std = self.noise_std(number, hospital)
        if number < self.rounds:
            patients = Cohort((provider,), provider.moment)
            sent = normalised_product.release(patients, arrays["block"], std, noise.rng)
        else:
            restricted = provider.moment.restricted_unit(arrays["rows"])
            sent = upper_triangle(symmetric_gaussian.with_noise(restricted, std, "isotropic", noise.rng))
        (name,) = self.reply_to(number)
        return {name: sent * provider.n if self.sealed else sent}

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        # Products are held against the noise of round 1, the largest.
        self.check_mean(hospital, arrays, partial(self.noise_std, 1 if number < self.rounds else number))

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        number, d, k = state.rounds + 1, self.plan.d, self.plan.k
        (name,) = self.reply_to(number)
        # Noise of independent answers adds in squares, each by the hospital's weight in the mean.
        counted = range(self.plan.hospitals) if self.sealed else sorted(answers)
        n = sum(self.plan.sizes_of(counted))
        mean = self.mean(answers, name)
        std = math.hypot(*(self.plan.sizes[i] / n * self.noise_std(number, i) for i in counted))
        received = (*state.received, NoisyMean(mean, std))
        if number < self.rounds:
            basis = linalg.orthonormalise(self._leading(received))
        else:
            rows = self.question(state)["rows"]
            # std is of the diagonal; off it the noise of a moment is sqrt 2 smaller.
            basis = two_stage.directions_from_block(
                symmetric_from_triangle(mean, self.features_kept), rows, d, k, std / math.sqrt(2), n
            )
        return ServerState(rounds=number, iterates=(*state.iterates, basis), received=received)

    def _leading(self, received: Sequence[NoisyMean]) -> Array:
        """Return the rounds so far, stacked and projected on their k leading directions, (d, k).

        The first third is left out, whose bases are still far from the directions.

        received: each round's noisy mean, with the std of its noise.
        """
        means, stds = zip(*received, strict=True)
        return stacked_rounds.leading(means, stds, two_stage.left_out(self.stage_one_rounds))


class SealedTwoStages(TwoStages):
    """Exchange both stages by sealed sums: all hospitals together add as much noise as one curator would."""

    sealed = True
