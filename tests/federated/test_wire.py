"""Bytes and messages: one gives the other back, and no bytes do more than be refused."""

import json
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dppca_core.federated.message import Message
from examples.flower import wire

ARRAYS = st.dictionaries(
    st.text(max_size=8),
    st.sampled_from(["float64", "int64"]).flatmap(
        lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    ),
    max_size=3,
)
ONE = wire.encode(Message("run", 1, {"product": np.arange(6.0).reshape(3, 2)}))


@settings(max_examples=40)
@given(ARRAYS, st.integers(0, 10**6))
def test_a_message_comes_back_to_the_bit(held, number):
    sent = Message("a-run", number, held)
    received = wire.decode(wire.encode(sent), sent.payload)
    assert (received.run, received.round, received.digest) == (sent.run, sent.round, sent.digest)
    assert all(array.flags.writeable for array in received.arrays.values())


def test_it_takes_about_a_hundred_bytes_more_than_its_numbers():
    assert len(ONE) - 48 < 100


@given(st.binary(max_size=300))
def test_noise_is_refused(data):
    with pytest.raises(ValueError, match="sent "):
        wire.decode(data, 10**6)


@given(st.integers(0, len(ONE) - 1), st.integers(0, 255))
def test_a_changed_byte_gives_a_message_or_is_refused(place, value):
    data = bytearray(ONE)
    data[place] = value
    with suppress(ValueError):
        assert wire.decode(bytes(data), 10**6).payload <= 48


def wide(axes: int) -> bytes:
    """Return a header whose product of lengths is beyond any number."""
    header = json.dumps({"run": "run", "round": 1, "arrays": [["a", "float64", [999] * axes]]}).encode()
    return struct.pack("<I", len(header)) + header + bytes(1_000)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ONE + b"0", "sent a message with bytes left over"),
        (ONE[:-1], "sent what is not a message"),
        (ONE.replace(b"[3, 2]", b"[-3,2]"), "sent what is not a message"),
        (ONE.replace(b"[3, 2]", b"[3e9]\\x20"[:6]), "sent what is not a message"),
        (ONE.replace(b"float64", b"object_"), "sent what is not a message"),
        (ONE.replace(b'"run": "run"', b'"run": 12345'), "sent what is not a message"),
        (ONE + bytes(3_000), "sent 3,1"),
        (wide(110), "sent what is not a message"),
    ],
)
def test_a_broken_message_is_refused(data, message):
    with pytest.raises(ValueError, match=message):
        wire.decode(data, 48)
