"""One noisy moment between hospitals, whose bound is fitted to rows' lengths (`mechanisms.paid_lengths`).

    round   down       up: of a hospital's own rows, with noise          numbers
    1       nothing    mean squares of its numbers                       N
    2       squares    mean of its rows, and a count if some are empty   d, d + 1
    3       mean       two tails of its rows' lengths                    2
    4       tails      moment of its rows y/b                            d (d + 1)/2

Down goes the mean over all patients of what came up before. The plan states layout, sizes and budget. So
everybody derives the bound of the mean, the frame of y, and b, by the public rule from what was released. A
table without numbers has no round of squares. A plan names the method whose moment it is: DPdisPCA for
hospitals that trust nobody, CAPE for sealed sums. Nothing is compressed.

The noise. A hospital that trusts nobody adds the whole noise of each step to its own sum. Of sealed sums each
of N adds a part 1/N of the variance. Prices are the rule's, and cost the plan's budget together.

A server that lies. Hospitals hold encoded rows that nothing has shortened. They shorten them after whatever
the server sent, to the bound that this gives, and the noise is for that bound. So each step has the
sensitivity that is paid for, whatever came down: false numbers spoil the answer and teach nothing more about
a patient. Hospital and server refuse what rows and noise cannot give. With S the sensitivity at the longest
rows and z the multiplier of a step, a mean of j numbers over n patients is no longer than S + S z/n (sqrt j +
50), but for a probability below any float above 0 (`prior_round`). That needs nothing that was released.

n is the plan's also where a hospital failed. The rule then takes noise for less than it is, which spends
nothing.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from dppca_core import checks
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
from dppca_core.federated.one_round import symmetric_from_triangle, upper_triangle
from dppca_core.federated.plan import Plan
from dppca_core.federated.prior_round import rows_of
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.numerics import linalg
from dppca_core.privacy import Event

_SEALED = {"dpdis_pca": False, "cape": True}  # by method, whether its sums are sealed


def numbers_of(layout: Layout) -> dict[str, int]:
    """Return how many numbers each step sends; of the moment these are its upper triangle."""
    d = layout.d
    mean = d if layout.complete else d + 1  # with the count of rows that are there
    return {"squares": layout.count, "mean": mean, "tails": 2, "moment": d * (d + 1) // 2}


def most_length(rule: FittedBound, step: str, n: int) -> float:
    """Return the greatest length of an honest mean of a step over n patients, by the module's text."""
    reach = rule.sensitivity(step, 1.0 if step == "moment" else math.inf)
    std = reach * rule.price(step).noise_multiplier / n
    return reach + std * (math.sqrt(numbers_of(rule.layout)[step]) + SPREAD)


class FittedRounds(Exchange):
    """Exchange the steps of a fitted bound, each in a round of its own; the last releases the moment.

    Attributes:
        rule: What sums, noise, prices and bounds follow from; it is public.
    """

    def __init__(self, plan: Plan) -> None:
        checks.one_of(_SEALED, method=plan.method)
        super().__init__(plan)
        self.sealed = _SEALED[plan.method]
        hospitals = 1 if self.sealed else plan.hospitals
        self.rule = FittedBound(
            plan.layout, plan.budget, sum(plan.sizes), plan.fitted == "standardised", hospitals
        )
        self.rounds = len(self.rule.steps)
        self.keeps = self.rule.steps[:-2]  # the tails come with the last question

    def _shape(self, step: str) -> tuple[int]:
        """Return the shape of what a step sends; of the moment it is the upper triangle."""
        return (numbers_of(self.rule.layout)[step],)

    def reply_to(self, number: int) -> Shapes:
        step = self.rule.steps[number - 1]
        return {f"weighted {step}" if self.sealed else step: self._shape(step)}

    def releases(self, number: int) -> Shapes:
        return {step: self._shape(step) for step in self.rule.steps[:-1][number - 1 : number]}

    def spends(self, number: int) -> tuple[Event, ...]:
        return (self.rule.price(self.rule.steps[number - 1]),)

    def question(self, state: ServerState) -> Arrays:
        return {step: state.prior[step] for step in self.releases(state.rounds)}

    def check_question(self, number: int, arrays: Arrays) -> None:
        expected = self.releases(number - 1)  # of round 0 nothing
        if arrays.keys() != expected.keys():
            names = ", ".join(sorted(arrays)) or "nothing"
            raise ValueError(f"asked with {names} instead of {', '.join(expected) or 'nothing'}")
        senders = (ALL,) if self.sealed else range(self.plan.hospitals)
        for step, shape in expected.items():
            # A weighted mean of some hospitals' has at most the largest of their noises.
            check_released(step, arrays[step], shape, max(self._most_length(step, i) for i in senders))

    def _most_length(self, step: str, hospital: int) -> float:
        """Return the greatest length of an honest mean of a step, by the bound of the module's text."""
        n = sum(self.plan.sizes) if hospital == ALL else self.plan.sizes[hospital]
        return most_length(self.rule, step, n)

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's noisy mean of what its rows add to a step, or for a sealed sum its sum."""
        step, rows = self.rule.steps[number - 1], rows_of(provider)
        self.rule.layout.check(rows)
        part = self.plan.hospitals**-0.5 if self.sealed else 1.0
        noisy = self.rule.noisy_sum(step, rows, arrays, noise.rng, part=part)
        sent = upper_triangle(noisy) if step == "moment" else noisy
        (name,) = self.reply_to(number)
        return {name: sent if self.sealed else sent / provider.n}

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        step, (sent,) = self.rule.steps[number - 1], arrays.values()
        check_sent(
            step, sent, self._most_length(step, hospital) * (sum(self.plan.sizes) if self.sealed else 1)
        )

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        number = state.rounds + 1
        if number == self.rounds:
            moment, _divisors = self.result(state.prior, answers)
            basis = linalg.top_eigenspace(moment, self.plan.k)
            return replace(state, rounds=number, iterates=(basis,))
        ((step, _shape),) = self.releases(number).items()
        (name,) = self.reply_to(number)
        return replace(state, rounds=number, prior={**state.prior, step: self.mean(answers, name)})

    def result(self, prior: Arrays, answers: Mapping[int, Arrays]) -> tuple[Array, Array]:
        """Return the moment, (d, d), of the last round's answers, and what columns were divided by, (d,).

        prior: what the rounds before released. What is done after the moment costs nothing.
        """
        (name,) = self.reply_to(self.rounds)
        frame = self.rule.released_frame(prior)
        bound = self.rule.bound(prior["tails"], frame)
        moment = symmetric_from_triangle(self.mean(answers, name), self.plan.d)
        return self.rule.after(moment * bound**2, frame, bound)
