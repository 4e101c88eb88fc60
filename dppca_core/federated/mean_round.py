"""A first round that pays for the mean at which rows are centred (`prior_round`)."""

from dataclasses import replace

import numpy as np

from dppca_core.arrays import Array
from dppca_core.federated.exchange import ServerState
from dppca_core.federated.prior_round import PriorRound
from dppca_core.mechanisms import paid_centre


class AfterMean(PriorRound):
    """Exchange the mean, then the messages of an exchange of `plan.after_mean`."""

    name = "mean"

    @property
    def share(self) -> float:
        return self.plan.mean_share

    def known(self, state: ServerState) -> Array | None:
        return state.mean

    def with_known(self, state: ServerState, known: Array | None) -> ServerState:
        return replace(state, mean=known)

    def whole_noise_std(self, n: int) -> float:
        return paid_centre.noise_std(self.plan.budget, self.share, n)

    def release(self, rows: Array, rng: np.random.Generator) -> Array:
        return paid_centre.release(rows, self.plan.budget, self.share, rng, part=self.part)

    def changed(self, rows: Array, known: Array) -> Array:
        return paid_centre.centred(rows, known, self.plan.budget.neighbours)
