"""Check that docs/symbols.md and docs/checks.md name only what exists, as it is called."""

import ast
import importlib
import inspect
import re

import pytest

from dppca_core.methods import METHODS
from pages.shared.settings.catalogue import OF_PARAMETER
from tests.markdown import ROOT, tables

SYMBOLS = ROOT / "docs" / "symbols.md"
PLACES = [
    "dppca_core",
    "dppca_core.records",
    "dppca_core.populations.elliptical",
    "dppca_core.populations.spiked",
    "dppca_core.populations.stated",
    *(
        f"dppca_core.{package}"
        for package in ("accounting", "auditing", "mechanisms", "methods", "numerics", "populations")
    ),
]
NAMES = [
    (row["letter"], name)
    for table in tables(SYMBOLS)
    for row in table
    if "in code" in row
    for name in re.findall(r"`([^`]+)`", row["in code"])
]
SET = [row for table in tables(SYMBOLS) for row in table if "in links" in row]


def exists(name: str) -> bool:
    """Return whether the core has a dotted name, or a parameter f(x)."""
    called = re.fullmatch(r"([\w.]+)\((\w+)\)", name)
    path, parameter = (called[1], called[2]) if called else (name, None)
    for place in PLACES:
        at = importlib.import_module(place)
        try:
            for step in path.split("."):
                at = _step(at, step)
        except (AttributeError, ImportError):
            continue
        return parameter is None or parameter in inspect.signature(inspect.unwrap(at)).parameters
    return False


def _step(at: object, name: str) -> object:
    """Return a submodule, an attribute, or a field without a default."""
    if inspect.ismodule(at) and hasattr(at, "__path__"):
        try:
            return importlib.import_module(f"{at.__name__}.{name}")
        except ModuleNotFoundError:
            pass
    if name in getattr(at, "__dataclass_fields__", {}):
        return at.__dataclass_fields__[name]
    if name in getattr(at, "_fields", ()):
        return name
    return getattr(at, name)


def test_symbols_are_called_that_in_code():
    assert len(NAMES) > 50
    assert [name for _, name in NAMES if not exists(name)] == []


@pytest.mark.parametrize("name", ["Budget.epsilom", "dps_pca.fit(ranks)", "gaussian.sigma", "nothing"])
def test_a_wrong_name_is_seen(name):
    assert not exists(name)


def test_settings_are_called_that_on_screen():
    choices = {row["in links"]: OF_PARAMETER[row["in links"].strip("`")] for row in SET}
    labels = {name: (choice.label, choice.plain) for name, choice in choices.items()}
    assert {row["in links"]: (row["on screen"], row["for a board"]) for row in SET} == labels


def test_every_setting_of_a_method_or_a_budget_is_among_the_symbols():
    known = {name.rpartition(".")[2] for _, name in NAMES}
    used = {use for method in METHODS.values() for use in method.uses} - {"batches"}  # no control, no letter
    assert used - known == set()


CHECKS = ROOT / "docs" / "checks.md"
NAMED = re.findall(r"\[`(\w+)::(\w+)`\]\(([^)]+)\)", CHECKS.read_text(encoding="utf-8"))


def held(module: str, function: str, link: str) -> bool:
    """Return whether a file of tests of this name has such a test at its top level."""
    path = (CHECKS.parent / link).resolve()
    if path.stem != module or not path.is_file() or not path.is_relative_to(ROOT / "tests"):
        return False
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body)


def test_every_check_that_is_claimed_exists():
    page = CHECKS.read_text(encoding="utf-8")
    assert [name for name in NAMED if not held(*name)] == []
    assert len(NAMED) == page.count("::test_") > 80
    files = set(re.findall(r"`((?:tests|benchmarks|data)/[\w/.]+)`", page))
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_a_check_that_does_not_exist_is_seen():
    assert not held("test_gaussian", "test_nothing", "../tests/core/accounting/test_gaussian.py")
    assert not held("test_gaussian", "test_oracle_1_balle_wang", "../tests/core/methods/test_oracles.py")
    assert not held("test_gauss", "test_oracle_1_balle_wang", "../tests/core/test_gauss.py")
