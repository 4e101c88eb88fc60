"""Test claims: what holds, what fails, and how often a claim at a margin is made or refuted wrongly."""

import numpy as np
import pytest

from dppca_core.experiments.decision.claims import RELATIONS, Claim, claims
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.decision.rule import MARGIN
from tests.core.experiments.decision.settings import joining

BASE = 50 + 10 * np.random.default_rng(0).standard_normal(40)


@pytest.mark.parametrize(
    ("difference", "relation"),
    [
        (2.01, "more"),
        (1.99, "as good"),
        (2.0, "as good"),
        (0.0, "as good"),
        (-1.99, "as good"),
        (-2.01, "less"),
    ],
)
def test_of_a_pair_exactly_one_claim_is_true(difference, relation):
    """Both arms vary far more than they differ: unpaired runs would show nothing."""
    outcomes = {"left": BASE + difference, "right": BASE}
    for each in RELATIONS:
        claim = Claim("left", each, "right")
        assert claim.holds(outcomes) == (each == relation)
        assert claim.fails(outcomes) == (each != relation)
    assert claims(outcomes) == (Claim("left", relation, "right"),)


def test_a_planted_lack_of_pairs_is_seen():
    outcomes = {"left": BASE + 3, "right": np.roll(BASE, 1)}
    assert not Claim("left", "more", "right").holds(outcomes)
    assert claims(outcomes) == ()


def test_across_a_margin_nothing_is_claimed_or_refuted():
    outcomes = {"left": BASE + np.linspace(0, 4, 40), "right": BASE}
    assert claims(outcomes) == ()
    refuted = [claim for claim in RELATIONS if Claim("left", claim, "right").fails(outcomes)]
    assert refuted == ["less"]


def test_a_claim_at_the_margin_is_made_or_refuted_wrongly_at_its_level_at_most():
    """At 4,000 settings with the median on the margin: .32 % each way in theory, .6 % beyond 3 errors."""
    draws = np.random.default_rng(1).laplace(MARGIN + 1e-9, size=(4000, 40))
    nothing = np.zeros(40)
    claim, other = Claim("left", "as good", "right"), Claim("left", "more", "right")
    pairs = [{"left": values, "right": nothing} for values in draws]
    assert np.mean([claim.holds(outcomes) for outcomes in pairs]) < 0.006
    assert np.mean([other.fails(outcomes) for outcomes in pairs]) < 0.006


def test_a_stricter_level_claims_less():
    outcomes = {"left": BASE + np.linspace(1.5, 6, 40), "right": BASE}
    assert Claim("left", "more", "right").holds(outcomes, 0.9)
    assert not Claim("left", "more", "right").holds(outcomes, 1 - 1e-9)


def test_claims_of_a_setting_agree_with_fresh_runs():
    """A true claim fails with a chance below 1e-6; a false one is made with a chance of .01 at most."""
    setting = joining(150, 400, 600, repeats=40)
    made = claims(JoiningRuns(setting).quantities())
    assert Claim("alone", "more", "a random guess") in made
    fresh = JoiningRuns(joining(150, 400, 600, repeats=50, seed=1)).quantities()
    assert not [claim for claim in made if claim.fails(fresh, 1 - 1e-6)]


def test_another_relation_is_refused():
    with pytest.raises(ValueError, match="relation must be"):
        Claim("left", "better", "right")
    with pytest.raises(KeyError):
        Claim("left", "more", "nothing").holds({"left": BASE})
