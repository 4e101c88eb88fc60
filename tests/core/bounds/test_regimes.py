"""Test the four regions of the map over patients and epsilon, and what drawing it computes."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from dppca_core import Budget, SpikedModel
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.regimes import COSTS, FREE, HOPELESS, REGIONS, SILENT, regime, regions
from dppca_core.numerics.subspace_metrics import random_guess
from tests.core.problems import ROOMY

CLOSED, THEOREM = BOUNDS["dps_prediction"], BOUNDS["ge2018"]
# What B.4 and B.6 ask: few rows needed by the choice of their constant, and a start near the truth.
MET = {"c1_rows": 0.05}
NEAR = replace(ROOMY, start_error=0.1)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, FREE),
        ({"n": 10**6, "budget": Budget(0.05, 1e-5)}, COSTS),
        ({"n": 1000}, HOPELESS),
        ({"burn_in": 0}, SILENT),
        ({"burn_in": 0, "n": 1000}, SILENT),
        ({"eigenvalues": np.full(100, 0.1)}, SILENT),
    ],
    ids=str,
)
def test_the_closed_form(changed, expected):
    setting = replace(ROOMY, **changed)
    bound = CLOSED(setting)
    assert regime(CLOSED, setting) == expected
    if expected in (FREE, COSTS):
        assert (bound.terms["privacy"] <= bound.terms["sampling"]) == (expected == FREE)
    if expected == HOPELESS:
        assert bound.total > random_guess(100, 2) / 3


@pytest.mark.parametrize(
    ("changed", "constants", "expected"),
    [
        ({}, {"c1_rows": 0.05}, FREE),
        ({}, {"c1_rows": 0.05, "c1": 1e-3}, COSTS),
        ({}, {"c1_rows": 0.05, "c1": 1e4}, HOPELESS),
        ({}, {}, SILENT),
        ({"start_error": None}, {"c1_rows": 0.05}, SILENT),
        ({"n": 1000}, {"c1_rows": 0.05}, SILENT),
    ],
    ids=str,
)
def test_the_theorem(changed, constants, expected):
    setting = replace(NEAR, **changed)
    bound = THEOREM(setting, **constants)
    assert regime(THEOREM, setting, **constants) == expected
    assert bound.applies == (expected != SILENT)
    if expected == HOPELESS:
        assert bound.final >= random_guess(100, 2)


def test_only_rules_that_tell_privacy_from_sampling():
    with pytest.raises(ValueError, match="got sparse_minimax, a lower bound"):
        regime(BOUNDS["sparse_minimax"], ROOMY)
    tall = replace(ROOMY, n=10**15, budget=Budget(0.5, 1e-5))
    with pytest.raises(ValueError, match=r"one of the terms sampling, stat, got wang_xu_low"):
        regime(BOUNDS["wang_xu_low"], tall, c=1e6)


def test_a_map_asks_for_each_row_bound_once_and_solves_no_eigenproblem(monkeypatch):
    """The map is 40 x 40 at d = 1000, dense and sparse, closed form and theorem."""
    model = SpikedModel(d=1000, k=5, s=10, seed=10)
    patients, epsilons = np.geomspace(1e3, 1e9, 40).astype(int).tolist(), np.geomspace(0.05, 10, 40).tolist()
    start = replace(NEAR, d=1000, k=5, s=10, eigenvalues=model.eigenvalues)
    for solver in (scipy.linalg, np.linalg):
        for name in ("eigh", "eigvalsh", "svd", "qr"):
            monkeypatch.setattr(solver, name, None, raising=False)
    for s_hat in (50, 1000):
        bounds: list[int] = []
        maps = [
            regions(
                rule,
                replace(start, s_hat=s_hat),
                patients,
                epsilons,
                lambda n, asked=bounds: (asked.append(n), model.eigenvalues / model.norm_bound(n) ** 2)[1],
            )
            for rule in (CLOSED, THEOREM)
        ]
        assert max(map(bounds.count, bounds)) <= len(maps)  # once for each map
        assert len(maps[0]) == len(maps[0][0]) == 40
        assert set(maps[0][0] + maps[0][-1]) <= set(REGIONS)
        assert maps[0][0][0] == HOPELESS
        assert maps[0][-1][-1] == FREE
        at = replace(start, s_hat=s_hat, n=patients[3], budget=Budget(epsilons[7], start.budget.delta))
        at = replace(at, eigenvalues=model.eigenvalues / model.norm_bound(at.n) ** 2)
        assert maps[0][3][7] == regime(CLOSED, at)


@pytest.mark.parametrize("s_hat", [20, 100])
@pytest.mark.parametrize(
    ("rule", "constants"),
    [(CLOSED, {}), (THEOREM, MET), (THEOREM, MET | {"c1": 30.0})],
    ids=["closed form", "theorem", "looser theorem"],
)
def test_a_map_has_the_region_of_every_point(rule, constants, s_hat):
    """A rectangle is not halved where its corners agree: no point inside may be of another region."""
    start, model = replace(NEAR, s_hat=s_hat), SpikedModel(d=100, k=2, s=10, seed=1)
    patients, epsilons = [*map(int, np.geomspace(100, 1e9, 23))], [*map(float, np.geomspace(0.01, 10, 17))]

    def scaled(n):
        return model.eigenvalues / model.norm_bound(n) ** 2

    def expected(n, epsilon):
        budget = Budget(epsilon, start.budget.delta)
        return regime(rule, replace(start, n=n, budget=budget, eigenvalues=scaled(n)), **constants)

    every = [[expected(n, epsilon) for epsilon in epsilons] for n in patients]
    assert regions(rule, start, patients, epsilons, scaled, **constants) == every


def test_a_table_keeps_its_eigenvalues():
    cells = regions(CLOSED, ROOMY, [10, 20], [1.0, 2.0], lambda _: ROOMY.eigenvalues)
    assert cells[0][0] == HOPELESS
