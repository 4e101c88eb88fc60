"""Test that imports run one way, packages hold what belongs together, and pickle is not used.

All of it is read off the syntax trees: imports within functions and for types alone count like any other.
"""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [
    ROOT / "app.py",
    *(
        path
        for folder in ("dppca_core", "pages", "examples")
        for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
    ),
]
SHARED_LINES, ROOT_MODULES = 7060, 10
SECTIONS = ("explore", "hospitals", "learn")
CORE_WORDS = {"methods", "providers"}  # pages that are named as a registry and a parameter of the core are
PAGE = re.compile(rf"pages\.({'|'.join(SECTIONS)})\.\w+")
# The parts of a page that say what it shows, and what writes them as a file.
PARTS_WITHOUT_STREAMLIT = (
    r"pages\.\w+\.\w+\.(document|model|charts|sentences|settings)|pages\.shared\.document\.(blocks|html|file)"
)
# (who, must not import or use what): both match from the start of a dotted name.
RULES = [
    (r"dppca_core\b", r"(streamlit|plotly|pages|examples\.flower|app)\b"),
    (r"(pages|app)\b", r"examples\.flower\b"),
    (r"dppca_core\.methods\.(?!__init__)", r"dppca_core\.methods\b"),
    (r"pages\.shared\b", r"pages\.(?!shared\b)"),
    (
        rf"({PARTS_WITHOUT_STREAMLIT})\b",
        r"(streamlit|pages\.shared\.(document\.streamlit|settings\.widgets))\b",
    ),
    (r"", r"(pickle|shelve|marshal|eval|exec)\b"),
    (r"", r"(np|numpy)\.random\.(?!default_rng\b|Generator\b|SeedSequence\b)"),
]

Graph = dict[str, set[str]]
LITTLE = {"found", "said", "told", "of", "own", "one"}  # names that say nothing of what they hold
_BOUND = re.compile(rf"\b({'|'.join(LITTLE)})\s*(=(?!=)|[,:()]|in\b)")  # in files without it there is none


def module_name(path: Path) -> str:
    """Return the dotted name of a file; a package's is that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCES}


def imported(source: str, known: set[str]) -> set[str]:
    """Return the modules among the known ones that a source imports, wherever it does so."""
    result = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            result |= {name if name in known else str(node.module) for name in full}
    return result & known


@cache
def imports() -> Graph:
    """Return what every module imports of the others."""
    known = set(MODULES)
    return {
        name: imported(path.read_text(encoding="utf-8"), known) - {name} for name, path in MODULES.items()
    }


def reached(start: set[str], edges: Graph) -> set[str]:
    """Return all that is reached from some modules, themselves included."""
    result: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in result:
            result.add(name)
            waiting += edges.get(name, ())
    return result


def circles(edges: Graph) -> list[str]:
    """Return the modules that reach themselves."""
    return sorted(name for name in edges if name in reached(edges[name], edges))


def packages(edges: Graph) -> Graph:
    """Return what the packages of the core import of each other; a module at the root stands for itself."""
    result: Graph = defaultdict(set)
    for name, targets in edges.items():
        for target in targets:
            package, other = _package(name), _package(target)
            if package and other and package != other and not other.startswith(f"{package}."):
                result[package].add(other)
    return result


def _package(name: str) -> str | None:
    if not name.startswith("dppca_core."):
        return None
    folder = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    return name if folder == "dppca_core" else folder


def page_of(name: str) -> str | None:
    """Return the page whose folder a module is in."""
    match = PAGE.match(name)
    return match[0] if match else None


def _dotted(node: ast.AST) -> str:
    """Return a name with its attributes, and nothing of what is called or indexed before them."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def broken(name: str, source: str) -> list[str]:
    """Return what a module imports or uses against the rules."""
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            used |= {start + alias.name for alias in node.names}
        elif isinstance(node, ast.Name | ast.Attribute):
            used.add(_dotted(node))
    against = [word for who, what in RULES if re.match(who, name) for word in used if re.match(what, word)]
    page = page_of(name)
    others = [word for word in used if page and page_of(word) not in (None, page)]
    return against + others


def test_layers():
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    assert {name: bad for name, source in sources.items() if (bad := broken(name, source))} == {}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("dppca_core.numerics.moments", "import plotly.graph_objects"),
        ("dppca_core.records", "def f():\n    from pages import shared"),
        ("dppca_core.federated.protocol", "from examples.flower import wire"),
        ("dppca_core.methods.new", "from dppca_core.methods import dps_pca"),
        ("pages.explore.bounds.page", "from pages.hospitals.planner import model"),
        ("pages.explore.bounds.page", "from pages.explore.methods.charts import Measure"),
        ("pages.shared.text", "from pages.explore.bounds import charts"),
        ("pages.explore.explorer.document", "import streamlit as st"),
        ("pages.explore.explorer.charts.directions", "from pages.shared.settings import widgets"),
        ("pages.shared.document.html", "from pages.shared.document.streamlit import link"),
        ("pages.shared.text", "eval('1')"),
        ("app", "from pickle import loads"),
        ("dppca_core.numerics.linalg", "np.random.seed(0)"),
    ],
)
def test_planted_breaches_are_found(name, source):
    assert broken(name, source)


