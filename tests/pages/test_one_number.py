"""Test that pages show one number of one thing, at five of those that `benchmarks.one_number` walks."""

from dataclasses import replace

import pytest

from benchmarks import one_number
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.experiments.explorer import trusts
from pages.learn.privacy.sentences import plain as privacy_in_plain
from pages.learn.story.model import Point
from pages.shared import text

# One pattern, nobody trusted, equal hospitals, one place and sealed sums; 3 differs from 1 in size alone.
SEED, INDICES, PLANTED_AT = 1, (0, 1, 2, 4, 5), 4


@pytest.mark.parametrize("index", INDICES)
def test_pages_show_one_number_of_one_thing(index):
    settings = one_number.random_settings(SEED, index)
    by_thing = one_number.compared(settings)
    assert [str(each) for each in one_number.disagreements(settings, by_thing)] == []
    assert one_number.rises(settings) == []


def another_method(plan):
    return lambda runs, trust: plan(runs, trust)._replace(method="cape")


# By the things that then differ: where a page has them, what is replaced there, and by what.
PLANTED = {
    ("method measured",): (JoiningRuns, "plan", another_method),
    ("share recovered alone, 40 runs", "share recovered, 40 runs"): (
        Point,
        "median",
        lambda median: lambda point, quantity: median(point, quantity) / 2,
    ),
    ("attacker, of 40",): (privacy_in_plain, "releases", lambda _: lambda _: text.luck(3, 40)),
}


@pytest.mark.parametrize("things", PLANTED, ids=", ".join)
def test_a_page_that_shows_another_number_is_found(monkeypatch, things):
    module, name, replacement = PLANTED[things]
    monkeypatch.setattr(module, name, replacement(getattr(module, name)))
    settings = one_number.random_settings(SEED, PLANTED_AT)
    differing = one_number.disagreements(settings, one_number.compared(settings))
    assert set(things) <= {each.thing for each in differing}


def test_an_error_that_rises_with_trust_is_found(monkeypatch):
    recommended = trusts.recommended
    settings = one_number.random_settings(SEED, PLANTED_AT)
    one_number.compared(settings)

    def higher(experiment, epsilon, trust):
        answer = recommended(experiment, epsilon, trust)
        return replace(answer, error=2 * answer.error) if trust == "central" else answer

    monkeypatch.setattr(trusts, "recommended", higher)
    (line,) = one_number.rises(settings)
    assert line.startswith("- predicted error, central")
