"""Add a bound by this file alone: the random guess, which holds whatever is done."""

from dppca_core.bounds.rule import BoundRule, judged
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.records import Bound, Setting

SOURCE = "a test of this project"


def added_bound(setting: Setting, *, c: float = 1.0) -> Bound:
    """Return c times the error of a random guess."""
    guess = c * random_guess(setting.d, setting.k)
    assumptions = ((True, "nothing is assumed"),)
    return judged(assumptions, {"stat": guess}, guess, SOURCE, RULE.named({"c": c}))


RULE = BoundRule(
    name="added_bound",
    title="Random guess, added",
    kind="upper",
    methods=("pca",),
    formula=r"\sin\Theta \le c\sqrt{k(1-k/d)}",
    compute=added_bound,
    constants={"c": 1.0},
    symbols={"c": "c"},
    fits="c",
)
BOUNDS = (RULE,)
