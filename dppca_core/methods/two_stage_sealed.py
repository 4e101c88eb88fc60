"""Two-stage PCA with sealed sums: hospitals add their noise together, and no one sees one hospital's numbers.

It is `two_stage` (`dppca_core.mechanisms.two_stage`, with its proof), but every round and the last moment are
sums over hospitals by secure aggregation. Each hospital adds 1/N of the noise's variance, so the sum has
exactly the law of a curator's. If t of N hospitals collude, they know their own noise: (N - t)/N of its
variance is left.
"""

from dppca_core.mechanisms import two_stage

release = two_stage.release
METHOD = two_stage.method_for_trust("secure aggregation", "Two stages, sealed sums", "stages.one_place")
