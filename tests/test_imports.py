"""Test that what is slow to load is loaded where it is used, not before the first screen."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("dask", "distributed", "dp_accounting", "flwr", "opendp", "scipy.stats", "sklearn")
OPEN = f"""
import sys
import app
from streamlit.testing.v1 import AppTest
from pages.learn.papers import model
model.overview()
assert not AppTest.from_file({str(ROOT / "pages" / "menu.py")!r}, default_timeout=60).run().exception
"""


def loaded(program: str) -> list[str]:
    """Return the heavy packages that a program has loaded."""
    program += f"print(*(name for name in {HEAVY} if name in sys.modules))"
    command = [sys.executable, "-W", "ignore", "-c", program]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def test_the_explorer_opens_without_what_is_slow_to_load():
    assert loaded(OPEN) == []


def test_a_heavy_import_is_seen():
    assert loaded("import sys, scipy.stats\n") == ["scipy.stats"]


FIRST = """
import sys
from importlib import import_module
from pages.shared.settings import of_pages
for page in sorted(of_pages.modules()):
    module = of_pages.modules()[page].__name__
    for name in [name for name in sys.modules if name.partition(".")[0] == "pages"]:
        del sys.modules[name]
    import_module(module)
    print(len(import_module("pages.shared.settings.catalogue").CHOICES))
"""


def test_all_settings_are_there_whichever_page_is_imported_first():
    """A page whose settings a circular import finds half loaded would lose them without a word."""
    done = subprocess.run([sys.executable, "-c", FIRST], cwd=ROOT, capture_output=True, text=True, check=True)
    counts = done.stdout.split()
    assert len(counts) > 8 and len(set(counts)) == 1
