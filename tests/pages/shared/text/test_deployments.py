"""Published deployments beside epsilon: what is comparable, and what the line says."""

import re

import pytest

from dppca_core.accounting.deployments import deployments
from pages.shared.text import deployments as text


@pytest.mark.parametrize("published", deployments(), ids=lambda each: each.name)
def test_only_a_persons_epsilon_is_not_grey(published) -> None:
    row = text.table([published], plain=False).splitlines()[-1]
    assert row.count(":gray[") == (0 if published.person else 3)
    assert published.source.startswith("https://")
    assert 0 < published.epsilon < 20
    assert 0 <= published.delta <= 1e-5
    days = re.search(r"day|event|birth", published.unit)
    assert bool(days) != published.person


def test_the_line_states_the_range_of_health_data_alone() -> None:
    assert text.title(deployments()) == "Health projects have used 1.7 to 10"
    assert text.title([each for each in deployments() if each.epsilon < 2]).endswith("used 1.7 to 2")
