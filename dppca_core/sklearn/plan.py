"""Plan a fit of `PrivatePCA` from its parameters and public numbers: method, budget, bound and price.

No row is read here. Under add-remove their number is protected, so it decides nothing unless it is declared.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts import Account
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array
from dppca_core.bounds import fitted_prediction, stated_spectra
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.mechanisms import eigenvalues, paid_centre, paid_scale
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.methods import METHODS, with_tuned_rounds
from dppca_core.numerics import subspace_metrics
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import RELEASED, TUNED, Method
from dppca_core.release import array_release
from dppca_core.release.request import Request, most_features
from dppca_core.sklearn import rehearsal

RECOMMENDED = "recommended"
# Methods that release the moment of all features before they are given k.
WHOLE_MOMENT = ("analyze_gauss",)
# The methods that can be recommended, in the order of *Your data*: of two that are as good, the first is.
_CANDIDATES = ("analyze_gauss", "two_stage", "stacked_rounds")
_BOUNDS = 1e-100, 1e100  # whose squares, by which moments are multiplied, are numbers too
_PRIVATE = "private"  # a bound that is fitted to the rows
_FITTED_METHOD = "analyze_gauss"  # the one that is recommended with it, and with a share of the variance
_MATRICES = ("start",)  # options that are matrices; all others are numbers, words or truth values
_KEYWORDS_OF_EVERY_FIT = {"cohort", "k", "budget", "rng"}  # a method's other keywords are its options


@dataclass(frozen=True, eq=False)
class FitPlan:
    """Hold what a fit will do and cost, as public numbers decide it.

    components: k, or the most that a share of the variance can need. variance_share: that share, None where k
    was asked for. wants_variances: False where the caller wants none, even at no price. whole_budget: of the
    fit; `budget` is what a paid mean and paid scales leave of it, `remainder` what paid variances leave of
    that. mean_share, scale_share: of the whole budget, 0 for none. n: the number of rows that warnings and
    rules read, and by which sums are divided, None where none is public or declared; n_samples: likewise, for
    variances over it, and public of a hardened fit. rule: of a private bound. request: of a hardened release.
    price: of paid variances. public_bound: at which rows are shortened for a paid mean and scales; bound: for
    the method. spent: all that it costs. predicted: sin Theta that is predicted of the method, None where
    nothing is. recommended: whether it was not named.
    """

    method: Method
    options: dict[str, Any]
    d: int
    components: int
    variance_share: float | None
    wants_variances: bool
    whole_budget: Budget
    budget: Budget
    remainder: Budget
    mean_share: float
    scale_share: float
    n: int | None
    n_samples: int | None
    rule: FittedBound | None
    request: Request | None
    price: Event | None
    public_bound: float
    bound: float
    spent: tuple[Event, ...]
    predicted: float | None
    recommended: bool

    @property
    def epsilon(self) -> float:
        """Return the epsilon that it truly spends, at the budget's delta."""
        return closed_form.epsilon_of(self.spent, self.whole_budget.delta)

    @property
    def guess(self) -> float:
        """Return sin Theta of a random guess."""
        return subspace_metrics.random_guess(self.d, self.components)

    @property
    def recommendation(self) -> str | None:
        """Say why the method was recommended; None where it was named."""
        if not self.recommended:
            return None
        if self.rule is not None:
            return (
                f"{self.method.title} is one noisy moment, to which a private bound is fitted; methods of "
                "rows of length 1 have other components unless these are sparse, and run where they are "
                "named."
            )
        if self.variance_share is not None:
            return (
                f"{self.method.title} releases the moment of all features, off which a share of the variance "
                "can be read; other methods are given the number of components."
            )
        return (
            f"{self.method.title} has the least predicted error at the worst of three stated spectra, "
            f"{self.predicted:.2g}; a random guess has {self.guess:.2g}."
        )


