"""Release the mean of rows and the scales of their columns, each for its own share of the budget.

The formulas, with their sensitivities, are those of `mechanisms.paid_centre` and `mechanisms.paid_scale`.
Here sums are exact in integers, in units of 4^-bits, and noise is added to these (`discrete_gaussian`).
"""

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
    """Return the std of the noise in each entry of a sum of rows, in units of 4^-bits.

    squared: the noise of a sum of squared entries, which pays for scales, and not of one that pays for the
    mean. Raises ValueError for noise that cannot be drawn.
    """
    # A mean over n = 1 patient is the sum.
    if squared:
        std = paid_scale.noise_std(request.budget, request.scale_share, n=1)
    else:
        std = paid_centre.noise_std(request.budget, request.mean_share, n=1)
    return discrete_gaussian.check_std(std * 4.0**bits, request.budget)


def release_mean(
    request: Request, rows: Sequence[Part], read: Reader, progress: Progress, squared: bool = False
) -> Array:
    """Return the noisy mean of all rows, (d,), from exact integer sums. Reads private rows.

    squared: the mean of their squared entries instead. read: hands over the rows; `rows` may be their sums.
    Hospitals that trust nobody each add noise to their own sum.
    """
    bits, number_of_sums = bits_of(rows), noisy_sums(request.method, len(rows))
    sums = np.zeros((number_of_sums, request.d))

    def add(hospital: int, part: Array, weights: Array | float) -> None:
        """Add a piece of a hospital's rows, (m, d), to its sum, in whole units."""
        # The m rows of one patient count as their mean: their weights are 1/sqrt(m), so 1/m each.
        entries = np.square(part) if squared else part
        sums[hospital % number_of_sums] += np.trunc(entries * np.square(weights) * 4.0**bits).sum(axis=0)

    # Progress is counted by what follows; here it only asks whether to go on.
    read(add, lambda share: progress(0.0), of_mean=True)
    std = noise_std(request, bits, squared)
    noisy = [discrete_gaussian.add_noise(whole, std) for whole in sums]
    mean: Array = np.sum(noisy, axis=0) / (4.0**bits * sum(patients(part) for part in rows))
    return mean


def scales_of(request: Request, rows: Sequence[Part], squares: Array) -> paid_scale.ColumnScales:
    """Return the scales of columns from their released mean squares, (d,), by `paid_scale`'s rule."""
    n = _effective_n(request, [patients(part) for part in rows])
    left = request.remainder.budget  # for the method
    return paid_scale.scales_of_release(squares, request.budget, request.scale_share, left, n)


def _effective_n(request: Request, sizes: Sequence[int]) -> float:
    """Return at how many patients a single noise would have the std that the mean has here.

    Where N hospitals trust nobody, each adds its own noise, and the mean of n patients has sqrt(N) times the
    std of one: n/sqrt(N) patients.
    """
    return sum(sizes) / math.sqrt(noisy_sums(request.method, len(sizes)))


def squares_std(request: Request, sizes: Sequence[int]) -> float:
    """Return the std of the noise in each column's mean square, in squares of the rows' greatest length."""
    return paid_scale.noise_std(request.budget, request.scale_share, _effective_n(request, sizes))


def hidden_spread(request: Request, sizes: Sequence[int]) -> float:
    """Return the least scale that a column can get, in units of the rows' greatest length.

    A spread below it is hidden by the noise. It follows from public numbers, before anything is released.
    """
    return math.sqrt(paid_scale.floor(squares_std(request, sizes), request.d))


def relative_bound(request: Request, sizes: Sequence[int]) -> float:
    """Return the length to which scaled rows are shortened, in multiples of their root mean square length.

    It follows from public numbers, before anything is released.
    """
    return paid_scale.relative_bound(request.remainder.budget, d=request.d, n=_effective_n(request, sizes))
