"""Figure 2 of Ge, Wang, Wang & Liu (AISTATS 2018): Theorem 4.3's errors against epsilon, at delta = 0.01.

The paper draws epsilon from 0.2 to 2 and reports none of d, n, k, s, s_hat, T or the eigenvalues. The shape
is that of gamma = 0.356 and alpha = 0.0513/epsilon (within 1 %; theory.md section 1.5), which is all that the
curve determines: one gamma and one alpha come from many eigenvalues, sizes and tau. Its height, 7.3 read off
at epsilon = 0.2, does not say how much of it is sampling: here k s / s_hat is that of the paper's section 5
(5 * 10 / 50), and sampling is what is then missing. Another split of the height fits as well.

Published and reproduced: the overall error falls with epsilon from 7.3, far above sqrt 5, the largest error
there is for k = 5; privacy costs less than sampling ("privacy for free"). The paper does not say that with
these gamma and alpha assumption B.3 (`ge2018.noise_room`) fails along the whole curve, for every k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds import ge2018

DELTA = 0.01
EPSILONS = (0.2, 2.0)
OVERALL_AT_LEFT = 7.3  # read off the figure at epsilon = 0.2


@dataclass(frozen=True)
class Figure2:
    """Hold the fitted curves' parameters, of which the figure determines only the first two.

    alpha_epsilon: alpha times epsilon. selection: k s / s_hat. sampling: the sampling term times
    1 - rho^1/4, None for what reaches OVERALL_AT_LEFT. iterations: T, the step whose error is drawn.
    Raises ValueError for a value out of range.
    """

    gamma: float = 0.356
    alpha_epsilon: float = 0.0513
    selection: float = 1.0
    sampling: float | None = None
    iterations: int = 10

    def __post_init__(self) -> None:
        checks.inside_unit_interval(gamma=self.gamma)
        checks.positive(alpha_epsilon=self.alpha_epsilon, selection=self.selection)
        checks.whole(1, iterations=self.iterations)
        if self.sampling is not None:
            checks.not_negative(sampling=self.sampling)

    def rho(self, epsilon: float) -> float:
        """Return the contraction at `epsilon`; 1 where the theorem is void."""
        return ge2018.contraction_with_noise(self.gamma, self.alpha_epsilon / epsilon)

    def curves(self, epsilons: Sequence[float] | Array) -> dict[str, Array]:
        """Return alpha, rho, stat, priv, opt and total at each epsilon; the last four infinite where void."""
        sampling = self._sampling() if self.sampling is None else self.sampling
        rows = [self._at(float(epsilon), sampling) for epsilon in epsilons]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}

    def _sampling(self) -> float:
        left = self._at(EPSILONS[0], 1.0)
        missing = OVERALL_AT_LEFT - left["priv"] - left["opt"]
        return max(missing / left["stat"], 0.0) if np.isfinite(left["stat"]) else 0.0

    def _at(self, epsilon: float, sampling: float) -> dict[str, float]:
        alpha, rho = self.alpha_epsilon / epsilon, self.rho(epsilon)
        if not 1 - rho**0.25 > 0:
            return {"alpha": alpha, "rho": rho} | dict.fromkeys(("stat", "priv", "opt", "total"), np.inf)
        terms = ge2018.error_terms(
            rho, alpha, sampling=sampling, selection=self.selection, iterations=self.iterations
        )
        last = {name: float(np.asarray(term).flat[-1]) for name, term in terms.items()}
        return {"alpha": alpha, "rho": rho, **last, "total": sum(last.values())}
