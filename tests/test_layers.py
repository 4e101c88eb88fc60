"""Imports run one way, and nothing reaches for the global generator, eval or pickle."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("dppca_core/**/*.py")), *sorted(ROOT.glob("pages/**/*.py"))]
NAMES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES]
LEGACY = {
    "seed",
    "rand",
    "randn",
    "randint",
    "random",
    "normal",
    "choice",
    "shuffle",
    "permutation",
    "uniform",
}


def imported(tree: ast.AST) -> set[str]:
    """Dotted names of everything imported: `from a import b` counts as a.b."""
    nodes = list(ast.walk(tree))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def broken_rules(name: str, source: str) -> list[str]:
    tree = ast.parse(source)
    found = []
    for other in sorted(imported(tree)):
        top, _, rest = other.partition(".")
        if name.startswith("dppca_core") and top in {"streamlit", "plotly", "pages", "app"}:
            found.append(f"the core imports {other}")
        if name.startswith("dppca_core.methods.") and other.startswith("dppca_core.methods"):
            found.append(f"a method imports {other}")
        if name.startswith("pages.") and top == "pages" and rest.partition(".")[0] != "shared":
            found.append(f"a page imports {other}")
        if top in {"pickle", "marshal", "shelve", "dill", "joblib", "random"}:
            found.append(f"{other} is imported")
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"eval", "exec"}
        ):
            found.append(f"{node.func.id} is called")
        if (
            isinstance(node, ast.Attribute)
            and node.attr in LEGACY
            and ast.unparse(node.value).endswith("np.random")
        ):
            found.append("the global generator is used")
    return found


@pytest.mark.parametrize(("name", "path"), list(zip(NAMES, SOURCES, strict=True)), ids=NAMES)
def test_layers(name, path):
    assert broken_rules(name, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("dppca_core.moments", "import plotly.graph_objects as go"),
        ("dppca_core.types", "def f():\n    from pages import shared"),
        ("dppca_core.methods.new", "from dppca_core.methods import dps_pca"),
        ("dppca_core.methods.new", "from dppca_core.methods.pca import fit"),
        ("pages.explore.bounds", "from pages.hospitals import planner"),
        ("pages.explore.bounds", "import pages.learn.story"),
        ("pages.shared.text", "eval('1')"),
        ("app", "import pickle"),
        ("dppca_core.metrics", "import numpy as np\nnp.random.seed(0)"),
    ],
)
def test_planted_breaches_are_found(name, source):
    assert len(broken_rules(name, source)) == 1


def test_every_layer_is_read():
    """An empty folder would pass everything."""
    assert {name.partition(".")[0] for name in NAMES} == {"app", "dppca_core", "pages"}
    assert sum(name.startswith("dppca_core.methods.") for name in NAMES) > 6
