"""Test that docs/faults.md names tests and settings that exist."""

import re
import tomllib
from pathlib import Path

from dppca_core.tables import limits

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


def test_every_test_and_file_that_is_named_is_there():
    tests = set(re.findall(r"`((?:\w+/)+test_\w+\.py)`", PAGE))
    files = set(re.findall(r"`((?:dppca_core|examples|pages)/[\w/]+\.py)`", PAGE)) - tests
    assert len(tests) > 10 and files
    missing = [path for path in tests if not (ROOT / "tests" / path).is_file()]
    assert not missing + [path for path in files if not (ROOT / path).is_file()]


def test_the_servers_settings_are_those_that_the_page_tells():
    """Uploads of more than is read are not taken; a browser that is silent has gone within 10 s."""
    server = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["server"]
    assert server["maxUploadSize"] * 2**20 == limits.MOST_BYTES
    assert f"One uploaded file: {server['maxUploadSize']} MB, unpacked" in PAGE
    silent = 2 * server["websocketPingInterval"]
    assert silent < 10 and f"answers no ping for {silent} s" in PAGE
