"""Measure nothing beside these pages that a next press may ask for: test_prefetch.py tests that."""

import pytest

from tests.pages.quiet import without_prefetch  # noqa: F401


@pytest.fixture(autouse=True)
def pressing_nothing(without_prefetch: None) -> None:  # noqa: F811
    pass
