"""Fixtures of the page on a table of one's own."""

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.accounts.book import ACCOUNTS
from dppca_core.release import private_release
from pages.hospitals.your_data import owner, results


@pytest.fixture(autouse=True)
def accounts(tmp_path_factory, monkeypatch):
    """Keep away from the accounts of whoever runs the tests."""
    monkeypatch.setenv(ACCOUNTS, str(tmp_path_factory.mktemp("accounts")))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Keep accounts on the disk, as on a server that only its own machine can reach."""
    monkeypatch.setenv(ACCOUNTS, str(tmp_path))
    monkeypatch.setattr(owner, "has_book", lambda: True)
    return tmp_path


@pytest.fixture
def visitor(monkeypatch):
    """Return a function that says who has signed in from now on; None is the owner of all accounts."""
    return lambda who: monkeypatch.setattr(owner, "owner", lambda: who)


@pytest.fixture
def offered(monkeypatch) -> list[Callable[[], Any]]:
    """Return functions that build what can be downloaded from the pages that have run."""
    builders: list[Callable[[], Any]] = []

    def keep(data: Any) -> None:
        builders.append(data if callable(data) else lambda: data)

    in_column, on_page = DeltaGenerator.download_button, st.download_button
    monkeypatch.setattr(
        DeltaGenerator,
        "download_button",
        lambda self, label, data, *a, **k: (keep(data), in_column(self, label, data, *a, **k))[1],
    )
    monkeypatch.setattr(
        st, "download_button", lambda label, data, *a, **k: (keep(data), on_page(label, data, *a, **k))[1]
    )
    return builders


@pytest.fixture
def makes(monkeypatch):
    """List what every release that is made is of: its request, and the rows of each hospital."""
    given, make = [], private_release.make
    monkeypatch.setattr(
        private_release,
        "make",
        lambda request, rows, **more: given.append((request, rows)) or make(request, rows, **more),
    )
    return given


@pytest.fixture
def built(monkeypatch):
    """Return a function that returns the file which pages offered last: of a release, else of a rehearsal."""
    files = {}

    def keep(kind, make):
        return lambda *given: files.update({kind: make(*given)}) or files[kind]

    for kind in ("release", "rehearsal"):
        name = f"file_of_{kind}"
        monkeypatch.setattr(results, name, keep(kind, getattr(results, name)))
    return lambda kind="": files[kind or min(files, key=len)]
