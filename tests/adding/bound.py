"""Add a bound by this file alone: the random guess, which holds whatever is done."""

from dppca_core.bounds.rule import BoundRule, make_bound
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

SOURCE = "a test of this project"


def added_bound(setting: Setting, *, c: float = 1.0) -> Bound:
    """Return c times the error of a random guess.

    Args:
        c: The constant of the bound.

    Returns:
        The bound, with one term, stat.
    """
    guess = c * random_guess(setting.d, setting.k)
    assumptions = ((True, "nothing is assumed"),)
    return make_bound(assumptions, {"stat": guess}, guess)


BOUNDS = (
    BoundRule(
        title="Random guess, added",
        kind="upper",
        methods=("pca",),
        formula=r"\sin\Theta \le c\sqrt{k(1-k/d)}",
        compute=added_bound,
        source=SOURCE,
        symbols={"c": "c"},
        fits="c",
    ),
)
