"""The sensitivity of a second moment's product with an orthonormal block, for every method that sends it.

Sensitivity of n S Q, Q orthonormal, |x| <= 1: |(xx^T - yy^T) Q|_F <= |xx^T - yy^T|_F <= sqrt 2 for
replace-one when Q has two columns or more. Equality holds at x orthogonal to y inside span Q. With one column
it is at most the operator norm, 1. Add/remove moves it by |x| |Q^T x| <= 1. It does not grow with the number
of columns (Nicolas et al. 2024 make the same point).
"""

import math

from dppca_core.privacy import Budget


def sensitivity(budget: Budget, columns: int) -> float:
    """Return the l2 sensitivity of n S Q, Q with so many columns; the proof is in the module's text."""
    return math.sqrt(2) if budget.neighbours == "replace-one" and columns > 1 else 1.0
