"""Test that the byte cache never keeps more than its limit, and that nobody loses a value in use."""

import gc
import platform
import subprocess
import sys
import threading

import pytest

from dppca_core.byte_cache import ByteCache


class Value:
    """Stand for a value that others add to while it is kept."""

    def __init__(self, name: str) -> None:
        self.name = name


def names(cache: ByteCache) -> list[object]:
    return [key for key in "abcdef" if key in cache._held]


def fill(cache: ByteCache, keys: str, size: int) -> None:
    for key in keys:
        cache.get(key, lambda key=key: Value(key), size)


def test_the_least_recently_used_is_given_up_first():
    cache = ByteCache(30)
    fill(cache, "abcad", 10)
    assert names(cache) == ["a", "c", "d"] and cache.size == cache.most == 30


def test_a_value_that_is_put_in_place_of_another_is_not_the_first_to_go():
    cache = ByteCache(30)
    for key, size in (("a", 20), ("b", 10), ("a", 5), ("c", 20)):
        value = cache.put(key, Value(key), size)
        assert cache.peek(key) is value and cache.size <= cache.most
    assert names(cache) == ["a", "c"] and cache.size == 25


def test_room_is_made_before_it_is_needed():
    cache = ByteCache(30)
    fill(cache, "abc", 10)
    sizes = []
    cache.get("d", lambda: sizes.append(cache.size), 20)
    assert sizes == [10] and cache.size == 30


def test_the_newest_is_kept_even_if_it_alone_is_too_large():
    cache = ByteCache(30, largest=50)
    fill(cache, "abc", 10)
    large = cache.get("d", lambda: Value("d"), 50)
    assert names(cache) == ["d"] and cache.size == cache.most == 50
    assert cache.get("d", lambda: Value("d"), 50) is large
    fill(cache, "e", 10)
    assert names(cache) == ["e"]


def test_what_is_in_use_is_found_again():
    """Two visitors at the same setting share one object, whatever a third has pushed out."""
    cache = ByteCache(20)
    in_use = cache.get("a", lambda: Value("a"), 10)
    fill(cache, "bc", 10)
    assert "a" not in names(cache)
    assert cache.get("a", lambda: Value("new"), 10) is in_use
    assert names(cache) == ["a", "c"]
    fill(cache, "de", 10)
    del in_use
    gc.collect()
    assert cache.get("a", lambda: Value("new"), 10).name == "new"


def test_of_many_who_ask_at_once_one_makes_it():
    cache, made, begun, go = ByteCache(10), [], threading.Event(), threading.Event()
    values = []

    def make() -> Value:
        made.append(1)
        begun.set()
        go.wait(30)
        return Value("a")

    threads = [
        threading.Thread(target=lambda: values.append(cache.get("a", make, 10)), daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(30)
    go.set()
    for thread in threads:
        thread.join(30)
    assert made == [1] and len(values) == 4 and len(set(map(id, values))) == 1


def test_what_cannot_be_made_is_tried_again():
    cache = ByteCache(10)

    def refuse() -> Value:
        raise MemoryError("no room")

    with pytest.raises(MemoryError):
        cache.get("a", refuse, 10)
    assert cache.size == 0
    assert cache.get("a", lambda: Value("a"), 10).name == "a"


def test_it_can_be_made_smaller_and_empty():
    cache = ByteCache(30)
    fill(cache, "abc", 10)
    cache.shrink(10)
    assert names(cache) == ["c"]
    cache.shrink(100)
    fill(cache, "d", 10)
    assert names(cache) == ["d"]
    cache.clear()
    assert cache.size == 0


def test_what_has_grown_is_counted_when_it_is_asked_for():
    cache = ByteCache(30)
    fill(cache, "ab", 10)
    grown = cache.get("a", lambda: Value("a"), 10, lambda value: 15)
    assert grown.name == "a" and names(cache) == ["a"] and cache.size == 25


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such option")
def test_a_large_array_goes_back_to_the_system_as_soon_as_it_is_freed():
    """Each in a process of its own, since glibc keeps the room of large arrays once it has freed one."""
    code = """
import resource
import numpy as np
from dppca_core import byte_cache

if {at_once}:
    byte_cache.return_large_at_once()
kept = []
for _ in range(3):
    large = np.ones(30 * 2**17)  # 30 MB
    kept.append(np.ones(2**15))  # lies behind it
    del large
print(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize())
"""
    at_once, later = (
        int(subprocess.check_output([sys.executable, "-c", code.format(at_once=at_once)], text=True))
        for at_once in (True, False)
    )
    assert at_once < later - 20 * 2**20
