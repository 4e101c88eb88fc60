"""Release the mean of rows and the scales of their columns, which a share of the budget pays for."""

import math
from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.release import discrete_gaussian
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.exact_stages import Reader
from dppca_core.release.patient_rows import Part, bits_of, patients
from dppca_core.release.request import Request, noisy_sums


def noise_std(request: Request, bits: int, squared: bool = False) -> float:
    """Return the std of each entry of a sum of rows, or of their squares, in units of 4^-bits."""
    if squared:
        std = paid_scale.noise_std(request.budget, request.scale_share, n=1)
    else:
        std = paid_centre.noise_std(request.budget, request.mean_share, n=1)
    return discrete_gaussian.check_std(std * 4.0**bits, request.budget)


def mean_of(
    request: Request, rows: Sequence[Part], read: Reader, progress: Progress, squared: bool = False
) -> Array:
    """Return the noisy mean of all rows, or of their squares, (d,), from exact sums rounded towards zero.

    Hospitals that trust nobody each add noise to their own sum. Reads private rows.
    """
    bits, many = bits_of(rows), noisy_sums(request.method, len(rows))
    sums = np.zeros((many, request.d))

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        # A patient's rows count as their mean: 1/m each.
        entries = np.square(part) if squared else part
        sums[hospital % many] += np.trunc(entries * np.square(weights) * 4.0**bits).sum(axis=0)

    read(add, lambda share: progress(0.0), of_mean=True)
    noisy = [discrete_gaussian.add_noise(whole, noise_std(request, bits, squared)) for whole in sums]
    mean: Array = np.sum(noisy, axis=0) / (4.0**bits * sum(patients(part) for part in rows))
    return mean


def scales_of(request: Request, rows: Sequence[Part], squares: Array) -> paid_scale.ColumnScales:
    """Return scales from noisy squares: those of hospitals that trust nobody have each hospital's noise."""
    n, left = _effective(request, [patients(part) for part in rows]), request.remainder.budget
    return paid_scale.of_release(squares, request.budget, request.scale_share, left, n)


def _effective(request: Request, sizes: Sequence[int]) -> float:
    """Return the patients over which noise is spread: hospitals that trust nobody each add their own."""
    return sum(sizes) / math.sqrt(noisy_sums(request.method, len(sizes)))


def squares_std(request: Request, sizes: Sequence[int]) -> float:
    """Return the std of each noisy mean of squares, in squares of the rows' greatest length."""
    return paid_scale.noise_std(request.budget, request.scale_share, _effective(request, sizes))


def hidden_spread(request: Request, sizes: Sequence[int]) -> float:
    """Return the least scale that a release can have, in the rows' greatest length, known before it."""
    return math.sqrt(paid_scale.floor(squares_std(request, sizes), request.d))


def relative_bound(request: Request, sizes: Sequence[int]) -> float:
    """Return where scaled rows are shortened, in root mean square lengths, known before."""
    return paid_scale.relative_bound(request.remainder.budget, d=request.d, n=_effective(request, sizes))
