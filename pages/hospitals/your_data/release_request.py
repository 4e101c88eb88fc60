"""Say what a press of Release would ask for, from settings and public numbers alone. No Streamlit here.

A settings key that begins with "own." is one of this page's. `rows` is how many rows one patient can have at
most, as the table's owner stated.
"""

from dataclasses import replace

from dppca_core.accounting import gaussian
from dppca_core.accounts.account import Balance
from dppca_core.bounds import stated_spectra
from dppca_core.mechanisms import paid_centre
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED
from dppca_core.release import discrete_gaussian, fitted_bound
from dppca_core.release.request import FITTED, OFFERED, STACKED_ROUNDS, TWO_STAGES, Request, most_features
from dppca_core.tables import Schema
from dppca_core.tables.layout import layout_of
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data import usable_patients
from pages.hospitals.your_data.planned_table import Study
from pages.hospitals.your_data.settings import EQUAL_WEIGHT, RECOMMENDED
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings


class NotReleasedError(Exception):
    """Say in one sentence why the settings cannot be released, or not rehearsed."""


# By trust the method of one noisy moment, of all features.
ONE_MOMENT = {
    "central": "analyze_gauss",
    "secure aggregation": "sealed_sparse",
    "untrusted server": "own_noise_sparse",
}
# By method the settings that it has. All other methods on offer have a number of features to keep, s_hat.
METHOD_SETTINGS: dict[str, tuple[str, ...]] = dict.fromkeys(OFFERED, ("own.k", "own.s_hat"))
METHOD_SETTINGS |= dict.fromkeys((RECOMMENDED, "analyze_gauss", *STACKED_ROUNDS), ("own.k",))
METHOD_SETTINGS["dpdis_pca"] = ("own.k", "own.rank")


def requested(
    settings: Settings, study: Study, account: Balance | None, rows: int, trust: str = ""
) -> Request:
    """Return the request for the release that is set. Raises NotReleasedError where it would be refused.

    Numbers that the table is too narrow for are moved to the nearest possible ones (`adjustments` says so).
    Of the table only what is public is read: its dictionary, and the patients of each hospital.

    trust: whom the hospitals trust, for the method that is recommended there; "" for what is set.
    """
    d = study.d
    # Before the limit is set, neighbours are what the limit's form begins with.
    limit = account.limit if account is not None else None
    neighbours = limit.neighbours if limit is not None else catalogue.defaults()["neighbours"]
    k, s_hat = min(settings["own.k"], d - 1), settings["own.s_hat"]
    method = RECOMMENDED if trust else settings["own.method"]
    try:
        budget = Budget(settings["own.epsilon"], settings["own.delta"], neighbours)
        usable = usable_patients.sizes(study.schema, study.sizes, settings)
        n = sum(usable)  # by whom errors are predicted
        mean_share = _mean_share(study.schema, budget, n)
        if method == RECOMMENDED:
            # Predictions are for what a mean leaves of the budget.
            left = gaussian.remaining(budget, mean_share) if mean_share else budget
            trust = trust or (settings["own.trust"] if len(usable) > 1 else "central")
            method, s_hat = _recommended(n, d, k, left, len(usable), trust), RELEASED
        fitted = method in FITTED
        layout = layout_of(study.schema)
        if fitted:
            k = min(k, layout.rank - 1)
        # Two stages draw a noisy matrix of the features that they keep, which can be only so large.
        most = discrete_gaussian.MOST_FEATURES if method in TWO_STAGES else d
        if s_hat != RELEASED:
            s_hat = min(max(s_hat, k), d, most)
        elif method not in TWO_STAGES:  # only two stages can choose how many features they keep
            s_hat = d
        request = Request(
            method,
            d,
            k,
            budget,
            averaged=study.averaged,
            s_hat=s_hat,
            rank=min(max(settings["own.rank"], k), d),
            rows_per_patient=rows,
        )
        if not fitted:
            return replace(request, mean_share=mean_share)
        hospitals, equal = len(study.sizes), settings["own.counts"] == EQUAL_WEIGHT
        return fitted_bound.requested(request, layout, sum(study.sizes), hospitals, equal)
    except ValueError as reason:
        raise NotReleasedError(str(reason)) from None


def _mean_share(schema: Schema, budget: Budget, n: int) -> float:
    """Return the share of a budget that a mean takes, of 1/z^2, at n usable patients.

    It is for methods without a fitted bound, and 0 where the dictionary has usual values for all columns.
    """
    return 0.0 if schema.has_usual_values else paid_centre.share(budget, d=schema.d, n=n)


def _recommended(n: int, d: int, k: int, budget: Budget, hospitals: int, trust: str) -> str:
    """Return the method of one noisy moment or, of more features than it takes, that which errs least.

    These are two stages and stacked rounds, by their predicted errors on the worst of three spectra.
    """
    if d <= most_features(ONE_MOMENT[trust]):
        return ONE_MOMENT[trust]
    possible = [name for name in (*TWO_STAGES, *STACKED_ROUNDS) if METHODS[name].trust == trust]
    return stated_spectra.recommend_blindly(
        trust, n=n, d=d, k=k, budget=budget, providers=hospitals, among=possible
    )


def adjustments(request: Request, settings: Settings) -> list[str]:
    """Return a sentence for each number of the method that differs between the request and the settings."""
    keys = METHOD_SETTINGS[settings["own.method"]]
    values = {key: getattr(request, key.removeprefix("own.")) for key in keys}
    # "released" is no number: it lets the method choose one.
    return [
        page_text.adjusted(key, settings, value)
        for key, value in values.items()
        if value != settings[key] and settings[key] != RELEASED
    ]
