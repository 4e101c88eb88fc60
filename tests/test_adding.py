"""Test that one new file or folder of each kind, dropped into a copy of the tree, needs no other edit."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("app.py", "pyproject.toml", "README.md")
COPIED += ("dppca_core", "pages", "data", "docs", "examples", "scripts", "tests")
PLACES = {
    "examples/method_template.py": "dppca_core/methods/added_pca.py",
    "tests/adding/bound.py": "dppca_core/bounds/added_bound.py",
    "tests/adding/new_page": "pages/learn/new_page",
    "tests/adding/table.json": "data/added_table.json",
}
# The tests that check every method, bound, page, setting and table, and their cases for what is added.
CHECKS = {
    "tests/core/methods/test_contract.py": "added_pca",
    "tests/core/methods/test_audit_methods.py": "added_pca and (promise or audit_case)",
    "tests/core/bounds/test_bounds.py": "added_bound",
    "tests/test_layers.py": "test_",
    "tests/test_doc_pages.py": "test_",
    "tests/pages/shared/settings/test_begins.py": "new_page",
    "tests/pages/shared/settings/test_links.py": "reads_its_own_text",
}
SHOWN = """
import sys
from dppca_core import METHODS
from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from pages.shared.charts.style import look
from tests.pages.conftest import Screen
from tests.waiting import eventually
assert "added_pca" in METHODS and "added_bound" in BOUNDS and look("added_pca")
assert TABLES["added_table"].row_noun == ("bottle", "bottles")
quick = {"data": "added_table", "k": "2", "shat": "4", "N": "2", "repeats": "1"}
front = Screen("", **quick)
assert eventually(lambda: front.run() or "178 bottles" in front.words()["sentence"]), front.words()
page = Screen("learn/new_page/page.py", **{"new.depth": "3"})
assert "The depth is 3." in page.markdown
assert "use.added_pca" in page.app.session_state["settings of the last run"]
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Copy the tree with one more of each kind, and write its documentation anew."""
    root = tmp_path_factory.mktemp("copy")
    # What is compiled is valid in a copy, but for what another process is writing now.
    hidden = shutil.ignore_patterns("*.pyc.*", "*.png", "results")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=hidden)
        else:
            shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "data" / "results", root / "data" / "results")
    shutil.copytree(ROOT / ".streamlit", root / ".streamlit")
    for name, place in PLACES.items():
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, root / place)
    run(root, "-m", "scripts.documents")
    return root


def run(root: Path, *words: str) -> str:
    """Run Python in the copy, and return what it printed; raises AssertionError with it where that failed."""
    done = subprocess.run([sys.executable, *words], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def outcomes(copy):
    """Return the last lines of one run of all `CHECKS` in the copy: an outcome for each test."""
    chosen = " or ".join(f"({Path(file).stem} and ({cases}))" for file, cases in CHECKS.items())
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", *CHECKS, "-k", chosen]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False).stdout


def test_the_pages_of_methods_and_bounds_follow_from_one_command(copy):
    assert "[My PCA](added_pca.md)" in (copy / "docs" / "methods" / "README.md").read_text("utf-8")
    assert "# My PCA" in (copy / "docs" / "methods" / "added_pca.md").read_text("utf-8")
    assert "`added_bound`" in (copy / "docs" / "bounds.md").read_text("utf-8")


def test_they_are_there_and_shown(copy):
    run(copy, "-W", "ignore", "-c", SHOWN)


@pytest.mark.parametrize("file", CHECKS, ids=lambda file: Path(file).stem)
def test_the_checks_of_every_method_bound_and_page_pass(outcomes, file):
    assert f"PASSED {file}::" in outcomes, outcomes[-3000:]
    assert f"FAILED {file}" not in outcomes and f"ERROR {file}" not in outcomes, outcomes[-3000:]
