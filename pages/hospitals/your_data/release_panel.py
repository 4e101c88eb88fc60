"""Render the release: its settings, its price, its confirmation, and what was released.

A settings key that begins with "own." is one of this page's. `rows` is how many rows one patient can have at
most, as the table's owner stated.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.accounting import gaussian
from dppca_core.accounts.account import Account
from dppca_core.accounts.book import Drawn, Payer
from dppca_core.bounds import stated_spectra
from dppca_core.mechanisms import paid_centre
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED
from dppca_core.release import (
    bundle,
    discrete_gaussian,
    fitted_bound,
    how_chosen,
    private_release,
    spectrum,
)
from dppca_core.release.private_release import Released
from dppca_core.release.request import (
    FITTED,
    OFFERED,
    STACKED_ROUNDS,
    TWO_STAGES,
    Request,
    most_features,
)
from dppca_core.release.spectrum import SpectrumRequest
from dppca_core.tables import safe_cell
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.layout import layout_of
from pages.hospitals.your_data import (
    account_text,
    bundle_panel,
    charts,
    confirmation,
    figure_code,
    plain_text,
    session,
    synthetic_twin_panel,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order
from pages.hospitals.your_data.settings import EQUAL_WEIGHT, RECOMMENDED
from pages.shared import text
from pages.shared.reports import take_along
from pages.shared.settings import in_context, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

# Methods whose error is predicted; of two that are as good, the first is recommended.
_PREDICTED = ("analyze_gauss", "sealed_sparse", *TWO_STAGES, *STACKED_ROUNDS)
# By method the settings that it has. All other methods on offer have a number of features to keep, s_hat.
_METHOD_SETTINGS = {
    **dict.fromkeys(OFFERED, ("own.k", "own.s_hat")),
    **dict.fromkeys((RECOMMENDED, "analyze_gauss", *STACKED_ROUNDS), ("own.k",)),
    "dpdis_pca": ("own.k", "own.rank"),
}


def requested(
    settings: Settings, prepared: PreparedTable, account: Account | None, rows: int
) -> Request | str:
    """Return the request for the release that is set, or why it would be refused, in one sentence.

    Numbers that the table is too narrow for are moved to the nearest possible ones (`adjustments` says so).
    Of the table only what is public is read: its dictionary, and the patients of each hospital.
    """
    d = prepared.d
    # Before the limit is set, neighbours are what the limit's form begins with.
    limit = account.limit if account is not None else None
    neighbours = limit.neighbours if limit is not None else CHOICES["neighbours"].default
    k, method, s_hat = min(settings["own.k"], d - 1), settings["own.method"], settings["own.s_hat"]
    try:
        budget = Budget(settings["own.epsilon"], settings["own.delta"], neighbours)
        usable = usable_patients.sizes(prepared.schema, prepared.sizes, settings)
        n = sum(usable)  # by whom errors are predicted
        mean_share = _mean_share(prepared, budget, n)
        if method == RECOMMENDED:
            # Predictions are for what a mean leaves of the budget.
            left = gaussian.remaining(budget, mean_share) if mean_share else budget
            method, s_hat = _recommended(n, d, k, left, len(usable)), RELEASED
        fitted = method in FITTED
        layout = layout_of(prepared.schema)
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
            averaged=prepared.averaged,
            s_hat=s_hat,
            rank=min(max(settings["own.rank"], k), d),
            rows_per_patient=rows,
        )
        if not fitted:
            return replace(request, mean_share=mean_share)
        hospitals, equal = len(prepared.sizes), settings["own.counts"] == EQUAL_WEIGHT
        return fitted_bound.requested(request, layout, sum(prepared.sizes), hospitals, equal)
    except ValueError as reason:
        return str(reason)


def _mean_share(prepared: PreparedTable, budget: Budget, n: int) -> float:
    """Return the share of a budget that a mean takes, of 1/z^2, at n usable patients.

    It is for methods without a fitted bound, and 0 where the dictionary has usual values for all columns.
    """
    return 0.0 if prepared.schema.has_usual_values else paid_centre.share(budget, d=prepared.d, n=n)


def _recommended(n: int, d: int, k: int, budget: Budget, hospitals: int) -> str:
    """Return the method of one noisy moment or, of more features than it takes, that which errs least.

    These are two stages and stacked rounds, by their predicted errors on the worst of three spectra. n, d, k:
    patients, features and components. budget: what a mean leaves of it.
    """
    one_moment = "analyze_gauss" if hospitals == 1 else "sealed_sparse"
    if d <= most_features(one_moment):
        return one_moment
    trust = "central" if hospitals == 1 else "secure aggregation"
    possible = [name for name in _PREDICTED if METHODS[name].trust == trust and most_features(name) >= d]
    setting = {"n": n, "d": d, "k": k, "budget": budget, "providers": hospitals}
    return stated_spectra.recommend_blindly(trust, **setting, among=possible)


def adjustments(request: Request, settings: Settings) -> list[str]:
    """Return a sentence for each number of the method that differs between the request and the settings."""
    keys = _METHOD_SETTINGS[settings["own.method"]]
    values = {key: getattr(request, key.removeprefix("own.")) for key in keys}
    # "released" is no number: it lets the method choose one.
    return [
        page_text.adjusted(key, settings, value)
        for key, value in values.items()
        if value != settings[key] and settings[key] != RELEASED
    ]


def choose_settings(prepared: PreparedTable, request: Request | str, layout: PageLayout) -> None:
    """Render the controls of epsilon and k; as details those of the method, and sentences on what it does."""
    left, right = st.columns(2)
    with left:
        widgets.show_control("own.epsilon")
        in_context.show_published_releases(layout.plain)
    with right:
        widgets.show_control("own.k")
    with layout.details():
        _choose_details(layout.settings, prepared, request)


def _choose_details(settings: Settings, prepared: PreparedTable, request: Request | str) -> None:
    """Render the method's controls, three in a line, and what the request fits, centres and trusts."""
    _, *others = _METHOD_SETTINGS[settings["own.method"]]  # k is a main control
    with st.expander("Other choices", key="own choices"):
        for column, key in zip(st.columns(3), ["own.method", "own.delta", *others], strict=False):
            with column:
                widgets.show_control(key)
    if isinstance(request, str):
        return
    method = request.method
    if settings["own.method"] == RECOMMENDED:
        st.caption(page_text.recommended(request))
    if request.fitted:
        st.caption(page_text.fitted(request))
    else:
        st.caption(page_text.centre(request.mean_share, prepared.schema.has_usual_values))
    trust = METHODS[method].trust
    titled = text.TRUST_TITLES[trust].lower()
    st.caption(
        f"Whom it trusts: {titled}. {page_text.how_noise_is_drawn(method)} {page_text.estimates(method)}"
    )
    if trust != "central":
        st.info(page_text.several(method, len(prepared.sizes)))
    bundle_panel.ask_how_chosen()


