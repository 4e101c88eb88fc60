"""A cache within a number of bytes, for arrays that grow: the least recently used values are given up first.

Sizes are stated before the values are computed, so that room is made before it is needed. Freed memory goes
back to the system where the C library offers that (glibc keeps it otherwise).
"""

import ctypes
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock
from typing import Any, TypeVar

Value = TypeVar("Value")
# Returning memory takes milliseconds, so smaller amounts are not returned.
_WORTH_RETURNING = 16 * 2**20  # bytes
_MMAP_THRESHOLD = -3  # glibc's number of this option, M_MMAP_THRESHOLD


class ByteCache:
    """Hold values by key within `limit` bytes; the least recently used are dropped first. Thread-safe.

    The newest value is kept even where it alone is larger than the limit. largest: the size of the largest
    value that the caller will ever ask for, from which `most` follows. A value that was dropped but is still
    in use elsewhere is returned as the same object, so that what others add to it is not lost.
    """

    def __init__(self, limit: int, largest: int = 0) -> None:
        self._limit, self._largest = limit, largest
        # Values, each with its bytes and when it was last asked for; the least recently used is first.
        self._held: OrderedDict[object, tuple[Any, int, float]] = OrderedDict()
        self._size = 0  # of all that is held: adding it up would hash every key at every request
        # What was dropped, as long as anybody else holds it.
        self._in_use: weakref.WeakValueDictionary[object, Any] = weakref.WeakValueDictionary()
        # What a thread computes now: an event that is set when it is done, and the bytes to keep free for it.
        self._making: dict[object, tuple[Event, int]] = {}
        self._lock = Lock()
        _caches.add(self)

    @property
    def most(self) -> int:
        """Return the most bytes that are ever kept."""
        return max(self._limit, self._largest)

    @property
    def size(self) -> int:
        with self._lock:
            return self._size

    def get(
        self, key: object, make: Callable[[], Value], size: int, grown: Callable[[Value], int] | None = None
    ) -> Value:
        """Return the value of this key; where none is kept, compute it by `make` and keep it.

        size: bytes of the value, without what it grows by. grown: returns the bytes by which a value has
        grown since, as results are added to it; it is asked at every request. Of several threads that ask for
        the same value one computes it and the others wait; if `make` raises, the next of them tries.
        """
        while True:
            with self._lock:
                value: Value | None = self._held[key][0] if key in self._held else self._in_use.get(key)
                if value is not None:
                    return self._hold(key, value, size + (grown(value) if grown else 0))
                other_thread = self._making.get(key)
                if other_thread is None:
                    freed = self._make_room(size)
                    finished = Event()
                    self._making[key] = (finished, size)
                    break
            # Another thread computes it. Wait without the lock, and then look again: it may have failed.
            other_thread[0].wait()  # [0]: the event
        try:
            if freed > _WORTH_RETURNING:
                return_memory()
            value = make()
        except BaseException:
            with self._lock:
                del self._making[key]
            raise
        else:
            with self._lock:
                del self._making[key]
                return self._hold(key, value, size)
        finally:  # wake the threads that wait, also where `make` raised
            finished.set()

    def put(self, key: object, value: Value, size: int) -> Value:
        """Keep a value of so many bytes, in place of any former one of this key, and return it."""
        with self._lock:
            self._in_use.pop(key, None)
            return self._hold(key, value, size)

    def peek(self, key: object) -> Any:
        """Return the value of this key, which then counts as just used, or None where it is not kept."""
        with self._lock:
            if key not in self._held:
                return None
            value, size, _ = self._held[key]
            return self._hold(key, value, size)

    def shrink(self, limit: int) -> None:
        """Lower the limit to this many bytes, if it is higher, and drop what is beyond."""
        with self._lock:
            self._limit = min(self._limit, limit)
            self._make_room(0)

    def give_up(self, seconds: float) -> int:
        """Drop what nobody has asked for within so many seconds; return the bytes that were dropped."""
        with self._lock:
            before, latest = self._size, time.monotonic() - seconds
            while self._held and next(iter(self._held.values()))[2] <= latest:  # [2]: when it was asked for
                self._drop_oldest()
            return before - self._size

    def clear(self) -> None:
        """Forget all values, also those that are still in use elsewhere."""
        with self._lock:
            self._held.clear()
            self._size = 0
            self._in_use.clear()

    def _hold(self, key: object, value: Value, size: int) -> Value:
        """Keep a value as the most recently used, with its size by now, and return it. The lock is held."""
        self._size -= self._held.pop(key, (None, 0))[1]  # [1]: its former size
        self._make_room(size)
        self._held[key] = (value, size, time.monotonic())
        self._size += size
        return value

    def _make_room(self, size: int) -> int:
        """Drop the least recently used values until this many bytes fit; return the bytes that were dropped.

        Room is left for what other threads compute now as well. The lock is held.
        """
        needed = size + sum(others for _, others in self._making.values())
        before = self._size
        while self._held and self._size + needed > self._limit:
            self._drop_oldest()
        return before - self._size

    def _drop_oldest(self) -> None:
        """Drop the least recently used value. The lock is held."""
        key, (value, size, _) = self._held.popitem(last=False)
        self._size -= size
        with suppress(TypeError):  # a type without weak references is computed again if asked for
            self._in_use[key] = value


_caches: weakref.WeakSet[ByteCache] = weakref.WeakSet()  # all there are


def give_up_unused(seconds: float) -> int:
    """Drop from every cache what nobody has asked for within so many seconds; return the bytes dropped."""
    return sum(cache.give_up(seconds) for cache in list(_caches))


def shrink_all(limit: int) -> None:
    """Lower the limit of every cache to this many bytes, where it is higher, and drop what is beyond."""
    for cache in list(_caches):
        cache.shrink(limit)


def return_large_at_once() -> None:
    """Have the C library give a large array back to the system as soon as it is freed, where it can.

    glibc would learn from the first large array that is freed to keep the next ones for itself.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _WORTH_RETURNING)


def return_memory() -> None:
    """Give memory that Arrow and the C library hold unused back to the system, where the library can."""
    import pyarrow as pa  # imported here: it is slow to load, and caches of moments do not need it

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
