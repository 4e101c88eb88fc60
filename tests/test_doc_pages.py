"""docs/methods and docs/bounds.md are what `make docs` writes: they cannot fall behind the docstrings."""

import inspect
from functools import lru_cache
from pathlib import Path

import pytest

from dppca_core import METHODS
from dppca_core.bounds import BOUNDS
from scripts import bound_page, documents, method_pages
from scripts.docstrings import markdown, relative
from scripts.started import ROOT

PATHS = [
    method_pages.README,
    method_pages.INDEX,
    bound_page.PAGE,
    *(method_pages.page_of(name) for name in METHODS),
]
ITEM = "1. One:\n\n   ```text\n   x * y\n   ```\n\n   for all.\n\nTwo."
PAGE = ROOT / "docs" / "methods" / "pca.md"


@lru_cache(maxsize=1)
def written() -> dict[Path, str]:
    return documents.documents()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_page_is_what_the_command_writes(path):
    assert path.read_text(encoding="utf-8") == written()[path], "run `make docs`"


def test_every_method_and_bound_has_its_place_and_nothing_is_left_over():
    assert set(PATHS) == set(written())
    index, bounds = written()[method_pages.INDEX], written()[bound_page.PAGE]
    assert all(f"({name}.md)" in index for name in METHODS)
    assert all(rule.formula in bounds and f"`{name}`" in bounds for name, rule in BOUNDS.items())
    assert documents.left_over() == set()


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_page_says_what_the_code_says(method):
    told = written()[method_pages.page_of(method.name)]
    own = list(inspect.signature(inspect.unwrap(method.fit)).parameters)[4:]
    assert [name for name in own if f"| `{name}` | `" not in told] == []
    assert all(f"`{use}`" in told for use in method.uses)
    assert "test_contract.py" in told and f"methods/{method.name}.py" in told


@pytest.mark.parametrize(
    ("told", "shown"),
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
def test_docstrings_read_as_they_were_written(told, shown):
    assert markdown(told, PAGE) == shown


def test_ways_between_files():
    assert relative(ROOT / "docs" / "symbols.md", PAGE) == "../symbols.md"
    assert relative(ROOT / "README.md", PAGE) == "../../README.md"
    assert relative(PAGE, ROOT / "README.md") == "docs/methods/pca.md"
    assert (PAGE.parent / relative(Path(__file__), PAGE)).resolve() == Path(__file__).resolve()
