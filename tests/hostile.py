"""Draw hostile words, numbers, links and files. Case i is always the same.

`cases(few)` is how many a test takes: a few in the suite, its share of FUZZ_CASES with `make fuzz`.
"""

from __future__ import annotations

import io
import json
import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dppca_core.tables import Column, Schema

OURS = tuple(str(Path(__file__).resolve().parents[1] / name) for name in ("dppca_core", "pages"))
HIT = "window.__hit=1"
MARKUP = (
    f"<script>{HIT}</script>",
    f'"><img src=x onerror="{HIT}">',
    f"<svg/onload={HIT}>",
    f"</script><script>{HIT}</script>",
    f"<a href='javascript:{HIT}'>age</a>",
    "<a href='http://198.51.100.7/'>age</a>",
    "<iframe src=file:///etc/passwd>",
    f"[age](javascript:{HIT})",
    "![age](http://198.51.100.7/a.png)",
    "http://198.51.100.7/a",
    "www.198-51-100-7.example",
    "<b>age</b>",
    "**age** `age` # age | age | ~age~",
    r"$\frac{1}{0}$ $$\href{javascript:alert(1)}{x}$$",
    ":red[age] :material/home: :red-badge[age]",
    "{{7*7}} ${7*7} <%= 7*7 %> {0.__class__} %s %(x)s %n",
)
PATHS = (
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "/proc/self/environ",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,<script>1</script>",
    "%2e%2e%2fetc%2fpasswd",
    "digits/../../pyproject.toml",
    "~/.ssh/id_rsa",
    "NUL",
)
LETTERS = (
    "\x00",
    "age\x00.csv",
    "\ud800",
    "x\udfff",
    "\u202eega\u202c",
    "\u200b\u200d\ufeff",
    "e\u0301" * 50,
    "\U0001f9ec",
    "\r\nSet-Cookie: a=b",
    "\u2028",
    "\x1b[31m",
    "İıſK",
    " ",
    "",
)
CODE = (
    "' OR 1=1; DROP TABLE patients; --",
    "__import__('os').system('id')",
    "!!python/object/apply:os.system [id]",
    '=HYPERLINK("http://198.51.100.7")',
    "=cmd|'/c calc'!A1",
    "+1+1",
    "@SUM(1)",
    "\t=1+1",
    "\uff1d1+1",
    "null",
    "None",
    "[]",
    "{}",
    '{"__proto__": 1}',
    "true",
)
NUMBERS = (
    *("1e308", "-1e308", "1e309", "1e-320", "-1e-320", "5e-324", "nan", "-nan", "inf", "-inf", "Infinity"),
    *(
        "-0",
        "0",
        "-1",
        "0x10",
        "0b1",
        "1_000",
        "1e",
        "1.5.2",
        "1,000,000",
        "1.000,5",
        "9" * 400,
        "0." + "0" * 400,
    ),
    *(
        "٣",
        "１２",
        "Ⅷ",
        "²",
        "1e٣",
        "½",
        "−5",
        "1e5j",
        "1-2-3",
        "0-0",
        "999999999999-1",
        "4;4;4",
        "1\u00a0000",
        " " * 40 + "7",
    ),
)
LONG = ("9" * 1_000_000, "<b>" * 300_000, "1-" * 500_000, "é" * 500_000, "1," * 500_000)
WORDS = (*MARKUP, *PATHS, *LETTERS, *CODE, *NUMBERS)


def cases(few: int, share: float) -> range:
    """Return the numbers of the cases to draw: `few`, or this share of FUZZ_CASES."""
    return range(max(few, round(share * int(os.environ.get("FUZZ_CASES", "0")))))


def each(numbers: range, run: Callable[[int], object]) -> None:
    """Run all cases, whatever becomes of one; raise AssertionError that lists those that failed."""
    failed = {}
    for case in numbers:
        try:
            run(case)
        except Exception as reason:
            where = traceback.extract_tb(reason.__traceback__)[-1]
            failed[case] = f"{type(reason).__name__}: {str(reason)[:400]} ({where.filename}:{where.lineno})"
    listed = "\n".join(f"case {case}: {message}" for case, message in failed.items())
    assert not failed, f"{len(failed)} of {len(numbers)} cases failed\n{listed}"


def is_a_sentence(reason: BaseException) -> bool:
    """Return whether a refusal is ours: raised by our line, short, on one line, without Python's names."""
    message = str(reason)
    theirs = ("Traceback", "codec", "object at 0x", "<class", "Errno", "ufunc", "argument")
    raised = traceback.extract_tb(reason.__traceback__)[-1]
    ours = raised.filename.startswith(OURS) and (raised.line or "").startswith("raise ")
    return (
        ours
        and 0 < len(message) < 1000
        and "\n" not in message
        and not any(word in message for word in theirs)
    )


