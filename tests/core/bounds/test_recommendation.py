"""Test the recommended method against simulation, and what it says.

`benchmarks.recommendation` measures 40 random settings; here are some of its smaller ones, at its margin.
"""

import pytest

from benchmarks.recommendation import MARGIN, random_case, regret
from dppca_core import METHODS, Budget
from dppca_core.bounds.recommendation import TRUSTS, recommend

BUDGET = Budget(1.0, 1e-5)


@pytest.mark.parametrize("seed", [200, 201, 202, 203, 204, 205])
def test_the_recommended_method_errs_about_as_little_as_the_best(seed):
    answer, mine, _, least = regret(random_case(seed, features=(40, 60)), runs=5)
    assert mine <= MARGIN * least or mine > 0.8 * answer.guess


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("s_hat", [None, 20, 200])
def test_it_is_a_method_of_that_trust_with_options_that_it_takes(trust, s_hat):
    answer = recommend(trust, n=50_000, d=200, k=3, budget=BUDGET, s_hat=s_hat, providers=5)
    assert METHODS[answer.method].trust == trust
    assert answer.error == min(answer.errors.values()) <= answer.guess
    assert METHODS[answer.method].title in answer.reason and answer.reason.endswith(".")
    assert answer.method.startswith("two_stage") == (s_hat != 200)
    if s_hat is None:
        assert answer.options["s_hat"] == "released"


def test_own_noise_is_predicted_to_cost_more_than_one_place():
    central, nobody = (
        recommend(trust, n=50_000, d=200, k=3, budget=BUDGET, s_hat=20, providers=20)
        for trust in ("central", "untrusted server")
    )
    assert nobody.error > central.error


@pytest.mark.parametrize("trust", TRUSTS)
def test_few_rounds_are_not_recommended_where_the_bulk_reaches_near_the_spikes(trust):
    """Two stages of four rounds err .3 to .6 there, one moment .05 to .1."""
    few, many = (
        recommend(trust, n=200_000, d=50, k=3, budget=BUDGET, s_hat=20, signal=0.146, rounds=rounds)
        for rounds in (4, None)
    )
    assert not few.method.startswith("two_stage") and many.method.startswith("two_stage")


def test_a_guess_is_called_one():
    answer = recommend("untrusted server", n=500, d=1000, k=5, budget=BUDGET, s_hat=50, providers=10)
    assert answer.hopeless and "guess" in answer.reason
    assert not recommend("central", n=10**6, d=50, k=1, budget=BUDGET, s_hat=10).hopeless


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"trust": "local"}, "trust"),
        ({"k": 200}, "k must"),
        ({"n": 0}, "n must"),
        ({"signal": 1.0}, "signal"),
        ({"s_hat": 1}, "s_hat"),
        ({"providers": 0}, "providers"),
    ],
)
def test_numbers_out_of_range_are_refused(changed, named):
    arguments = {"trust": "central", "n": 1000, "d": 200, "k": 3, "budget": BUDGET} | changed
    with pytest.raises(ValueError, match=named):
        recommend(arguments.pop("trust"), **arguments)
