"""Two-stage PCA at one place: find the features that matter, then release their moment alone.

A curator reads the rows of all hospitals. The mathematics, what is spent and the proof are those of
`dppca_core.mechanisms.two_stage`. Rows are scaled to length 1: no bound of the norms has to be chosen.

It estimates the leading directions of E[v v^T], v = x/|x|. Where the residual is symmetric about 0 given the
scores these are the components of the covariance; skewed residuals leave a floor. It fails where n is too
small for stage 1 to name the right rows, and where the directions are spread over many rows
(`stacked_rounds`).

This combination was not found elsewhere. Recalled, not read again: select then restrict, Johnstone & Lu
(2009) and Ma (2013); rows of length 1, Locantore et al. (1999).
"""

from dppca_core.mechanisms import two_stage

release = two_stage.release
METHOD = two_stage.method_for_trust("central", "Two stages", "stages.one_place")
