"""Say what a synthetic population is, and how its rows are drawn where they are not Gaussian."""

from dppca_core.populations.heavy_tails import CLIP_IN_RMS
from dppca_core.populations.stated import StatedCorrelations, StatedEigenvalues
from dppca_core.populations.synthetic import Synthetic


def population(model: Synthetic) -> str:
    """Describe a population as a part of a sentence."""
    heavy = "" if model.tails is None else f"rows of Student's t with {model.tails:g} degrees of freedom"
    law = heavy or "Gaussian rows"
    if isinstance(model, StatedCorrelations):
        return f"{law} with stated correlations of {model.d} features"
    on = f"on s = {model.s} of {model.d} features"
    if isinstance(model, StatedEigenvalues):
        others = "" if len(model.values) == model.d else f", the others uniform up to {model.bulk[1]:g}"
        return f"{law} with {len(model.values)} stated eigenvalues{others}, the first {model.k} {on}"
    first, last = model.spikes[0], model.spikes[-1]
    equal = f"{model.k} equal spikes of {first:g}"
    spikes = equal if first == last else f"{model.k} spikes falling from {first:g} to {last:g}"
    others = f"the other eigenvalues uniform up to {model.bulk[1]:g}"
    if model.correlation:
        variance = f"{sum(model.bulk) / 2:g}"
        others = f"a background of variance {variance} in which neighbours correlate by {model.correlation:g}"
    return f"{law} with k = {spikes} {on} and {others}"


def heavy_rows(tails: float) -> str:
    return (
        f"Rows have heavy tails, those of Student's t with {tails:g} degrees of freedom. They are clipped to "
        f"{CLIP_IN_RMS:g} root mean square lengths, whatever n. Up to 2,000 patients are drawn one by one; "
        "of more, a sample stands for all, corrected to have their mean and spread. Methods on rows of "
        "length 1 have the errors of Gaussian rows. A picture shows Gaussian patients of the same covariance."
    )
