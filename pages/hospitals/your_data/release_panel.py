"""Render the release: its settings, its price, its confirmation, and what was released.

A settings key that begins with "own." is one of this page's. `rows` is how many rows one patient can have at
most, as the table's owner stated.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.accounts.account import Balance
from dppca_core.accounts.book import Payer, ReleaseSteps
from dppca_core.methods import METHODS
from dppca_core.release import how_chosen, private_release, spectrum
from dppca_core.release.private_release import Released
from dppca_core.release.request import Request
from dppca_core.release.spectrum import SpectrumRequest
from dppca_core.tables.encode import PreparedTable
from dppca_core.tables.layout import layout_of
from pages.hospitals.your_data import (
    account_text,
    bundle_panel,
    confirmation,
    plain_text,
    rehearsal_panel,
    results,
    session,
    usable_patients,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.planned_table import Study
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.release_request import METHOD_SETTINGS, adjustments
from pages.hospitals.your_data.session import Order
from pages.hospitals.your_data.settings import RECOMMENDED
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings


def choose_others(study: Study, request: Request | None, layout: PageLayout) -> None:
    """Render what few change, under one fold; request: None where the settings cannot be released."""
    method = layout.settings["own.method"]
    with layout.details(), st.expander("Other choices", key="own choices"):
        for column, key in zip(
            st.columns(4), ("own.method", *METHOD_SETTINGS[method], "own.delta"), strict=False
        ):
            with column:
                widgets.show_control(key)
        if request is None:
            return
        for sentence in (*adjustments(request, layout.settings), *_about(request, study, method)):
            if sentence:
                st.caption(sentence)


def _about(request: Request, study: Study, method: str) -> Iterator[str]:
    if method == RECOMMENDED:
        yield page_text.recommended(request)
    if request.fitted:
        yield page_text.fitted(request)
    else:
        yield page_text.centre(request.mean_share, study.schema.has_usual_values)
    yield page_text.how_noise_is_drawn(request.method)
    yield page_text.estimates(request.method, request.fitted)
    if METHODS[request.method].trust != "central":
        yield page_text.several(request.method, len(study.sizes))


def show(
    prepared: PreparedTable, account: Balance, request: Request, stopped: bool, layout: PageLayout
) -> None:
    """Render the promise, the price, the button, the question and the progress of a release."""
    rows, budget = request.rows_per_patient, request.budget
    bundle_panel.ask_how_chosen()
    layout.say(plain_text.promise(request, prepared.n))
    with layout.details():
        if budget.delta > 1 / prepared.n:
            many = f"the number of {page_text.noun(rows)}"
            st.caption(f"The failure chance is above one in {many}: choose a smaller one.")
        st.caption(page_text.odds(request))
        st.caption(page_text.as_gaussian(request))
        st.caption(page_text.two_releases(request))
    what = f"A release by {METHODS[request.method].title}"
    answer, sentence = session.current().how_chosen
    try:
        how_were_chosen = how_chosen.statement(answer, sentence) if answer else ""
    except ValueError as reason:
        st.error(text.refusal(str(reason)))
        return
    order = Order(
        request,
        account,
        table=prepared.identity,
        name=prepared.raw.name,
        chosen=how_were_chosen,
        usable_share=_usable_share(prepared, layout.settings),
    )
    word = layout.words.COMPONENT
    components = text.count(request.k, word, f"{word}s")
    question = f"**Release {components} of {prepared.n:,} {page_text.noun(rows)}?**"
    end = "The noise is drawn once, and anybody may see the result."
    label = "Release anyway …" if stopped else "Release …"
    confirmation.show(
        order,
        label,
        what,
        question,
        confirmation.of_table(_make_release),
        end=end,
        form=layout.words.price,
        first="" if answer else page_text.ANSWER_HOW_CHOSEN,
    )


def _make_release(order: Order[Request], table: PreparedTable, **given: Any) -> Released:
    """Make the release of an order; a fitted bound takes rows as they were encoded."""
    if order.request.fitted:
        given |= {"rows": table.encoded_parts, "layout": layout_of(table.schema)}
    return private_release.make(order.request, chosen=order.chosen, usable_share=order.usable_share, **given)


def _usable_share(prepared: PreparedTable, settings: Settings) -> float | None:
    """Return the share of usable patients that a release states; None where no row can be left out either."""
    schema = prepared.schema
    return usable_patients.stated_share(schema, settings) if schema.leaves_rows_out else None


def show_interrupted(prepared: PreparedTable, payer: Payer, account: Balance, layout: PageLayout) -> None:
    """Offer to go on with paid releases that were not finished, and say which cannot be had any more.

    The book has what a release has drawn. It goes on only with the same table, dictionary and hospitals.
    """
    state = session.current()
    known = {job.result.payment.id for job in state.confirmed if job.result is not None} | state.mail.finished
    lost = []
    for payment in account.payments:
        if payment.id in known or payment.is_of_another_owner:
            continue
        try:
            drawn = payer.drawn(payment.id)  # the steps drawn so far; None where there are none
            by_mail = "" if drawn is None else _hospital_by_mail(drawn)
            request = None if drawn is None or by_mail else _request_kept(drawn, prepared)
        except (ValueError, OSError) as reason:
            st.error(account_text.unreadable(payment, reason))
            continue
        if drawn is None:
            lost.append(payment)
        elif by_mail:
            st.warning(account_text.interrupted_by_mail(payment, by_mail))
        elif request is None:
            st.warning(account_text.interrupted_of_another(payment))
        else:
            left, right = st.columns([4, 2], vertical_alignment="center")
            left.warning(account_text.interrupted(payment))
            make = rehearsal_panel.make if isinstance(request, SpectrumRequest) else _make_release
            order = Order(request, account, prepared.identity, prepared.raw.name)
            order = order._replace(usable_share=_usable_share(prepared, layout.settings))
            build = confirmation.of_table(partial(make, resumed=payment))
            resume = partial(confirmation.resume, order, build)
            right.button("Go on with it", key=f"own resume {payment.id}", on_click=resume, width="stretch")
    if lost:
        st.warning(account_text.lost(lost, account, layout.words.named))


def _hospital_by_mail(drawn: ReleaseSteps) -> str:
    """Return of which hospital a release is the answer to a joint plan, "" for any other release."""
    public = drawn.asked.get("public", {})
    return str(public["hospital"]) if "joint plan" in public else ""


def _request_kept(drawn: ReleaseSteps, prepared: PreparedTable) -> Request | SpectrumRequest | None:
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
    if "request" not in asked:  # a projector, which this page does not make
        return None
    request = Request.from_plain(asked["request"])
    if private_release.as_asked(request, prepared.sizes, prepared.schema.features, prepared.public) != asked:
        return None
    # Rows that are averaged now and were not, or the other way round, are other rows.
    return request if request.averaged == prepared.averaged else None


def show_releases(layout: PageLayout) -> ReleaseJob | None:
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
    streamlit.show_blocks(results.released(release.result, layout.plain))
    with layout.details():
        streamlit.show_blocks(results.how_released(release.result))
    bundle_panel.show_downloads(release, layout)
