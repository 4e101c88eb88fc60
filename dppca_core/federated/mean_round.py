"""A first round that pays for the mean, before those of any method: rows are then centred there.

Round 1. Nothing is asked. Up: each hospital's noisy mean of its rows, (d,), or where sums are sealed its sum
of rows with a part of one noise (`mechanisms.paid_centre`). Round 2. Down: the mean over all patients, beside
what the method asks. Each hospital keeps it, centres its rows there, shortens them to length 1, and goes on
in the method's own rounds with the rest of the budget.

The noise. One patient moves a hospital's sum of rows by D at most. A hospital that trusts nobody adds
N(0, (D z)^2/w I) to it, also where a method's noise would be shared; of sealed sums each of N adds a part
1/N of that variance. The mean by patients, sum n_i m_i/n, then has noise of std D z sqrt(N)/(n sqrt w), and
of sealed sums D z/(n sqrt w), that of one curator.

A server that lies. Rows are shortened to length 1 about whatever mean it sends, so that each release has the
sensitivity that the plan pays for: a false mean spoils the answer and teaches nothing more about a patient.
Hospital and server refuse one that rows and noise cannot give: |m| > 1 + s (sqrt d + 50). Noise N(0, s^2 I)
is longer than s (sqrt d + t) with a probability of at most e^(-t^2/2): length is 1-Lipschitz, and its mean
at most s sqrt d (Boucheron, Lugosi & Massart 2013, Theorem 5.6). A weighted mean of some hospitals has noise
of at most the largest of their s.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dppca_core.arrays import Array, Provider
from dppca_core.federated.exchange import ALL, SPREAD, Exchange, RoundNoise, ServerState
from dppca_core.federated.message import Arrays, Shapes
from dppca_core.federated.plan import Plan
from dppca_core.mechanisms import paid_centre
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Event

MEAN = "mean"


class AfterMean(Exchange):
    """Exchange the mean, then the messages of `method`, an exchange of `plan.after_mean`."""

    keeps = (MEAN,)

    def __init__(self, plan: Plan, method: Exchange) -> None:
        self.plan, self.method = plan, method
        self.rounds, self.summed, self.iterates = method.rounds + 1, method.summed, method.iterates
        self._part = plan.hospitals**-0.5 if self.summed else 1.0
        self.reply = {f"weighted {MEAN}" if self.summed else MEAN: (plan.d,)}

    def reply_to(self, number: int) -> Shapes:
        return self.reply if number == 1 else self.method.reply_to(number - 1)

    def spends(self, number: int) -> tuple[Event, ...]:
        """Return the price of the mean, then that of each of the method's rounds with the rest."""
        if number > 1:
            return self.method.spends(number - 1)
        return (paid_centre.price(self.plan.budget, self.plan.mean_share),)

    def noise_std(self, hospital: int) -> float:
        """Return the std of each entry of a hospital's mean, or with `ALL` of the mean of sealed sums."""
        n = sum(self.plan.sizes) if hospital == ALL else self.plan.sizes[hospital]
        part = 1.0 if hospital == ALL else self._part
        return part * paid_centre.noise_std(self.plan.budget, self.plan.mean_share, n)

    def open(self, start: Array | None) -> ServerState:
        return self.method.open(start)

    def question(self, state: ServerState) -> Arrays:
        if state.mean is None:
            return {}
        asked = self.method.question(replace(state, rounds=state.rounds - 1))
        return {**asked, MEAN: state.mean} if state.rounds == 1 else asked

    def check_question(self, number: int, arrays: Arrays) -> None:
        if number == 1:
            super().check_question(number, arrays)
            return
        if number == 2:
            if MEAN not in arrays:
                raise ValueError("asked to go on without the mean")
            self._check_mean(arrays[MEAN])
            arrays = _without_mean(arrays)
        self.method.check_question(number - 1, arrays)

    def _check_mean(self, mean: Array) -> None:
        if mean.dtype != np.float64 or mean.shape != (self.plan.d,):
            raise ValueError(f"asked with a mean as {mean.dtype} of shape {mean.shape}")
        senders = (ALL,) if self.summed else range(self.plan.hospitals)
        most = self._most_length(max(map(self.noise_std, senders)))
        if not float(np.linalg.norm(mean)) <= most:
            raise ValueError(f"asked with a mean that is not finite or longer than {most:.3g}")

    def _most_length(self, std: float) -> float:
        return 1 + std * (math.sqrt(self.plan.d) + SPREAD)

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        rows = _rows(provider)
        if number == 1:
            budget, share = self.plan.budget, self.plan.mean_share
            sent = paid_centre.release(rows, budget, share, noise.rng, part=self._part)
            (name,) = self.reply
            return {name: sent * provider.n if self.summed else sent}
        about = Provider(
            provider.n, RowMoment(paid_centre.centred(rows, arrays[MEAN], self.plan.budget.neighbours))
        )
        return self.method.answer(number - 1, hospital, about, _without_mean(arrays), noise)

    def check_reply(self, hospital: int, arrays: Arrays) -> None:
        if arrays.keys() != self.reply.keys():
            self.method.check_reply(hospital, arrays)
            return
        (sent,) = arrays.values()
        most = self._most_length(self.noise_std(hospital)) * (sum(self.plan.sizes) if self.summed else 1)
        if not float(np.linalg.norm(sent)) <= most:
            raise ValueError(f"sent a mean longer than {most:.3g}, which no patients can give")

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        if state.mean is not None:
            after = self.method.combine(replace(state, rounds=state.rounds - 1), answers)
            return replace(after, rounds=state.rounds + 1, mean=state.mean)
        (name,) = self.reply
        n = sum(self.plan.sizes if self.summed else self.plan.sizes_of(answers))
        mean = np.zeros(self.plan.d)
        for hospital in sorted(answers):  # a fixed order makes sums equal to the bit
            weight = 1 if self.summed else self.plan.sizes[hospital]
            mean += answers[hospital][name] * (weight / n)
        return replace(state, rounds=1, mean=mean)


def _without_mean(arrays: Arrays) -> Arrays:
    return {name: array for name, array in arrays.items() if name != MEAN}


def _rows(provider: Provider) -> Array:
    if not isinstance(provider.moment, RowMoment):
        raise ValueError("cannot centre its patients: it holds their moment, and not their rows")
    return provider.moment.rows
