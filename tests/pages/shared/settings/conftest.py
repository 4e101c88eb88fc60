"""Measure nothing where settings alone are tested."""

import pytest

from tests.pages.quiet import unmeasured, without_engine  # noqa: F401


@pytest.fixture(autouse=True)
def settings_alone(unmeasured: None) -> None:  # noqa: F811
    pass