def show(
    prepared: PreparedTable, account: Account, request: Request | str, stopped: bool, layout: PageLayout
) -> None:
    """Render the promise, the price, the button, the question and the progress of a release.

    account: what the release is paid from. request: as `requested` returns it; a reason is shown alone.
    stopped: whether the rehearsal warns that the answer would be noise, which the button then says too.
    """
    if isinstance(request, str):
        layout.details().error(page_text.refusal(text.symbols(request)))
        return
    rows, budget = request.rows_per_patient, request.budget
    layout.say(plain_text.promise(request, prepared.n))
    with layout.details():
        for sentence in adjustments(request, layout.settings):
            st.caption(sentence)
        if budget.delta > 1 / prepared.n:
            many = f"the number of {page_text.noun(rows)}"
            st.caption(f"The failure chance is above one in {many}: choose a smaller one.")
        st.caption(page_text.odds(request))
        st.caption(page_text.elsewhere(request))
    what = f"A release by {METHODS[request.method].title}"
    try:
        how_were_chosen = how_chosen.statement(*session.current().how_chosen)
    except ValueError as reason:
        st.error(page_text.refusal(str(reason)))
        return
    order = Order("release", request, account, prepared.identity, prepared.raw.name, how_were_chosen)
    order = order._replace(usable_share=_usable_share(prepared, layout.settings))
    word = layout.words.COMPONENT
    components = text.count(request.k, word, f"{word}s")
    question = f"**Release {components} of {prepared.n:,} {page_text.noun(rows)}?**"
    end = "The noise is drawn once, and anybody may see the result."
    label = "Release anyway …" if stopped else "Release …"
    confirmation.show(order, label, what, question, _make_release, end=end, form=layout.words.price)


def _make_release(order: Order, table: PreparedTable, **given: Any) -> Released:
    """Make the release of an order, whose table's rows are among the keywords `given`.

    given: as `confirmation.release_keywords` returns, and `resumed`, the payment, where a release is gone on
    with. A fitted bound takes rows as they were encoded.
    """
    if order.request.fitted:
        given |= {"rows": table.encoded_parts, "layout": layout_of(table.schema)}
    return private_release.make(order.request, chosen=order.chosen, usable_share=order.usable_share, **given)


def _usable_share(prepared: PreparedTable, settings: Settings) -> float | None:
    """Return the share of usable patients that a release states; None where no row can be left out either."""
    schema = prepared.schema
    return usable_patients.stated_share(schema, settings) if schema.leaves_rows_out else None


