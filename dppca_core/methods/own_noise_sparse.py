"""One moment from each hospital with noise of its own, averaged, then sparse post-processing.

Rows have length 1 (`scaling`). Each hospital adds noise to its own moment, so the mean carries sqrt(N) times
the noise of one curator (`dppca_core.mechanisms.symmetric_gaussian`, with its proof). All that follows is
free. Each hospital sends d(d+1)/2 numbers.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "untrusted server",
    "Sparse step, own noise",
    "one noisy moment from each hospital, then truncated power",
    sparse=True,
)
