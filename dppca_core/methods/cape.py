"""CAPE (Imtiaz & Sarwate 2018/2019): the noise of one curator, without a curator.

As recalled, on the scale of sums over a hospital's rows, with tau the noise that a trusted curator would
need. Each of S hospitals sends its moment + E_i + F_i + G_i, symmetric Gaussians. The E_i sum to zero over
the hospitals (by secure aggregation) and have variance (1 - 1/S) tau^2. The server knows F_i, which has the
same variance, and G_i has tau^2/S. When the server has removed F_i, a single message carries
(1 - 1/S) tau^2 + tau^2/S = tau^2; the sum loses the E_i and keeps S tau^2/S = tau^2. So the aggregate has
exactly the law of one noisy pooled moment, and is drawn as that. The papers divide by equal sizes first; on
the scale of sums nothing needs them equal.

Sensitivity: that of the second moment (`dppca_core.mechanisms.symmetric_gaussian`, with its proof). The
guarantee is that of the sum, and so of a server that sees only the sum. A server that sees all messages
learns more: given the others' rows, hospital i is hidden only by noise of variance

    tau^2 (S + 1)/(2 S)

This is derived here: E_i + G_i have covariance tau^2 ((1 + 1/S) I - J/S) over hospitals, J of ones, and
2 S/(S + 1) on the diagonal of the inverse. So for many hospitals its multiplier is short of the budget's by
sqrt 2. The guarantee also needs hospitals that follow the protocol, of which fewer than about a third collude
(as recalled).
"""

from dppca_core.mechanisms import noisy_moment, symmetric_gaussian

release = symmetric_gaussian.release
METHOD = noisy_moment.method_for_trust(
    "secure aggregation", "CAPE", "Imtiaz & Sarwate, ICASSP 2018 (protocol as recalled)"
)