def show_interrupted(prepared: PreparedTable, payer: Payer, account: Account, layout: PageLayout) -> None:
    """Offer to go on with paid releases that were not finished, and say which cannot be had any more.

    The book has what a release has drawn. It goes on only with the same table, dictionary and hospitals.
    """
    state = session.current()
    known = {job.result.payment.id for job in state.confirmed if job.result is not None}
    lost = []
    for payment in account.payments:
        if payment.id in known or payment.is_of_another_owner:
            continue
        try:
            drawn = payer.drawn(payment.id)  # the steps drawn so far; None where there are none
            request = None if drawn is None else _request_kept(drawn, prepared)
        except (ValueError, OSError) as reason:
            st.error(account_text.unreadable(payment, reason))
            continue
        if drawn is None:
            lost.append(payment)
        elif request is None:
            st.warning(account_text.interrupted_of_another(payment))
        else:
            left, right = st.columns([4, 2], vertical_alignment="center")
            left.warning(account_text.interrupted(payment))
            kind, make = _KINDS[type(request)]
            order = Order(kind, request, account, prepared.identity, prepared.raw.name)
            order = order._replace(usable_share=_usable_share(prepared, layout.settings))
            go_on = partial(confirmation.go_on, order, partial(make, resumed=payment))
            right.button("Go on with it", key=f"own resume {payment.id}", on_click=go_on, width="stretch")
    if lost:
        st.warning(account_text.lost(lost, account, layout.words.named))


# By the type of its request: what a paid release is called in an order, and what makes it.
_KINDS: dict[type, tuple[str, confirmation.Make]] = {
    Request: ("release", _make_release),
    SpectrumRequest: ("spectrum", synthetic_twin_panel.make),
}


def _request_kept(drawn: Drawn, prepared: PreparedTable) -> Request | SpectrumRequest | None:
    """Return the request of a release that was begun; None if it is not of the table as it is prepared now.

    Raises ValueError where its steps were damaged, or it was deleted just now.
    """
    asked = drawn.asked
    if "spectrum" in asked:
        eigenvalues = SpectrumRequest.from_asked(asked)
        same = spectrum.as_asked(
            eigenvalues, prepared.sizes, prepared.schema.features, prepared.public, prepared.averaged
        )
        return eigenvalues if same == asked else None
    request = Request.from_plain(asked["request"])
    if private_release.as_asked(request, prepared.sizes, prepared.schema.features, prepared.public) != asked:
        return None
    # Rows that are averaged now and were not, or the other way round, are other rows.
    return request if request.averaged == prepared.averaged else None


def show_releases(layout: PageLayout) -> ReleaseJob | None:
    """Render the finished releases, one of them in full. Return the one that is shown."""
    state = session.current()
    finished = [release for release in state.releases if release.result is not None]
    if not finished:
        return None
    label, title = "Released", "{name} at {at} UTC"
    release = bundle_panel.choose_job(finished, label, "own result", title)
    # If the release is of the present table, say what it costs by the owner's present answer.
    is_of_this_table = state.raw is not None and state.raw.key == release.what.table.key
    if is_of_this_table and state.rows_per_patient is not None:
        restated = page_text.restated(release.result, state.rows_per_patient, layout.words.restated)
        if restated:
            st.warning(restated)
    _show_release(release, layout)
    return release


def _show_release(release: ReleaseJob, layout: PageLayout) -> None:
    """Render a release in full: its promise, its loadings as figure and table, its eigenvalues, its files."""
    features, released = release.what.table.schema.features, release.result
    noun = page_text.noun(released.document["rows per patient"])
    layout.say(plain_text.released(released.basis.shape[1], f"{sum(release.what.table.sizes):,} {noun}"))
    with layout.details():
        st.markdown(page_text.centring(released))
        noise_drawn = page_text.how_noise_is_drawn(released.document["method"])
        st.markdown(f"**{page_text.promise(released)}** {noise_drawn}")
    words = layout.words
    drawn = charts.loadings(features, released.basis, released.loading_std, words.COMPONENT, words.LOADING)
    take_along.show(
        *(drawn, "own loadings", "private-components", f"Released {words.COMPONENT}s"),
        says=charts.describe_loadings(drawn, words.COMPONENT),
        code=lambda: figure_code.RELEASED,
    )
    layout.say(plain_text.apart(*page_text.apart_from_zero(released)))
    if released.document["mean"] is None:
        layout.say(plain_text.UNCENTRED)
    with layout.details():
        st.caption(page_text.told_from_zero(released))
        if released.eigenvalues is not None:
            st.markdown(page_text.eigenvalues(released))
        _list_loadings(released)
    bundle_panel.show_downloads(release, layout)


def _list_loadings(released: Released) -> None:
    """Render the loadings as a table: all, or of a wide release the strongest."""
    frame = bundle.loadings(released.document)
    listed = frame.iloc[charts.strongest(released.basis)]
    all_listed = len(listed) == len(frame)
    with st.expander("All loadings as a table" if all_listed else "The strongest loadings as a table"):
        # The list has a download of its own, which a spreadsheet opens.
        st.dataframe(listed.assign(feature=listed["feature"].map(safe_cell)), hide_index=True)
        if not all_listed:
            st.caption(page_text.strongest(len(listed), len(frame)))
