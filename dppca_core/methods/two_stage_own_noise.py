"""Two-stage PCA where hospitals trust nobody: each adds noise to its own sums before they leave.

It is `two_stage` (`dppca_core.mechanisms.two_stage`, with its proof), but each hospital's message alone keeps
the guarantee. So the sum carries sqrt(N) times the noise of one curator. The server weights messages by their
patients. On the scale of sums every hospital's noise then counts the same.
"""

from dppca_core.mechanisms import two_stage

release = two_stage.release
METHOD = two_stage.method_for_trust("untrusted server", "Two stages, own noise", "stages.own_noise")
