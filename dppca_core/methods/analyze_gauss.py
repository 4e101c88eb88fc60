"""Analyze Gauss (Dwork, Talwar, Thakurta & Zhang, STOC 2014, Algorithm 1).

A trusted curator releases the pooled second moment plus symmetric Gaussian noise; its leading
eigenvectors are post-processing. Noise, sensitivity and proof: `dppca_core.mechanisms.symmetric_gaussian`.
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "central", "Analyze Gauss", "Dwork, Talwar, Thakurta & Zhang, STOC 2014"
)
