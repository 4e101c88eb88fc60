"""A table for which there is no memory left is refused before it is read."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dppca_core.tables import Column, Schema, cells, limits, read
from pages.hospitals.your_data import (
    large_table,
    memory_check,
    prepared_table,
    session,
)
from pages.hospitals.your_data.prepared_table import LargeTable
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
    held = prepared_table.prepare(raw, schema, None, 1).held
    assert isinstance(held, prepared_table.Rows)
    assert arrow + held.rows.nbytes < memory_check.needs(data, "utf-8") < 100 * MB


@pytest.mark.parametrize("data", FILES.values(), ids=list(FILES))
def test_a_table_without_room_is_refused_in_one_sentence(data):
    needed = memory_check.needs(data, "utf-8")
    memory_check.check(data, "utf-8", None)
    memory_check.check(data, "utf-8", needed + memory.SPARE_BYTES)
    with pytest.raises(ValueError, match=r"^Reading this table takes about \d+ MB, and the server has") as no:
        memory_check.check(data, "utf-8", needed + memory.SPARE_BYTES - MB)
    assert "\n" not in str(no.value) and str(no.value).endswith(".")
    with pytest.raises(ValueError, match="has 0 MB left"):
        memory_check.check(data, "utf-8", 10)


def test_what_is_read_in_pieces_is_counted_by_its_rows(monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    fixed = memory_check._BATCH_BYTES + FRAME.shape[1] * memory_check._COLUMN_BYTES
    rows = len(FRAME) + 2  # with the names, and what may stand behind the last line's end
    assert memory_check.needs(FILES["CSV"], "utf-8") == fixed + 8 * rows
    assert isinstance(large_table.read(FILES["CSV"], "t", "utf-8"), LargeTable)
    monkeypatch.setattr(memory_check.content, "FORMER_ROWS", 1000)
    assert memory_check.needs(FILES["CSV"], "utf-8") == fixed + 8 * 1000
    # Its rows are known to be too many for the former key.
    needed = memory_check.needs(FILES["Parquet"], "utf-8")
    assert fixed < needed < fixed + 20 * (len(FRAME) + 2**18)


def test_a_page_of_a_parquet_file_is_counted_unpacked():
    """Zeros are packed to nothing."""
    file = io.BytesIO()
    n = 2_000_000
    whole = pa.table({"a": np.zeros(n), "b": np.zeros(n)})
    pq.write_table(whole, file, use_dictionary=False, compression="zstd", row_group_size=n)
    assert len(file.getvalue()) < 100_000
    assert memory_check.needs(file.getvalue(), "utf-8") > 2 * 8 * n + n * memory_check._ROW_BYTES


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_more_rows_than_are_read_in_pieces_are_one_sentence(monkeypatch, end):
    monkeypatch.setattr(limits, "MOST_ROWS_IN_PIECES", 100)
    text = end.join(["a,b", *["1,2"] * 200]).encode()
    for data in (text, FILES["Parquet"]):
        with pytest.raises(ValueError, match=r"^The table has more than 100 rows, more than can be"):
            memory_check.check(data, "utf-8", None)


def test_rows_are_counted_while_they_are_read_too(monkeypatch):
    """A Parquet file may hold more than it says."""
    schema = Schema((Column("c0", "number", 0, 2), Column("c1", "number", 0, 2)))
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    large = large_table.read(FILES["CSV"], "t", "utf-8")
    assert large_table.read_and_prepare(large, schema, None, lambda share: True).n == len(FRAME)
    monkeypatch.setattr(limits, "MOST_ROWS_IN_PIECES", len(FRAME) - 1)
    with pytest.raises(ValueError, match="more than can be read here"):
        large_table.read_and_prepare(large, schema, None, lambda share: True)


def test_a_hospital_without_room_for_its_matrices_is_one_sentence(monkeypatch):
    schema = Schema((Column("c0", "number", 0, 2), Column("c1", "number", 0, 2)))
    monkeypatch.setattr(limits, "MOST_BYTES", 1000)
    large = large_table.read(FILES["CSV"], "t", "utf-8")
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES)
    with pytest.raises(ValueError, match=r"^One more hospital takes 0 MB, and the server has 0 MB left"):
        large_table.read_and_prepare(large, schema, None, lambda share: True)


def test_texts_of_all_columns_count_together(monkeypatch):
    """Each is below the limit, and a batch holds them all."""
    file = io.BytesIO()
    words = pa.array(["x" * 1000] * 500).dictionary_encode()
    pq.write_table(pa.table({f"c{i}": words for i in range(4)}), file)
    assert read(file.getvalue(), "t").n == 500
    monkeypatch.setattr(cells.check_text, "__defaults__", (1_500_000,))
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


def test_texts_without_room_are_one_sentence(monkeypatch):
    """They are counted while they are read: a small Parquet file may unpack to any size."""
    text = pa.array(["x" * 3000, "y"]).dictionary_encode().take(pa.array([0, 1] * 5000))
    file = io.BytesIO()
    pq.write_table(pa.table({"note": text, "x": np.zeros(10_000)}), file, compression="zstd")
    data = file.getvalue()
    assert memory_check.needs(data, "utf-8") < 2 * MB
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES + 2 * MB)
    memory_check.check(data, "utf-8", memory.available())
    with pytest.raises(ValueError, match=r"^The texts of this table take more than \d+ MB") as no:
        large_table.read(data, "t", "utf-8")
    assert "the server has 2 MB left" in str(no.value) and "\n" not in str(no.value)
    monkeypatch.setattr(memory, "available", lambda: memory.SPARE_BYTES + 20 * MB)
    assert large_table.read(data, "t", "utf-8").n == 10_000
    monkeypatch.setattr(memory, "available", lambda: None)
    memory_check.check_texts(2**60)


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
