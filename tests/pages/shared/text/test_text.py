"""Test phrases that carry numbers."""

import math

import pytest
from scipy import stats

from dppca_core import Budget
from pages.shared import text


@pytest.mark.parametrize(
    ("epsilon", "right"),
    [
        (0.01, "right at most 50.2 times in 100. A coin is right 50 times."),
        (1.0, "right at most 73 times in 100. A coin is right 50 times."),
        (5.0, "right at most 99 times in 100. A coin is right 50 times."),
        (10.0, "almost certain. At this setting the promise protects nobody."),
    ],
)
def test_odds_read_as_a_person_would_say_them(epsilon, right):
    assert text.odds(epsilon, 1e-10, "replace-one").endswith(right)
    assert "your record" in text.odds(epsilon, 1e-10, "replace-one", yours=True)


@pytest.mark.parametrize(
    ("right", "words"),
    [
        (18, "below a coin's 20, by luck."),
        (20, "like a coin's 20."),
        (26, "above a coin's 20, but within luck."),
        (27, "above a coin's 20, by more than luck."),
    ],
)
def test_a_spy_below_a_coin_is_explained_by_luck(right, words):
    interval = stats.binom.interval(0.95, 40, 0.5)
    between = "A coin lands between {:.0f} and {:.0f} in 19 of 20 tries.".format(*interval)
    assert text.luck(right, 40) == f"{right} of 40: {words} {between}"


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
    assert sentence.endswith("at δ = 0.3: X and Y: 0.13; Z: below 0.001.")


@pytest.mark.parametrize(
    ("chance", "shown"), [(1.0, "above 95 %"), (0.5, "about 50 %"), (0.951, "above 95 %"), (0.0, "below 5 %")]
)
def test_a_predicted_chance_is_not_said_to_be_surer_than_its_draws(chance, shown):
    assert text.chance(chance) == shown
