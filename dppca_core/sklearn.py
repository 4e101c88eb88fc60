"""Private PCA as a scikit-learn transformer: any private method of the registry, in a Pipeline.

The mathematics is that of the methods (`dppca_core.methods`) and of `dppca_core.mechanisms.eigenvalues`.
"""

import warnings
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array
from dppca_core.bounds import fitted_prediction, stated_spectra
from dppca_core.bounds.perturbation import SMALL_SHARE
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.cohort import Cohort
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms import eigenvalues, paid_centre, paid_scale
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.methods import METHODS, with_tuned_rounds
from dppca_core.numerics import moments, subspace_metrics
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import RELEASED, TUNED, Estimate, Method
from dppca_core.release import array_release
from dppca_core.release.private_release import Released
from dppca_core.release.request import most_features

RECOMMENDED = "recommended"
# The methods that can be recommended, in the order of *Your data*: of two that are as good, the first is.
_CANDIDATES = ("analyze_gauss", "two_stage", "stacked_rounds")
_PRIVATE = "private"  # a bound that is fitted to the rows
_FITTED_METHOD = "analyze_gauss"  # the one that is recommended with it
_KEYWORDS_OF_EVERY_FIT = {"cohort", "k", "budget", "rng"}  # a method's other keywords are its options


# scikit-learn has no types: its classes are "Any" to mypy.
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Estimate principal components of one party's table without giving away its rows.

    Every row x becomes (x - center) / scale, is clipped to norm `bound`, and enters the second moment
    (1/n) sum x x^T, whose top eigenvectors a differentially private method estimates. `center`, `scale`,
    `bound` and n are public: they must come from what is known about the columns, never from these rows.
    Under add-remove n is protected: no warning and no recommendation reads it, only one that is declared.

    **With `bound="private"` no bound has to be guessed.** `center` and `scale` are then the middle and the
    half width of each column's public range, and values outside are cut to it. Part of the budget pays for
    the mean of the rows and for their lengths, and the bound is fitted to these
    (`dppca_core.mechanisms.paid_lengths`). Components are of rows about that mean, and with
    `private_scale=True` those of correlations. It is for methods of one noisy moment. A row that lies exactly
    at `center` counts as empty.

    **Protected is** what `fit` leaves: `components_`, and `explained_variance_` where paid for. What
    `transform` returns is about the rows given to it, and as confidential as they are. **Every fit spends**
    epsilon and delta again: a grid search or a cross-validation costs the sum over all its fits on a row, and
    its scores, and the parameters chosen by them, come from private rows without noise. **A StandardScaler
    before it** reads means and deviations from the private rows without paying, which no later noise mends:
    give `center` and `scale` instead.

    **For real rows** take `hardened=True`. Noise in floating point is not safe against attacks on its last
    digits. Hardened, the release is that of *Your data* (`dppca_core.release.private_release.make`): exact
    integer sums, OpenDP's discrete Gaussian, the operating system's entropy, paid for in the book of
    `account` before any noise is drawn. It differs in this: n is public under add-remove too, where a row is
    emptied or filled; a row that lies exactly at `center` counts as empty, and stays there when a mean is
    paid for; rows are shortened further than `bound` only where nothing is paid for before the components.

    Args:
        method: "recommended", the one that *Your data* recommends: of one noisy moment, two stages and
            stacked rounds, the one with the least predicted error at the worst of three stated spectra
            (`dppca_core.bounds.stated_spectra`). Where noise is high, one noisy moment shortens rows further
            than `bound`, see `bound_`. With a private bound it is one noisy moment: the others count every
            row by its direction alone, and have other components unless these are sparse. Or the key of a
            private method of `dppca_core.METHODS`, whose `guarantee` says on what its epsilon rests.
        n_components: k, from 1 to one less than the number of features.
        epsilon: See `dppca_core.Budget`.
        delta: See `dppca_core.Budget`; it belongs well below 1/n.
        bound: Longest row that counts in full, in units of the scaled rows. Noise grows with its square, and
            what is predicted is for rows about as long. "private" fits it to the rows, as above. None is
            "private" wherever that can be: where `center` and `scale` are given, the method is recommended or
            of one noisy moment, the accounting exact, `private_center` left out, `private_scale` no share,
            and n public or declared. Elsewhere None is 1: rows that are all longer count by their direction.
        center: Public, in the units of the data: one number, one for each feature in the order of the
            columns, or a pandas Series with the names of the columns, in any order. None is 0 and warns
            unless a mean is paid for; 0 says that it is meant.
        private_center: False, True, or the share of the budget, between 0 and 1, that pays for the mean of
            the rows about `center`, shortened to `bound`: rows are centred there before the components are
            estimated (`dppca_core.mechanisms.paid_centre`, with the rule that True takes). Without it the
            first component is the mean wherever `center` is far from it. For methods of Gaussian noise. A
            private bound pays for a mean anyway, and takes False only.
        scale: Public and positive, in the forms that `center` has; None is 1.
        private_scale: False, True, or the share of the budget, between 0 and 1, that pays for the scales of
            the centred rows, shortened to `bound` (`dppca_core.mechanisms.paid_scale`, with the rule that
            True takes): components are then those of correlations. For methods of Gaussian noise. With a
            private bound True or False, and True pays nothing more.
        neighbours: See `dppca_core.Budget`.
        accounting: See `dppca_core.Budget`.
        explained_variance: False, or the share of the budget, between 0 and 1, that pays for the eigenvalues;
            see `dppca_core.mechanisms.eigenvalues.split`. Paying also turns `components_` into principal
            axes. With a private bound they cost nothing, and no share is taken.
        params: The method's own parameters by name, as {"s_hat": 20, "iterations": 8} for dps_pca. A
            recommended method has none but {"declared_n": 1000}, a public number of rows, which it needs
            under add-remove, as a private bound does.
        random_state: None seeds the noise from the operating system's entropy. A whole number makes it
            repeatable, so that it protects nobody: the fitted result is marked as a simulation.
        hardened: Whether the release is fit for real rows, as above. `method` is "recommended" or a central
            one of `dppca_core.release.request.OFFERED`, its `params` at most s_hat, `random_state` None.
            `explained_variance` takes no share of the budget: methods of one moment release eigenvalues
            anyway, and with others it must be False.
        account: What pays for a hardened release, a `dppca_core.accounts.book.Payer` of this very table with
            a limit; every fit pays again. None asks no account.

    Attributes:
        components_: Orthonormal rows, (k, d), in units of the scaled features.
        explained_variance_: Second moments along them of the clipped rows, about `mean_` and over n, (k,),
            largest first. AttributeError unless paid for, or part of what the method releases anyway.
        mean_: The public center, or the one that was paid for, (d,).
        scale_: The public scale, or the one that was paid for, (d,).
        bound_: Length to which rows, scaled in the end, were shortened: `bound`, or less where the method is
            recommended and noise is high, or the one that paid scales or a private bound give. (Correlations
            with a private bound have rows divided once more, by released variances near 1.)
        method_: Key of the method that was run.
        spent_: Events of the fit, for an account.
        epsilon_: Their true epsilon at `delta`.
        simulation_: Whether `random_state` was a number.
        notes_: The method's remarks on its answer.
        recommendation_: Why the method was recommended; None where it was named.
        release_: Of a hardened fit the release, whose document `dppca_core.release.bundle` packs; else None.
        n_features_in_: As everywhere in scikit-learn.
        feature_names_in_: As everywhere in scikit-learn.

    References:
        The paper of the chosen method, its `reference` in `dppca_core.METHODS`.

    Examples:
        >>> import numpy as np
        >>> from dppca_core.sklearn import PrivatePCA
        >>> rows = np.random.default_rng(0).normal(100, 1, (5000, 6)) * [9, 5, 1, 1, 1, 1]
        >>> pca = PrivatePCA(n_components=2, epsilon=1.0, delta=1e-6, bound=30.0, explained_variance=0.1,
        ...                  center=[900, 500, 100, 100, 100, 100], random_state=0)
        >>> pca.fit_transform(rows).shape
        (5000, 2)
        >>> print(np.abs(pca.components_[:, :2]).round(1).tolist(), round(pca.epsilon_, 9), pca.simulation_)
        [[1.0, 0.0], [0.0, 1.0]] 1.0 True

        For real rows, paid from the account of this table in the book on this machine's disk:

        >>> from dppca_core import tables
        >>> from dppca_core.accounts.account import Limit
        >>> from dppca_core.accounts.book import Book, BookTable
        >>> table = tables.from_frame(pd.DataFrame(rows), "ours")
        >>> book = Book()  # in memory; Book(default_path()) is the one on disk
        >>> account = book.payer(BookTable(table.key, table.n, tuple(table.columns)))
        >>> account.set_limit(Limit(epsilon=2.0, delta=1e-6)).spent().epsilon
        0.0
        >>> real = PrivatePCA(hardened=True, account=account, n_components=2, bound=30.0,
        ...                   center=[900, 500, 100, 100, 100, 100]).fit(rows)
        >>> print(round(account.balance().spent().epsilon, 6), real.release_.basis.shape)
        1.0 (6, 2)
    """

    def __init__(
        self,
        *,
        method: str = RECOMMENDED,
        n_components: int = 1,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bound: float | str | None = None,
        center: ArrayLike | None = None,
        private_center: bool | float = False,
        scale: ArrayLike | None = None,
        private_scale: bool | float = False,
        neighbours: str = "replace-one",
        accounting: str = "exact",
        explained_variance: bool | float = False,
        params: dict[str, Any] | None = None,
        random_state: int | None = None,
        hardened: bool = False,
        account: Payer | None = None,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.bound = bound
        self.center = center
        self.private_center = private_center
        self.scale = scale
        self.private_scale = private_scale
        self.neighbours = neighbours
        self.accounting = accounting
        self.explained_variance = explained_variance
        self.params = params
        self.random_state = random_state
        self.hardened = hardened
        self.account = account

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Estimate the components of the rows and spend the budget.

        Warns, from public numbers alone, where the calibration that was asked for truly spends more than
        epsilon, where `center` is None and no mean is paid for, where delta is not below 1/n, and where the
        error that is predicted of the method at the worst of three stated spectra is above a third of a
        random guess's. With a private bound nothing is predicted of correlations.

        Args:
            X: Rows, (n, d), in the units of the data. No error quotes a cell of it.
            y: Not used.

        Returns:
            The fitted estimator itself.

        Raises:
            ValueError: For a parameter out of range, and for rows that are empty or not finite.
            OverLimitError: Beyond the limit of `account`; nothing was drawn or spent.
            TypeError: For sparse rows.
        """
        rows = _read(lambda: validate_data(self, X, dtype=np.float64, ensure_min_features=2), X)
        d = rows.shape[1]
        checks.whole(1, d - 1, n_components=self.n_components)
        k = int(self.n_components)
        # scikit-learn keeps parameters as they were given; Budget refuses unknown words.
        budget = Budget(self.epsilon, self.delta, self.neighbours, self.accounting)  # type: ignore[arg-type]
        self._check_hardened()
        fits = self._fits_bound(budget, d)
        # `whole_budget` is that of the fit, `budget` what a paid mean and paid scales leave of it, and
        # `remainder` what paid eigenvalues leave of that. `paid` has the shares by parameter; those of a
        # private bound have a rule of their own.
        whole_budget = budget
        mean_share = 0.0 if fits else self._mean_share(budget, d=d, n=len(rows))
        scale_share = 0.0 if fits else self._scale_share(mean_share)
        paid = {"private_center": mean_share, "private_scale": scale_share}
        paid = {name: share for name, share in paid.items() if share}
        if paid:
            budget = gaussian.remaining(whole_budget, sum(paid.values()))
        n = self._public_n(len(rows), budget)
        method, options = self._method_and_options(budget, len(rows), n, d, k, fits)
        columns = getattr(X, "columns", range(d))
        mean = self._per_feature("center", default=0.0, columns=columns)
        scale = self._per_feature("scale", default=1.0, columns=columns)
        if self.random_state is not None:
            checks.whole(0, random_state=self.random_state)
        rng = np.random.default_rng(self.random_state)
        # rule: of a private bound. request: of a hardened release. price: of paid eigenvalues, an event.
        rule, request, remainder, price = None, None, budget, None
        if fits:
            patients = len(rows) if n is None or self.hardened else n  # hardened, n is public
            rule = FittedBound(Layout.of_numbers(d), budget, patients, standardised=bool(self.private_scale))
        if self.explained_variance is not False:
            checks.inside_unit_interval(explained_variance=self.explained_variance)
        if self.hardened:
            sizes = {"d": d, "k": k, "mean_share": mean_share, "scale_share": scale_share}
            request = array_release.requested(method.name, whole_budget, options, rule, **sizes)
            if self.explained_variance is not False and method.scaling == "unit":
                raise ValueError(
                    f"explained_variance must be False: {method.name} releases none, and a hardened release "
                    "pays for no eigenvalues beside it"
                )
        elif self.explained_variance is not False and rule is None:
            remainder, price = eigenvalues.split(method, budget, self.explained_variance, d=d, k=k, **options)
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
        epsilon = closed_form.epsilon_of(spent, whole_budget.delta)
        guess = subspace_metrics.random_guess(d, k)
        if rule is None:
            predicted = _predicted_error(method, remainder, n, d, k)
        else:
            predicted = _fitted_error(method, rule, k)
        for sentence in self._concerns(method, n, epsilon, predicted, guess, bool(mean_share), fits):
            warnings.warn(sentence, stacklevel=2)
        if request is not None:
            released = array_release.make(
                request,
                rows,
                self.account,
                features=[*map(str, columns)],
                center=mean,
                scale=scale,
                bound=bound,
            )
            answer = _of_release(released)
        elif rule is not None:
            answer = _with_private_bound(rows, mean, scale, rule, k, options, rng)
        else:
            with np.errstate(over="ignore"):  # Cohort refuses rows that overflow
                scaled = _ScaledRows((rows - mean) / scale, mean, scale, public_bound, bound)
                if mean_share:
                    scaled = scaled.centred(whole_budget, mean_share, rng)
                if scale_share:
                    scaled = scaled.divided(whole_budget, scale_share, budget, rng)
                cohort = Cohort.from_rows([scaled.rows], scaled.bound)
            estimate = method.fit(cohort, k=k, budget=remainder, rng=rng, **options)
            block = eigenvalues.release(cohort, estimate.basis, price, budget, rng) if price else None
            answer = _of_estimate(estimate, block, scaled)
        basis = answer.basis
        # As in scikit-learn, the heaviest loading of a component is positive.
        self.components_: Array = (basis * np.sign(basis[np.abs(basis).argmax(axis=0), range(k)])).T
        self._explained_variance = answer.variances
        self.mean_, self.scale_, self.bound_ = answer.mean, answer.scale, answer.bound
        self.method_, self.recommendation_ = method.name, None
        if fits and self.method == RECOMMENDED:
            self.recommendation_ = (
                f"{method.title} is one noisy moment, to which a private bound is fitted; methods of rows of "
                "length 1 have other components unless these are sparse, and run where they are named."
            )
        elif self.method == RECOMMENDED:
            self.recommendation_ = (
                f"{method.title} has the least predicted error at the worst of three stated spectra, "
                f"{predicted:.2g}; a random guess has {guess:.2g}."
            )
        self.spent_, self.epsilon_ = spent, epsilon
        self.simulation_ = self.random_state is not None
        self.notes_, self.release_ = answer.notes, answer.released
        return self

    @property
    def explained_variance_(self) -> Array:
        """Variances along the components, (k,), where paid for (see the class)."""
        check_is_fitted(self)
        if self._explained_variance is None:
            if self.release_ is not None:
                raise AttributeError(
                    f"explained_variance_ is no part of a hardened release by {self.method_}"
                )
            raise AttributeError(
                "explained_variance_ was not paid for: set explained_variance to a share of the budget, such "
                "as 0.1, before fitting"
            )
        return self._explained_variance

    def transform(self, X: ArrayLike) -> Array:
        """Return the scores of rows along the components: not clipped, and without noise.

        Args:
            X: Rows, (n, d), in the units of the data.

        Returns:
            Scores, (n, k), in units of the scaled rows.
        """
        check_is_fitted(self)
        rows = _read(lambda: validate_data(self, X, dtype=np.float64, reset=False), X)
        scores: Array = ((rows - self.mean_) / self.scale_) @ self.components_.T
        return scores

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the rows that have these scores.

        Args:
            X: Scores, (n, k).

        Returns:
            Rows, (n, d), in the units of the data.

        Raises:
            ValueError: For another number of columns.
        """
        check_is_fitted(self)
        scores = _read(lambda: check_array(X, dtype=np.float64), X)
        k = len(self.components_)
        if scores.shape[1] != k:
            raise ValueError(f"X must have {k} columns, one for each component, got {scores.shape[1]}")
        rows: Array = (scores @ self.components_) * self.scale_ + self.mean_
        return rows

    @property
    def _n_features_out(self) -> int:
        """Return k, which scikit-learn asks for to name the columns of scores."""
        return len(self.components_)

    def _check_hardened(self) -> None:
        checks.instance(bool, hardened=self.hardened)
        if self.account is not None:
            checks.instance(Payer, account=self.account)
            if not self.hardened:
                raise ValueError("account must be None unless hardened: no other fit is paid from it")
        if self.hardened:
            if self.random_state is not None:
                raise ValueError("random_state must be None where hardened: real rows need new noise")
            checks.one_of([*array_release.CENTRAL, RECOMMENDED], method=self.method)

    def _fits_bound(self, budget: Budget, d: int) -> bool:
        """Return whether the bound is private: where that is asked for or, by default, wherever it can be."""
        if self.bound is not None and not isinstance(self.bound, str):
            checks.positive(bound=self.bound)
            return False
        if self.bound is not None:
            checks.one_of([_PRIVATE], bound=self.bound)
        try:
            self._check_private_bound(budget, d)
        except ValueError as obstacle:
            if self.bound is not None:
                raise ValueError(f"bound='private': {obstacle}") from None
            return False
        return True

    def _check_private_bound(self, budget: Budget, d: int) -> None:
        """Raise ValueError where the bound cannot be private."""
        if self.method not in (RECOMMENDED, *array_release.ONE_MOMENT):
            names = ", ".join(array_release.ONE_MOMENT)
            raise ValueError(f"method must be {RECOMMENDED} or one of {names}, got {self.method!r}")
        if self.center is None or self.scale is None:
            raise ValueError(
                "center and scale must be given, the middle and the half width of each column's public range"
            )
        if self.private_center is not False:
            raise ValueError("private_center must be False, since the mean is paid for anyway")
        if not isinstance(self.private_scale, bool):
            raise ValueError("private_scale must be True or False, since a rule states what each step costs")
        if budget.accounting != "exact":
            raise ValueError(f"accounting must be exact, got {budget.accounting!r}")
        declared = isinstance(self.params, dict) and "declared_n" in self.params
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
        options = {} if self.params is None else self.params
        checks.instance(dict, params=options)
        if budget.neighbours == "replace-one":
            return rows
        if "declared_n" in options:
            checks.whole(1, declared_n=options["declared_n"])
        return options.get("declared_n")

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
        options = self.params or {}
        if self.method == RECOMMENDED:
            if not set(options) <= {"declared_n"}:
                raise ValueError(f"params of a recommended method can only be declared_n, got {options!r}")
            if fits:
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
            return private[name], {"s_hat": RELEASED} if private[name].chooses_rows else {}
        method = private[self.method]
        if fits:
            options = {name: value for name, value in options.items() if name != "declared_n"}
        known = set(signature(method.fit).parameters) - _KEYWORDS_OF_EVERY_FIT
        if method.tuned and options.get("iterations") == TUNED:
            known |= {"signal", "declared_n"}  # only the rule for the number of rounds takes these
        if not set(options) <= known:
            allowed = ", ".join(sorted(known)) or "none"
            raise ValueError(f"params must be among those of {method.name} ({allowed}), got {self.params!r}")
        return method, with_tuned_rounds(method, budget, options, d, rows, k, providers=1)

    def _concerns(
        self,
        method: Method,
        n: int | None,
        epsilon: float,
        predicted: float | None,
        guess: float,
        pays_for_mean: bool,
        fits: bool,
    ) -> list[str]:
        """Return what to warn of before rows are read, in sentences.

        n: rows, where their number is public. epsilon: what the fit truly spends. predicted, guess: sin Theta
        that is predicted of the method, if any, and of a random guess. fits: whether the bound is private.
        """
        sentences = []
        if self.center is None and not pays_for_mean:
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
                f"{method.name} truly spends epsilon = {epsilon:.4g} at delta = {self.delta:g}, "
                f"more than the {self.epsilon:g} asked for"
            )
        if predicted is not None and predicted > SMALL_SHARE * guess:
            # That of a private bound is to first order, and no number where errors are large.
            error = "over a third as much as a guess" if fits else f"{predicted:.2g}"
            sentences.append(
                f"{method.title} is predicted to err {error} at the worst of three stated spectra, "
                f"and a random guess errs {guess:.2g}: take more rows, a larger epsilon or fewer features"
            )
        return sentences

    def _mean_share(self, budget: Budget, d: int, n: int) -> float:
        """Return the share of the budget that pays for the mean, 0 for none."""
        if self.private_center is False:
            return 0.0
        if self.private_center is not True:
            checks.inside_unit_interval(private_center=self.private_center)
            return float(self.private_center)
        if budget.neighbours != "replace-one":
            raise ValueError("private_center must be a share where neighbours protect the number of rows")
        return paid_centre.share(budget, d=d, n=n)

    def _scale_share(self, mean_share: float) -> float:
        """Return the share of the budget that pays for scales, 0 for none."""
        if self.private_scale is False:
            return 0.0
        if self.private_scale is True:
            return paid_scale.share(mean_share)
        checks.inside_unit_interval(private_scale=self.private_scale)
        return float(self.private_scale)

    def _per_feature(self, name: str, default: float, columns: Sequence[Any]) -> Array:
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
            values = np.asarray(default if given is None else given, dtype=np.float64)
        except (TypeError, ValueError):  # a string, or lists of unequal lengths
            values = np.array(np.nan)
        if values.shape not in ((), (d,)) or not np.isfinite(values).all():
            raise ValueError(f"{name} must be a finite number, or {d} of them, one a feature, got {given!r}")
        if name == "scale" and not (values > 0).all():
            raise ValueError(f"scale must be positive, got {given!r}")
        return np.full(d, values)


class _FitAnswer(NamedTuple):
    """Hold what a fit found, and what a row x was taken through: (x - mean)/scale, shortened to the bound.

    basis: (d, k). variances: along it, (k,), None where they are neither paid for nor released anyway.
    """

    basis: Array
    variances: Array | None
    mean: Array
    scale: Array
    bound: float
    notes: tuple[str, ...] = ()
    released: Released | None = None


def _of_release(released: Released) -> _FitAnswer:
    mean, scale, bound = array_release.taken_through(released)
    variances, notes = array_release.variances(released), array_release.notes(released)
    return _FitAnswer(released.basis, variances, mean, scale, bound, notes, released)


def _with_private_bound(
    rows: Array,
    mean: Array,
    scale: Array,
    rule: FittedBound,
    k: int,
    options: dict[str, Any],
    rng: np.random.Generator,
) -> _FitAnswer:
    """Return components of one noisy moment, whose bound is fitted to the rows. Reads private rows."""
    release = fitted_release.fitted_moment(array_release.encoded(rows, mean, scale), rule, rng)
    basis = Estimate.from_moment(release.moment, k, **options).basis
    variances, basis = eigenvalues.principal_axes(basis, basis.T @ release.moment @ basis)
    return _FitAnswer(basis, variances, mean + scale * release.mean, scale * release.divisors, release.bound)


class _ScaledRows(NamedTuple):
    """Hold rows as (x - mean)/scale, and to which length they are shortened.

    public_bound: at which rows are clipped where a mean or scales are paid for.
    """

    rows: Array
    mean: Array
    scale: Array
    public_bound: float
    bound: float

    def centred(self, budget: Budget, share: float, rng: np.random.Generator) -> "_ScaledRows":
        """Return the rows about a noisy mean that this share of the budget pays for. Reads private rows."""
        # The released mean is of clipped rows, which are divided by the bound.
        shift = paid_centre.release(moments.clip_rows(self.rows, self.public_bound), budget, share, rng)
        rows = self.rows - shift * self.public_bound
        # An empty row must stay empty (`paid_centre.centred`).
        if budget.neighbours == "add-remove":
            rows = paid_centre.empty_rows_kept(rows, self.rows)
        return self._replace(rows=rows, mean=self.mean + self.scale * shift * self.public_bound)

    def divided(self, budget: Budget, share: float, left: Budget, rng: np.random.Generator) -> "_ScaledRows":
        """Return the rows divided by scales that this share of the budget pays for. Reads private rows.

        left: what the mean and the scales leave of the budget.
        """
        clipped = moments.clip_rows(self.rows, self.public_bound)
        squares = paid_scale.release(clipped, budget, share, rng)
        # The columns' scales, (d,), and the length to which rows divided by them are shortened.
        divisors, bound = paid_scale.scales_of_release(squares, budget, share, left, len(clipped))
        scale = self.scale * self.public_bound * divisors
        return self._replace(rows=clipped / divisors, scale=scale, bound=bound)


def _of_estimate(estimate: Estimate, block: Array | None, scaled: _ScaledRows) -> _FitAnswer:
    """Return a method's components, as principal axes where their variances are known.

    block: the second moment within the components, (k, k), that was paid for; else that of the covariance
    which some methods release.
    """
    basis, variances = estimate.basis, None
    if block is None and estimate.covariance is not None:
        block = basis.T @ estimate.covariance @ basis
    if block is not None:
        variances, basis = eigenvalues.principal_axes(basis, block)
        variances *= scaled.bound**2  # rows were divided by the bound
    return _FitAnswer(basis, variances, scaled.mean, scaled.scale, scaled.bound, estimate.notes)


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


def _read(check: Callable[[], Any], X: ArrayLike) -> Array:
    """Return what scikit-learn's check makes of X, (n, d); what it raises quotes no cell of X."""
    try:
        checked: Array = check()
        return checked
    except (TypeError, ValueError):
        refusal = _unreadable(X)
        if refusal is None:
            raise
    # Raised here and not above: an error raised while another is handled keeps that one, with its cell.
    raise refusal


def _unreadable(X: ArrayLike) -> Exception | None:
    """Return the error for a table of another shape, or for its first cell that is no number.

    None where all cells are numbers or missing: of other faults scikit-learn's messages have no cell.
    """
    if issparse(X):
        return None
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return ValueError(
            f"Expected 2D array, got {cells.ndim}D array instead. Reshape your data: a row for each patient, "
            "all with the same columns"
        )
    for (row, column), cell in np.ndenumerate(cells):
        if cell is None:
            continue
        name = f"'{X.columns[column]}'" if hasattr(X, "columns") else f"{column + 1:,}"
        where = f"column {name} holds no number in row {row + 1:,}"
        if isinstance(cell, complex | np.complexfloating):
            return ValueError(f"Complex data not supported: {where}")
        try:
            float(cell)
        except ValueError:
            return ValueError(f"X must hold numbers only: {where}")
        except TypeError:
            kind = type(cell).__name__
            return TypeError(f"argument must be a string or a number: {where}, but a {kind}")
    return None