def answered(call: Callable[..., Any], *given: object, **named: object) -> Any:
    """Return what it returns; None where it is refused in one sentence."""
    try:
        return call(*given, **named)
    except ValueError as reason:
        if not is_a_sentence(reason):
            raise AssertionError(f"refused in other words than ours: {reason!r}") from reason
        return None


def word(rng: np.random.Generator) -> str:
    """Return one of the list, now and then two of them in one, cut somewhere, or some letters at random."""
    kind = rng.random()
    chosen = WORDS[int(rng.integers(len(WORDS)))]
    if kind < 0.7:
        return chosen
    if kind < 0.8:
        return chosen + WORDS[int(rng.integers(len(WORDS)))]
    if kind < 0.9:
        return chosen[: int(rng.integers(len(chosen) + 1))]
    return "".join(chr(int(c)) for c in rng.integers(1, 0x2FFF, int(rng.integers(1, 30))))


def utf8(words: str) -> str:
    """Return words as a file or a browser can hold them: half a character becomes a question mark."""
    return words.encode("utf-8", "replace").decode()


def link(rng: np.random.Generator, keys: Sequence[str], words: Callable[[str], str]) -> dict[str, str]:
    """Return up to a dozen parameters: of any page, unknown, misspelt; some with a proper value (`words`)."""
    parameters = {}
    for _ in range(int(rng.integers(1, 13))):
        key = keys[int(rng.integers(len(keys)))]
        if rng.random() < 0.1:
            key = (key.upper(), key + "[]", word(rng)[:40] or "x", "story.step ")[int(rng.integers(4))]
        known = key in keys and rng.random() < 0.4
        parameters[key] = words(key) if known else word(rng)
    return parameters


_GOOD = Schema(
    (
        Column("age", "number", 0, 120, fill=60.0),
        Column("weight", "number", 30, 200),
        Column("sex", "category", categories=("f", "m"), fill=""),
    )
)


