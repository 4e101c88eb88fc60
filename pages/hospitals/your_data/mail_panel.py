"""Render a joint study by mail: its plan, taking part with the loaded table, and answers put together."""

from functools import partial

import streamlit as st

from dppca_core.accounts.account import Balance
from dppca_core.accounts.book import Payer
from dppca_core.joint import in_words, take_part
from dppca_core.joint.forecast import forecast
from dppca_core.joint.plan import JointPlan
from dppca_core.joint.take_part import Earlier, TakingPart
from dppca_core.release.discrete_gaussian import Progress
from dppca_core.release.projector import METHOD as PROJECTOR
from dppca_core.release.projector import ON_A_GOOD_EVENT, ProjectorRequest
from dppca_core.release.request import Request
from dppca_core.tables import JoinedTable, Raw
from dppca_core.tables.encode import PreparedTable
from pages.hospitals.your_data import (
    account_panel,
    account_text,
    combine_panel,
    confirmation,
    mail_document,
    mail_text,
    owner,
    plain_text,
    session,
)
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.layout import PageLayout
from pages.hospitals.your_data.mail_study import AnswerFile, PreparedPart
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order, TableSession
from pages.shared import text
from pages.shared.document import streamlit
from pages.shared.plain import by_mail, phrases
from pages.shared.server import uploads

MailOrder = Order[Request | ProjectorRequest]


def show(prepared: PreparedTable | None, account: Balance | None, layout: PageLayout) -> None:
    """Render the fold of studies by mail.

    prepared: the table as the page's own dictionary encodes it, whose account is open above; None where the
    page has none. account: that account; None while a question on it is open.
    """
    fold = st.expander(mail_text.TITLE, key="own mail", on_change="rerun")
    if not fold.open:
        return
    state = session.current()
    with fold:
        st.caption(mail_text.ABOUT)
        plan = _choose_plan(state)
        if plan is None:
            st.caption(mail_text.NO_PLAN)
            return
        streamlit.show_blocks(by_mail.blocks(plan, forecast(plan)))
        if plan.method == PROJECTOR:
            st.warning(ON_A_GOOD_EVENT)
        st.subheader(mail_text.TAKE_PART)
        part = _choose_part(state, plan, layout)
        if part is not None:
            _take_part(part, prepared, account, layout)
        _show_file(state)
        st.subheader(mail_text.TOGETHER)
        combine_panel.show(state, plan, layout)


def _choose_plan(state: TableSession) -> JointPlan | None:
    upload = uploads.ask(mail_text.PLAN, ["json"], f"own plan {state.uploader}", limits_shown=False)

    def take() -> None:
        assert upload is not None  # it has an id
        with session.refusing(mail_text.UNREADABLE_PLAN):
            plan = JointPlan.from_json(upload.getvalue())
        state.mail.plan, state.mail.hospital, state.mail.prepared = plan, None, None

    refused = state.handle("plan", upload.file_id if upload else "", take)
    if refused:
        st.error(text.refusal(text.symbols(refused)))
    return state.mail.plan


def _choose_part(state: TableSession, plan: JointPlan, layout: PageLayout) -> TakingPart | None:
    """Ask which hospital the visitor is. Return the loaded table as the plan encodes it, once it fits."""
    raw = state.raw
    if raw is None:
        st.caption(mail_text.NO_TABLE)
        return None
    if isinstance(raw, JoinedTable):
        st.info(mail_text.SEVERAL)
        return None
    names = [hospital.name for hospital in plan.hospitals]
    now = state.mail.hospital
    state.mail.hospital = st.selectbox(
        mail_text.WHO,
        names,
        None if now is None else names.index(now),
        key=f"own hospital of {plan.digest}",
        placeholder="choose",
    )
    if state.mail.hospital is None:
        return None
    prepared = _prepare(state, plan, state.mail.hospital, raw)
    if prepared.refusal:
        st.error(text.refusal(prepared.refusal))
    return prepared.part


def _prepare(state: TableSession, plan: JointPlan, hospital: str, raw: Raw) -> PreparedPart:
    """Encode the table by the plan, only if something has changed."""
    mine = None if state.ready is None else state.ready.schema
    if mine is not None and mine.published != plan.dictionary.published:
        mine = None  # it is for another release; else it knows more words of the cells
    request = (plan.digest, hospital, mine)
    if state.mail.prepared is None or state.mail.prepared.request != request:
        part, refusal = None, ""
        try:
            with st.spinner("Reading"), session.refusing(mail_text.UNFIT):
                part = take_part.prepare(plan, hospital, raw, mine)
        except ValueError as reason:
            refusal = str(reason)
        state.mail.prepared = PreparedPart(request, part, refusal)
    return state.mail.prepared


