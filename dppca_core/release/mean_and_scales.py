"""Tell the noise of a paid mean and of paid scales, each for its share of the budget, from public numbers.

The formulas, with their sensitivities, are those of `mechanisms.paid_centre` and `mechanisms.paid_scale`.
Sums are exact in integers, in units of 4^-bits, and noise is added to these (`stages.mean`).
"""

import math
from collections.abc import Sequence

from dppca_core.arrays import Array
from dppca_core.mechanisms import paid_centre, paid_scale
from dppca_core.release import discrete_gaussian
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


def scales_of(request: Request, sizes: Sequence[int], squares: Array) -> paid_scale.ColumnScales:
    """Return the scales of columns from their released mean squares, (d,), by `paid_scale`'s rule."""
    n = _effective_n(request, sizes)
    left = request.remainder.budget  # for the method
    return paid_scale.scales_of_release(squares, request.budget, request.scale_share, left, n)


def _effective_n(request: Request, sizes: Sequence[int]) -> float:
    """Return at how many patients a single noise would have the std that the mean has here.

    Where N hospitals trust nobody, each adds its own noise, and the mean of n patients has sqrt(N) times the
    std of one: n/sqrt(N) patients.
    """
    return sum(sizes) / math.sqrt(noisy_sums(request.method, len(sizes)))
