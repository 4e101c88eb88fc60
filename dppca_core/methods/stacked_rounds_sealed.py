"""Stacked normalised rounds with sealed sums: hospitals add the noise of one curator together.

As `stacked_rounds` (`dppca_core.mechanisms.stacked`), each round a sum over hospitals by secure aggregation.
Of N hospitals t that collude know their own noise: (N - t)/N of its variance is left.
"""

from dppca_core.mechanisms import normalised_product, stacked

release = normalised_product.release
METHOD = stacked.method_under("secure aggregation", "Stacked rounds, sealed sums", "stages.rounds", __name__)
fit = METHOD.fit
