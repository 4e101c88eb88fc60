"""DPS-PCA between hospitals: T rounds of noisy products (`methods.dps_pca`).

Down: the rows of Q that are not zero, (m, k), and which these are, (m,). Up: H_i = S_i Q + G_i/n_i, (d, k).
A hospital answers only where Q has orthonormal columns: the sensitivity is proved for those, and a server
that asked with longer ones would see through the noise.

With secure aggregation a hospital contributes n_i H_i, with G_i ~ N(0, sigma^2/N), to a sum of which the
server sees the total alone. That takes all hospitals: without one, the sum has too little noise.

Here S_i is hospital i's second moment, n_i its number of patients, N the number of hospitals, and G_i noise,
whose entries otherwise have variance sigma^2. The server averages the H_i and makes the next Q from the mean.
"""

from collections.abc import Mapping

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array, Provider
from dppca_core.federated.exchange import ALL, Exchange, RoundNoise, ServerState
from dppca_core.federated.message import Arrays
from dppca_core.federated.plan import Plan
from dppca_core.methods import dps_pca
from dppca_core.numerics import block_power, linalg
from dppca_core.privacy import Event, Release
from dppca_core.records import PROVIDER_NOISE


class PowerRounds(Exchange):
    """Exchange noisy products of the hospitals' moments with a basis, T times.

    Options: iterations, s_hat, burn_in, provider_noise, as for `dps_pca.fit`.
    """

    needs_start = True

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan, iterations=10, s_hat=plan.d, burn_in=2, provider_noise="independent")
        options = {name: self.settings[name] for name in ("s_hat", "iterations", "burn_in")}
        block_power.checked_rows(plan.d, plan.k, **options)  # for what it raises
        checks.one_of(PROVIDER_NOISE, provider_noise=self.settings["provider_noise"])
        self.rounds, self.provider_noise = self.settings["iterations"], self.settings["provider_noise"]
        self.sealed = self.provider_noise == "secure-aggregation"
        self.reply = {"weighted product" if self.sealed else "product": (plan.d, plan.k)}

    def spends(self, number: int) -> tuple[Event, ...]:
        """Return the Gaussian release that one round is; the rounds together are `dps_pca.spends`."""
        (all_rounds,) = dps_pca.spends(self.plan.budget, k=self.plan.k, iterations=self.rounds)
        assert isinstance(all_rounds, Release)
        return (Release(all_rounds.noise_multiplier, steps=1),)

    def noise_std(self, hospital: int) -> float:
        """Return the std of each entry of G_i/n_i in one hospital's H_i."""
        sigma = dps_pca.sum_noise_std(self.plan.budget, k=self.plan.k, iterations=self.rounds)
        # N noises of 1/sqrt(N) of the std add up to one in a sealed sum.
        part = self.plan.hospitals**-0.5 if self.sealed else 1.0
        return sigma * part / self.plan.sizes[hospital]

    def initial_state(self, start: Array | None) -> ServerState:
        current = block_power.truncate(self.check_start(start), self._rows_kept(0))
        return ServerState(current=current, iterates=(current.full,))

    def question(self, state: ServerState) -> Arrays:
        assert state.current is not None
        rows = np.arange(self.plan.d) if state.current.rows is None else state.current.rows
        return {"block": state.current.block, "rows": rows.astype(np.int64)}

    def check_question(self, number: int, arrays: Arrays) -> None:
        d, k = self.plan.d, self.plan.k
        if set(arrays) != {"block", "rows"}:
            raise ValueError(f"asked with {', '.join(sorted(arrays)) or 'nothing'} instead of block, rows")
        block, rows = arrays["block"], arrays["rows"]
        if rows.dtype != np.int64 or rows.ndim != 1 or not k <= len(rows) <= d:
            raise ValueError(f"asked for rows as {rows.dtype} of shape {rows.shape}")
        if not ((rows >= 0).all() and (rows < d).all() and (np.diff(rows) > 0).all()):
            raise ValueError(f"asked for rows that are not ascending within {d}")
        if block.dtype != np.float64:
            raise ValueError(f"asked with a block of {block.dtype}")
        self.check_block(block, len(rows))

    def check_reply(self, number: int, hospital: int, arrays: Arrays) -> None:
        self.check_mean(hospital, arrays, self.noise_std)

    def answer(
        self, number: int, hospital: int, provider: Provider, arrays: Arrays, noise: RoundNoise
    ) -> Arrays:
        """Return a hospital's noisy H_i, or n_i times it for a sealed sum, from private rows."""
        block, rows = arrays["block"], arrays["rows"]
        rng = noise.shared if self.provider_noise == "shared" else noise.rng
        if rng is None:
            raise ValueError("cannot share its noise: hospitals have no generator in common")
        some_rows = None if len(rows) == self.plan.d else rows  # None: the block is all of Q
        # The check leaves a server 1e-6 of freedom; here the columns are orthonormal to rounding.
        block = linalg.orthonormalise(block)
        product = dps_pca.release(provider.moment, block, some_rows, self.noise_std(hospital), rng)
        return {"weighted product": product * provider.n} if self.sealed else {"product": product}

    def combine(self, state: ServerState, answers: Mapping[int, Arrays]) -> ServerState:
        if self.sealed:
            mean = answers[ALL]["weighted product"] / sum(self.plan.sizes)
        else:
            mean = self.mean(answers, "product")
        current = block_power.advance(mean, self._rows_kept(state.rounds + 1))
        # The result is orthonormalised again: one pass, by Cholesky's factor, leaves more than rounding.
        full = current.full if state.rounds + 1 < self.rounds else linalg.orthonormalise(current.full)
        return ServerState(rounds=state.rounds + 1, current=current, iterates=(*state.iterates, full))

    def _rows_kept(self, number: int) -> int:
        """Return how many features the basis keeps after round `number`; 0 is the start."""
        burn_in = self.settings["burn_in"]
        return self.plan.d if burn_in > 0 and number <= burn_in else int(self.settings["s_hat"])
