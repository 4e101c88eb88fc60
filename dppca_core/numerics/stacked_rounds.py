"""Combine noisy rounds: stack them side by side, each in units of its own noise.

A round is a released, noisy product of the data with the basis that the rounds before gave: R_t, (d, k).
[R_a/sd_a ... R_t/sd_t] has k directions that all rounds share; its top k left singular vectors average the
noise of all rounds, where the last round alone would keep all of its own. The first rounds, of a basis that
is still far off, say least: they lead to the next one and are left out.
"""

from collections.abc import Sequence

import numpy as np

from dppca_core.arrays import Array
from dppca_core.numerics import linalg


def leading(rounds: Sequence[Array], stds: Sequence[float], left_out: int) -> Array:
    """Return the stack projected on its top k right singular vectors, (d, k): U diag(singular values).

    Its columns span the next basis, and its heavy rows are the features that stand out.

    Args:
        rounds: Noisy rounds so far, (d, k) each.
        stds: Noise of each entry of every round; those of rounds to come may follow.
        left_out: First rounds that are left out; where there are no others the last round stands alone.
    """
    # Right singular vectors come from the small matrix stack^T stack, not from the tall stack.
    first = min(left_out, len(rounds) - 1)
    stack = np.hstack([part / std for part, std in zip(rounds[first:], stds[first:], strict=False)])
    _, rotation = linalg.top_eigenpairs(stack.T @ stack, rounds[0].shape[1])
    return stack @ rotation
