"""Test that docs/methods and docs/bounds.md are what `make docs` writes from the docstrings."""

import inspect
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from dppca_core import METHODS, Budget
from dppca_core.accounting import gaussian
from dppca_core.bounds import BOUNDS
from dppca_core.methods import register
from scripts import bound_page, documents, method_pages
from scripts.docstrings import markdown, relative, third_person
from scripts.started import ROOT

PATHS = [
    method_pages.INDEX,
    bound_page.PAGE,
    *(method_pages.page_of(name) for name in METHODS),
]
ITEM = "1. One:\n\n   ```text\n   x * y\n   ```\n\n   for all.\n\nTwo."
PAGE = ROOT / "docs" / "methods" / "pca.md"


@lru_cache(maxsize=1)
def written() -> dict[Path, str]:
    return documents.documents()


def stale(paths: Iterable[Path]) -> list[str]:
    """Return the pages that are not there, or not what the command writes."""
    kept = {path: path.read_text(encoding="utf-8") if path.exists() else "" for path in paths}
    return [path.name for path in paths if kept[path] != written()[path]]


def test_pages_are_what_the_command_writes():
    assert stale(PATHS) == [], "run `make docs`, which writes these pages from the docstrings"


def test_a_page_that_is_not_there_is_stale(monkeypatch, tmp_path):
    missing, changed = tmp_path / "missing.md", tmp_path / "changed.md"
    changed.write_text("by hand", encoding="utf-8")
    monkeypatch.setitem(written(), missing, "# Written")
    monkeypatch.setitem(written(), changed, "# Written")
    assert stale([missing, changed, PAGE]) == ["missing.md", "changed.md"]


TEMPLATE = (ROOT / "examples" / "method_template.py").read_text(encoding="utf-8")
NAMED = {
    "nothing": ("", "", ""),
    "text": ('"""My PCA: ', '"""My PCA."""\nOLD = """', "docstring must have the mathematics"),
    "step": ("This is the only step that reads private rows.", "", "must have `release`, whose docstring"),
    "no step": ("def release(", "def noisy(", "it must have `release`"),
    "returns": ("    Returns:\n", "    Gives:\n", "`fit` must have a section `Returns:`"),
    "option": ("Generator) -> Estimate", "Generator, depth: int = 3) -> Estimate", "`Args:` for depth"),
    "reference": ('"a paper, or a sentence"', '""', "`title` and `reference` of METHOD must be given"),
    "uses": ('"epsilon", "delta"', '"epsilom"', "be of accounting, .*, and not epsilom"),
    "sparse": ('"neighbours", ', '"s_hat", ', "`fit` must take s_hat, which `uses` of METHOD names"),
}


@pytest.mark.parametrize(("old", "new", "sentence"), NAMED.values(), ids=NAMED)
def test_what_the_file_of_a_method_lacks_is_answered_by_what_to_write(old, new, sentence):
    assert TEMPLATE.count(old or "METHOD =") == 1
    module = ModuleType("planted")
    exec(compile(TEMPLATE.replace(old, new), "planted", "exec"), module.__dict__)
    try:
        lacks = list(method_pages.lacking(register("planted", module.METHOD), module))
    finally:
        METHODS.added.clear()
    assert len(lacks) == bool(sentence) and all(re.search(sentence, lack) for lack in lacks), lacks


def test_no_page_is_written_while_a_method_lacks_something(monkeypatch):
    monkeypatch.setattr(method_pages, "lacking", lambda method, module: [f"`title` of {method.title}"])
    with pytest.raises(ValueError, match=r"^dppca_core/methods/\w+\.py: `title` of .*\ndppca_core/methods/"):
        documents.documents()


def test_every_method_and_bound_has_its_place_and_nothing_is_left_over():
    assert set(PATHS) == set(written())
    index, bounds = written()[method_pages.INDEX], written()[bound_page.PAGE]
    assert all(f"({name}.md)" in index for name in METHODS)
    assert all(rule.formula in bounds and f"`{name}`" in bounds for name, rule in BOUNDS.items())
    assert documents.left_over() == set(), "run `make docs`, which takes these pages away"


def test_pages_say_what_the_code_says():
    missing = {}
    for method in METHODS.values():
        page = written()[method_pages.page_of(method.name)]
        options = list(inspect.signature(inspect.unwrap(method.fit)).parameters)[4:]
        wanted = [f"| `{name}` | `" for name in options] + [f"`{use}`" for use in method.uses]
        wanted += ["test_contract.py", f"methods/{method.name}.py"]
        missing[method.name] = [words for words in wanted if words not in page]
    assert {name: words for name, words in missing.items() if words} == {}


def test_pages_of_methods_state_mu_where_there_is_one():
    mu = f"| μ = {1 / gaussian.noise_multiplier(Budget(1.0, 1e-5)):.4g} at ε = 1 and δ = 10⁻⁵"
    for name, stated in {
        "analyze_gauss": f"{mu} |",
        "spiked_projector": f"{mu}, on a good event |",
        "wishart": "| no μ is stated",
        "pca": "| as Gaussian differential privacy | none |",
    }.items():
        assert stated in written()[method_pages.page_of(name)]


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("One.\n\n    a_1 * b < c\n\nTwo.", "One.\n\n```text\na_1 * b < c\n```\n\nTwo."),
        ("1. One:\n\n       x * y\n\n   for all.\n\nTwo.", ITEM),
        ("1. One:\n       x * y\n   for all.\n\nTwo.", ITEM),
        ("U~ and *this* of s_hat", r"U\~ and \*this\* of s_hat"),
        ("a <b> of |x|_F <= 1", r"a \<b> of |x|\_F <= 1"),
        (
            "as `dps_pca` in `dppca_core.checks`, `k`",
            "as [`dps_pca`](dps_pca.md) in [`dppca_core.checks`](../../dppca_core/checks.py), `k`",
        ),
    ],
)
def test_docstrings_read_as_they_were_written(docstring, shown):
    assert markdown(docstring, PAGE) == shown


@pytest.mark.parametrize(
    ("docstring", "shown"),
    [
        ("Return the basis.", "It returns the basis."),
        ("Pass over the patients once.\n\nTwo.", "It passes over the patients once.\n\nTwo."),
    ],
)
def test_the_order_of_a_docstring_becomes_a_statement(docstring, shown):
    assert third_person(docstring) == shown
    assert third_person(docstring, "") == shown.removeprefix("It ")


def test_ways_between_files():
    assert relative(ROOT / "docs" / "symbols.md", PAGE) == "../symbols.md"
    assert relative(ROOT / "README.md", PAGE) == "../../README.md"
    assert relative(PAGE, ROOT / "README.md") == "docs/methods/pca.md"
    assert (PAGE.parent / relative(Path(__file__), PAGE)).resolve() == Path(__file__).resolve()
