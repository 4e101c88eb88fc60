"""Bingham laws: density prop. to exp(v^T A v) on the sphere, etr(V^T A V) on orthonormal d x k frames.

One eigendecomposition of A serves all draws: everything here lives in A's eigenbasis and in terms of
energies a_i = l_max - l_i >= 0, ascending, so the density is exp(-v^T diag(a) v).

A column given the k-1 others W (d x m) is a vector Bingham on the unit sphere of null(W^T), of dimension
q = d - m. It is drawn exactly by the rejection of Kent, Ganeiber & Mardia (JCGS 2018; as recalled, derived
again here). Let x = v^T diag(a) v - t be the energy above a floor t. Directions u = z/|z| of z ~ N(0, P^-1),
P = I + 2(diag(a) - t) restricted to null(W^T), have density prop. to (1 + 2x)^(-q/2), and as log y <= y - 1,

    -x + (q/2) ln(1 + 2x) <= (q/2) ln q - (q-1)/2        wherever 1 + 2x > 0,

so that accepting with the exponential of the difference of the two sides is exact for every t with P > 0.
(The power of 1 + 2x is +q/2 in the acceptance: with -q/2, as in two public packages, the draws follow
f g^2.) The rate is best where tr P^-1 = 1; there it is .27 at q = 10 and .85/sqrt(q) for large q, at worst.
Kent et al. write b + 2(a - a_min) for 1 + 2(a - t): b = 1 + 2(a_min - t) and the same equation for b.

k = 1 is exact and independent. For k > 1, sweeps over columns (Gibbs) leave etr(V^T A V) invariant but
reach it only in the limit: a finite chain is an approximate sampler.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.numerics.linalg import oriented, orthonormalise

STRONGEST = 1e14  # beyond, doubles resolve no energy to a unit, which the density needs
_CANDIDATES = 16  # floors t that are tried at once
_FLOOR_ERROR = 0.1  # of t: it costs at most 1 % of the acceptance rate
_PATIENCE = 1000  # blocks without a draw: the floor was lost to rounding if the rate is below 1e-4


def energies(matrix: Array) -> tuple[Array, Array]:
    """Return the energies l_max - l of a symmetric (d, d) matrix, ascending, (d,), and its eigenvectors.

    The eigenvectors are the columns of a (d, d) matrix, in the energies' order.

    Raises ValueError if they spread over more than STRONGEST.
    """
    values, vectors = eigh(matrix, check_finite=False)
    spread = float(values[-1] - values[0])
    if not spread <= STRONGEST:
        raise ValueError(f"matrix must have eigenvalues within {STRONGEST:g} of each other, got {spread:g}")
    return values[-1] - values[::-1], oriented(np.ascontiguousarray(vectors[:, ::-1]))


@dataclass(frozen=True, eq=False)
class Conditional:
    """Hold the exact law of one column given the m others, from which columns can be drawn.

    The proposal is the module's Gaussian z. Its first m coordinates, where P may be negative, are `head` @
    xi; the rest are (g + frame (inner @ xi - frame^T g)) / root, for xi and g standard normal. Why is said in
    `conditional`.

    Attributes:
        energies: a, ascending, (d,).
        floor: t of the module's text.
        head: (m, r), r being min(m, d - m).
        inner: What ties g to xi within the span of `frame`, (r, r).
        frame: Orthonormal columns that span the constraint beyond the first m coordinates, (d - m, r).
        root: Square roots of P, (d - m,), beyond the first m coordinates.
    """

    energies: Array
    floor: float
    head: Array
    inner: Array
    frame: Array
    root: Array

    @property
    def dimension(self) -> int:
        """Return q = d - m, the dimension of the space that the column lies in."""
        return len(self.energies) - len(self.head)

    def propose(self, count: int, rng: np.random.Generator) -> Array:
        """Draw directions z/|z| of the proposal Gaussian: columns of length 1, (d, count)."""
        split = len(self.head)
        drawn = np.empty((len(self.energies), count))
        # `loose` is g, whose part along the frame is replaced by what `tied`, xi, says.
        loose = rng.standard_normal((len(self.root), count))
        tied = rng.standard_normal((self.head.shape[1], count))
        loose += self.frame @ (self.inner @ tied - self.frame.T @ loose)
        drawn[:split] = self.head @ tied
        drawn[split:] = loose / self.root[:, None]
        drawn /= np.sqrt(np.einsum("ij,ij->j", drawn, drawn))
        return drawn

    def log_acceptance(self, proposed: Array) -> Array:
        """Return the log probability of keeping each proposal, (d, count) to (count,)."""
        q = self.dimension
        above = (self.energies - self.floor) @ proposed**2
        return -above + q / 2 * np.log((1 + 2 * above) / q) + (q - 1) / 2

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Draw `count` independent columns by rejection, exactly, (d, count).

        They come from blocks of at most max(d, 64) proposals, which bounds the memory.
        Raises ArithmeticError, instead of trying for ever, where rounding leaves nothing to accept.
        """
        kept: list[Array] = []
        missing, idle = count, 0  # columns still to be drawn, and blocks in turn that gave none
        while missing > 0:
            # About sqrt(q) proposals make one draw, by the acceptance rate in the module's text.
            size = min(missing * math.ceil(math.sqrt(self.dimension)), max(len(self.energies), 64))
            proposed = self.propose(size, rng)
            accepted = -rng.standard_exponential(size) < self.log_acceptance(proposed)
            idle = 0 if accepted.any() else idle + 1
            if idle > _PATIENCE:
                raise ArithmeticError(
                    f"energies up to {self.energies[-1]:.3g} are not resolved: scale them down"
                )
            kept.append(proposed[:, accepted][:, :missing])
            missing -= kept[-1].shape[1]
        return np.concatenate(kept, axis=1)


