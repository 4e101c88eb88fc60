"""The strength of the weakest of k directions in what a method releases, to compare its noise with."""

import math

from dppca_core.bounds.recommendation import chosen_rows
from dppca_core.experiments.explorer.results import Results
from dppca_core.mechanisms import normalised_product
from dppca_core.methods import METHODS


def strength(results: Results) -> float:
    """Return how large the k-th direction is in what the experiment's method releases without noise.

    In the second moment of rows divided by a bound it is the k-th eigenvalue. For rows of length 1 it is that
    eigenvalue over the trace of the features kept, taken as the sum of the k largest eigenvalues and, for
    each other feature kept, the mean of the remaining ones. Stacked rounds release normalised products
    (`mechanisms.normalised_product`), in which it is E(chi_k)/k times the root of that share.
    """
    experiment, values = results.experiment, results.truth.eigenvalues
    method, k = METHODS[experiment.method], experiment.k
    if method.scaling != "unit":
        return float(values[k - 1])
    kept = experiment.d
    if method.chooses_rows:
        kept = chosen_rows(experiment.d, k) if experiment.choose_rows else experiment.s_hat
    share = float(values[k - 1] / (values[:k].sum() + (kept - k) * values[k:].mean()))
    by_rounds = method.name.startswith("stacked_rounds")
    return normalised_product.mean_length(k) * math.sqrt(share) if by_rounds else share
