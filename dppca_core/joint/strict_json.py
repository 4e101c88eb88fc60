"""Read JSON that a stranger wrote: objects whose keys are known, no key twice, and one sentence if not."""

import hashlib
import json
import math
from collections.abc import Collection
from typing import Any, NoReturn

MOST_BYTES = 8 * 2**20  # an answer of 400 measurements has 0.9
_LONGEST_REASON = 300  # letters


def parse(data: bytes, what: str) -> dict[str, Any]:
    """Return the object that JSON in UTF-8 holds. Raises ValueError, one sentence on `what`."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"{what} may have {MOST_BYTES:,} bytes, got {len(data):,}")
    try:
        json_value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_float=_finite, parse_constant=_refuse
        )
        canonical(json_value)  # of a value too deep to write there is no digest
    except (ValueError, RecursionError) as reason:
        # Its own text may quote the file at length.
        why = str(reason) if isinstance(reason, _OddError) else "it is not JSON in UTF-8"
        raise ValueError(f"{what} cannot be read: {why}") from None
    if not isinstance(json_value, dict):
        raise ValueError(f"{what} cannot be read: it is no object")
    return json_value


def check_keys(
    what: str, json_value: object, needed: Collection[str], more: Collection[str] = ()
) -> dict[str, Any]:
    """Return the object if it has all keys of `needed` and no others but `more`. Raises ValueError."""
    if not isinstance(json_value, dict):
        raise ValueError(f"{what} must be an object")
    if lacking := sorted(set(needed) - json_value.keys()):
        raise ValueError(f"{what} lacks {lacking[0]!r}")
    if unknown := sorted(json_value.keys() - {*needed, *more}):
        raise ValueError(f"{what} has no {unknown[0][:60]!r}")
    return json_value


def canonical(json_value: Any) -> bytes:
    """Return the one form of a JSON value of which digests are made: sorted keys, no blanks, UTF-8."""
    text = json.dumps(json_value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def digest(json_value: Any) -> str:
    """Return the SHA-256 of a JSON value's canonical form, in hexadecimal digits."""
    return hashlib.sha256(canonical(json_value)).hexdigest()


def one_sentence(reason: BaseException) -> str:
    """Return the text of a refusal on one line, and not longer than a screen shows."""
    text = " ".join("".join(c if c.isprintable() else " " for c in str(reason)).split())
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"


class _OddError(ValueError):
    """Refuse what JSON allows and no file of a study has; its text quotes nothing."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _OddError("a key is there twice")  # two readers could take it in two ways
    return result


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _OddError("a number is too large")
    return value


def _refuse(constant: str) -> NoReturn:
    raise _OddError(f"{constant} is no number")


def indented(json_value: Any) -> bytes:
    """Return a JSON value as a file that people can read, in the order of its keys."""
    return (json.dumps(json_value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
