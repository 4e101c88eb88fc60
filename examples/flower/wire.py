"""A message as bytes: the length of a JSON header, the header, then every array's little-endian numbers.

The header is {"run": "a", "round": 1, "arrays": [[NAME, "float64", [30, 3]], ...]}. Nothing in it is run, and
no length in it is believed: the bytes that came must be those that it announces.
"""

import json
import math
import struct

import numpy as np

from dppca_core import checks
from dppca_core.federated.message import Message, Shapes, read_array

MOST_HEADER = 2_000
_LENGTH = struct.Struct("<I")


def encode(message: Message) -> bytes:
    """Return the message as bytes: its payload, and about 100 more."""
    arrays = {name: np.ascontiguousarray(array) for name, array in message.arrays.items()}
    named = [[name, array.dtype.name, list(array.shape)] for name, array in arrays.items()]
    header = json.dumps({"run": message.run, "round": message.round, "arrays": named}).encode()
    numbers = (array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes() for array in arrays.values())
    return b"".join([_LENGTH.pack(len(header)), header, *numbers])


def most_bytes(expected: Shapes) -> int:
    """Return the bytes of the arrays of such a message: a larger one need not be read at all."""
    return 8 * sum(map(math.prod, expected.values()))


def decode(data: bytes, payload: int) -> Message:
    """Return the message, of at most `payload` bytes of numbers. `message.check` looks at what they are."""
    most = payload + MOST_HEADER
    if len(data) > most:
        raise ValueError(f"sent {len(data):,} bytes where at most {most:,} are expected")
    try:
        (length,) = _LENGTH.unpack_from(data)
        header = json.loads(data[_LENGTH.size : _LENGTH.size + length])
        checks.instance(str, run=header["run"])
        checks.whole(0, round=header["round"])
        begin, arrays = _LENGTH.size + length, {}
        for name, dtype, shape in header["arrays"]:
            arrays[str(name)] = read_array(dtype, shape, memoryview(data)[begin:])
            begin += arrays[str(name)].nbytes
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError, struct.error):
        raise ValueError("sent what is not a message") from None
    if begin != len(data):
        raise ValueError("sent a message with bytes left over")
    return Message(header["run"], header["round"], arrays)
