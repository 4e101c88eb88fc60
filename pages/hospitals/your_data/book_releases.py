"""Bring finished releases of the book onto the page: those of former sessions, and of other pages."""

import json
from contextlib import suppress
from dataclasses import replace

from dppca_core.accounts.account import Balance
from dppca_core.accounts.book import Finished
from dppca_core.experiments.failures import log_errors
from dppca_core.release import bundle, spectrum
from dppca_core.release.private_release import Released
from dppca_core.release.spectrum import Spectrum, SpectrumRequest
from dppca_core.tables import Schema
from dppca_core.tables.encode import TableIdentity
from pages.hospitals.your_data import owner, session
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order, TableSession

_NAME = "from your accounts"  # in place of a file's name, which is not kept


def bring(state: TableSession) -> None:
    """List the finished releases of the visitor's accounts in their session, the oldest first."""
    known = {job.result.payment.id: job for job in state.confirmed if job.result is not None}
    with suppress(ValueError, OSError):  # the account of a table says what is wrong with the book
        brought = []
        passed = [*(i for i in known if known[i].account), *state.mail.finished]
        for finished in session.book().finished(owner.owner(), passed):
            if finished.payment.id in known:
                known[finished.payment.id].account = finished.account
                continue
            document = finished.document
            if "projector" in document or "joint plan" in document["public"]:  # its file is all that it gives
                state.mail.finished.add(finished.payment.id)
                continue
            with log_errors("bringing a release"):
                brought.append(_job(finished))
        state.confirmed = [*brought, *state.confirmed]


def account_after(job: ReleaseJob) -> Balance:
    """Return the account as it was right after this release was paid for."""
    if job.account is not None:
        return job.account
    before: Balance = job.what.account  # it ended in this run of the page, after the book was asked
    paid = {payment.id: payment for payment in (*before.payments, job.result.payment)}
    return replace(before, payments=tuple(paid.values()))


def delete(state: TableSession, job: ReleaseJob) -> None:
    session.book().delete(job.result.payment.id, owner.owner())
    state.confirmed = [other for other in state.confirmed if other is not job]


def _job(finished: Finished) -> ReleaseJob:
    document = finished.document
    public = document["public"]
    table = TableIdentity(
        finished.table,
        Schema.from_json(json.dumps(public["dictionary"])),
        public["dealt"],
        tuple(document["hospitals"]),
        public.get("rows kept of a patient", public.get("rows of a patient")),
    )
    payment, account = finished.payment, finished.account
    if document["what"] == spectrum.TITLE:
        eigenvalues = Order(SpectrumRequest.from_asked(document), account, table, _NAME)
        return ReleaseJob.finished(eigenvalues, Spectrum.from_document(document, payment), account)
    components = Order(bundle.recipe(document), account, table, _NAME)
    return ReleaseJob.finished(components, Released.from_document(document, payment), account)
