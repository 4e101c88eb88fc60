"""Stacked normalised rounds with sealed sums: hospitals add the noise of one curator together.

It is `stacked_rounds` (`dppca_core.mechanisms.stacked`), but each round is a sum over hospitals by secure
aggregation. If t of N hospitals collude, they know their own noise: (N - t)/N of its variance is left.
"""

from dppca_core.mechanisms import normalised_product, stacked

release = normalised_product.release
METHOD = stacked.method_for_trust("secure aggregation", "Stacked rounds, sealed sums", "stages.rounds")
