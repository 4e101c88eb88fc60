"""A message between a hospital and the server: named arrays, shapes and types checked on arrival."""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dppca_core import checks

DTYPES = ("float64", "int64")
Arrays = Mapping[str, NDArray[Any]]
Shapes = Mapping[str, tuple[int, ...]]  # of an answer's arrays, which are all float64


@dataclass(frozen=True, eq=False)
class Message:
    """Hold a question or an answer: arrays by name, of one round (1, 2, ...) of the run of this name."""

    run: str
    round: int
    arrays: Arrays = field(repr=False)

    @property
    def payload(self) -> int:
        """Return the bytes of the arrays themselves."""
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def digest(self) -> str:
        """Return a fingerprint of run, round, names, types, shapes and every bit.

        By it a hospital knows whether it is asked the same again.
        """
        digest = hashlib.sha256(f"{self.run} {self.round}".encode())
        for name in sorted(self.arrays):
            array = np.ascontiguousarray(self.arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()


def read_array(dtype: str, shape: Sequence[int], data: bytes | memoryview) -> NDArray[Any]:
    """Return the array whose little-endian numbers are the first of `data`; more may follow."""
    checks.one_of(DTYPES, dtype=dtype)
    for length in shape:
        checks.whole(0, 10**8, shape=length)
    kind, count = np.dtype(dtype), math.prod(shape)
    if kind.itemsize * count > len(data):
        raise ValueError(f"data must hold {shape} numbers, got {len(data)} bytes")
    return np.frombuffer(data, kind.newbyteorder("<"), count).astype(kind).reshape(shape)


def array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array for JSON: its type, its shape, and its little-endian numbers as Base64."""
    numbers = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    data = base64.b64encode(numbers.tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def array_from_json(json_value: object) -> NDArray[Any]:
    """Return the array that `array_to_json` wrote. Raises ValueError for anything else."""
    if not isinstance(json_value, dict):
        raise ValueError(f"an array must be an object, got {str(json_value)[:40]!r}")
    shape = json_value.get("shape")
    if not isinstance(shape, list) or len(shape) > 2:
        raise ValueError(f"shape must be a list of at most two, got {str(shape)[:40]!r}")
    data = base64.b64decode(str(json_value.get("data")), validate=True)
    array = read_array(json_value.get("dtype", ""), shape, data)
    if array.nbytes != len(data):
        raise ValueError(f"data must hold {shape} numbers, got {len(data)} bytes")
    return array


def arrays_from_json(json_value: object) -> Arrays:
    """Return arrays by name from an object of what `array_to_json` wrote. Raises ValueError."""
    if not isinstance(json_value, dict):
        raise ValueError(f"arrays must be an object, got {str(json_value)[:40]!r}")
    return {str(name): array_from_json(value) for name, value in json_value.items()}


def check(message: Message, run: str, number: int, expected: Shapes) -> None:
    """Raise ValueError unless a message is of this run and holds what it should.

    The error's text ends a sentence about the sender.
    number: that of the round. expected: names and shapes of the arrays.
    Numbers must be finite. Nothing is converted: an array of another type than float64 is refused.
    """
    if message.run != run:
        raise ValueError("sent a message of another run")
    if message.round != number:
        raise ValueError(f"sent a message of round {message.round} in round {number}")
    if set(message.arrays) != set(expected):
        raise ValueError(f"sent {_listed(message.arrays)} instead of {_listed(expected)}")
    for name, shape in expected.items():
        array = message.arrays[name]
        if array.dtype != np.float64 or array.shape != shape:
            received = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"sent {name} as {received} instead of float64 of shape {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"sent {name} with numbers that are not finite")


def _listed(names: Mapping[str, object]) -> str:
    # Names that others chose go into sentences, logs and records: keep them short, in plain letters. The
    # last slice takes off the quotes that `ascii` puts around them.
    return ascii(", ".join(sorted(names))[:60])[1:-1] or "nothing"
