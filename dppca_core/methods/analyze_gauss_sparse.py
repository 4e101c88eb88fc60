"""One Analyze Gauss release, then sparse post-processing: truncated power on the noisy moment.

Beyond the papers. The release is that of Analyze Gauss (`dppca_core.mechanisms.symmetric_gaussian`, with its
proof). All iterations after it are free. So unlike in DPS-PCA the noise does not grow with their number. It
needs a curator and sends d(d+1)/2 numbers instead of d k a round.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "central",
    "Analyze Gauss + sparse step",
    "Analyze Gauss, then truncated power as free post-processing",
    sparse=True,
)
