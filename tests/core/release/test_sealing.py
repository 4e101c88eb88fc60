"""What a paid release has drawn is encrypted on the disk, and nothing that was tampered with draws twice."""

import json
import os
import re
import shutil
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from dppca_core.release import journal, sealing
from dppca_core.release.drawn import DrawnOnDisk

ASKED = {"features": ["Zanzibar-7731"], "request": {"k": 1}}
STEPS = {"mean": 61.62636465, "moment 1": 0.25, "moment 2": 0.5}


def begun(folder: Path, name="ab", steps=STEPS) -> DrawnOnDisk:
    drawn = DrawnOnDisk(folder / f"{name}.drawn.jsonl")
    drawn.begin(ASKED)
    for step, value in steps.items():
        drawn.once(step, partial(np.array, [value]))
    return drawn


def lines(folder: Path, name="ab") -> list[str]:
    return (folder / f"{name}.drawn.jsonl").read_text().splitlines()


def test_no_number_and_no_name_can_be_read_without_the_secret(tmp_path):
    drawn = begun(tmp_path)
    assert drawn.asked == ASKED
    assert drawn.once("mean", lambda: pytest.fail("drawn twice")).tolist() == [STEPS["mean"]]
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not re.search(rb"Zanzibar|61\.62|features|moment", held)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600} and "drawn.secret" in modes
    drawn.forget()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drawn.secret", "drawn.secret.lock"]


def moved(folder):
    """Bring a line of another release of the same folder, at its own place."""
    begun(folder, "cd")
    return [*lines(folder)[:2], lines(folder, "cd")[2], lines(folder)[3]]


def swapped(folder):
    first, second, third, last = lines(folder)
    return [first, third, second, last]


def cut(folder):
    return lines(folder)[:3]


def emptied(folder):
    return []


def plain(folder):
    """Put a line of the version before after encrypted ones."""
    return [*lines(folder)[:3], json.dumps({"step": "moment 2", "shape": [1], "values": [9.0]})]


def all_plain(folder):
    steps = [{"step": step, "shape": [1], "values": [9.0]} for step in STEPS]
    return [json.dumps(line) for line in (ASKED, *steps)]


def under_another_secret(folder):
    (folder / "drawn.secret").write_bytes(os.urandom(32))
    return lines(folder)


def without_secret(folder):
    (folder / "drawn.secret").unlink()
    return lines(folder)


CANNOT = "cannot be opened: it was changed or moved, or the folder's secret is another"


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (moved, f"line 3 of ab.drawn.jsonl {CANNOT}"),
        (swapped, f"line 2 of ab.drawn.jsonl {CANNOT}"),
        (plain, f"line 4 of ab.drawn.jsonl {CANNOT}"),
        (all_plain, f"line 1 of ab.drawn.jsonl {CANNOT}"),
        (cut, "ab.drawn.jsonl was cut: restore it first"),
        (emptied, "ab.drawn.jsonl was cut: restore it first"),
        (under_another_secret, f"line 1 of ab.drawn.jsonl {CANNOT}"),
        (without_secret, f"line 1 of ab.drawn.jsonl {CANNOT}"),
    ],
)
def test_what_was_tampered_with_is_refused_and_draws_nothing(tmp_path, tamper, says):
    begun(tmp_path)
    (tmp_path / "ab.drawn.jsonl").write_text("".join(f"{line}\n" for line in tamper(tmp_path)))
    drawn = DrawnOnDisk(tmp_path / "ab.drawn.jsonl")
    with pytest.raises(ValueError, match=re.escape(says)):
        _ = drawn.asked
    for step in (*STEPS, "another"):
        with pytest.raises(ValueError, match=re.escape(says)):
            drawn.once(step, lambda: pytest.fail("drawn twice"))


def test_a_line_that_a_crash_cut_is_drawn_again(tmp_path):
    """Nobody saw its numbers: it was not on the disk yet, so it does not count as written."""
    begun(tmp_path, steps={"mean": 1.0})
    with (tmp_path / "ab.drawn.jsonl").open("a") as file:
        file.write('{"sealed":"AAAA')
    drawn = DrawnOnDisk(tmp_path / "ab.drawn.jsonl")
    assert drawn.once("moment 1", lambda: np.array([7.0])).tolist() == [7.0]
    assert drawn.once("moment 1", lambda: pytest.fail("drawn twice")).tolist() == [7.0]


def test_a_plain_file_of_the_version_before_goes_on_encrypted(tmp_path):
    path = tmp_path / "ab.drawn.jsonl"
    journal.append(path, ASKED, {"step": "mean", "shape": [1], "values": [3.5]})
    drawn = DrawnOnDisk(path)
    assert drawn.asked == ASKED
    assert drawn.once("mean", lambda: pytest.fail("drawn twice")).tolist() == [3.5]
    drawn.once("moment 1", lambda: np.array([61.62636465]))
    assert DrawnOnDisk(path).once("moment 1", lambda: pytest.fail("drawn twice")).tolist() == [61.62636465]
    assert "3.5" in path.read_text() and "61.62" not in path.read_text()


def test_processes_that_ask_at_once_get_one_secret(tmp_path):
    with ProcessPoolExecutor(4, get_context("fork")) as pool:
        drawn = set(pool.map(sealing.folder_secret, [tmp_path] * 16))
    assert drawn == {(tmp_path / "drawn.secret").read_bytes()}
    (tmp_path / "drawn.secret").write_bytes(b"short")
    with pytest.raises(ValueError, match="secret was changed: restore it first"):
        sealing.folder_secret(tmp_path)


def test_another_folder_cannot_open_it(tmp_path):
    begun(tmp_path / "one")
    shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("drawn.secret*"))
    begun(tmp_path / "two", "cd")  # which draws a secret there
    with pytest.raises(ValueError, match=CANNOT):
        _ = DrawnOnDisk(tmp_path / "two" / "ab.drawn.jsonl").asked


def test_of_a_release_that_is_no_longer_kept_nothing_more_is_drawn(tmp_path):
    drawn = DrawnOnDisk(tmp_path / "ab.drawn.jsonl")
    drawn.begin({"what": "a release"})
    drawn.forget()
    with pytest.raises(ValueError, match="no longer kept"):
        drawn.once("moment 1", lambda: pytest.fail("drawn"))
    with pytest.raises(ValueError, match="no longer kept"):
        _ = drawn.asked
    assert not (tmp_path / "ab.drawn.jsonl").exists()
