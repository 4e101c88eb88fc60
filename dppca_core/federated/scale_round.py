"""A round that pays for scales, after that of a mean (`prior_round`, `mechanisms.paid_scale`).

Hospitals send the mean of their rows' squares, whose length is 1 at most. From the mean over all patients
each computes the same scales by what is public: n is that of the plan also where a hospital failed, which
makes the least scale a little smaller and spends nothing.
"""

import math
from dataclasses import replace

import numpy as np

from dppca_core.arrays import Array
from dppca_core.federated.exchange import ServerState
from dppca_core.federated.plan import Plan
from dppca_core.federated.prior_round import PriorRound
from dppca_core.mechanisms import paid_scale


class AfterScales(PriorRound):
    """Exchange the mean squares, then the messages of an exchange of `plan.after_scales`."""

    name = "squares"

    @property
    def share(self) -> float:
        return self.plan.scale_share

    def known(self, state: ServerState) -> Array | None:
        return state.squares

    def with_known(self, state: ServerState, known: Array | None) -> ServerState:
        return replace(state, squares=known)

    def whole_noise_std(self, n: int) -> float:
        return paid_scale.noise_std(self.plan.budget, self.share, n)

    def release(self, rows: Array, rng: np.random.Generator) -> Array:
        return paid_scale.release(rows, self.plan.budget, self.share, rng, part=self.part)

    def changed(self, rows: Array, known: Array) -> Array:
        return paid_scale.scaled(rows, scales(self.plan, known, self.summed))


def scales(plan: Plan, squares: Array, summed: bool) -> paid_scale.ColumnScales:
    """Return by what rows about the mean are divided. plan: with what the mean leaves of the budget."""
    n = sum(plan.sizes) / (1.0 if summed else math.sqrt(plan.hospitals))
    std = paid_scale.noise_std(plan.budget, plan.scale_share, n)
    relative = paid_scale.relative_bound(plan.after_scales.budget, d=plan.d, n=n)
    return paid_scale.from_squares(squares, std, relative)