def conditional(energies: Array, others: Array) -> Conditional:
    """Return the law of a column given `others`, to which it is orthogonal.

    energies: ascending, (d,). others: the columns given, (d, m) orthonormal, 0 <= m < d.

    P is diagonal but for the constraint others^T z = 0. By interlacing it is positive from coordinate m + 1
    on. There y = P^(1/2) z enters the constraint only through its m coordinates in the basis `frame` of
    P^(-1/2) others; with the first m coordinates of z they lie in a null space of dimension min(m, d - m),
    where a small Cholesky factor draws them. O(d m^2), no d x d matrix.
    """
    m = others.shape[1]
    floor = _floor(energies, others)
    step = _FLOOR_ERROR
    while True:
        precision = 1 + 2 * (energies - floor)
        # All constraints on one scale: P can range over 1e12, and its small eigenvalues are differences.
        root = np.sqrt(np.maximum(np.abs(precision), 1))
        scaled = others / root[:, None]
        frame, triangle = np.linalg.qr(scaled[m:])
        null = np.linalg.qr(np.concatenate([scaled[:m], triangle]), mode="complete")[0][:, m:]
        weights = np.concatenate([precision[:m] / root[:m] ** 2, np.ones(len(triangle))])
        # Rounding can make P seem negative where it is barely positive: then a lower floor is tried.
        try:
            factor = np.linalg.cholesky((null.T * weights) @ null)
        except np.linalg.LinAlgError:
            floor -= step
            step *= 2
            continue
        mixed = np.linalg.solve(factor, null.T).T
        head = mixed[:m] / root[:m, None]
        return Conditional(energies, floor, head, mixed[m:], frame, root[m:])


def _floor(energies: Array, others: Array) -> float:
    """Return the largest t, to _FLOOR_ERROR, with P > 0 on null(others^T) and tr P^-1 <= 1.

    The acceptance rate is best at tr P^-1 = 1. A bracket of floors is narrowed, many being tried at once.
    Both conditions follow from the m x m matrix G = others^T P^-1 others: P on the null space has as many
    negative eigenvalues as P has more than G (Haynsworth), and
    tr = sum 1/P_i - tr(G^-1 others^T P^-2 others).
    """
    d, m = others.shape
    pairs = (others[:, :, None] * others[:, None, :]).reshape(d, m * m)
    # On the null space, of dimension q = d - m, P >= q at `low`, so tr P^-1 <= 1. At `high` its least
    # eigenvalue is at most 1 (interlacing), so P is not positive or tr P^-1 >= 1.
    low: float = float(energies[0]) - (d - m - 1) / 2
    high = float(energies[m])
    while high - low > max(_FLOOR_ERROR, 1e-15 * float(energies[-1])):
        tried = np.linspace(low, high, _CANDIDATES + 2)
        precision = 1 + 2 * (energies - tried[1:-1, None])
        precision[np.abs(precision) < 1e-3] = 1e-3  # off the poles of G, by less than the floor's error
        inverse = 1 / precision
        values, vectors = np.linalg.eigh((inverse @ pairs).reshape(_CANDIDATES, m, m))
        values[values == 0] = -1e-30  # P is singular there: the trace counts as infinite
        squared = (inverse**2 @ pairs).reshape(_CANDIDATES, m, m)
        lost = np.einsum("cij,cil,clj->cj", vectors, squared, vectors) / values
        positive = np.sum(values < 0, axis=1) == np.sum(inverse < 0, axis=1)
        fits = positive & (inverse.sum(axis=1) - lost.sum(axis=1) <= 1)
        # How many floors fit, from the lowest up; the next one above them is the bracket's new end.
        reached = _CANDIDATES if fits.all() else int(np.argmin(fits))
        low, high = float(tried[reached]), float(tried[reached + 1])
    return low


@dataclass(frozen=True, eq=False)
class Chain:
    """Hold where a Gibbs chain stands: `frame`, (d, k) orthonormal in A's eigenbasis, and its trace.

    trace: the energy sum_i a_i |V_i|^2 = k l_max - tr V^T A V after every scan, (scans,), from which one can
    tell whether the chain has mixed.
    """

    frame: Array
    trace: Array


def chain(energies: Array, start: Array, scans: int, rng: np.random.Generator) -> Chain:
    """Run a Gibbs chain: `scans` sweeps, in each of which every column is drawn anew given the others.

    energies: ascending, (d,). start: the first frame, (d, k) orthonormal in the eigenbasis, k < d.
    Raises ValueError for scans below 1 or k outside 1..d-1. The start is not modified.
    """
    d, k = start.shape
    checks.whole(1, scans=scans)
    checks.whole(1, d - 1, k=k)
    frame = start.copy()
    trace = np.empty(scans)
    for scan in range(scans):
        for column in range(k):
            given = conditional(energies, np.delete(frame, column, axis=1))
            frame[:, column] = given.draw(1, rng)[:, 0]
        frame = orthonormalise(frame)  # rounding would otherwise pile up over scans
        trace[scan] = energies @ np.einsum("ij,ij->i", frame, frame)
    return Chain(frame, trace)
