"""Releases of joint studies are in the same book: the page passes over what it cannot show."""

import numpy as np

from dppca_core import Budget
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.release import projector
from dppca_core.release.projector import ProjectorRequest
from pages.hospitals.your_data import book_releases, release_panel, session
from tests.core.accounts.paying import TABLE


def test_a_projector_is_neither_shown_nor_gone_on_with(monkeypatch):
    book = Book()
    payer = book.payer(TABLE)
    payer.set_limit(Limit(10.0, 1e-6))
    rows = np.random.default_rng(0).standard_normal((200, 3)) / 10
    request = ProjectorRequest(3, 1, Budget(2.0, 1e-6))
    payment, _ = projector.make(request, rows, payer, features=list("abc"), public={})
    assert len(book.finished()) == 1
    monkeypatch.setattr(session, "book", lambda: book)
    state = session.TableSession()
    book_releases.bring(state)
    assert state.confirmed == []
    assert release_panel._request_kept(payer.drawn(payment.id), None) is None
