"""A round before those of any method, which pays for what rows are changed by: their mean, or their scales.

Round 1. Nothing is asked. Up: each hospital's noisy mean of a vector of length 1 at most for each row, (d,),
or where sums are sealed its sum with a part of one noise. Round 2. Down: the mean over all patients, beside
what the method asks. Each hospital keeps it, changes its rows by it, shortens them to length 1, and goes on
in the method's own rounds with the rest of the budget.

The noise. One patient moves a hospital's sum by D at most. A hospital that trusts nobody adds
N(0, (D z)^2/w I) to it, also where a method's noise would be shared; of sealed sums each of N adds a part
1/N of that variance. The mean by patients, sum n_i m_i/n, then has noise of std D z sqrt(N)/(n sqrt w), and
of sealed sums D z/(n sqrt w), that of one curator.

A server that lies. Rows are shortened to length 1 after whatever it sends, so that each release has the
sensitivity that the plan pays for: a false mean spoils the answer and teaches nothing more about a patient.
Hospital and server refuse one that rows and noise cannot give: |m| > 1 + s (sqrt d + 50). Noise N(0, s^2 I)
is longer than s (sqrt d + t) with a probability of at most e^(-t^2/2): length is 1-Lipschitz, and its mean
at most s sqrt d (Boucheron, Lugosi & Massart 2013, Theorem 5.6). A weighted mean of some hospitals has noise
of at most the largest of their s.

Scales (`mechanisms.paid_scale`) are paid for after a mean, by the mean of squares, whose length is 1 at most
as well. From the one over all patients each hospital computes the same scales by what is public: n is that of
the plan also where a hospital failed, which makes the least scale a little smaller and spends nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from dppca_core.arrays import Array, Provider
from dppca_core.federated.exchange import (
    ALL,
    SPREAD,
    Exchange,
    RoundNoise,
    ServerState,
    check_released,
    check_sent,
)
from dppca_core.federated.message import Arrays, Shapes
from dppca_core.federated.plan import Plan
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.numerics.moments import RowMoment
from dppca_core.privacy import Event


class PriorRound(Exchange):
    """Exchange a mean or mean squares in a first round, then pass every round on to `method`.

    `method` is the exchange of the plan that is left, whose round 1 is round 2 here: so it is called with
    numbers that are one less. It may be a PriorRound itself, for squares after a mean.

    name: the array that the first round pays for, "mean" or "squares". part: of the noise's std, what a
    hospital adds: 1, or 1/sqrt(N) to a sealed sum.
    """

    def __init__(self, plan: Plan, method: Exchange, name: str) -> None:
        self.plan, self.method, self.name = plan, method, name
        self.share = plan.mean_share if name == "mean" else plan.scale_share
        self.rounds, self.sealed, self.needs_start = method.rounds + 1, method.sealed, method.needs_start
        self.keeps = (name, *method.keeps)
        # N hospitals that each add 1/sqrt(N) of a noise's std to a sealed sum add that noise together.
        self.part = plan.hospitals**-0.5 if self.sealed else 1.0
        self.reply = {f"weighted {name}" if self.sealed else name: (plan.d,)}

    def changed(self, rows: Array, released: Array) -> Array:
        """Return rows, (n, d), centred or divided by scales as the first round gave them, at most 1 long."""
        if self.name == "mean":
            return paid_centre.centred(rows, released, self.plan.budget.neighbours)
        return paid_scale.scaled(rows, scales(self.plan, released, self.sealed))

    def reply_to(self, number: int) -> Shapes:
        return self.reply if number == 1 else self.method.reply_to(number - 1)

    def releases(self, number: int) -> Shapes:
        return {self.name: (self.plan.d,)} if number == 1 else self.method.releases(number - 1)

    def spends(self, number: int) -> tuple[Event, ...]:
        if number > 1:
            return self.method.spends(number - 1)
        return (paid_centre.price(self.plan.budget, self.share),)

    def noise_std(self, hospital: int) -> float:
        """Return the std of each entry of a hospital's answer, or with `ALL` of the mean of sealed sums."""
        n = sum(self.plan.sizes) if hospital == ALL else self.plan.sizes[hospital]
        noise_std = paid_centre.noise_std if self.name == "mean" else paid_scale.noise_std
        return (1.0 if hospital == ALL else self.part) * noise_std(self.plan.budget, self.share, n)

    def initial_state(self, start: Array | None) -> ServerState:
        return self.method.initial_state(start)

    def question(self, state: ServerState) -> Arrays:
        if self.name not in state.prior:
            return {}
        # The method counts its own rounds only, one less.
        asked = self.method.question(replace(state, rounds=state.rounds - 1))
        return {**asked, self.name: state.prior[self.name]} if state.rounds == 1 else asked

    def check_question(self, number: int, arrays: Arrays) -> None:
        if number == 1:
            super().check_question(number, arrays)
            return
        if number == 2:
            if self.name not in arrays:
                raise ValueError(f"asked to go on without the {self.name}")
            senders = (ALL,) if self.sealed else range(self.plan.hospitals)
            # The noise of a weighted mean of some hospitals is at most the largest of theirs.
            most = self._most_length(max(map(self.noise_std, senders)))
            check_released(self.name, arrays[self.name], (self.plan.d,), most)
            arrays = self._without_prior(arrays)
        self.method.check_question(number - 1, arrays)

    def _most_length(self, std: float) -> float:
        """Return the greatest length of an honest mean, given the std of the noise in each entry.

        Noise in d entries is longer than std (sqrt d + 50) with a probability below any float above 0.
        """
        return 1 + std * (math.sqrt(self.plan.d) + SPREAD)

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's noisy mean or mean squares, in later rounds what the method answers."""
        rows = rows_of(provider)
        if number == 1:
            release = paid_centre.release if self.name == "mean" else paid_scale.release
            sent = release(rows, self.plan.budget, self.share, noise.rng, part=self.part)
            (name,) = self.reply  # an answer of this round is one array
            return {name: sent * provider.n if self.sealed else sent}
        patients = Provider(provider.n, RowMoment(self.changed(rows, arrays[self.name])))
        return self.method.answer(number - 1, hospital, patients, self._without_prior(arrays), noise)

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        if number > 1:
            self.method.check_reply(number - 1, hospital, arrays)
            return
        (sent,) = arrays.values()
        # A sealed sum adds up means that were multiplied by their numbers of patients.
        most = self._most_length(self.noise_std(hospital)) * (sum(self.plan.sizes) if self.sealed else 1)
        check_sent(self.name, sent, most)

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        """Return the server after a round.

        Round 1 adds the mean over all patients, or their mean squares, to `prior`. Later rounds are the
        method's.
        """
        if self.name in state.prior:
            after = self.method.combine(replace(state, rounds=state.rounds - 1), answers)
            return replace(after, rounds=state.rounds + 1, prior={**state.prior, **after.prior})
        (name,) = self.reply
        return replace(state, rounds=1, prior={**state.prior, self.name: self.mean(answers, name)})

    def _without_prior(self, arrays: Arrays) -> Arrays:
        return {name: array for name, array in arrays.items() if name != self.name}


def rows_of(provider: Provider) -> Array:
    """Return a hospital's rows, (n, d). Raises ValueError where it holds only their moment."""
    if not isinstance(provider.moment, RowMoment):
        raise ValueError("cannot centre its patients: it holds their moment, and not their rows")
    return provider.moment.rows


def scales(plan: Plan, squares: Array, sealed: bool) -> paid_scale.ColumnScales:
    """Return the scales that centred rows are divided by, from the released mean squares, (d,).

    plan: with what the mean leaves of the budget. sealed: whether sums are sealed; else the noise is that of
    one curator with sqrt(N) times fewer patients.
    """
    n = sum(plan.sizes) / (1.0 if sealed else math.sqrt(plan.hospitals))
    left = plan.after_scales.budget  # for the method's rounds
    return paid_scale.scales_of_release(squares, plan.budget, plan.scale_share, left, n)
