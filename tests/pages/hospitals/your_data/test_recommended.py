"""Test that *Your data* and `PrivatePCA` mean one method by "recommended"."""

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.sklearn import PrivatePCA
from pages.hospitals.your_data import release_panel

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
