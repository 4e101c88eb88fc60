"""Two diagnostics that tell from one number per scan whether a Markov chain has forgotten its start.

Both are estimates from a finite chain: a bad value shows that it has not mixed, a good one never proves
that it has. Short traces (20 scans) give rough values: split R-hat of a perfect sampler then exceeds 1.2
about once in thirty runs.

A scan is one sweep of a chain over all that it samples. A trace is one number after every scan, such as the
energy.
"""

import numpy as np

from dppca_core.arrays import Array


def split_r_hat(traces: Array) -> float:
    """Return Gelman-Rubin's R-hat over the halves of every chain, about 1 if mixed.

    traces: (chains, scans), scans >= 4.

    sqrt(((h-1)/h W + B/h) / W): W the mean variance within halves of length h, B/h the variance of their
    means (Gelman et al., Bayesian Data Analysis, 3rd ed., section 11.4; as recalled). Traces that never
    move give 1 where all are equal, else infinity. Raises ValueError for another shape.
    """
    half = _checked(traces) // 2
    halves = np.concatenate([traces[:, :half], traces[:, -half:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def autocorrelation_time(traces: Array) -> float:
    """Return 1 + 2 sum_t rho_t, averaged over chains: scans per independent draw.

    traces: (chains, scans), scans >= 4.

    The sum stops before the first negative pair rho_2t + rho_2t+1 (Geyer 1992, initial positive sequence;
    as recalled). 1 for independent scans and for traces that never move. Raises ValueError as above.
    """
    scans = _checked(traces)
    centred = traces - traces.mean(axis=1, keepdims=True)
    covariance = np.array(
        [np.einsum("ij,ij->", centred[:, : scans - lag], centred[:, lag:]) for lag in range(scans)]
    )
    if covariance[0] == 0:
        return 1.0
    rho = covariance / covariance[0]
    pairs = rho[: scans // 2 * 2].reshape(-1, 2).sum(axis=1)
    # Each rho counts twice, but for rho_0 = 1, which the first pair holds: hence the -1 below.
    ended = int(np.argmax(pairs < 0)) if (pairs < 0).any() else len(pairs)
    return float(max(1.0, 2 * pairs[:ended].sum() - 1))


def _checked(traces: Array) -> int:
    """Return the number of scans, at least 4. Raises ValueError for traces of another shape."""
    if traces.ndim != 2 or traces.shape[0] < 1 or traces.shape[1] < 4:
        raise ValueError(f"traces must have shape (chains, at least 4 scans), got {traces.shape!r}")
    return int(traces.shape[1])
