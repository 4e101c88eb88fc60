"""The strength of the weakest direction in what a method releases, to set its noise beside."""

import math

from dppca_core.bounds.recommendation import chosen_rows
from dppca_core.experiments.explorer.results import Results
from dppca_core.mechanisms import normalised_product
from dppca_core.methods import METHODS


def strength(results: Results) -> float:
    """Return the weakest direction's strength in what the experiment's method releases, beside its noise.

    Of rows inside the bound it is the eigenvalue. Of rows of length 1 it is the eigenvalue's share of what
    the features kept hold; a normalised round has its root, E(chi_k)/k times.
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