@dataclass(frozen=True, eq=False)
class Asked:
    """Hold the parameters of a `PrivatePCA` as they were given; all that reads them raises ValueError."""

    n_components: Any
    method: Any
    epsilon: Any
    delta: Any
    bound: Any
    center: Any
    private_center: Any
    scale: Any
    private_scale: Any
    neighbours: Any
    accounting: Any
    explained_variance: Any
    params: Any
    random_state: Any
    hardened: Any
    account: Any

    def plan(self, rows: int, d: int) -> FitPlan:
        """Return what a fit of this many rows of d features will do. rows: may be protected."""
        checks.instance(str, method=self.method)
        k, variance_share = self._components(d)
        budget = Budget(self.epsilon, self.delta, self.neighbours, self.accounting)
        self._check_who_pays()
        fits = self._fits_bound(budget, d)
        # Shares of a private bound have a rule of their own.
        whole_budget = budget
        mean_share = 0.0 if fits else self._mean_share(budget, d=d, n=rows)
        scale_share = 0.0 if fits else self._scale_share(mean_share)
        paid = {"private_center": mean_share, "private_scale": scale_share}
        paid = {name: share for name, share in paid.items() if share}
        if paid:
            budget = gaussian.remaining(whole_budget, sum(paid.values()))
        n, share = self._public_n(rows, budget), self._variance_price()
        # Means divided by the number of rows would tell it where it is protected.
        divided = [*paid, *(["explained_variance"] if share else [])]
        if divided and n is None and not self.hardened:
            names = " and ".join(divided)
            raise ValueError(f"params must have declared_n where neighbours protect n, for {names}")
        method, options = self._method_and_options(budget, rows, n, d, k, fits)
        rehearsal.check_options(method, options, n=rows, d=d, k=k, budget=budget)
        rule, request, remainder, price = None, None, budget, None
        if fits:
            patients = rows if n is None or self.hardened else n  # hardened, n is public
            standardised = not _is_no(self.private_scale)
            rule = FittedBound(Layout.of_numbers(d), budget, patients, standardised=standardised)
        if self.hardened:
            sizes = {"d": d, "k": k, "mean_share": mean_share, "scale_share": scale_share}
            request = array_release.requested(method.name, whole_budget, options, rule, **sizes)
            if share and method.scaling == "unit":
                raise ValueError(
                    f"explained_variance must be None or False: {method.name} releases none, and a hardened "
                    "release pays for no variances"
                )
        elif share and rule is None:
            remainder, price = eigenvalues.split(method, budget, share, d=d, k=k, **options)
        # The length to which centred rows are shortened; paid scales have a rule of their own.
        public_bound = 1.0 if self.bound is None or fits else float(self.bound)
        bound = public_bound
        shortens = self.method == RECOMMENDED and not (self.hardened and paid)
        if shortens and method.scaling == "inside" and n is not None:
            bound *= stated_spectra.row_length(n=n, d=d, budget=remainder)
        spent: tuple[Event, ...] = method.spends(remainder, d=d, k=k, **options) if method.spends else ()
        # A paid mean or scale composes exactly with Gaussian releases alone; a `Guarantee` is of other noise.
        if paid and any(isinstance(event, Guarantee) for event in spent):
            names = " and ".join(paid)
            raise ValueError(f"{names} goes with Gaussian noise, which {method.name} has not")
        spent += (price,) if price else ()
        # Scales cost what a mean does: one Gaussian release with their share.
        spent += tuple(paid_centre.price(whole_budget, share) for share in paid.values())
        if request is not None:
            spent = request.events
        elif rule is not None:
            spent = rule.events
        if variance_share is not None:
            predicted = None  # as k is not known yet
        elif rule is None:
            predicted = _predicted_error(method, remainder, n, d, k)
        else:
            predicted = _fitted_error(method, rule, k)
        return FitPlan(
            method=method,
            options=options,
            d=d,
            components=k,
            variance_share=variance_share,
            wants_variances=(self.explained_variance is None or share > 0)
            and (n is not None or self.hardened),
            whole_budget=whole_budget,
            budget=budget,
            remainder=remainder,
            mean_share=mean_share,
            scale_share=scale_share,
            n=n,
            n_samples=rows if self.hardened else n,  # hardened, a row is emptied or filled, and n is public
            rule=rule,
            request=request,
            price=price,
            public_bound=public_bound,
            bound=bound,
            spent=spent,
            predicted=predicted,
            recommended=self.method == RECOMMENDED,
        )

    def concerns(self, plan: FitPlan) -> list[str]:
        """Return what to warn of before rows are read, in sentences."""
        sentences, n, epsilon = [], plan.n, plan.epsilon
        if self.center is None and not plan.mean_share:
            sentences.append(
                "center is None and no mean is paid for, so the first component may be the mean of the rows: "
                "give center, or private_center=0.1, or center=0 where that is meant"
            )
        if n is not None and self.delta >= 1 / n:
            sentences.append(
                f"delta = {self.delta:g} is not below 1/n = {1 / n:.2g}, so the guarantee lets a method "
                "publish a whole row: choose a far smaller one"
            )
        if epsilon > self.epsilon * (1 + 1e-6) + 1e-9:  # more than rounding can add
            sentences.append(
                f"{plan.method.name} truly spends epsilon = {epsilon:.4g} at delta = {self.delta:g}, "
                f"more than the {self.epsilon:g} asked for"
            )
        if plan.predicted is not None and plan.predicted > SMALL_SHARE * plan.guess:
            # That of a private bound is to first order, and no number where errors are large.
            error = f"{plan.predicted:.2g}" if plan.rule is None else "over a third as much as a guess"
            sentences.append(
                f"{plan.method.title} is predicted to err {error} at the worst of three stated spectra, "
                f"and a random guess errs {plan.guess:.2g}: take more rows, a larger epsilon or fewer "
                "features"
            )
        return sentences

    @property
    def payer(self) -> Payer | None:
        """Return what pays for a fit, None where nobody does."""
        return self.account.payer if isinstance(self.account, Account) else self.account

    def generator(self) -> np.random.Generator:
        """Return what draws the noise: from the operating system's entropy, or repeatable for a simulation.

        A Generator is used as it is, and a RandomState draws the seed of a new one: so both move on, and a
        second fit has other noise.
        """
        state = self.random_state
        if state is None or isinstance(state, np.random.Generator):
            return np.random.default_rng(state)
        if isinstance(state, int | np.integer):
            checks.whole(0, random_state=state)
            return np.random.default_rng(int(state))
        # What it refuses, all but a RandomState and the module numpy.random, its error prints.
        with suppress(ValueError):
            return np.random.default_rng(check_random_state(state).randint(2**32, size=4, dtype=np.uint64))
        raise ValueError(
            "random_state must be None, a whole number, a Generator or a RandomState, got "
            f"{checks.shown(state)}"
        )

    def per_feature(self, name: str, default: float, columns: Sequence[Any]) -> Array:
        """Return the parameter of this name, `center` or `scale`, as one number for each feature, (d,).

        default: the number that stands for a parameter that is None. columns: names of the features, or
        their places where they have no names. Raises ValueError for anything but one number, d of them, or a
        Series that has each column's name once.
        """
        given, d = getattr(self, name), len(columns)
        if isinstance(given, pd.Series):
            if set(given.index) != set(columns) or len(given) != d:
                raise ValueError(
                    f"{name} is a Series, so its index must have the name of each column of X once; give an "
                    "array where the order of the columns is meant"
                )
            given = given.loc[list(columns)]
        try:
            values = np.asarray(default if given is None else given)
            values = np.asarray(values, dtype=np.float64 if values.dtype != bool else None)
        except (TypeError, ValueError):  # a string, or lists of unequal lengths
            values = np.array(np.nan)
        if values.dtype == bool or values.shape not in ((), (d,)) or not np.isfinite(values).all():
            shown = _numbers_unsaid(given)
            raise ValueError(f"{name} must be a finite number, or {d} of them, one a feature, got {shown}")
        if name == "scale" and not (values > 0).all():
            raise ValueError(f"scale must be positive, got {_numbers_unsaid(given)}")
        return np.full(d, values)

    def _components(self, d: int) -> tuple[int, float | None]:
        """Return k, and None; or the most that k can be, and the share of the variance that decides."""
        asked = self.n_components
        if not isinstance(asked, float | np.floating):
            checks.whole(1, d - 1, n_components=asked)
            return int(asked), None
        if not 0 < asked < 1:
            raise ValueError(
                "n_components must be a whole number, or a share of the variance between 0 and 1, got "
                f"{asked!r}"
            )
        if self.method not in (RECOMMENDED, *WHOLE_MOMENT) and self.method in METHODS:
            raise ValueError(
                f"n_components must be a whole number with {self.method}, got {asked!r}: a share of the "
                "variance is read off a released moment of all features, as that of analyze_gauss"
            )
        return d - 1, float(asked)

    def _check_who_pays(self) -> None:
        checks.instance(bool, hardened=checks.plain(self.hardened))
        if self.account is not None and not isinstance(self.account, Account | Payer):
            raise ValueError(f"account must be an Account or a Payer, got {checks.shown(self.account)}")
        if self.random_state is not None and self.hardened:
            raise ValueError("random_state must be None where hardened: real rows need new noise")
        if self.random_state is not None and self.account is not None:
            raise ValueError(
                "random_state must be None where an account pays: noise that can be repeated protects "
                "nobody, so that a payment for it would state a privacy that is not there"
            )
        if self.hardened:
            checks.one_of([*array_release.CENTRAL, RECOMMENDED], method=self.method)

    def _fits_bound(self, budget: Budget, d: int) -> bool:
        """Return whether the bound is private: where that is asked for or, by default, wherever it can be."""
        if self.bound is not None and not isinstance(self.bound, str):
            checks.positive(bound=self.bound)
            checks.within(*_BOUNDS, bound=self.bound)
            return False
        if self.bound is not None:
            checks.one_of([_PRIVATE], bound=self.bound)
        # By default a mean is paid for only where nothing was said of it.
        elif self.private_center is not None:
            return False
        try:
            self._check_private_bound(budget, d)
        except ValueError as obstacle:
            if self.bound is not None:
                raise ValueError(f"bound='private': {obstacle}") from None
            return False
        return True

    def _check_private_bound(self, budget: Budget, d: int) -> None:
        if self.method not in (RECOMMENDED, *array_release.ONE_MOMENT):
            names = ", ".join(array_release.ONE_MOMENT)
            shown = checks.shown(self.method)
            raise ValueError(f"method must be {RECOMMENDED} or one of {names}, got {shown}")
        if self.center is None or self.scale is None:
            raise ValueError(
                "center and scale must be given, the middle and the half width of each column's public range"
            )
        if self.private_center is not None and not _is_yes(self.private_center):
            raise ValueError("private_center must be None or True, since a mean is paid for by its rule")
        if not (_is_no(self.private_scale) or _is_yes(self.private_scale)):
            raise ValueError("private_scale must be True or False, since a rule states what each step costs")
        if budget.accounting != "exact":
            raise ValueError(f"accounting must be exact, got {budget.accounting!r}")
        declared = "declared_n" in self._options
        if budget.neighbours == "add-remove" and not self.hardened and not declared:
            raise ValueError("params must have declared_n where neighbours protect n")
        name = _FITTED_METHOD if self.method == RECOMMENDED else self.method
        if self.hardened and most_features(name) < d:
            raise ValueError(
                f"exact noise of a moment can be drawn of {most_features(name)} features at most, got {d}"
            )
        if obstacle := METHODS[name].skip(d):
            raise ValueError(obstacle)

    def _public_n(self, rows: int, budget: Budget) -> int | None:
        """Return the number of rows where it is public, else the declared one; None where there is none."""
        declared: int | None = self._options.get("declared_n")
        return rows if budget.neighbours == "replace-one" else declared

    @property
    def _options(self) -> dict[str, Any]:
        """Return the method's own parameters, and a number of rows that is declared."""
        options = {} if self.params is None else self.params
        checks.instance(dict, params=options)
        if "declared_n" in options:
            checks.whole(1, declared_n=options["declared_n"])
        plain = {name: checks.plain(value) for name, value in options.items()}
        for name, value in plain.items():
            if name not in _MATRICES and not (value is None or isinstance(value, bool | int | float | str)):
                raise ValueError(f"{name} in params must be a number or a word, got {checks.shown(value)}")
        return plain

    def _method_and_options(
        self, budget: Budget, rows: int, n: int | None, d: int, k: int, fits: bool
    ) -> tuple[Method, dict[str, Any]]:
        """Return the method to run, named or recommended for this budget, and the options of its `fit`.

        rows: their number, which may be protected. n: the public number of rows, None where there is none.
        fits: whether the bound is private, whose rule reads a declared n in the method's place.
        Raises ValueError for an unknown method, for params that are not its own, and where nothing can be
        recommended.
        """
        private = {name: method for name, method in METHODS.items() if method.private}
        checks.one_of([*private, RECOMMENDED], method=self.method)
        options = self._options
        is_protected = budget.neighbours == "add-remove" and not self.hardened
        if self.method == RECOMMENDED:
            if not set(options) <= {"declared_n"}:
                shown = checks.shown(options)
                raise ValueError(f"params of a recommended method can only be declared_n, got {shown}")
            if fits or isinstance(self.n_components, float | np.floating):
                return private[_FITTED_METHOD], {}
            if n is None:
                raise ValueError("method must be named, or declared_n given, where neighbours protect n")
            # Exact noise of a moment with many features takes too long.
            possible = [
                name
                for name in _CANDIDATES
                if not private[name].skip(d) and not (self.hardened and most_features(name) < d)
            ]
            name = stated_spectra.recommend_blindly(
                "central", n=n, d=d, k=k, budget=budget, providers=1, among=possible
            )
            if not private[name].chooses_rows:
                return private[name], {}
            # What stands out is told by a public number of rows.
            return private[name], {"s_hat": RELEASED, **({"declared_n": n} if is_protected else {})}
        method = private[self.method]
        known = set(signature(method.fit).parameters) - _KEYWORDS_OF_EVERY_FIT
        # A private bound and a fit's sums read a declared number of rows where the method itself does not.
        if fits or (is_protected and "declared_n" not in known and options.get("iterations") != TUNED):
            options = {name: value for name, value in options.items() if name != "declared_n"}
        stands_out = isinstance(options.get("s_hat"), str) and options["s_hat"] == RELEASED
        if stands_out and is_protected and n is None:
            raise ValueError("params must have declared_n where neighbours protect n, for s_hat='released'")
        if method.tuned and options.get("iterations") == TUNED:
            known |= {"signal", "declared_n"}  # only the rule for the number of rounds takes these
        if fits:
            known &= {"s_hat"}  # what follows one noisy moment, whose noise has a rule of its own
        if not set(options) <= known:
            allowed = ", ".join(sorted(known)) or "none"
            shown = checks.shown(options)
            where = " with a private bound" if fits else ""
            raise ValueError(f"params must be among those of {method.name}{where} ({allowed}), got {shown}")
        return method, with_tuned_rounds(method, budget, options, d, rows, k, providers=1)

    def _mean_share(self, budget: Budget, d: int, n: int) -> float:
        """Return the share of the budget that pays for the mean, 0 for none."""
        if _is_no(self.private_center):
            return 0.0
        if not _is_yes(self.private_center):
            checks.inside_unit_interval(private_center=self.private_center)
            return float(self.private_center)
        if budget.neighbours != "replace-one":
            raise ValueError("private_center must be a share where neighbours protect the number of rows")
        return paid_centre.share(budget, d=d, n=n)

    def _scale_share(self, mean_share: float) -> float:
        """Return the share of the budget that pays for scales, 0 for none."""
        if _is_no(self.private_scale):
            return 0.0
        if _is_yes(self.private_scale):
            return paid_scale.share(mean_share)
        checks.inside_unit_interval(private_scale=self.private_scale)
        return float(self.private_scale)

    def _variance_price(self) -> float:
        """Return the share of the budget that was named for variances, 0 for none."""
        if _is_no(self.explained_variance):
            return 0.0
        checks.inside_unit_interval(explained_variance=self.explained_variance)
        return float(self.explained_variance)


