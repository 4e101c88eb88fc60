"""Say in sentences what a release promises, and what was done to the rows behind it."""

import math
from importlib.metadata import version

from dppca_core.release.request import ReleaseRequest, Request


def guarantee(request: ReleaseRequest, by_column: bool = False) -> str:
    """Return what a release promises, in sentences.

    by_column: whether a patient's hospital follows from the table and is not assigned at random. Hospitals'
    sizes are public, so the promise is then about replacing a patient by another of the same hospital.
    """
    budget, several = request.budget, request.rows_per_patient > 1
    row = "row" if several else "patient's rows, however many," if request.averaged else "patient's row"
    if budget.neighbours == "replace-one":
        change = f"Replacing any one {row} by any other" + (" of the same hospital" if by_column else "")
    else:
        change = f"Emptying any one {row} to zeros, or filling an empty one, their number being public,"
    promised = (
        f"{change} changes the chance of any conclusion from this release by "
        f"at most a factor of {_factor(budget.epsilon)}, plus {budget.delta:g}."
    )
    if several:
        promised += (
            f" This is for one row. A patient can have up to {request.rows_per_patient:,} rows, and for all "
            f"of them the factor is {_factor(request.patient_epsilon)}, plus {budget.delta:g}."
        )
    promised += f" {as_gaussian(request)}"
    if by_column:
        promised += f" How many {'rows' if several else 'patients'} each hospital has is public."
    return promised


def as_gaussian(request: ReleaseRequest) -> str:
    """Return the mu of a release in a sentence; all that is offered has Gaussian noise alone."""
    sentence = f"As Gaussian differential privacy it is μ = {request.trade_off.mu:.4g}"
    if request.rows_per_patient == 1:
        return f"{sentence}."
    return f"{sentence} for a row and {request.patient_trade_off.mu:.4g} for a patient."


def _factor(epsilon: float) -> str:
    """Return e^epsilon as text, with its value unless that is too large to mean anything."""
    return f"e^{epsilon:.4g}" + (f" = {math.exp(epsilon):.3g}" if epsilon < 10 else "")


def noise_sentence() -> str:
    return (
        f"Noise: the discrete Gaussian of OpenDP {version('opendp')} on an exact integer sum, from the "
        "operating system's entropy."
    )


def centre_sentence(request: Request) -> str:
    if not request.mean_share:
        return "in public (at usual values, the middle of ranges, or a given center), not at the mean"
    return f"at a mean that {request.mean_share:.3g} of the budget paid for"


def scale_sentence(request: Request) -> str:
    if request.fitted:
        by = "divided by scales that mean squares and mean tell, " if request.standardised else ""
        paid = request.squares_share + request.tails_share
        return (
            f"{by}shortened to a length that fits the rows (length after scaling), for which {paid:.3g} of "
            "the budget paid, and divided by it"
        )
    if not request.scale_share:
        return "in public, by ranges or a given scale, and by the bound of rows"
    return (
        f"divided by scales that {request.scale_share:.3g} of the budget paid for, shortened to the length "
        "after scaling, and divided by it"
    )


def score_sentence(request: Request) -> str:
    steps = ["encode it by the dictionary, or by center and scale"]
    steps += [] if request.fitted else ["divide it by the bound"]
    steps += ["subtract the mean"] if request.mean_share else []
    scales = request.scale_share or request.standardised
    steps += ["divide by the scales and by the length after scaling"] if scales else []
    steps += ["divide by the length after scaling"] if request.fitted and not scales else []
    return f"Scores of a new row, which is not shortened: {', '.join(steps)}, and multiply by each component."
