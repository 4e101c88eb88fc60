"""Keep copies of finished releases on the server's disk, encrypted for the browser tab that paid for them.

A tab has a random token in its own storage, from which the key follows (`release.kept_releases`). Where no
folder keeps ledgers a release is in the session alone, which is forgotten two minutes after the page
has gone, and when the server ends. A copy holds the document and the lines of its account, and no row.
"""

import json
from dataclasses import replace
from typing import Any

from dppca_core.experiments.failures import log_errors
from dppca_core.release import bundle, kept_releases, score_histogram
from dppca_core.release.kept_releases import KeptReleases
from dppca_core.release.ledger_records import Account, from_lines, release_line
from dppca_core.release.private_release import Released
from dppca_core.release.score_histogram import ScoreHistogram, ScoreRequest
from dppca_core.tables import Schema
from pages.hospitals.your_data import session
from pages.hospitals.your_data.prepared_table import TableIdentity
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.hospitals.your_data.session import Order

_NAME_OF_RESTORED = "brought back by this tab"  # in place of a file's name, which is not kept


def _store() -> KeptReleases:
    """Return the store of encrypted copies on this server's disk."""
    return KeptReleases(kept_releases.default_folder())


def account(job: ReleaseJob) -> Account:
    """Return the account as it stood just after this release was paid for."""
    before, entry = job.what.account, job.result.entry
    # A release that was resumed is among them already, perhaps as another session's, without its details.
    # Its full entry takes the same place.
    entries = {paid.id: paid for paid in before.entries} | {entry.id: entry}
    return replace(before, entries=tuple(entries.values()))


def keep(job: ReleaseJob) -> None:
    """Keep a copy of a finished release until a file of it is downloaded; nothing where ledgers are on disk.

    A copy under a former token of the tab is dropped, and kept anew under the present one.
    """
    is_to_keep = job.what.kind in ("release", "scores") and job.result is not None and not job.downloaded
    if not is_to_keep or session.folder() is not None:
        return
    if job.token == job.copied_for:  # under this token it was tried before
        return
    drop(job)
    after = account(job)  # as it stood just after the release was paid for
    limit = [] if after.limit is None else [{"kind": "limit", "at": job.result.entry.at, **vars(after.limit)}]
    record = {
        "document": job.result.document,
        "lines": [*limit, *map(release_line, after.entries)],
        "id": job.result.entry.id,
    }
    job.copied = _store().keep(job.token, job.result.entry.id, record)
    job.copied_for = job.token
    if job.downloaded:  # a file was requested while the copy was written
        drop(job)


def drop(job: ReleaseJob) -> None:
    """Drop the copy of a release, if there is one."""
    if job.copied:
        _store().drop(job.copied_for, job.result.entry.id)
        job.copied = False


def restored(token: str) -> list[ReleaseJob]:
    """Return the releases kept for a tab as finished jobs, oldest first; none for an unknown token."""
    jobs: list[ReleaseJob] = []
    for plain in _store().opened(token):
        with log_errors("bringing back a release"):  # a copy by another version may have another form
            jobs.append(_restored_job(plain, token))
    return jobs


def _restored_job(record: dict[str, Any], token: str) -> ReleaseJob:
    """Return a finished job with the result that a copy holds: record is what `keep` has made of it.

    token: of the browser tab for which the copy is kept.
    """
    account_after, document = from_lines(record["lines"]), record["document"]
    (entry,) = (entry for entry in account_after.entries if entry.id == record["id"])
    is_picture = document["what"] == score_histogram.TITLE
    release = document["release"] if is_picture else document
    public = release["public"]
    table = TableIdentity(
        "",  # a key follows from rows, and is not kept
        Schema.from_json(json.dumps(public["dictionary"])),
        public["dealt"],
        tuple(release["hospitals"]),
        public.get("rows kept of a patient"),
    )
    kind, request = ("scores", ScoreRequest.from_document) if is_picture else ("release", bundle.recipe)
    result = (ScoreHistogram if is_picture else Released).from_document(document, entry)
    order = Order(kind, request(document), account_after, table, _NAME_OF_RESTORED)
    job = ReleaseJob.finished(order, result, drop)
    job.token = job.copied_for = token
    job.copied = True
    return job
