"""Adding is easy: one new file or folder of each kind, dropped into a copy of the tree, nothing edited."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ADDED = ROOT / "tests" / "adding"
COPIED = ("app.py", "pyproject.toml", "README.md", "dppca_core", "pages", "data", "docs", "scripts", "tests")
PLACES = {
    "method.py": "dppca_core/methods/added_pca.py",
    "bound.py": "dppca_core/bounds/added_bound.py",
    "new_page": "pages/learn/new_page",
    "table.json": "data/added_table.json",
}
# What holds a method, a bound, a page and its setting, and a table, in a tree that has them.
HELD = (
    ("tests/core/methods/test_contract.py", "added_pca"),
    ("tests/core/methods/test_audit_methods.py", "added_pca and promise or audit_case"),
    ("tests/core/bounds/test_bounds.py", "added_bound"),
    ("tests/test_layers.py", ""),
    ("tests/test_doc_pages.py", "added or every_method or README"),
    ("tests/pages/shared/settings/test_begins.py", "new_page"),
    ("tests/pages/shared/settings/test_links.py", "preset or reads_its_own_text"),
)
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
    """The tree with one more of each kind, and its documentation written anew."""
    root = tmp_path_factory.mktemp("copy")
    hidden = shutil.ignore_patterns("__pycache__", "*.png", "results")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=hidden)
        else:
            shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "data" / "results", root / "data" / "results")
    shutil.copytree(ROOT / ".streamlit", root / ".streamlit")
    for name, place in PLACES.items():
        (shutil.copytree if (ADDED / name).is_dir() else shutil.copy)(ADDED / name, root / place)
    run(root, "-m", "scripts.documents")
    return root


def run(root: Path, *words: str) -> str:
    """Run Python in the copy, and return what it printed; raises AssertionError with it where that failed."""
    done = subprocess.run([sys.executable, *words], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_the_readme_and_the_pages_of_methods_follow_from_one_command(copy):
    assert "| `added_pca` | [Added PCA](docs/methods/added_pca.md)" in (copy / "README.md").read_text("utf-8")
    assert "Added PCA" in (copy / "docs" / "methods" / "added_pca.md").read_text("utf-8")
    assert "`added_bound`" in (copy / "docs" / "bounds.md").read_text("utf-8")


def test_they_are_there_and_shown(copy):
    run(copy, "-W", "ignore", "-c", SHOWN)


@pytest.mark.parametrize(("file", "which"), HELD, ids=[Path(file).stem for file, _ in HELD])
def test_what_holds_others_holds_them(copy, file, which):
    """Each of these tests is there for what was added: pytest fails where it selects none."""
    run(copy, "-m", "pytest", "-p", "no:cacheprovider", "-x", file, *(("-k", which) if which else ()))
