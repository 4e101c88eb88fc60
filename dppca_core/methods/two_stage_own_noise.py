"""Two-stage PCA where hospitals trust nobody: each adds noise to its own sums before they leave.

It is `two_stage` (`dppca_core.mechanisms.two_stage`, with its proof), but each hospital's message alone keeps
the guarantee. So the sum carries sqrt(N) times the noise of one curator. The server weights messages by their
patients. On the scale of sums every hospital's noise then counts the same.
"""

from dppca_core.mechanisms import two_stage
from dppca_core.records import Method

TRUST = "untrusted server"
release = two_stage.release
fit = two_stage.fit_under(TRUST, __name__)

METHOD = Method(
    title="Two-stage PCA, own noise",
    reference="normalised rounds, then the moment of the rows they name",
    trust=TRUST,
    guarantee="(ε, δ)",
    uses=("epsilon", "delta", "d", "n", "k", "s", "s_hat", "providers", "neighbours", "accounting"),
    fit=fit,
    pools="restricted",
    spends=two_stage.spends,
    matrix=False,
    # Rows of the drawn patients, once for all that asks for them.
    cost=lambda d, k, providers: 3.0,
    scaling="unit",
    audit="stages.own_noise",
)