def test_no_file_imports_itself_by_way_of_others():
    assert circles(imports()) == []


def test_packages_of_the_core_import_one_way():
    assert circles(packages(imports())) == []


def test_a_planted_circle_is_found():
    """The circle may also be closed within a function, or for types alone."""
    known = {"a", "b", "c"}
    lazily = imported("def f():\n    import b", known)
    typed = imported("if TYPE_CHECKING:\n    from c import x", known)
    assert circles({"a": lazily, "b": typed, "c": {"a"}}) == ["a", "b", "c"]
    assert circles({"a": lazily, "b": typed, "c": set()}) == []
    back = {"dppca_core.accounting.compare": {"dppca_core.methods.dps_pca"}}
    there = {"dppca_core.methods.dps_pca": {"dppca_core.accounting.gaussian"}}
    assert circles(packages(back | there)) == ["dppca_core.accounting", "dppca_core.methods"]


def users() -> dict[str, set[str]]:
    """Return, for every module, the pages that reach it; the menu and the server count as pages."""
    result: dict[str, set[str]] = defaultdict(set)
    pages = {page for name in MODULES if (page := page_of(name))}
    for page in pages:
        for name in reached({name for name in MODULES if page_of(name) == page}, imports()):
            result[name].add(page)
    for start in ("app", "pages.menu"):
        for name in reached({start}, imports()):
            result[name].add(start)
    return result


def test_what_is_shared_is_reached_from_two_pages_or_the_menu_or_the_server():
    reach = users()
    shared = [
        name
        for name, path in MODULES.items()
        if name.startswith("pages.shared.") and path.name != "__init__.py"
    ]
    lonely = {
        name: pages for name in shared if len(pages := reach[name]) < 2 and not pages & {"app", "pages.menu"}
    }
    assert lonely == {}


def test_shared_code_names_no_page():
    """Neither as a word of its own nor in a path."""
    names = {page.rpartition(".")[2] for name in MODULES if (page := page_of(name))}
    assert len(names) >= 11
    names -= CORE_WORDS
    for name, path in MODULES.items():
        if name.startswith("pages.shared"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            words = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
            assert not {str(word) for word in words} & names, name


def test_a_page_that_is_a_document_has_six_parts_at_most():
    """A part is a file, or a folder where it is long."""
    parts = {"__init__", "page", "model", "document", "charts", "sentences", "settings"}
    folders = [path.parent for path in ROOT.glob("pages/*/*/document*")]
    assert folders
    for folder in folders:
        assert {path.stem for path in folder.iterdir() if path.name != "__pycache__"} <= parts, folder


def test_what_is_shared_stays_small():
    files = (ROOT / "pages" / "shared").rglob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= SHARED_LINES


def test_the_root_of_the_core_stays_small():
    assert len(list((ROOT / "dppca_core").glob("*.py"))) <= ROOT_MODULES


def test_no_two_public_classes_share_a_name():
    places = defaultdict(list)
    blocks = "pages.shared.document.blocks"  # whose short names a document reads by: Figure, Table, Note
    for name, path in MODULES.items():
        for node in () if name == blocks else ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def bound_to_little(source: str) -> set[str]:
    """Return the names bound here that say nothing; a call's keywords are those of whom it calls."""
    names = set()
    for node in ast.walk(ast.parse(source)) if _BOUND.search(source) else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
    return names & LITTLE


def test_no_name_says_nothing():
    files = [path for top in ("pages", "dppca_core", "tests") for path in (ROOT / top).rglob("*.py")]
    names = {str(path): bound_to_little(path.read_text(encoding="utf-8")) for path in files}
    assert {path: little for path, little in names.items() if little} == {}


@pytest.mark.parametrize(
    "source", ["found = 1", "for one in x: pass", "def f(own): pass", "said, told = x", "def of(): pass"]
)
def test_a_planted_name_is_seen(source):
    assert bound_to_little(source)


def test_tests_mirror_the_tree():
    """A folder of tests is named after the package or the page that it tests."""
    for folder in (path for path in (ROOT / "tests" / "core").rglob("*") if path.is_dir()):
        name = folder.relative_to(ROOT / "tests" / "core")
        assert (
            "__pycache__" in name.parts
            or list(folder.glob("*.jsonl"))
            or (ROOT / "dppca_core" / name).is_dir()
        ), name
    for folder in (path for path in (ROOT / "tests" / "pages").rglob("*") if path.is_dir()):
        name = folder.relative_to(ROOT / "tests" / "pages")
        assert "__pycache__" in name.parts or (ROOT / "pages" / name).is_dir(), name
