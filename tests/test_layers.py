"""Imports run one way, and nothing reaches for the global generator, eval or pickle."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "app.py", *sorted(ROOT.glob("dppca_core/**/*.py")), *sorted(ROOT.glob("pages/**/*.py"))]
NAMES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES]
# (who, must not import or use what): both match from the start of a dotted name.
RULES = [
    (r"dppca_core\b", r"(streamlit|plotly|pages|app)\b"),
    (r"dppca_core\.methods\.(?!__init__)", r"dppca_core\.methods\b"),
    (r"pages\.", r"pages\.(?!shared\b)"),
    (r"", r"(pickle|shelve|marshal|eval|exec)\b"),
    (r"", r"(np|numpy)\.random\.(?!default_rng\b|Generator\b|SeedSequence\b)"),
]


def broken(name: str, source: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(source)))
    used = {ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            used |= {start + alias.name for alias in node.names}
    return [word for who, what in RULES if re.match(who, name) for word in used if re.match(what, word)]


def test_layers():
    assert len(SOURCES) > 200
    breaches = {
        name: breach
        for name, path in zip(NAMES, SOURCES, strict=True)
        if (breach := broken(name, path.read_text(encoding="utf-8")))
    }
    assert breaches == {}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("dppca_core.moments", "import plotly.graph_objects"),
        ("dppca_core.types", "def f():\n    from pages import shared"),
        ("dppca_core.methods.new", "from dppca_core.methods import dps_pca"),
        ("pages.explore.bounds", "from pages.hospitals import planner"),
        ("pages.shared.text", "eval('1')"),
        ("app", "from pickle import loads"),
        ("dppca_core.metrics", "np.random.seed(0)"),
    ],
)
def test_planted_breaches_are_found(name, source):
    assert broken(name, source)
