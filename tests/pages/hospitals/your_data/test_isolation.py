"""Isolation: a table of one's own is on its owner's page and nowhere else, and gone when it is forgotten.

A word, a column's name, a file's name and a number that occur nowhere else are uploaded, rehearsed with and
released; then every page is read to the byte, and all that can be downloaded from it, the link, the log, the
disk and the server's caches.
"""

import asyncio
import functools
import gc
import io
import json
import struct
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit.runtime.caching import cache_data_api, cache_resource_api

import app
from dppca_core.accounts.book import ACCOUNTS
from dppca_core.tables.dictionary_lines import HEADINGS
from pages.hospitals.your_data import owner
from tests.pages.conftest import ROUTER
from tests.pages.hospitals.your_data.table_page import (
    CANARY,
    COLUMN,
    DICTIONARY,
    FILE,
    NUMBER,
    PAGE,
    TablePage,
    csv,
    marked,
    released,
)

SMALL = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "repeats": "1"}
PAGES = [
    str(path.relative_to(ROUTER.parent))
    for section in ("explore", "hospitals", "learn")
    for path in sorted((ROUTER.parent / section).glob("*/page.py"))
]
MARKS = (CANARY.encode(), str(NUMBER).encode(), struct.pack("<d", NUMBER), struct.pack("<f", NUMBER))
DEEP = 3_000_000  # objects: far more than the caches hold


def shown(page: TablePage) -> bytes:
    """Return all that is sent to the browser: every element with its figures and tables, the link."""
    sent = [node.proto.SerializeToString() for node in page.app._tree if getattr(node, "proto", None)]
    return b"".join(sent) + json.dumps(page.link).encode()


def marks(data: bytes) -> list[bytes]:
    return [mark for mark in MARKS if mark in data]


TEMPLATE = ",".join(f'"{heading}"' for heading in HEADINGS.values()).encode()


def downloads(offered: list[Callable[[], Any]]) -> bytes:
    """Return all that can be downloaded, without the template: it has all columns before any is chosen."""
    built = [build() for build in offered]
    offered.clear()
    files = (data if isinstance(data, bytes) else str(data).encode() for data in built)
    return b"".join(file for file in files if not file.startswith(TEMPLATE))


def caches() -> list[Any]:
    """Return Streamlit's caches for all visitors, and every function that keeps what it returned."""
    gc.unfreeze()  # frozen objects are not among those that follow
    kept = [item for item in gc.get_objects() if isinstance(item, functools._lru_cache_wrapper)]
    gc.freeze()  # again, for the tests that come after
    return [cache_data_api._data_caches, cache_resource_api._resource_caches, *kept]


def reachable(roots: Iterable[Any]) -> Iterator[Any]:
    """Return every object that these hold, without modules, classes and functions."""
    aside = (types.ModuleType, type, types.FunctionType, types.MethodType, types.FrameType)
    stack, seen = list(roots), dict[int, Any]()  # it holds them, or their numbers would be given again
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, aside):
            continue
        seen[id(item)] = item
        assert len(seen) < DEEP
        yield item
        stack += gc.get_referents(item)


def holds_a_mark(item: Any) -> bool:
    """Return whether this object is, or holds directly, what must not be there."""
    if isinstance(item, str):
        return CANARY in item or str(NUMBER) in item
    if isinstance(item, bytes):
        return bool(marks(item))
    if isinstance(item, float):
        return item == NUMBER
    if isinstance(item, np.ndarray) and item.dtype.kind == "f":
        return bool((item == NUMBER).any())
    return isinstance(item, (pa.Table, pa.RecordBatch))


def marked_in_caches() -> list[Any]:
    return [item for item in reachable(caches()) if holds_a_mark(item)]


def test_no_page_but_its_own_shows_a_table(tmp_path, offered, capfd, caplog, monkeypatch):
    caplog.set_level("DEBUG")
    monkeypatch.setenv(ACCOUNTS, str(tmp_path))
    monkeypatch.setattr(owner, "has_book", lambda: True)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = released(csv(marked(2000)), DICTIONARY, FILE, **SMALL, **{"own.shown": "true"})
    # Its owner does see the table, so that its absence elsewhere says something.
    assert FILE in page.markdown and MARKS[0] in shown(page)
    assert any(option.startswith(COLUMN) for option in page.app.multiselect[0].options)
    files = downloads(offered)
    assert b"age" in files and b"weight" in files and not marks(files) and b"clinic" not in files
    document = json.dumps(page.state.releases[0].result.document).encode()
    assert not marks(document) and b"clinic" not in document
    other = TablePage(**SMALL)
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
    assert MARKS[0] in shown(page) and page.state.raw is not None  # it was there all the time
    page.upload(csv(marked()) + b"1,2\n", FILE)
    assert page.errors and not marks(page.errors.encode()) and other.state.raw is None
    logs = "".join(capfd.readouterr()) + caplog.text
    disk = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert disk and not marks(disk) and not marks(logs.encode())
    assert not [type(item) for item in marked_in_caches()]


def test_a_table_in_a_cache_would_be_found():
    planted = [CANARY.encode(), f"a {CANARY}", {"x": NUMBER}, np.array([1.0, NUMBER]), pa.table({"a": [1]})]
    before = marked_in_caches()
    kept = st.cache_resource(lambda i: [planted[i]], show_spinner=False)
    memory = functools.lru_cache(lambda i: [planted[i]])
    for i in range(len(planted)):
        (memory if i % 2 else kept)(i)
    caught = marked_in_caches()
    assert not before and len(caught) == len(planted)
    kept.clear()


def test_nothing_holds_the_rows_once_they_are_let_go():
    """No cache, thread or job keeps what the session has forgotten."""
    page = released(**{"own.shown": "true"})
    table = page.state.ready
    held = [weakref.ref(item) for item in (table, table.held, table.held.rows, table.raw)]
    del table
    page.press("Forget it")
    page.run()
    gc.collect()
    assert [item() is None for item in held] == [True] * 4
    assert len(page.state.releases) == 1


async def _parsed(size: int) -> Any:
    async def stream():
        yield (
            b'--b\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'
            + bytes(size)
            + b"\r\n--b--\r\n"
        )

    headers = Headers({"content-type": "multipart/form-data; boundary=b"})
    form = await MultiPartParser(headers, stream()).parse()
    return form["f"]


def test_an_upload_never_touches_the_disk():
    """Starlette writes parts beyond 1 MB to a temporary file, unless told otherwise as app.py does."""
    assert app.app is not None
    file = asyncio.run(_parsed(3 * 2**20)).file
    assert isinstance(file._file, io.BytesIO)
    file.close()