def frame(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Return a table that fits `dictionary`."""
    return pd.DataFrame(
        {
            "age": rng.uniform(20, 90, rows).round(1),
            "weight": rng.uniform(45, 120, rows).round(1),
            "sex": rng.choice(["f", "m"], rows),
            "clinic": rng.choice(["north", "south"], rows),
        }
    )


def dictionary() -> Schema:
    return _GOOD


def parquet(table: pa.Table, **options: object) -> bytes:
    """Return a table as a Parquet file."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def bomb(letters: int, rows: int) -> bytes:
    """Return a small Parquet file of two columns whose cells all are the same text of `letters`."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["x" * letters]))
    return parquet(pa.table({"age": np.zeros(rows), "note": text}), compression="zstd")


def table_file(rng: np.random.Generator) -> tuple[str, bytes]:
    """Return a name and the bytes of a table: good, odd, broken, or none at all."""
    made = _SHAPES[int(rng.integers(len(_SHAPES)))](rng)
    data = made if isinstance(made, bytes) else _written(rng, made)
    return word(rng)[:60] + (".csv" if rng.random() < 0.7 else ".parquet"), spoilt(rng, data)


def _written(rng: np.random.Generator, table: pd.DataFrame) -> bytes:
    if rng.random() < 0.3:
        try:
            return parquet(pa.Table.from_pandas(table, preserve_index=False))
        except (pa.ArrowException, ValueError, TypeError):  # columns of one name, mixed cells, surrogates
            pass
    text = table.to_csv(index=False, sep=",;\t|"[int(rng.integers(4))])
    encoding = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "utf-32")[int(rng.integers(6))]
    return text.encode(encoding if rng.random() < 0.4 else "utf-8", errors="replace")


def spoilt(rng: np.random.Generator, data: bytes) -> bytes:
    """Return the bytes as they are, cut, or with others among them."""
    kind = rng.random()
    if kind < 0.6 or not data:
        return data
    place = int(rng.integers(len(data)))
    if kind < 0.75:
        return data[:place]
    junk = rng.integers(0, 256, int(rng.integers(1, 20)), dtype=np.uint8).tobytes()
    return data[:place] + junk + data[place + (len(junk) if kind < 0.9 else 0) :]


def _named(rng: np.random.Generator) -> pd.DataFrame:
    table = frame(rng, 30)
    return table.set_axis([utf8(word(rng)[:110]) for _ in table.columns], axis=1)


def _celled(rng: np.random.Generator) -> pd.DataFrame:
    table = frame(rng, 30).astype(object)
    for _ in range(int(rng.integers(1, 40))):
        table.iloc[int(rng.integers(30)), int(rng.integers(4))] = utf8(word(rng))
    return table


def _numbered(rng: np.random.Generator) -> pd.DataFrame:
    table = frame(rng, 30)
    table["age"] = rng.choice([1e308, -1e308, 5e-324, 0.0, -0.0, np.inf, np.nan, 1e-320], 30)
    table["weight"] = rng.choice([70.0, 70.0, 1e300, np.nan], 30)
    return table


def _wide(rng: np.random.Generator) -> pd.DataFrame:
    columns = int(rng.choice([1, 2, 500, 4_999, 10_000]))
    return pd.DataFrame(rng.integers(0, 9, (int(rng.integers(0, 4)), columns))).add_prefix("c")


def _doubled(rng: np.random.Generator) -> pd.DataFrame:
    table = frame(rng, 10)
    return pd.concat([table, table], axis=1)


def _short(rng: np.random.Generator) -> pd.DataFrame:
    return frame(rng, int(rng.integers(0, 3)))


def _constant(rng: np.random.Generator) -> pd.DataFrame:
    return frame(rng, 1).loc[[0] * 20].reset_index(drop=True)


def _typed(rng: np.random.Generator) -> bytes:
    n = 12
    columns = {
        "age": pa.array(rng.integers(0, 90, n), pa.int64()),
        "when": pa.array([None] * n, pa.timestamp("ns")),
        "list": pa.array([[1, 2]] * n),
        "bytes": pa.array([b"\xff\x00"] * n),
        "flag": pa.array([True, None] * (n // 2)),
        "big": pa.array(["9" * 38] * n).cast(pa.decimal128(38, 0)),
        "record": pa.array([{"a": 1}] * n),
        "coded": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        "nothing": pa.nulls(n),
    }
    chosen = rng.choice(list(columns), int(rng.integers(2, 5)), replace=False)
    return parquet(pa.table({str(name): columns[str(name)] for name in chosen}))


def _bomb(rng: np.random.Generator) -> bytes:
    return bomb(10 ** int(rng.integers(4, 7)), 10 ** int(rng.integers(3, 7)))


def _no_table(rng: np.random.Generator) -> bytes:
    given = (
        *(b"", b"\n\n\n", b"\xef\xbb\xbf\n \n", b"\xff\xfe\n\x00", b"PAR1", b"PAR1" * 100, b"PK\x03\x04"),
        *(b"\x1f\x8b\x08", b"%PDF-1.7", b"age,weight", b'"' * 1000, b"," * 20_000, b"a,b\n" + b"1,2," * 500),
        *(b"\0" * 100, b'a,b\n"1,2\n3,4\n', b"a,b\n1,2\n" * 3 + b'"', bytes(range(256)) * 10),
        rng.integers(0, 256, 500, dtype=np.uint8).tobytes(),
    )
    return given[int(rng.integers(len(given)))]


def _sound(rng: np.random.Generator) -> pd.DataFrame:
    return frame(rng, 40)


_SHAPES: tuple[Callable[[np.random.Generator], pd.DataFrame | bytes], ...] = (
    *(_sound, _sound, _named, _named, _celled, _celled, _numbered, _wide, _doubled, _short, _constant),
    *(_typed, _bomb, _no_table, _no_table),
)


def json_file(rng: np.random.Generator, good: object) -> bytes:
    """Return a JSON value like `good` in which some parts are others, cut or not JSON at all."""
    if rng.random() < 0.1:
        return (b"[" * 100_000, b"{", b"\xff\xfe", b"1e999", b"NaN", b"9" * 5000, b"")[int(rng.integers(7))]
    text = json.dumps(_changed(rng, good))
    return spoilt(rng, text.encode()) if rng.random() < 0.3 else text.encode()


ODD = (
    *(None, True, 0, -1, 10**400, 1e308, 1e-320, float("inf"), float("nan"), [], {}, "", "\ud800", "\x00"),
    *([[[]]], {"a": {"b": []}}, 2**63, -(2**63), 0.1, "1e999", "3"),
)


def _changed(rng: np.random.Generator, good: object) -> object:
    if rng.random() < 0.08:
        return ODD[int(rng.integers(len(ODD)))] if rng.random() < 0.6 else word(rng)
    if isinstance(good, dict):
        changed = {name: _changed(rng, value) for name, value in good.items() if rng.random() > 0.03}
        return changed | ({word(rng): 1} if rng.random() < 0.05 else {})
    if isinstance(good, list):
        kept = [_changed(rng, value) for value in good]
        return kept * int(rng.integers(0, 4)) if rng.random() < 0.05 else kept
    return good
