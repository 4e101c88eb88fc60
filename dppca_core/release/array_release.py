"""Release components of an array of numbers, for scripts: the same release as that of a visitor's table.

An array has no dictionary. What is public of it is where each column is centred, by what it is divided, and
the length to which rows are then shortened. Where that length is fitted to the rows, the two numbers of a
column are the middle and the half width of its public range.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dppca_core import checks
from dppca_core.accounting import closed_form
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, BookTable, Payer
from dppca_core.arrays import Array
from dppca_core.mechanisms import eigenvalues
from dppca_core.mechanisms.eigenvalues import ReleasedVariances
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.methods import METHODS
from dppca_core.numerics import moments
from dppca_core.privacy import Budget
from dppca_core.release import fitted_bound, private_release
from dppca_core.release.private_release import Released
from dppca_core.release.request import FITTED, OFFERED, Request

CENTRAL = tuple(name for name in OFFERED if METHODS[name].trust == "central")  # an array is one party's
ONE_MOMENT = tuple(name for name in FITTED if name in CENTRAL)  # those that take a fitted bound


def encoded(rows: Array, center: Array, scale: Array) -> Array:
    """Return rows, (n, d), as numbers in [-1, 1]: values outside of center ± scale are cut to it."""
    with np.errstate(over="ignore"):  # what overflows is outside, and its sign is right
        numbers: Array = np.clip((rows - center) / scale, -1.0, 1.0)
    return numbers


def requested(
    method: str, budget: Budget, options: Mapping[str, Any], rule: FittedBound | None = None, **sizes: Any
) -> Request:
    """Return the request for a release by one of CENTRAL.

    options: the method's own parameters. rule: of a bound that is fitted to the rows, for one of ONE_MOMENT;
    None for a public bound. sizes: d, k, mean_share and scale_share, as `Request` has them. Raises ValueError
    for another method, for an option but s_hat, and as `Request` does.
    """
    checks.one_of(CENTRAL, method=method)
    if not set(options) <= {"s_hat"}:
        raise ValueError(f"params of a hardened release can only be s_hat, got {checks.shown(dict(options))}")
    asked = Request(method, budget=budget, s_hat=options.get("s_hat"), **sizes)
    if rule is None:
        return asked
    return fitted_bound.requested(asked, rule.layout, rule.n, standardised=rule.standardised)


def make(
    request: Request,
    rows: Array,
    payer: Payer | None,
    *,
    features: Sequence[str],
    center: Array,
    scale: Array,
    bound: float,
) -> Released:
    """Pay for a release of rows, (n, d), draw its noise, and return it. Reads private rows.

    Each row x becomes (x - center)/scale, shortened to `bound`. Where the request has a fitted bound, `bound`
    is not read, and rows are `encoded`. payer: of the table; None pays in a book in memory, with a limit that
    is just enough. Raises as `private_release.make` does, and ValueError for rows that overflow.
    """
    public = {"center": center.tolist(), "scale": scale.tolist()}
    payer = payer or _enough(request, len(rows), features)
    if request.fitted:
        layout = Layout.of_numbers(request.d)
        numbers = [encoded(rows, center, scale)]
        return private_release.make(request, numbers, payer, features=features, public=public, layout=layout)
    with np.errstate(over="ignore"):  # `clip_rows` refuses rows that overflow
        clipped = moments.clip_rows((rows - center) / scale, bound)
    public = public | {"bound": bound}
    return private_release.make(request, [clipped], payer, features=features, public=public)


def _enough(request: Request, n: int, features: Sequence[str]) -> Payer:
    budget, payer = request.budget, Book().payer(BookTable("array", n, tuple(features)))
    epsilon = max(closed_form.epsilon_of(request.events, budget.delta), budget.epsilon)
    payer.set_limit(Limit(epsilon, budget.delta, budget.neighbours))
    return payer


def taken_through(released: Released) -> tuple[Array, Array, float]:
    """Return mean and scale, (d,), and bound by which the release took rows, public or paid for."""
    document = released.document
    public = document["public"]
    mean, scale = np.array(public["center"]), np.array(public["scale"])
    # What is paid for is of rows that were divided by a public bound.
    bound = public.get("bound", 1.0)
    if document["mean"] is not None:
        mean = mean + scale * bound * np.array(document["mean"])
    if document["scales"] is not None:
        scale = scale * bound * np.array(document["scales"])
    return mean, scale, document["length after scaling"] or bound


def variances(released: Released, k: int) -> ReleasedVariances | None:
    """Return the second moment along the first k components, in units of the scaled rows, and what is left.

    None for methods that scale each row to length 1, which tell of directions alone, and for those that
    release no moment of all features.
    """
    trace = released.document["trace"]
    if released.eigenvalues is None or trace is None:
        return None
    if METHODS[released.document["method"]].scaling == "unit":
        return None
    square = taken_through(released)[2] ** 2
    along, std = released.eigenvalues[:k] * square, released.document["noise of trace"] * square
    return ReleasedVariances(np.diag(along), trace * square - float(along.sum()), std)


def fewest_components(released: Released, share: float) -> int:
    """Return the least number of released components that hold a share of the moment's trace.

    Raises ValueError for a release without the moment of all features.
    """
    document = released.document
    if released.eigenvalues is None or document["trace"] is None:
        raise ValueError(f"{document['what']} releases no moment of all features")
    return eigenvalues.fewest_axes(released.eigenvalues, document["trace"], document["noise of trace"], share)


def notes(released: Released, k: int) -> tuple[str, ...]:
    """Return what a reader must know of the first k components."""
    noise = ", ".join(map(str, np.flatnonzero(released.is_noise[:k]) + 1))
    return (f"components that may be axes of noise: {noise}",) if noise else ()
