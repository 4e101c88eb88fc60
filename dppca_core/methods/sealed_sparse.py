"""One moment with sealed sums, then sparse post-processing: CAPE's aggregate and truncated power.

Rows have length 1 (`scaling`), and hospitals add the noise of one curator together. All that follows the one
release (`dppca_core.mechanisms.symmetric_gaussian`, with its proof) is free. Each hospital sends d(d+1)/2
numbers.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "secure aggregation",
    "Sparse step, sealed sums",
    "one noisy moment from each hospital, then truncated power",
    sparse=True,
)
