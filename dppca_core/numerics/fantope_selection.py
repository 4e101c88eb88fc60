"""Sparse principal subspaces by convex relaxation: Fantope projection and selection (FPS).

Vu, Cho, Lei & Rohe (NeurIPS 2013): over the Fantope, the convex hull of rank-k projectors,

    maximise <S, X> - lam ||X||_{1,1}   subject to   0 <= X <= I,  tr X = k,

by alternating directions, which is Algorithm 2 of Wang & Xu (IJCAI 2019) after its release:

    X <- P_F(Y - U + S/rho);   Y <- soft_{lam/rho}(X + U);   U <- U + X - Y.

Steps, stopping rule and defaults are those of the authors' R package (github.com/vqv/fps, read): rho starts
at max |S_ij|, doubles when the primal residual |X - Y|_F exceeds ten times the dual one, rho |Y - Y_old|_F,
and halves the other way round (U rescaled with it); both residuals below 1e-3 sqrt k, or 100 steps, end it;
the penalty also shrinks the diagonal. Unlike the package we divide S and lam by max |S_ij| beforehand. The
answer is the same, but the dual residual is in units of S and its tolerance is not: on S/1000 the package
stops after a few steps at another matrix.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics import fantope_projection, linalg

STEPS = 100
_IMBALANCE = 10.0  # ratio of the residuals beyond which rho moves
_STEP = 2.0  # the factor by which rho moves
_SPARE = 4  # eigenvectors that are computed beyond the rank of the last projection, which the next may exceed


@dataclass(frozen=True, eq=False)
class Solution:
    """Hold where the alternating directions stopped, at one penalty.

    Attributes:
        penalty: lam, in the units of S.
        projection: X, (d, d), which lies in the Fantope to rounding.
        sparse: Y, (d, d), which has entries that are exactly zero, and a trace only near k. X and Y meet at
            the optimum.
        primal: The residual |X - Y|_F.
        dual: The residual rho |Y - Y_old|_F, S divided by its largest entry.
        iterations: Steps that were made.
        converged: Whether both residuals came within the tolerance.
    """

    penalty: float
    projection: Array
    sparse: Array
    primal: float
    dual: float
    iterations: int
    converged: bool

    @property
    def rows(self) -> int:
        """Return how many rows of Y are not zero."""
        return int(self.sparse.any(axis=1).sum())

    @property
    def diagnostics(self) -> dict[str, float]:
        return {
            "penalty": self.penalty,
            "steps": self.iterations,
            "primal residual": self.primal,
            "dual residual": self.dual,
            "rows": self.rows,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        stopped = f"Fantope selection stopped after {self.iterations} steps, before it had converged"
        return () if self.converged else (stopped,)

    def basis(self, k: int) -> Array:
        """Return the top k eigenvectors, (d, k), of the sparse Y where they are well defined, else of X.

        A large penalty leaves Y with fewer than k clear directions, and its next ones are arbitrary.
        Clear is an eigenvalue gap of more than twice |X - Y|_F, which X then shares (Weyl), at least 1e-3.
        """
        d = len(self.sparse)
        values, vectors = eigh(self.sparse, subset_by_index=(d - k - 1, d - 1), check_finite=False)
        # The values ascend: the first is the k+1-th largest, whose eigenvector is left out.
        if values[1] - values[0] > max(2 * self.primal, 1e-3):
            return np.ascontiguousarray(vectors[:, :0:-1])
        return linalg.top_eigenspace(self.projection, k)


def select(
    second_moment: Array,
    k: float,
    penalty: float,
    *,
    start: Array | None = None,
    steps: int = STEPS,
    tolerance: float = 1e-3,
) -> Solution:
    """Return the solution at one penalty, starting from the projector on the top k eigenvectors.

    At lam = 0 that is the solution, so a vanishing penalty gives plain PCA exactly, not to a tolerance.

    Args:
        second_moment: S, (d, d) symmetric.
        k: The trace of X.
        penalty: lam >= 0, in the units of S.
        start: Another Y to start from, (d, d).
        steps: The most steps that are made.
        tolerance: Both residuals must fall below this times sqrt k. The default is the package's; 1e-8 with
            some thousand steps gives six digits.

    Raises ValueError unless 0 < k <= d, steps >= 1, tolerance > 0 and the penalty is at least 0.
    """
    checks.whole(1, steps=steps)
    checks.positive(tolerance=tolerance)
    checks.not_negative(penalty=penalty)
    if start is None:
        top = linalg.top_eigenspace(second_moment, int(k))
        start = top @ top.T
    scale = float(np.abs(second_moment).max()) or 1.0  # 1 for a moment of zeros
    target = second_moment / scale
    # Y, U, and an array that each step works in.
    sparse = start
    dual_variable, work = np.zeros_like(target), np.empty_like(target)
    rho, rank = 1.0, 0
    limit = tolerance * math.sqrt(k)  # of both residuals
    taken, converged = 0, False
    while taken < steps:
        taken += 1
        np.divide(target, rho, out=work)
        work += sparse
        work -= dual_variable
        projection, rank = fantope_projection.project(work, k, rank + _SPARE)
        np.add(projection, dual_variable, out=work)
        # `projection` is X, and `work` is X + U from here on.
        before = sparse
        threshold = penalty / (scale * rho)
        # What the soft threshold takes off is U + X - Y.
        np.clip(work, -threshold, threshold, out=dual_variable)
        sparse = work - dual_variable
        primal = float(np.linalg.norm(projection - sparse))
        dual = rho * float(np.linalg.norm(sparse - before))
        converged = max(primal, dual) < limit
        if converged:
            break
        # U is in units of 1/rho, so it is rescaled with it.
        if primal > _IMBALANCE * dual:
            rho *= _STEP
            dual_variable /= _STEP
        elif dual > _IMBALANCE * primal:
            rho /= _STEP
            dual_variable *= _STEP
    return Solution(penalty, projection, sparse, primal, dual, taken, converged)


def cost(d: int, k: int, providers: int) -> float:
    """Return the cost of one run of `select` that uses all its steps, in partial d x d eigenproblems."""
    return 1.0 + STEPS