def _take_part(
    part: TakingPart, prepared: PreparedTable | None, account: Balance | None, layout: PageLayout
) -> None:
    plan, plain = part.plan, layout.plain
    st.markdown(mail_text.you_are(part))
    guarantee = in_words.guarantee(part)
    st.markdown(plain_text.promise(part.request, part.n) if plain else text.literal(" ".join(guarantee)))
    st.markdown(mail_text.leaves(plan, part.hospital))
    streamlit.show_block(mail_document.leaving(plan, named=not plain))
    if plain:
        with st.expander(phrases.FOLD, key="own mail promise"):
            st.markdown(text.literal(" ".join(guarantee)))
            streamlit.show_block(mail_document.leaving(plan, named=True))
    payer = session.payer(part.table)
    if prepared is None:
        payer, account = account_panel.open_account(part.table)
    elif account is None:
        st.info(mail_text.ACCOUNT_ABOVE)
    if account is None:
        return
    if account.limit is None:
        if prepared is None:
            account_panel.ask_limit(payer, layout)
        else:
            st.info(mail_text.LIMIT_ABOVE)
        return
    if prepared is None and not owner.has_book():
        st.warning(account_text.IN_SESSION)
    if account.limit.neighbours != plan.neighbours:
        st.error(mail_text.other_neighbours(plan))
        return
    try:
        earlier = part.earlier(payer)
    except (ValueError, OSError) as reason:
        st.error(account_text.refused("read", reason))
        return
    _sell(part, account, earlier, layout)


def _sell(part: TakingPart, account: Balance, earlier: Earlier, layout: PageLayout) -> None:
    """Render the price, the question, and the progress; or, where it is paid for, how to get the file."""
    state, plan = session.current(), part.plan
    study = f"{plan.digest} {part.hospital.name}"
    order: MailOrder = Order(part.request, account, part.table.identity, part.table.raw.name, study=study)
    last = state.last("mail")
    if earlier.payment is not None and not (last and last.running):
        if last is None or last.result is None or last.what.study != study:
            st.markdown(mail_text.PAID)
            st.button(
                mail_text.AGAIN, key="own mail again", on_click=partial(confirmation.resume, order, _build)
            )
            if last is not None and last.failed and last.what.study == study:
                st.warning(page_text.ended(last))
        return
    for sentence in in_words.others_paid(earlier):
        st.markdown(sentence)
    compared = st.checkbox(
        mail_text.COMPARED, state.mail.compared == plan.digest, key=f"own words of {plan.digest}"
    )
    state.mail.compared = plan.digest if compared else ""
    confirmation.show(
        order,
        mail_text.ASK,
        mail_text.PRICE,
        mail_text.question(part),
        _build,
        end=mail_text.END,
        form=layout.words.price,
        first="" if compared else mail_text.COMPARE,
    )


def _build(state: TableSession, order: MailOrder) -> ReleaseJob | None:
    """Build the job that pays, draws and makes the file; None where the table or the plan has changed."""
    part = state.mail.ready
    if part is None or order.study != f"{part.plan.digest} {part.hospital.name}":
        return None
    return confirmation.job_of(order, partial(_answer, part, session.payer(part.table), order.account))


def _answer(part: TakingPart, payer: Payer, account: Balance, progress: Progress) -> AnswerFile:
    answer = part.answer(payer, account, progress)
    payment = part.earlier(payer).payment
    assert payment is not None  # for this answer
    return AnswerFile(part.hospital.file_name, answer.to_json(part.plan), payment)


def _show_file(state: TableSession) -> None:
    """Offer the answers that were made, also once the table has gone."""
    made = {job.what.study: job for job in state.confirmed if job.what.kind == "mail" and job.result}
    for study, job in made.items():
        file: AnswerFile = job.result
        st.success(mail_text.made(study.partition(" ")[2], file.name, len(file.data)))
        st.download_button(
            f"Download {file.name}",
            file.data,
            file.name,
            "application/json",
            on_click="ignore",
            type="primary",
            key=f"own answer {job.number}",
        )
