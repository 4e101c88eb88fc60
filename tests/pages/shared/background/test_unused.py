"""Test that caches give up what nobody has asked for within ten minutes, and nothing else."""

import sys
import time
from functools import lru_cache
from types import ModuleType

import pytest

from dppca_core import byte_cache
from dppca_core.accounting import gaussian
from dppca_core.accounts import account
from dppca_core.byte_cache import ByteCache
from dppca_core.experiments import draws
from dppca_core.numerics import reduced_rounds
from pages.shared.background import cache, sessions, unused
from pages.shared.settings import catalogue, to_experiment
from tests.waiting import Clock


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    for module in (byte_cache, unused):
        monkeypatch.setattr(module, "time", made)
    return made


def wait(clock: Clock, seconds: float) -> None:
    clock.now += seconds
    unused.give_up()


def test_what_nobody_has_asked_for_within_ten_minutes_is_given_up(clock):
    """A value that was asked for meanwhile is kept, and counts anew."""
    held = ByteCache(100)
    for key in "ab":
        held.get(key, object, 10)
    wait(clock, 400)
    held.peek("a")
    assert held.size == 20
    wait(clock, 300)
    assert (held.peek("b"), held.size) == (None, 10)
    wait(clock, 299)
    assert held.size == 10
    wait(clock, 1)
    assert held.size == 0


@pytest.fixture
def remembering(monkeypatch):
    """Put a module beside ours whose function keeps what it has returned; return that function."""

    @lru_cache
    def square(x: int) -> int:
        return x * x

    module = ModuleType("dppca_core.planted")
    module.square, square.__module__ = square, module.__name__
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return square


def test_so_are_the_results_that_functions_remember(clock, remembering):
    remembering(2)
    wait(clock, 0)
    wait(clock, 400)
    remembering(2)  # it is known already, which counts as asking
    wait(clock, 400)
    assert remembering.cache_info().currsize == 1
    wait(clock, 200)
    wait(clock, 399)
    assert remembering.cache_info().currsize == 1
    wait(clock, 1)
    assert remembering.cache_info().currsize == 0


@pytest.mark.parametrize("years", [-10, 10])
def test_nothing_is_forgotten_early_where_the_wall_clock_is_set(years, remembering, monkeypatch):
    """Also what is kept for a visitor who has just gone: how long ago anything was is no matter of dates."""
    monkeypatch.setattr(sessions, "is_connected", lambda visitor: visitor != "ann")
    held, may_come_back = ByteCache(100), sessions.return_check("ann")
    held.get("a", object, 10)
    remembering(2)
    unused.give_up()
    assert may_come_back()
    for _ in range(2):
        jumped = time.time() + years * 365 * 86_400
        monkeypatch.setattr(time, "time", lambda now=jumped: now)
        unused.give_up()
        assert held.size == 10 and remembering.cache_info().currsize == 1 and may_come_back()


def test_every_cache_of_ours_is_looked_through():
    """Also one that takes the function of another module, and none of another package."""
    assert {draws.MOMENTS, cache.CELLS} <= set(byte_cache._caches)
    remembering = unused.functions()
    assert {gaussian.rho_of, reduced_rounds._draw, account._total} <= remembering
    assert {function.__module__.split(".")[0] for function in remembering} == {"dppca_core", "pages"}


def test_the_first_view_is_kept_for_who_comes_next(clock, monkeypatch):
    monkeypatch.setattr(cache, "CELLS", ByteCache(cache.CELLS.most))
    at_first = to_experiment.from_settings_with_method(catalogue.defaults())[0]
    cells = cache.results(at_first)
    other = cache.results(to_experiment.from_settings_with_method(catalogue.defaults() | {"seed": 7})[0])
    assert cells is not other
    wait(clock, unused.UNUSED_SECONDS)
    assert list(cache.CELLS._held) == [at_first]
