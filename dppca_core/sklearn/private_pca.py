"""Private PCA as a scikit-learn transformer: its parameters, its attributes, and what it does with rows."""

import warnings
from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.accounts import Account
from dppca_core.accounts.book import Payer
from dppca_core.arrays import Array
from dppca_core.privacy import Event
from dppca_core.sklearn import cells, fitting
from dppca_core.sklearn.fitting import PublicScaling
from dppca_core.sklearn.plan import RECOMMENDED, Asked
from dppca_core.sklearn.row_model import RowModel


def _has_density(pca: "PrivatePCA") -> bool:
    """Say whether rows have a likelihood: before a fit it cannot be told, and counts as yes."""
    if hasattr(pca, "components_"):
        pca._density("score")  # raises AttributeError with the reason
    return True


# scikit-learn has no types: its classes are "Any" to mypy.
class PrivatePCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Estimate principal components of one party's table without giving away its rows.

    Every row x becomes (x - center) / scale, is clipped to norm `bound`, and enters the second moment
    (1/n) sum x x^T, whose top eigenvectors a differentially private method estimates. `center`, `scale`,
    `bound` and n are public: they must come from what is known about the columns, never from these rows.
    Under add-remove n is protected, and `params={"declared_n": 1000}` declares a public number in its place:
    warnings and recommendations read that, and sums over rows are divided by it, for variances, a paid mean
    and paid scales. Without one there are no variances, and no mean or scale can be paid for. The directions
    of components do not depend on the number by which sums are divided.

    **With `bound="private"` no bound has to be guessed.** `center` and `scale` are then the middle and the
    half width of each column's public range, and values outside are cut to it. Part of the budget pays for
    the mean of the rows and for their lengths, and the bound is fitted to these
    (`dppca_core.mechanisms.paid_lengths`). Components are of rows about that mean, and with
    `private_scale=True` those of correlations. It is for methods of one noisy moment. A row that lies exactly
    at `center` counts as empty.

    **Protected is** what `fit` leaves: `components_`, and variances where paid for. What `transform`, `score`
    and `score_samples` return is about the rows given to them, read without noise, and as confidential as
    they are. **Every fit spends** epsilon and delta again: a grid search or a cross-validation costs the sum
    over all its fits on a row, which an `account` counts and limits. Its scores, and the parameters chosen by
    them, come from private rows without noise. **A StandardScaler before it** reads means and deviations from
    the private rows without paying, which no later noise mends: give `center` and `scale` instead.

    **For real rows** take `hardened=True`. Noise in floating point is not safe against attacks on its last
    digits. Hardened, the release is that of *Your data* (`dppca_core.release.private_release.make`): exact
    integer sums, OpenDP's discrete Gaussian, the operating system's entropy. It differs in this: n is public
    under add-remove too, where a row is emptied or filled; a row that lies exactly at `center` counts as
    empty, and stays there when a mean is paid for; rows are shortened further than `bound` only where nothing
    is paid for before the components.

    Args:
        n_components: k, from 1 to one less than the number of features. Or a share of the variance, between 0
            and 1: k is then the least number of components whose released variances hold it, one less than
            the features where none does. That costs nothing, and is for analyze_gauss, which releases the
            moment of all features and is then the recommended method.
        method: "recommended", the one that *Your data* recommends: of one noisy moment, two stages and
            stacked rounds, the one with the least predicted error at the worst of three stated spectra
            (`dppca_core.bounds.stated_spectra`). Where noise is high, one noisy moment shortens rows further
            than `bound`, see `bound_`. With a private bound it is one noisy moment: the others count every
            row by its direction alone, and have other components unless these are sparse. Or the key of a
            private method of `dppca_core.METHODS`, whose `guarantee` says on what its epsilon rests.
        epsilon: See `dppca_core.Budget`.
        delta: See `dppca_core.Budget`; it belongs well below 1/n.
        bound: Longest row that counts in full, in units of the scaled rows. Noise grows with its square, and
            what is predicted is for rows about as long. "private" fits it to the rows, as above. None is
            "private" wherever that can be: where `center` and `scale` are given, the method is recommended or
            of one noisy moment, the accounting exact, `private_center` None, `private_scale` no share,
            and n public or declared. Elsewhere None is 1: rows that are all longer count by their direction.
        center: Public, in the units of the data: one number, one for each feature in the order of the
            columns, or a pandas Series with the names of the columns, in any order. None is 0 and warns
            unless a mean is paid for; 0 says that it is meant.
        private_center: None, False, True, or the share of the budget, between 0 and 1, that pays for the
            mean of the rows about `center`, shortened to `bound`: rows are centred there before components
            are estimated (`dppca_core.mechanisms.paid_centre`, with the rule that True takes). Without it the
            first component is the mean wherever `center` is far from it. For methods of Gaussian noise. None
            pays for none but where the bound is private, whose rule pays for one and takes None or True.
        scale: Public and positive, in the forms that `center` has; None is 1.
        private_scale: False or None, True, or the share of the budget, between 0 and 1, that pays for the
            scales of the centred rows, shortened to `bound` (`dppca_core.mechanisms.paid_scale`, with the
            rule that True takes): components are then those of correlations. For methods of Gaussian noise.
            With a private bound no share, and True pays nothing more.
        neighbours: See `dppca_core.Budget`.
        accounting: See `dppca_core.Budget`.
        explained_variance: None for the variances that cost nothing, which are there where a method releases
            a moment of all features, or a covariance. Or the share of the budget, between 0 and 1, that pays
            for them, along the components and outside, in one release (`dppca_core.mechanisms.eigenvalues`).
            Paying also turns `components_` into principal axes. With a private bound they cost nothing, and
            no share is taken. False wants none.
        params: The method's own parameters by name, as {"s_hat": 20, "iterations": 8} for dps_pca. A
            recommended method has none but {"declared_n": 1000}. That is a public number of rows, which any
            method takes under add-remove, unless hardened. Needed is it there by a recommended method, a
            private bound, paid means, scales and variances, and by s_hat="released".
        random_state: None seeds the noise from the operating system's entropy. A whole number, a NumPy
            RandomState or Generator makes it repeatable, so that it protects nobody: the fitted result is
            marked as a simulation. A Generator is drawn from, and a RandomState gives a seed, so that a
            second fit has other noise, as everywhere in scikit-learn.
        hardened: Whether the release is fit for real rows, as above. `method` is "recommended" or a central
            one of `dppca_core.release.request.OFFERED`, its `params` at most s_hat, `random_state` None.
            `explained_variance` takes no share of the budget: methods of one moment release variances anyway,
            and with others it must be None or False.
        account: What pays for each fit before its noise is drawn, hardened or not: a
            `dppca_core.accounts.Account`, which pays for any array, or the `dppca_core.accounts.book.Payer`
            of this very table, as of *Your data*. Its `neighbours` must be those here. With a `random_state`
            it is refused, since a simulation protects nobody. None asks no account.

    Attributes:
        components_: Orthonormal rows, (k, d), in units of the scaled features.
        n_components_: k.
        explained_variance_: Variances of clipped rows about `mean_` along the components, in the units of the
            data, (k,): the variance of a component's scores, which are in units of the scaled rows, times
            |scale_ * component|^2. With one scale for all features that is its square, and the variances are
            those of scikit-learn's PCA of the unscaled rows, largest first. With a scale for each feature
            they are sums over features, in the squares of their units, and need not fall
            (`dppca_core.sklearn.row_model`). They are over n - 1, as in scikit-learn, n public or declared.
            AttributeError, as for the next three, without one, and unless they were paid for or are part of
            what the method releases anyway.
        explained_variance_ratio_: Shares of all variance of the scaled rows, (k,); for one common scale it is
            that of the data.
        noise_variance_: Mean variance in the directions outside of the components, in the units of the data
            as above. It counts as the standard deviation of its own noise at least.
        singular_values_: sqrt((n - 1) explained_variance_), (k,).
        n_samples_: n, where it is public or declared; else None.
        mean_: The public center, or the one that was paid for, (d,).
        scale_: The public scale, or the one that was paid for, (d,).
        bound_: Length to which rows, scaled in the end, were shortened: `bound`, or less where the method is
            recommended and noise is high, or the one that paid scales or a private bound give. (Correlations
            with a private bound have rows divided once more, by released variances near 1.)
        method_: Key of the method that was run.
        spent_: Events of the fit, for an account; `dppca_core.accounting.dp_event.to_dp_event` makes them one
            event of dp-accounting.
        epsilon_: Their true epsilon at `delta`.
        guarantee_: What they let an attacker do, a `dppca_core.TradeOff`: mu, epsilon at every delta, and the
            whole trade-off curve.
        simulation_: Whether the noise can be repeated, as `random_state` was not None.
        notes_: The method's remarks on its answer.
        recommendation_: Why the method was recommended; None where it was named.
        release_: Of a hardened fit the release, whose document `dppca_core.release.bundle` packs; else None.
            Where a share of the variance decides k, it holds the other components too.
        n_features_in_: As everywhere in scikit-learn.
        feature_names_in_: As everywhere in scikit-learn.

    References:
        The paper of the chosen method, its `reference` in `dppca_core.METHODS`.

    Examples:
        >>> import numpy as np
        >>> from dppca_core.sklearn import PrivatePCA
        >>> rows = np.random.default_rng(0).normal(100, 1, (5000, 6)) * [9, 5, 1, 1, 1, 1]
        >>> pca = PrivatePCA(2, epsilon=1.0, delta=1e-6, bound=30.0,
        ...                  center=[900, 500, 100, 100, 100, 100], random_state=0)
        >>> pca.fit_transform(rows).shape
        (5000, 2)
        >>> print(np.abs(pca.components_[:, :2]).round(1).tolist(), round(pca.epsilon_, 9), pca.simulation_)
        [[1.0, 0.0], [0.0, 1.0]] 1.0 True
        >>> print(np.sqrt(pca.explained_variance_).round(), pca.explained_variance_ratio_.round(1))
        [9. 5.] [0.7 0.2]

        For real rows, paid from an account:

        >>> from dppca_core.accounts import Account
        >>> with Account(epsilon=2.0, delta=1e-6) as account:
        ...     real = PrivatePCA(2, hardened=True, account=account, bound=30.0,
        ...                       center=[900, 500, 100, 100, 100, 100]).fit(rows)
        >>> print(round(account.spent, 6), round(account.left, 6), real.release_.basis.shape)
        1.0 1.0 (6, 2)
    """

    def __init__(
        self,
        n_components: int | float = 1,
        *,
        method: str = RECOMMENDED,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        bound: float | str | None = None,
        center: ArrayLike | None = None,
        private_center: bool | float | None = None,
        scale: ArrayLike | None = None,
        private_scale: bool | float | None = False,
        neighbours: str = "replace-one",
        accounting: str = "exact",
        explained_variance: bool | float | None = None,
        params: dict[str, Any] | None = None,
        random_state: int | np.random.Generator | Any = None,
        hardened: bool = False,
        account: Account | Payer | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
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
        random guess's. With a private bound nothing is predicted of correlations, and nothing where a share
        of the variance decides k.

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
        rows = cells.read(lambda: validate_data(self, X, dtype=np.float64, ensure_min_features=2), X)
        asked = Asked(**{field.name: getattr(self, field.name) for field in fields(Asked)})
        plan = asked.plan(*rows.shape)
        columns = getattr(X, "columns", range(plan.d))
        mean = asked.per_feature("center", default=0.0, columns=columns)
        scale = asked.per_feature("scale", default=1.0, columns=columns)
        rng = asked.generator()
        for sentence in asked.concerns(plan):
            warnings.warn(sentence, stacklevel=2)
        public = PublicScaling(mean, scale, [*map(str, columns)])
        answer = fitting.answer(plan, rows, public, asked.payer, rng)
        basis, variances = answer.basis, answer.variances
        self.n_components_ = k = basis.shape[1]
        # As in scikit-learn, the heaviest loading of a component is positive.
        self.components_: Array = (basis * np.sign(basis[np.abs(basis).argmax(axis=0), range(k)])).T
        self.mean_, self.scale_, self.bound_ = answer.mean, answer.scale, answer.bound
        self.n_samples_ = n = plan.n_samples
        self._model: RowModel | None = None
        if variances is not None:
            assert n is not None  # the plan wants no variances without it
            variances = variances.times(n / max(n - 1, 1))
            self._model = RowModel(self.components_, self.mean_, self.scale_, variances)
        self.method_, self.recommendation_ = plan.method.name, plan.recommendation
        self.spent_: tuple[Event, ...] = plan.spent
        self.epsilon_ = plan.epsilon
        self.simulation_ = self.random_state is not None
        self.notes_, self.release_ = answer.notes, answer.released
        return self

    @property
    def guarantee_(self) -> TradeOff:
        """What the fit lets an attacker do: mu, epsilon at every delta, and the whole trade-off curve."""
        check_is_fitted(self)
        return TradeOff.from_events(self.spent_)

    @property
    def explained_variance_(self) -> Array:
        """Variances along the components, (k,), in the units of the data (see the class)."""
        return self._released("explained_variance_").explained

    @property
    def explained_variance_ratio_(self) -> Array:
        """Shares of all variance of the scaled rows, (k,) (see the class)."""
        return self._released("explained_variance_ratio_").ratio

    @property
    def noise_variance_(self) -> float:
        """Mean variance in the directions outside of the components, in the units of the data."""
        return self._released("noise_variance_").noise_variance

    @property
    def singular_values_(self) -> Array:
        """Return sqrt((n - 1) explained_variance_), (k,), n public or declared."""
        variances = self._released("singular_values_").explained
        assert self.n_samples_ is not None  # or no variances were released
        values: Array = np.sqrt((self.n_samples_ - 1) * variances)
        return values

    def _released(self, name: str) -> RowModel:
        """Return the model that released variances make up. name: of the attribute that needs them."""
        check_is_fitted(self)
        if self._model is not None:
            return self._model
        if self.explained_variance is not None and not self.explained_variance:
            raise AttributeError(f"{name} is not wanted, since explained_variance is False")
        if self.n_samples_ is None:
            raise AttributeError(
                f"{name} needs a number of rows, and neighbours protect it: declare one before fitting, as "
                'params={"declared_n": 1000}'
            )
        if self.release_ is not None:
            raise AttributeError(f"{name} is no part of a hardened release by {self.method_}")
        raise AttributeError(
            f"{name} was not paid for: set explained_variance to a share of the budget, such as 0.1, before "
            "fitting"
        )

    def _density(self, name: str) -> RowModel:
        """Return the model where rows have a density. name: of the method that needs it."""
        model = self._released(name)
        if not model.variances.rest > 0:
            raise AttributeError(
                f"{name} needs variance outside of the components, and noise left none in noise_variance_"
            )
        return model

    def transform(self, X: ArrayLike) -> Array:
        """Return the scores of rows along the components: not clipped, and without noise.

        Args:
            X: Rows, (n, d), in the units of the data.

        Returns:
            Scores, (n, k), in units of the scaled rows.
        """
        check_is_fitted(self)
        rows = cells.read(lambda: validate_data(self, X, dtype=np.float64, reset=False), X)
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
        scores = cells.read(lambda: check_array(X, dtype=np.float64), X)
        k = len(self.components_)
        if scores.shape[1] != k:
            raise ValueError(f"X must have {k} columns, one for each component, got {scores.shape[1]}")
        rows: Array = (scores @ self.components_) * self.scale_ + self.mean_
        return rows

    def get_covariance(self) -> Array:
        """Return the released covariance of rows, by the law of `dppca_core.sklearn.row_model`.

        Returns:
            The covariance in the units of the data, (d, d).

        Raises:
            AttributeError: Without variances, as for `explained_variance_`.
        """
        return self._released("get_covariance").covariance()

    def get_precision(self) -> Array:
        """Return the inverse of `get_covariance`.

        Returns:
            The precision, (d, d), in inverse units of the data.

        Raises:
            AttributeError: Without variances, and where noise left none outside of the components.
        """
        return self._density("get_precision").precision()

    @available_if(_has_density)  # type: ignore[untyped-decorator]
    def score_samples(self, X: ArrayLike) -> Array:
        """Return the log-likelihood of each row. CONFIDENTIAL: it reads the rows given to it without noise.

        What it returns is not protected by the fit, and as confidential as these rows. The law of rows is
        released, so that it tells nothing more of the rows that were fitted: it is normal with `mean_` and
        `get_covariance()`, as in scikit-learn's PCA.

        Args:
            X: Rows, (n, d), in the units of the data.

        Returns:
            Natural logarithms of the density, (n,).

        Raises:
            AttributeError: Without variances, and where noise left none outside of the components.
        """
        check_is_fitted(self)
        rows = cells.read(lambda: validate_data(self, X, dtype=np.float64, reset=False), X)
        return self._density("score_samples").log_likelihoods(rows)

    @available_if(_has_density)  # type: ignore[untyped-decorator]
    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return the mean of `score_samples`. CONFIDENTIAL: it reads the rows given to it without noise.

        A grid search that chooses by it lets private rows choose, for which nobody paid.

        Args:
            X: Rows, (n, d), in the units of the data.
            y: Not used.

        Returns:
            The mean log-likelihood of a row.

        Raises:
            AttributeError: Without variances, and where noise left none outside of the components.
        """
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self) -> int:
        """Return k, which scikit-learn asks for to name the columns of scores."""
        return len(self.components_)
