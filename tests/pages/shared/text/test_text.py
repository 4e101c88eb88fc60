"""Test phrases that carry numbers."""

import math

import pytest
from scipy import stats

from dppca_core import Budget
from pages.shared import text


@pytest.mark.parametrize(
    ("epsilon", "right"),
    [
        (0.01, "took part at most 50.2 times in 100. A random guess: 50."),
        (1.0, "took part at most 73 times in 100. A random guess: 50."),
        (5.0, "took part at most 99 times in 100. A random guess: 50."),
        (10.0, "took part almost always. This promise protects nobody."),
    ],
)
def test_odds_read_as_a_person_would_say_them(epsilon, right):
    odds = text.odds(epsilon, 1e-10)
    assert odds.endswith(right)
    assert max(len(sentence.split()) for sentence in odds.split(". ")) <= 20


@pytest.mark.parametrize("right", [0, 17, 34, 40])
def test_what_an_attacker_guesses_right_stands_next_to_what_chance_gives(right):
    least, most = map(int, stats.binom.interval(0.95, 40, 0.5))
    words = f"The attacker is right {right} times in 40; chance gives {least} to {most}."
    assert text.luck(right, 40) == words


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
