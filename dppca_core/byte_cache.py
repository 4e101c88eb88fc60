"""A cache within a number of bytes, for arrays that grow: the least recently used values are given up first.

Sizes are stated before the values are computed, so that room is made before it is needed. Freed memory goes
back to the system where the C library offers that (glibc keeps it otherwise).
"""

import ctypes
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock
from typing import Any, TypeVar

Value = TypeVar("Value")
# Returning memory takes milliseconds, so smaller amounts are not returned.
_WORTH_RETURNING = 16 * 2**20  # bytes


class ByteCache:
    """Hold values by key, the least recently used given up first, within `limit` bytes.

    The newest is kept even where it alone is larger: `largest` is the largest size of one value, so that
    `most` is the most bytes that are ever kept. A value that was given up but is still in use elsewhere is
    returned as the same object, so additions to it by others are not lost.
    """

    def __init__(self, limit: int, largest: int = 0) -> None:
        self._limit, self._largest = limit, largest
        self._held: OrderedDict[object, tuple[Any, int]] = OrderedDict()
        self._size = 0  # of all that is held: adding it up would hash every key at every request
        self._in_use: weakref.WeakValueDictionary[object, Any] = weakref.WeakValueDictionary()
        self._making: dict[object, tuple[Event, int]] = {}
        self._lock = Lock()

    @property
    def most(self) -> int:
        """Return the most bytes that are ever kept."""
        return max(self._limit, self._largest)

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        with self._lock:
            return self._size

    def get(
        self, key: object, make: Callable[[], Value], size: int, grown: Callable[[Value], int] | None = None
    ) -> Value:
        """Return the value of this key, or the result of `make`, of `size` bytes.

        Of several threads that ask for the same value one makes it and the others wait for it. grown: returns
        the bytes that others have added to a value by now, counted at every request.
        """
        while True:
            with self._lock:
                value: Value | None = self._held[key][0] if key in self._held else self._in_use.get(key)
                if value is not None:
                    return self._hold(key, value, size + (grown(value) if grown else 0))
                other = self._making.get(key)
                if other is None:
                    freed = self._make_room(size)
                    done = Event()
                    self._making[key] = (done, size)
                    break
            other[0].wait()
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
        finally:
            done.set()

    def peek(self, key: object) -> Any:
        """Return the value of this key, None where it is not kept."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key, (None, 0))[0]

    def shrink(self, limit: int) -> None:
        """Keep no more than so many bytes from now on."""
        with self._lock:
            self._limit = min(self._limit, limit)
            self._make_room(0)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
            self._size = 0
            self._in_use.clear()

    def _hold(self, key: object, value: Value, size: int) -> Value:
        self._size -= self._held.pop(key, (None, 0))[1]
        self._make_room(size)
        self._held[key] = (value, size)
        self._size += size
        return value

    def _make_room(self, size: int) -> int:
        """Give up the oldest values until so many bytes fit; return the bytes that were given up."""
        others = size + sum(made for _, made in self._making.values())
        before = self._size
        while self._held and self._size + others > self._limit:
            key, (value, held) = self._held.popitem(last=False)
            self._size -= held
            with suppress(TypeError):  # a type without weak references is computed again
                self._in_use[key] = value
        return before - self._size


def return_memory() -> None:
    """Return freed memory to the system: Arrow's, and the C library's where it offers that."""
    import pyarrow as pa  # imported here: it is slow to load, and caches of moments do not need it

    pa.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