def _numbers_unsaid(given: object) -> str:
    """Return a center or scale as an error shows it: of a list its length alone, as it may be a patient."""
    return f"list of length {len(given)}" if isinstance(given, list | tuple) else checks.shown(given)


def _is_no(parameter: object) -> bool:
    """Return whether a parameter says that something is not wanted: by None or False, NumPy's included."""
    return parameter is None or (isinstance(parameter, bool | np.bool) and not parameter)


def _is_yes(parameter: object) -> bool:
    return isinstance(parameter, bool | np.bool) and bool(parameter)


def _predicted_error(method: Method, budget: Budget, n: int | None, d: int, k: int) -> float | None:
    """Return sin Theta that is predicted of a method at the worst of the stated spectra.

    None where the number of rows is not public, and for a method of which nothing is predicted.
    """
    if n is None or method.trust not in TRUSTS:
        return None
    patterns = stated_spectra.patterns(d, k)
    errors = stated_spectra.errors_on(patterns, method.trust, n=n, d=d, k=k, budget=budget, providers=1)
    return max(errors[method.name]) if method.name in errors else None


def _fitted_error(method: Method, rule: FittedBound, k: int) -> float | None:
    """Return sin Theta that is predicted with a private bound at the worst of the stated spectra.

    It is for rows about the middles of their ranges. None for correlations, of which no spectrum tells how
    much noise their columns have, and with a sparse step.
    """
    if rule.standardised or method.name != _FITTED_METHOD:
        return None
    return fitted_prediction.worst_prediction(k, rule, mean_square=rule.layout.d / 3)
