"""The records check themselves: the message names the field and its value."""

from dataclasses import replace

import numpy as np
import pytest

import dppca_core
from dppca_core import METHODS, Budget, Cohort, Provider, Setting
from dppca_core.numerics.moments import DenseMoment
from dppca_core.records import Method

BUDGET = Budget(1.0, 1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "more", "message"),
    [
        (0.0, 0.1, {}, r"epsilon must be positive and finite, got 0\.0"),
        (1e300, 0.1, {}, r"epsilon must lie between 1e-12 and 1e\+12, got 1e\+300"),
        (1e-300, 0.1, {}, "epsilon must lie between 1e-12 and .*got 1e-300"),
        (1.0, 5e-324, {}, "delta must lie between 1e-300 and 1, got 5e-324"),
        (1.0, 0.0, {}, r"delta must lie strictly between 0 and 1, got 0\.0"),
        (1.0, 1, {}, "delta must lie strictly between 0 and 1, got 1"),
        (1.0, 0.1, {"neighbours": "swap"}, "neighbours must be one of add-remove, replace-one, got 'swap'"),
        (1.0, 0.1, {"accounting": "rdp"}, "accounting must be one of as-printed, exact, zcdp, got 'rdp'"),
    ],
)
def test_a_bad_budget(epsilon, delta, more, message):
    with pytest.raises(ValueError, match=message):
        Budget(epsilon, delta, **more)


def setting(**changed: object) -> Setting:
    base = {"d": 6, "n": 100, "k": 2, "s": 3, "s_hat": 4, "providers": 1, "iterations": 5}
    return Setting(**base | {"eigenvalues": np.arange(6.0)[::-1], "budget": BUDGET} | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"d": 1}, "d must be at least 2, got 1"),
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"n": 1e5}, r"n must be a whole number, got 100000\.0"),
        ({"k": 6}, "k must be between 1 and 5, got 6"),
        ({"s": 1}, "s must be between 2 and 6, got 1"),
        ({"s_hat": 7}, "s_hat must be between 2 and 6, got 7"),
        ({"providers": 0}, "providers must be at least 1, got 0"),
        ({"iterations": True}, "iterations must be a whole number, got True"),
        ({"tau": np.nan}, "tau must be positive and finite, got nan"),
        ({"eigenvalues": np.ones(5)}, r"eigenvalues must have shape \(6,\), got \(5,\)"),
    ],
    ids=str,
)
def test_a_bad_setting(changed, message):
    with pytest.raises(ValueError, match=message):
        setting(**changed)


PUBLIC = [getattr(dppca_core, name) for name in dppca_core.__all__ if name != "METHODS"]


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.__name__)
def test_every_public_name_is_documented(public):
    assert ("Attributes:\n" if isinstance(public, type) else "Args:\n") in public.__doc__


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_a_bad_number_of_patients(n):
    with pytest.raises(ValueError, match=f"n must be .*got {n}"):
        Provider(n, DenseMoment(np.eye(2)))


def test_a_bad_cohort():
    two, three = (DenseMoment(np.eye(d)) for d in (2, 3))
    with pytest.raises(ValueError, match="providers must hold at least one provider"):
        Cohort((), two)
    with pytest.raises(ValueError, match="providers must share the same features, got 3 beside 2"):
        Cohort((Provider(1, three),), two)
    with pytest.raises(ValueError, match="bound must be positive and finite, got -1"):
        Cohort((Provider(1, two),), two, bound=-1)


def test_a_cohort_behaves_as_a_tuple():
    providers = tuple(Provider(n, DenseMoment(np.eye(2))) for n in (3, 4))
    cohort = Cohort(providers, DenseMoment(np.eye(2)))
    assert tuple(cohort) == providers
    assert (len(cohort), cohort[1], cohort.n) == (2, providers[1], 7)


@pytest.mark.parametrize("field", ["trust", "guarantee"])
def test_a_method_knows_only_the_agreed_words(field):
    known = METHODS["pca"]
    record = {name: getattr(known, name) for name in Method.__dataclass_fields__}
    with pytest.raises(ValueError, match=f"{field} must be one of .*'perhaps'"):
        Method(**{**record, field: "perhaps"})


@pytest.mark.parametrize(
    ("name", "changed", "message"),
    [
        ("dps_pca", {"spends": None}, 'spends of DPS-PCA must be given, or its guarantee be "none"'),
        ("dps_pca", {"guarantee": "none"}, 'spends of DPS-PCA must be None, since its guarantee is "none"'),
    ],
)
def test_a_method_says_what_it_spends_where_it_promises(name, changed, message):
    with pytest.raises(ValueError, match=message):
        replace(METHODS[name], **changed)


def test_records_are_frozen():
    with pytest.raises(AttributeError):
        BUDGET.epsilon = 2.0
