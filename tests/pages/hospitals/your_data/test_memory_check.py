"""A table for which there is no memory left is refused before it is read."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dppca_core.tables import Column, Schema, limits, read
from dppca_core.tables.encode import prepare
from pages.hospitals.your_data import (
    memory_check,
    session,
)
from pages.shared.background import memory

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
    held = prepare(raw, schema, None, 1).held
    assert arrow + held.rows.nbytes < memory_check.needs(data) < 100 * MB


@pytest.mark.parametrize("data", FILES.values(), ids=list(FILES))
def test_a_table_without_room_is_refused_in_one_sentence(data):
    needed = memory_check.needs(data)
    memory_check.check(data, None)
    memory_check.check(data, needed + memory.SPARE_BYTES)
    with pytest.raises(ValueError, match=r"^Reading this table takes about \d+ MB, and the server has") as no:
        memory_check.check(data, needed + memory.SPARE_BYTES - MB)
    assert "\n" not in str(no.value) and str(no.value).endswith(".")
    with pytest.raises(ValueError, match="has 0 MB left"):
        memory_check.check(data, 10)


def test_a_page_of_a_parquet_file_is_counted_unpacked():
    """Zeros are packed to nothing."""
    file = io.BytesIO()
    n = 2_000_000
    whole = pa.table({"a": np.zeros(n), "b": np.zeros(n)})
    pq.write_table(whole, file, use_dictionary=False, compression="zstd", row_group_size=n)
    assert len(file.getvalue()) < 100_000
    assert memory_check.needs(file.getvalue()) > 2 * 8 * n + n * memory_check._ROW_BYTES


def test_texts_of_all_columns_count_together(monkeypatch):
    """Each is below the limit, and a batch holds them all."""
    file = io.BytesIO()
    words = pa.array(["x" * 1000] * 500).dictionary_encode()
    pq.write_table(pa.table({f"c{i}": words for i in range(4)}), file)
    assert read(file.getvalue(), "t").n == 500
    monkeypatch.setattr(limits, "MOST_BYTES", 1_500_000)
    with pytest.raises(ValueError, match=r"^Column 'c3' holds more text than can be opened here"):
        read(file.getvalue(), "t")


def test_memory_left_is_the_least_of_machine_and_container(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory.available() is None
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:    2048 kB\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available() == 2 * MB
    (tmp_path / "memory.max").write_text("5000\n")
    assert memory.available() == 4000


def test_a_forgotten_table_goes_back_to_the_system(monkeypatch):
    """Memory that stays with the process is missing to the next visitor's table."""
    returned = []
    monkeypatch.setattr(session, "return_memory", lambda: returned.append(mine.raw))
    mine = session.TableSession()
    raw = read(FILES["CSV"], "t")
    mine.load(raw)
    assert returned == [raw]
    mine.forget()
    assert returned == [raw, None]
