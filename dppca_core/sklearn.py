"""Private PCA as a scikit-learn transformer: any private method of the registry, in a Pipeline.

The mathematics is that of the methods (`dppca_core.methods`) and of `dppca_core.mechanisms.eigenvalues`.
"""

import warnings
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from dppca_core import checks
from dppca_core.accounting import closed_form, gaussian
from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import recommend
from dppca_core.cohort import Cohort
from dppca_core.mechanisms import eigenvalues, paid_centre, paid_scale
from dppca_core.methods import METHODS, with_tuned_rounds
from dppca_core.numerics import moments
from dppca_core.privacy import Budget, Event, Guarantee
from dppca_core.records import TUNED, Method

RECOMMENDED = "recommended"
_KEYWORDS_OF_EVERY_FIT = {"cohort", "k", "budget", "rng"}  # a method's other keywords are its options


# scikit-learn has no types: its classes are "Any" to mypy.
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Estimate principal components of one party's table without giving away its rows.

    Every row x becomes (x - center) / scale, is clipped to norm `bound`, and enters the second moment
    (1/n) sum x x^T, whose top eigenvectors a differentially private method estimates. `center`, `scale`,
    `bound` and n are public: they must come from what is known about the columns, never from these rows.

    **Protected is** what `fit` leaves: `components_`, and `explained_variance_` where paid for. What
    `transform` returns is about the rows given to it, and as confidential as they are. **Every fit spends**
    epsilon and delta again: a grid search or a cross-validation costs the sum over all its fits on a row, and
    its scores, and the parameters chosen by them, come from private rows without noise. **A StandardScaler
    before it** reads means and deviations from the private rows without paying, which no later noise mends:
    give `center` and `scale` instead. Noise is drawn in floating point, which is not hardened against attacks
    on its last digits.

    Args:
        method: Key of a private method of `dppca_core.METHODS`, whose `guarantee` says on what its epsilon
            rests; or "recommended", the one with the least predicted error at this n, d, k and budget
            (`dppca_core.bounds.recommendation`), whose params are `s_hat` and the declared `signal`.
        n_components: k, from 1 to one less than the number of features.
        epsilon: See `dppca_core.Budget`.
        delta: See `dppca_core.Budget`; it belongs well below 1/n.
        bound: Longest row that counts in full, in units of the scaled rows. At the default of 1, rows that
            are all longer count by their direction alone.
        center: Public, one number or one for each feature, in the units of the data; None is 0.
        private_center: False, True, or the share of the budget, between 0 and 1, that pays for the mean of
            the rows about `center`, shortened to `bound`: rows are centred there before the components are
            estimated (`dppca_core.mechanisms.paid_centre`, with the rule that True takes). Without it the
            first component is the mean wherever `center` is far from it. For methods of Gaussian noise.
        scale: Public and positive, one number or one for each feature; None is 1.
        private_scale: False, True, or the share of the budget, between 0 and 1, that pays for the scales of
            the centred rows, shortened to `bound` (`dppca_core.mechanisms.paid_scale`, with the rule that
            True takes): components are then those of correlations. For methods of Gaussian noise.
        neighbours: See `dppca_core.Budget`.
        accounting: See `dppca_core.Budget`.
        explained_variance: False, or the share of the budget, between 0 and 1, that pays for the eigenvalues;
            see `dppca_core.mechanisms.eigenvalues.split`. Paying also turns `components_` into principal
            axes.
        params: The method's own parameters by name, as {"s_hat": 20, "iterations": 8} for dps_pca.
        random_state: None seeds the noise from the operating system's entropy. A whole number makes it
            repeatable, so that it protects nobody: the fitted result is marked as a simulation.

    Attributes:
        components_: Orthonormal rows, (k, d), in units of the scaled features.
        explained_variance_: Second moments along them of the clipped rows, about `center` and over n, (k,),
            largest first. AttributeError unless paid for, or part of what the method releases anyway.
        mean_: The public center, or the one that was paid for, (d,).
        scale_: The public scale, or the one that was paid for, (d,).
        spent_: Events of the fit, for a ledger.
        epsilon_: Their true epsilon at `delta`.
        simulation_: Whether `random_state` was a number.
        notes_: The method's remarks on its answer.
        recommendation_: Why the method was recommended, where it was.
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
    """

    def __init__(
        self,
        *,
        method: str = "dps_pca",
        n_components: int = 1,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bound: float = 1.0,
        center: ArrayLike | None = None,
        private_center: bool | float = False,
        scale: ArrayLike | None = None,
        private_scale: bool | float = False,
        neighbours: str = "replace-one",
        accounting: str = "exact",
        explained_variance: bool | float = False,
        params: dict[str, Any] | None = None,
        random_state: int | None = None,
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

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Estimate the components of the rows and spend the budget.

        Warns where the calibration that was asked for truly spends more than epsilon.

        Args:
            X: Rows, (n, d), in the units of the data.
            y: Not used.

        Returns:
            The fitted estimator itself.

        Raises:
            ValueError: For a parameter out of range, and for rows that are empty or not finite.
            TypeError: For sparse rows.
        """
        rows = validate_data(self, X, dtype=np.float64, ensure_min_features=2)
        d = rows.shape[1]
        checks.whole(1, d - 1, n_components=self.n_components)
        k = int(self.n_components)
        # scikit-learn keeps parameters as they were given; Budget refuses unknown words.
        budget = Budget(self.epsilon, self.delta, self.neighbours, self.accounting)  # type: ignore[arg-type]
        # `whole_budget` is that of the fit, `budget` what a paid mean and paid scales leave of it, and
        # `remainder` what paid eigenvalues leave of that. `paid` has the shares by parameter.
        whole_budget, mean_share = budget, self._mean_share(budget, d=d, n=len(rows))
        scale_share = self._scale_share(mean_share)
        paid = {"private_center": mean_share, "private_scale": scale_share}
        paid = {name: share for name, share in paid.items() if share}
        if paid:
            budget = gaussian.remaining(whole_budget, sum(paid.values()))
        method, options = self._method_and_options(budget, len(rows), d, k)
        mean = self._per_feature("center", default=0.0, d=d)
        scale = self._per_feature("scale", default=1.0, d=d)
        if self.random_state is not None:
            checks.whole(0, random_state=self.random_state)
        rng = np.random.default_rng(self.random_state)
        remainder, price = budget, None  # price: of paid eigenvalues, an event
        if self.explained_variance is not False:
            checks.inside_unit_interval(explained_variance=self.explained_variance)
            remainder, price = eigenvalues.split(method, budget, self.explained_variance, d=d, k=k, **options)
        spent: tuple[Event, ...] = method.spends(remainder, d=d, k=k, **options) if method.spends else ()
        # A paid mean or scale composes exactly with Gaussian releases alone; a `Guarantee` is of other noise.
        if paid and any(isinstance(event, Guarantee) for event in spent):
            names = " and ".join(paid)
            raise ValueError(f"{names} goes with Gaussian noise, which {method.name} has not")
        spent += (price,) if price else ()
        # Scales cost what a mean does: one Gaussian release with their share.
        spent += tuple(paid_centre.price(whole_budget, share) for share in paid.values())
        epsilon = closed_form.epsilon_of(spent, whole_budget.delta)
        if epsilon > whole_budget.epsilon * (1 + 1e-6) + 1e-9:  # more than rounding can add
            warnings.warn(
                f"{method.name} truly spends epsilon = {epsilon:.4g} at delta = {whole_budget.delta:g}, "
                f"more than the {whole_budget.epsilon:g} asked for",
                stacklevel=2,
            )
        with np.errstate(over="ignore"):  # Cohort refuses rows that overflow
            # From here on `mean` and `scale` are what a row x is taken through: (x - mean) / scale.
            scaled = (rows - mean) / scale
            if paid:
                checks.positive(bound=self.bound)
            if mean_share:
                # The released mean is of clipped rows, which are divided by the bound.
                shift = paid_centre.release(
                    moments.clip_rows(scaled, self.bound), whole_budget, mean_share, rng
                )
                centred = scaled - shift * self.bound
                if budget.neighbours == "add-remove":  # an empty row must stay empty (`paid_centre.centred`)
                    centred = paid_centre.empty_rows_kept(centred, scaled)
                scaled, mean = centred, mean + scale * shift * self.bound
            bound = self.bound
            if scale_share:
                clipped = moments.clip_rows(scaled, self.bound)
                squares = paid_scale.release(clipped, whole_budget, scale_share, rng)
                # The columns' scales, (d,), and the length to which rows divided by them are shortened.
                divisors, bound = paid_scale.scales_of_release(
                    squares, whole_budget, scale_share, budget, len(rows)
                )
                scaled, scale = clipped / divisors, scale * self.bound * divisors
            cohort = Cohort.from_rows([scaled], bound)
        estimate = method.fit(cohort, k=k, budget=remainder, rng=rng, **options)
        # The second moment within the components, (k, k), is there if the method releases a covariance, or
        # if it is paid for. It turns them into principal axes and gives their variances.
        basis, block, values = estimate.basis, estimate.covariance, None
        if block is not None:
            block = basis.T @ block @ basis
        if price:
            block = eigenvalues.release(cohort, basis, price, budget, rng)
        if block is not None:
            values, basis = eigenvalues.principal_axes(basis, block)
            values *= bound**2  # rows were divided by the bound
        # As in scikit-learn, the heaviest loading of a component is positive.
        self.components_: Array = (basis * np.sign(basis[np.abs(basis).argmax(axis=0), range(k)])).T
        self._explained_variance = values
        self.mean_, self.scale_ = mean, scale
        self.spent_, self.epsilon_ = spent, epsilon
        self.simulation_ = self.random_state is not None
        self.notes_ = estimate.notes
        return self

    @property
    def explained_variance_(self) -> Array:
        """Variances along the components, (k,), where paid for (see the class)."""
        check_is_fitted(self)
        if self._explained_variance is None:
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
        rows = validate_data(self, X, dtype=np.float64, reset=False)
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
        scores = check_array(X, dtype=np.float64)
        k = len(self.components_)
        if scores.shape[1] != k:
            raise ValueError(f"X must have {k} columns, one for each component, got {scores.shape[1]}")
        rows: Array = (scores @ self.components_) * self.scale_ + self.mean_
        return rows

    @property
    def _n_features_out(self) -> int:
        """Return k, which scikit-learn asks for to name the columns of scores."""
        return len(self.components_)

    def _method_and_options(self, budget: Budget, n: int, d: int, k: int) -> tuple[Method, dict[str, Any]]:
        """Return the method to run, named or recommended for this budget, and the options of its `fit`.

        It sets `recommendation_` where the method is recommended. Raises ValueError for an unknown method,
        and for params that are not its own.
        """
        private = {name: method for name, method in METHODS.items() if method.private}
        checks.one_of([*private, RECOMMENDED], method=self.method)
        options = {} if self.params is None else self.params
        checks.instance(dict, params=options)
        if self.method == RECOMMENDED:
            if budget.neighbours != "replace-one":
                raise ValueError("method must be named where neighbours protect the number of rows")
            if not set(options) <= {"s_hat", "signal"}:
                raise ValueError(f"params of a recommended method are s_hat and signal, got {options!r}")
            answer = recommend("central", n=n, d=d, k=k, budget=budget, **options)
            self.recommendation_ = answer.reason
            return private[answer.method], dict(answer.options)
        method = private[self.method]
        known = set(signature(method.fit).parameters) - _KEYWORDS_OF_EVERY_FIT
        if method.tuned and options.get("iterations") == TUNED:
            known |= {"signal", "declared_n"}  # only the rule for the number of rounds takes these
        if not set(options) <= known:
            allowed = ", ".join(sorted(known)) or "none"
            raise ValueError(f"params must be among those of {method.name} ({allowed}), got {self.params!r}")
        return method, with_tuned_rounds(method, budget, options, d, n, k, providers=1)

    def _mean_share(self, budget: Budget, d: int, n: int) -> float:
        """Return the share of the budget that pays for the mean, 0 for none.

        `private_center` is that share, or True for a rule that needs n to be public. d: features. n: rows.
        Raises ValueError for True where n is protected, and for a share that is not between 0 and 1.
        """
        if self.private_center is False:
            return 0.0
        if self.private_center is not True:
            checks.inside_unit_interval(private_center=self.private_center)
            return float(self.private_center)
        if budget.neighbours != "replace-one":
            raise ValueError("private_center must be a share where neighbours protect the number of rows")
        return paid_centre.share(budget, d=d, n=n)

    def _scale_share(self, mean_share: float) -> float:
        """Return the share of the budget that pays for scales, 0 for none.

        `private_scale` is that share, or True for a rule: a fixed part of what the mean's share leaves.
        """
        if self.private_scale is False:
            return 0.0
        if self.private_scale is True:
            return paid_scale.share(mean_share)
        checks.inside_unit_interval(private_scale=self.private_scale)
        return float(self.private_scale)

    def _per_feature(self, name: str, default: float, d: int) -> Array:
        """Return the parameter of this name, `center` or `scale`, as one number for each feature, (d,).

        default: the number that stands for a parameter that is None. Raises ValueError for anything but one
        number or d of them.
        """
        given = getattr(self, name)
        try:
            values = np.asarray(default if given is None else given, dtype=np.float64)
        except (TypeError, ValueError):  # a string, or lists of unequal lengths
            values = np.array(np.nan)
        if values.shape not in ((), (d,)) or not np.isfinite(values).all():
            raise ValueError(f"{name} must be a finite number, or {d} of them, one a feature, got {given!r}")
        if name == "scale" and not (values > 0).all():
            raise ValueError(f"scale must be positive, got {given!r}")
        return np.full(d, values)
