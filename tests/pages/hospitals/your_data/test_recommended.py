"""Test that *Your data* and `PrivatePCA` recommend one method, which is judged as it is chosen."""

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.bounds import stated_spectra
from dppca_core.numerics.subspace_metrics import random_guess
from dppca_core.sklearn import PrivatePCA
from pages.hospitals.your_data import rehearsal, release_panel
from tests.pages.hospitals.your_data.table_page import prepared

CASES = [(569, 30, 2, 1.0), (2000, 200, 2, 0.3), (500, 60, 1, 0.3), (500, 400, 5, 4.0)]  # n, d, k, epsilon


@pytest.mark.filterwarnings("ignore:.* is predicted to err:UserWarning")
def test_one_method_is_recommended_for_the_same_numbers():
    """And it is not always the same one."""
    names = []
    for n, d, k, epsilon in CASES:
        rows = np.random.default_rng(0).normal(size=(n, d))
        pca = PrivatePCA(n_components=k, epsilon=epsilon, bound=d**0.5, center=0, random_state=0)
        names.append(pca.fit(rows).method_)
        assert names[-1] == release_panel._recommended(n, d, k, Budget(epsilon, 1e-6), 1)
    assert len(set(names)) > 1


@pytest.mark.parametrize("centre", ["rule", "public"])
def test_the_recommended_method_is_judged_by_the_errors_that_recommend_it(centre):
    page = prepared(**{"own.centre": centre, "own.k": "2"})
    table, settings = page.state.ready, dict(page.app.session_state["settings of the last run"])
    request = release_panel.requested(settings, table, None, 1)
    assert bool(request.mean_share) == (centre == "rule")
    prior = request.mean_share + request.scale_share
    ways = rehearsal._ways_out(table.n, table.d, request.k, request.budget, prior, 1)
    spectra = stated_spectra.patterns(table.d, request.k, centred=centre == "rule")
    size = {"n": table.n, "d": table.d, "k": request.k, "providers": 1}
    errors = stated_spectra.errors_on(spectra, "central", budget=request.remainder.budget, **size)
    worst = {name: max(each) for name, each in errors.items()}
    guess = random_guess(table.d, request.k)
    assert ways.error_share == pytest.approx(worst[request.method] / guess, rel=1e-9)
