"""Stacked normalised rounds at one place, for directions that are spread over many rows.

A curator reads the rows of all hospitals and releases T rounds; the mathematics and the proof are those of
`dppca_core.mechanisms.stacked`. It estimates the leading directions of E[v v^T], v = x/|x|, as `two_stage`
does, without asking for sparsity. It fails where T rounds do not converge.

This combination was not found elsewhere. Recalled, not read again: noise scaled to normalised gradients, Liu
et al. (2022); signs with Gaussian noise, Kim & Jung (2025).
"""

from dppca_core.mechanisms import normalised_product, stacked

release = normalised_product.release
METHOD = stacked.method_for_trust("central", "Stacked rounds", "stages.rounds")
