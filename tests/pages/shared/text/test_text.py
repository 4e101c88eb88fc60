"""Test phrases that carry numbers."""

import math

import pytest

from dppca_core import Budget
from pages.shared import text


@pytest.mark.parametrize(
    ("epsilon", "ends"), [(0.01, "50:50"), (1.0, "73:27"), (5.0, "99.33:0.67"), (10.0, "99.9955:0.0045")]
)
def test_odds_read_as_a_person_would_say_them(epsilon, ends):
    assert text.odds(epsilon, 1e-10, "replace-one").endswith(f"at most at {ends}.")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.716, "1.72"),
        (0.1934, "0.19"),
        (0.00817, "0.0082"),
        (3.66e-4, "3.7e-4"),
        (0.0, "0"),
        (math.inf, "–"),
    ],
)
def test_short_numbers(value, shown):
    assert text.short(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(48_000, "48 kB"), (999, "999 B"), (1.5e9, "1.5 GB")])
def test_sizes(value, shown):
    assert text.size(value) == shown


def test_true_epsilons_are_told_together():
    sentence = text.printed_truth({"0.13": ["X", "Y"], "below 0.001": ["Z"]}, Budget(1.0, 0.3))
    assert sentence.endswith("at δ = 0.3: X, Y ε = 0.13; Z ε = below 0.001.")


@pytest.mark.parametrize(
    ("chance", "shown"), [(1.0, "above 95 %"), (0.5, "about 50 %"), (0.951, "above 95 %"), (0.0, "below 5 %")]
)
def test_a_predicted_chance_is_not_said_to_be_surer_than_its_draws(chance, shown):
    assert text.chance(chance) == shown
