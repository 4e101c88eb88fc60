"""Hold what a release on real patients is asked for, and what it costs, known before anything is read.

A share of the budget is measured in 1/z^2, z the noise multiplier (std/sensitivity): Gaussian releases with
shares that add up to 1 cost together what one release at the whole budget costs.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.mechanisms import paid_centre
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget, Event
from dppca_core.records import RELEASED
from dppca_core.release import discrete_gaussian

# Methods by how they are released: in two stages, in stacked rounds, from noisy moments. All get exact noise
# on integer sums; a method whose noise is drawn in floating point is not offered.
TWO_STAGES = ("two_stage", "two_stage_sealed", "two_stage_own_noise")
STACKED_ROUNDS = ("stacked_rounds", "stacked_rounds_sealed", "stacked_rounds_own_noise")
_MOMENTS = ("analyze_gauss", "analyze_gauss_sparse", "sealed_sparse", "own_noise_sparse", "dpdis_pca")
OFFERED = (*TWO_STAGES, *STACKED_ROUNDS, *_MOMENTS)
# Those that can take a fitted bound: of these one noisy moment is all that is read of rows.
FITTED = tuple(name for name in _MOMENTS if name != "dpdis_pca")
_MOST_FEATURES_BY_ROUNDS = 20_000
_MOST_DIRECTIONS = 50  # of a round


class ReleaseRequest(ABC):
    """Hold what every kind of request has that a guarantee is stated of (`release_text.guarantee`).

    budget: for one row. rows_per_patient: how many rows one patient can have at most. averaged: whether the
    rows of a patient together count as one, so that the budget is for a patient. One for components also
    has its method; one for eigenvalues has no `averaged`, which follows from the rows there, so that no
    guarantee can be stated of it alone.
    """

    budget: Budget
    rows_per_patient: int
    averaged: bool

    @property
    @abstractmethod
    def events(self) -> tuple[Event, ...]:
        """Return the events that it costs, which a payment states; they follow from public numbers."""

    @property
    def patient_epsilon(self) -> float:
        return patient_epsilon(self.events, self.budget, self.rows_per_patient)

    @property
    def trade_off(self) -> TradeOff:
        """Return what the release lets an attacker learn about a row."""
        return TradeOff.from_events(self.events)

    @property
    def patient_trade_off(self) -> TradeOff:
        """Return what the release lets an attacker learn about a patient, with all their rows."""
        return TradeOff.from_events(closed_form.grouped(self.events, self.rows_per_patient))


@dataclass(frozen=True)
class Request(ReleaseRequest):
    """Hold what is to be released. Raises ValueError for a method not offered, or a field out of range.

    method: one of OFFERED. d, k: features and components. budget: for one row. s_hat: how many features the
    sparse methods keep, None for all; of two stages also "released", for those that stand out of stage 1's
    noise. rank: R of DPdisPCA, the directions that a hospital sends; None for min(2k, d). rows_per_patient:
    how many rows one patient can have at most, a public statement of the table's owner; it changes no noise,
    only what is said of a patient. mean_share: of the budget, pays for the mean at which rows are centred
    (`mechanisms.paid_centre`); 0 centres them in public. averaged: rows of one patient count as one row at
    most, so that a row's guarantee is the patient's. scale_share: of the budget, pays for the scales that
    columns are divided by (`mechanisms.paid_scale`); 0 scales them in public. squares_share, tails_share: of
    the budget, pay with `mean_share` for a fitted bound (`fitted_bound`, whose rule states all three).
    standardised: whether components with a fitted bound are those of correlations.
    """

    method: str
    d: int
    k: int
    budget: Budget
    s_hat: int | str | None = None
    rank: int | None = None
    rows_per_patient: int = 1
    mean_share: float = 0.0
    averaged: bool = False
    scale_share: float = 0.0
    squares_share: float = 0.0
    tails_share: float = 0.0
    standardised: bool = False

    def __post_init__(self) -> None:
        checks.one_of(OFFERED, method=self.method)
        checks.whole(1, rows_per_patient=self.rows_per_patient)
        stages = self.method in TWO_STAGES
        by_rounds = self.method in (*TWO_STAGES, *STACKED_ROUNDS)
        checks.whole(2, most_features(self.method), d=self.d)
        checks.whole(1, min(self.d - 1, _MOST_DIRECTIONS if by_rounds else math.inf), k=self.k)
        # Two stages can let noisy rounds choose the number of features. A fixed number is at most that of
        # which a noisy moment can be drawn, as their second stage does.
        if not (stages and self.s_hat == RELEASED):
            room = min(self.d, discrete_gaussian.MOST_FEATURES) if stages else self.d
            checks.whole(self.k, room, s_hat=self.d if self.s_hat is None else self.s_hat)
        if self.rank is not None:
            checks.whole(self.k, self.d, rank=self.rank)
        checks.one_of(discrete_gaussian.ACCOUNTINGS, accounting=self.budget.accounting)
        if self.tails_share:
            checks.one_of(FITTED, method=self.method)
        elif self.squares_share or self.standardised:
            raise ValueError("squares_share and standardised are for a fitted bound, which has a tails_share")
        if self.tails_share and self.scale_share:
            raise ValueError("a fitted bound has scales of its own, so that scale_share must be 0")
        for share in (*self.shares.values(), self.prior_share):
            if share:
                gaussian.remaining(self.budget, share)  # raises for a share outside (0, 1)

    @staticmethod
    def from_plain(json_value: Mapping[str, Any]) -> "Request":
        """Return a request from what `asdict` made of it. Raises ValueError for anything else."""
        try:
            return Request(**dict(json_value, budget=Budget(**json_value["budget"])))
        except (KeyError, TypeError) as error:
            raise ValueError("this is no request of a release") from error

    @property
    def trust(self) -> str:
        return METHODS[self.method].trust

    @property
    def kept(self) -> int | str:
        """Return how many features are kept, or "released" where noisy rounds choose them."""
        return self.d if self.s_hat is None else self.s_hat

    @property
    def method_options(self) -> dict[str, Any]:
        if self.method in ("analyze_gauss_sparse", "sealed_sparse", "own_noise_sparse", *TWO_STAGES):
            return {"s_hat": self.kept}
        if self.method == "dpdis_pca":
            return {"rank": self.rank or min(2 * self.k, self.d)}
        return {}

    @property
    def prior_share(self) -> float:
        return math.fsum(self.shares.values())

    @property
    def shares(self) -> dict[str, float]:
        """Return the share of the budget of each step before the method, in the order of drawing."""
        return {
            "squares share": self.squares_share,
            "mean share": self.mean_share,
            "tails share": self.tails_share,
            "scale share": self.scale_share,
        }

    @property
    def fitted(self) -> bool:
        """Return whether the bound of rows is fitted to their lengths, which are paid for."""
        return self.tails_share > 0

    @property
    def remainder(self) -> "Request":
        """Return the request for the method alone, with the budget that earlier steps leave of it."""
        if not self.prior_share:
            return self
        budget = gaussian.remaining(self.budget, self.prior_share)
        return replace(
            self,
            budget=budget,
            mean_share=0.0,
            scale_share=0.0,
            squares_share=0.0,
            tails_share=0.0,
            standardised=False,
        )

    @property
    def events(self) -> tuple[Event, ...]:
        if self.prior_share:
            shares = (share for share in self.shares.values() if share)
            prior = (paid_centre.price(self.budget, share) for share in shares)
            return (*prior, *self.remainder.events)
        spends = METHODS[self.method].spends
        assert spends is not None  # all that is offered is private
        return spends(self.budget, d=self.d, k=self.k, **self.method_options)


def most_features(method: str) -> int:
    """Return how many features a release by this method can take.

    A noisy moment has d^2 numbers to draw, a round only d k.
    """
    if method in (*TWO_STAGES, *STACKED_ROUNDS):
        return _MOST_FEATURES_BY_ROUNDS
    return discrete_gaussian.MOST_FEATURES


def noisy_sums(method: str, hospitals: int) -> int:
    """Return how many sums get noise: one of all rows or, where hospitals trust nobody, one each.

    Hospital i adds its rows to sum i modulo this number.
    """
    return hospitals if METHODS[method].trust == "untrusted server" else 1


def patient_epsilon(events: Sequence[Event], budget: Budget, rows_per_patient: int) -> float:
    """Return the epsilon for a patient with this many rows, of events calibrated to a budget for one row.

    It is at the budget's delta. With one row it is the budget's own epsilon, which the noise meets or beats.
    """
    if rows_per_patient == 1:
        return budget.epsilon
    return closed_form.epsilon_of(closed_form.grouped(events, rows_per_patient), budget.delta)


def parameters(request: Request) -> dict[str, Any]:
    """Return the parameters by the names that a payment and a released document have for them."""
    asked = {"d": request.d, "k": request.k, **request.method_options, "budget": asdict(request.budget)}
    standardised = {"standardised": True} if request.standardised else {}
    return asked | {name: share for name, share in request.shares.items() if share} | standardised
