"""Stacked normalised rounds where hospitals trust nobody: each adds noise to its own sum of every round.

It is `stacked_rounds` (`dppca_core.mechanisms.stacked`), with sqrt(N) times the noise in the sum.
"""

from dppca_core.mechanisms import normalised_product, stacked

release = normalised_product.release
METHOD = stacked.method_for_trust("untrusted server", "Stacked rounds, own noise", "stages.own_rounds")
