"""A rehearsed release with a fitted bound: as real ones of the same invented rows, and a bug is noticed."""

import numpy as np
import pytest

from dppca_core import Budget, sin_theta
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.fitted_release import FittedTwin
from dppca_core.mechanisms.paid_lengths import FittedBound
from dppca_core.populations.dictionary_twin import FITTED, dictionary_cells, spiked_twin
from dppca_core.populations.spiked import SpikedModel
from dppca_core.release import fitted_bound, private_release
from dppca_core.release.request import Request
from dppca_core.tables import Column, Schema
from dppca_core.tables.layout import layout_of
from tests.core.accounts.paying import TABLE

N, K, RUNS, EPSILON, DELTA = 1500, 2, 40, 1.0, 1e-6
SCHEMA = Schema(
    (
        *(Column(f"c{i}", "number", 0.0, 1.0, usual=0.2 if i == 2 else None) for i in range(6)),
        *(Column(f"k{i}", "category", categories=("a", "b", "c")) for i in range(2)),
        Column("some", "category", categories=("yes", "no"), fill=""),
    )
)


def experiment(standardised, n=N, counted=N):
    spiked = SpikedModel(d=SCHEMA.d, k=K, s=8, spike=(60.0, 60.0), bulk=(0.0, 10.0), seed=0)
    twin = spiked_twin(
        dictionary_cells(SCHEMA), SCHEMA.bound, spiked, centred=True, fitted=FITTED[standardised]
    )
    return ExplorerExperiment(
        twin,
        n,
        K,
        SCHEMA.d,
        DELTA,
        providers=1,
        repeats=RUNS,
        method="analyze_gauss",
        fitted=FittedTwin(counted, standardised, complete=not SCHEMA.leaves_rows_out),
    )


def rehearsed(asked):
    results = Results(asked)
    return np.array([results.cell("analyze_gauss", EPSILON, run).sin[-1] for run in range(RUNS)])


def differ(first, second):
    """Return whether two medians of runs are further apart than 4.9 of their standard errors.

    It is once in a million pairs of the same law; noise of releases comes from the operating system.
    """
    errors = [1.2533 * np.std(each) / np.sqrt(len(each)) for each in (first, second)]
    return abs(np.median(first) - np.median(second)) > 4.9 * np.hypot(*errors)


def test_a_twin_knows_the_layout_of_its_dictionary():
    layout, twin = layout_of(SCHEMA), experiment(False).population.layout
    assert (twin.blocks, twin.answered, twin.rank) == (layout.blocks, layout.answered, layout.rank)
    np.testing.assert_allclose(twin.middle, layout.middle)
    np.testing.assert_array_equal(twin.numbers, layout.numbers)


@pytest.mark.parametrize("standardised", [False, True])
def test_a_rehearsed_release_errs_as_real_releases_of_the_same_rows(monkeypatch, standardised):
    """With exact noise; one with the noise of a bound far beyond the longest row is told from it."""
    asked, layout = experiment(standardised), layout_of(SCHEMA)
    request = Request("analyze_gauss", SCHEMA.d, K, Budget(EPSILON, DELTA))
    request = fitted_bound.requested(request, layout, N, 1, standardised)
    truth, errors = Results(asked).truth.basis, []
    for run in range(RUNS):
        payer = Book().payer(TABLE)
        payer.set_limit(Limit(2.0, DELTA))
        released = private_release.make(
            request, [asked.encoded(run)], payer, features=SCHEMA.features, public={}, layout=layout
        )
        errors.append(sin_theta(released.basis, truth))
    assert not differ(rehearsed(asked), errors)
    far = 4 * asked.population.layout.longest
    monkeypatch.setattr(FittedBound, "bound", lambda rule, tails, frame: far)
    assert differ(rehearsed(asked), errors)


def test_patients_without_a_usable_row_add_noise_and_no_rows():
    """Of 3,000 patients half are usable: a release errs about as one of 1,500, and not as one of 3,000."""
    half, usable, everybody = (
        np.median(rehearsed(experiment(False, n, counted)))
        for n, counted in ((N, 2 * N), (N, N), (2 * N, 2 * N))
    )
    assert half == pytest.approx(usable, rel=0.2) and half > 1.3 * everybody
    assert experiment(False, counted=2 * N).encoded(0).shape == (N, SCHEMA.d)
