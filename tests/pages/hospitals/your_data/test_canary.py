"""Whatever page its owner or another visitor opens, a table of one's own is on none but its own.

A word, a column's name, a file's name and a number that occur nowhere else are brought, rehearsed with and
released; then every page is read to the byte, and all that can be downloaded from it, the link, the log, the
disk and the server's caches.
"""

import functools
import gc
import json
import struct
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.caching import cache_data_api, cache_resource_api

from pages.hospitals.your_data import session
from pages.shared.reports import html_report
from tests.pages.conftest import ROUTER, Screen
from tests.pages.hospitals.your_data.test_your_data import (
    CANARY,
    FILE,
    NUMBER,
    PAGE,
    brought,
    marked,
    own,
    press,
)

SMALL = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "repeats": "1"}
PAGES = [
    str(path.relative_to(ROUTER.parent))
    for section in ("explore", "hospitals", "learn")
    for path in sorted((ROUTER.parent / section).glob("*/page.py"))
]
MARKS = (CANARY.encode(), str(NUMBER).encode(), struct.pack("<d", NUMBER), struct.pack("<f", NUMBER))
DEEP = 3_000_000  # objects: far more than the caches hold


def shown(page: Screen) -> bytes:
    """All that is sent to the browser: every element with its figures and tables, the link."""
    sent = [node.proto.SerializeToString() for node in page.app._tree if getattr(node, "proto", None)]
    return b"".join(sent) + json.dumps(page.link).encode()


def marks(data: bytes) -> list[bytes]:
    return [mark for mark in MARKS if mark in data]


@pytest.fixture
def offered(monkeypatch) -> list[Callable[[], Any]]:
    """What can be downloaded from the pages that have run, to be built."""
    found: list[Callable[[], Any]] = []

    def keep(data: Any) -> None:
        found.append(data if callable(data) else lambda: data)

    in_column, on_page = DeltaGenerator.download_button, st.download_button
    monkeypatch.setattr(
        DeltaGenerator,
        "download_button",
        lambda self, label, data, *a, **k: (keep(data), in_column(self, label, data, *a, **k))[1],
    )
    monkeypatch.setattr(
        st, "download_button", lambda label, data, *a, **k: (keep(data), on_page(label, data, *a, **k))[1]
    )
    monkeypatch.setattr(html_report, "button", lambda build, *a, **k: keep(lambda: html_report.html(build())))
    return found


def downloads(offered: list[Callable[[], Any]]) -> bytes:
    """All of them, built."""
    built = [build() for build in offered]
    offered.clear()
    return b"".join(one if isinstance(one, bytes) else str(one).encode() for one in built)


def caches() -> list[Any]:
    """Streamlit's for all visitors, and every function that keeps what it returned."""
    gc.unfreeze()  # frozen objects are not among those that follow
    kept = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    return [cache_data_api._data_caches, cache_resource_api._resource_caches, *kept]


def reachable(roots: Iterable[Any]) -> Iterator[Any]:
    """Every object that these hold, modules, classes and functions left out."""
    aside = (types.ModuleType, type, types.FunctionType, types.MethodType, types.FrameType)
    stack, seen = list(roots), dict[int, Any]()  # it holds them, or their numbers would be given again
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, aside):
            continue
        seen[id(one)] = one
        assert len(seen) < DEEP
        yield one
        stack += gc.get_referents(one)


def holds_a_mark(one: Any) -> bool:
    """Whether this object is, or holds directly, what must not be there."""
    if isinstance(one, str):
        return CANARY in one or str(NUMBER) in one
    if isinstance(one, bytes):
        return bool(marks(one))
    if isinstance(one, float):
        return one == NUMBER
    if isinstance(one, np.ndarray) and one.dtype.kind == "f":
        return bool((one == NUMBER).any())
    return isinstance(one, (pa.Table, pa.RecordBatch))


def test_no_page_but_its_own_shows_a_table(tmp_path, offered, capfd, caplog, monkeypatch):
    caplog.set_level("DEBUG")
    monkeypatch.setenv(session.LEDGER_DIR, str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = brought(Screen, marked(), name=FILE, **SMALL, **{"own.shown": "true"})
    press(page, "Set this limit")
    press(page, "Release")
    press(page, "Spend")
    assert MARKS[0] in shown(page)  # its owner does see it, so that its absence elsewhere says something
    assert not marks(downloads(offered))
    other = Screen(PAGE, **SMALL)
    titles = set()
    for visitor in (page, other):
        for path in PAGES:
            if (visitor, path) != (page, PAGE):
                visitor.app.switch_page(path)
                visitor.run()
                assert not marks(shown(visitor)), path
                if visitor is page:  # what others may download is built of what they see
                    assert not marks(downloads(offered)), path
            titles.add(visitor.app.title[0].value)
    assert len(titles) == len(PAGES)
    page.app.switch_page(PAGE)
    page.run()
    assert MARKS[0] in shown(page) and own(page).raw is not None  # it was there all the time
    logs = "".join(capfd.readouterr()) + caplog.text
    disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert disk and not marks(disk) and not marks(logs.encode())
    assert not [type(one) for one in reachable(caches()) if holds_a_mark(one)]


def test_a_table_in_a_cache_would_be_found():
    planted = [CANARY.encode(), f"a {CANARY}", {"x": NUMBER}, np.array([1.0, NUMBER]), pa.table({"a": [1]})]
    before = [one for one in reachable(caches()) if holds_a_mark(one)]
    kept = st.cache_resource(lambda i: [planted[i]], show_spinner=False)
    memory = functools.lru_cache(lambda i: [planted[i]])
    for i in range(len(planted)):
        (memory if i % 2 else kept)(i)
    found = [one for one in reachable(caches()) if holds_a_mark(one)]
    assert not before and len(found) == len(planted)
    kept.clear()
