"""Every kind of argument check refuses by name and value; NaN always fails."""

import math

import numpy as np
import pytest

from dppca_core import checks

MANY = [f"word {i}" for i in (*range(13), 17)]
BASIS = np.eye(8)[:, :2]


@pytest.mark.parametrize(
    ("check", "bad", "message"),
    [
        *(
            (checks.positive, value, f"x must be positive and finite, got {value}")
            for value in (0.0, -1, math.inf)
        ),
        (checks.positive, math.nan, "x must be positive and finite, got nan"),
        (checks.positive, 10**400, "x must be positive and finite, got 1000"),
        (checks.positive, "1", "x must be a number, got '1'"),
        (checks.positive, True, "x must be a number, got True"),
        *(
            (checks.not_negative, value, f"x must be at least 0 and finite, got {value}")
            for value in (-1.0, math.inf)
        ),
        (checks.not_negative, math.nan, "x must be at least 0 and finite, got nan"),
        *(
            (checks.inside_unit_interval, value, "x must lie strictly between 0 and 1")
            for value in (0.0, 1, math.nan)
        ),
        (lambda x: checks.within(1.0, 2.0, x=x), math.nan, "x must lie between 1 and 2, got nan"),
        (lambda x: checks.within(1.0, 2.0, x=x), 2.1, r"x must lie between 1 and 2, got 2\.1"),
        *(
            (lambda x: checks.whole(2, 8, x=x), value, f"x must be .*got {value}")
            for value in (0, 1, 9, 4.0, True, math.nan)
        ),
        (lambda x: checks.whole(1, x=x), 0, "x must be at least 1, got 0"),
        (lambda x: checks.instance(dict, x=x), 1, "x must be a dict, got 1"),
        (lambda x: checks.one_of(("b", "a"), x=x), "c", "x must be one of a, b, got 'c'"),
        (lambda x: checks.one_of(("b", "a"), x=x), 0, "x must be one of a, b, got 0"),
        (lambda x: checks.one_of(MANY, x=x), "word 77", "x must be one of word 7 or .*, or others, got"),
        (
            lambda x: checks.one_of(MANY, x=x),
            "typo",
            "x must be one of word 0, word 1, word 10, .*, got 'typo'",
        ),
        (lambda x: checks.orthonormal(8, 2, x=x), np.full((8, 2), np.nan), "x must have orthonormal columns"),
        (lambda x: checks.orthonormal(8, 2, x=x), 2 * BASIS, "x must have orthonormal columns"),
        (lambda x: checks.orthonormal(8, 2, x=x), BASIS[:, :1], r"x must have shape \(8, 2\), got \(8, 1\)"),
        (lambda x: checks.orthonormal(8, 2, x=x), "basis", "x must be an array of real numbers, got 'basis'"),
        (lambda x: checks.orthonormal(8, 2, x=x), BASIS * 1j, "x must be an array of real numbers"),
    ],
)
def test_a_bad_value_is_refused_by_name_and_value(check, bad, message):
    with pytest.raises(ValueError, match=message):
        check(x=bad)


def test_good_values_pass():
    checks.positive(x=1e-300, y=np.float32(2))
    checks.not_negative(x=0)
    checks.inside_unit_interval(x=0.5)
    checks.within(1.0, 2.0, x=1, y=2.0)
    checks.whole(2, 8, x=2, y=np.int64(8))
    checks.orthonormal(8, 2, x=BASIS)
