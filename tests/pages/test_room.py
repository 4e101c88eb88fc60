"""A table for which there is no memory left is refused before it is read."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dppca_core.tables import Column, Schema, limits, read
from pages.shared.own import large, room, table

MB = 2**20
FRAME = pd.DataFrame(np.ones((40_000, 20), dtype=int), columns=[f"c{i}" for i in range(20)])


def parquet() -> bytes:
    file = io.BytesIO()
    FRAME.to_parquet(file)
    return file.getvalue()


FILES = {"CSV": FRAME.to_csv(index=False).encode(), "Parquet": parquet()}


@pytest.mark.parametrize("data", FILES.values(), ids=list(FILES))
def test_what_reading_needs_is_not_underestimated(data):
    """Of numbers of one digit, whose file is the smallest for its cells."""
    before = pa.total_allocated_bytes()
    raw = read(data, "t")
    arrow = pa.total_allocated_bytes() - before
    schema = Schema(tuple(Column(name, "number", 0, 2) for name in FRAME.columns))
    held = table.prepare(raw, schema, None, 1).held
    assert isinstance(held, table.Rows)
    assert arrow + held.rows.nbytes < room.needs(data, "utf-8") < 100 * MB


@pytest.mark.parametrize("data", FILES.values(), ids=list(FILES))
def test_a_table_without_room_is_refused_in_one_sentence(data):
    needed = room.needs(data, "utf-8")
    room.check(data, "utf-8", None)
    room.check(data, "utf-8", needed + room._SPARE_BYTES)
    with pytest.raises(ValueError, match=r"^Reading this table takes about \d+ MB, and the server has") as no:
        room.check(data, "utf-8", needed + room._SPARE_BYTES - MB)
    assert "\n" not in str(no.value) and str(no.value).endswith(".")
    with pytest.raises(ValueError, match="has 0 MB left"):
        room.check(data, "utf-8", 10)


def test_what_is_read_in_pieces_needs_little(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    assert room.needs(FILES["CSV"], "utf-8") == room._BATCH_BYTES
    assert large.look(FILES["CSV"], "t", "utf-8") is not None


def test_memory_left_is_the_least_of_machine_and_container(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(room, "_GROUP", tmp_path)
    assert room.available() is None
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:    2048 kB\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert room.available() == 2 * MB
    (tmp_path / "memory.max").write_text("5000\n")
    assert room.available() == 4000
