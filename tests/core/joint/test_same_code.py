"""What the dashboard simulates for hospitals that trust nobody is what mail puts together of the same draws.

Simulated methods of one message weigh hospitals by their patients, and mail by precision: with equal
hospitals and guarantees the weights are the same but for rounding, and so is the basis.
"""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Cohort, sin_theta
from dppca_core.federated.one_round import upper_triangle
from dppca_core.joint import combine
from dppca_core.joint.answer import JointAnswer
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import METHODS, dpdis_pca, federated_projector
from tests.core.joint import studies
from tests.core.joint.studies import SCHEMA, plan

D, K, N = SCHEMA.d, 2, 300
SEED, EXACT = 3, 1e-7  # truncated power that cuts nothing stops there


def cohort():
    rng = np.random.default_rng(0)
    scales = np.linspace(1.0, 0.3, D)
    return Cohort.from_rows([rng.standard_normal((N, D)) * scales for _ in studies.NAMES], 3.0)


def moments(method, agreed, budget, patients):
    """Return each hospital's message as its answer's arrays, of the draws that the method makes in `fit`."""
    rng = np.random.default_rng(SEED)
    if method == "own_noise_sparse":  # one draw has the law of the mean of all messages: each sends that mean
        released = symmetric_gaussian.release(patients.unit(), budget, rng, None, "untrusted server")
        return [{"moment": upper_triangle(released)}] * len(agreed.hospitals)
    if method == "dpdis_pca":
        sent = (dpdis_pca.message(each, budget, rng.spawn(1)[0], 2 * K, "eigh", None) for each in patients)
        return [{"directions": each} for each in sent]
    projectors = (federated_projector.message(each, K, budget, rng.spawn(1)[0]) for each in patients)
    return [
        {"projector": upper_triangle(x.matrix), "worth": np.array([x.std, x.spike, x.variance])}
        for x in projectors
    ]


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("own_noise_sparse", {}),
        ("own_noise_sparse", {"s_hat": 3}),
        ("dpdis_pca", {}),
        ("federated_projector", {}),
    ],
    ids=str,
)
def test_mail_and_the_simulation_of_nobody_give_one_basis(method, options):
    agreed, patients = plan("public", method=method, epsilon=8.0, **options), cohort()
    budget = agreed.budget(agreed.hospitals[0])
    simulated = METHODS[method].fit(patients, k=K, budget=budget, rng=np.random.default_rng(SEED), **options)
    arrays = moments(method, agreed, budget, patients)
    sent = [JointAnswer(h, N, each) for h, each in zip(agreed.hospitals, arrays, strict=True)]
    basis = combine.basis_of(agreed, sent)
    assert sin_theta(basis, simulated.basis) < EXACT
    np.testing.assert_array_equal(basis.any(axis=1), simulated.basis.any(axis=1))
    if method == "own_noise_sparse":
        return
    # The test can fail: without one hospital, or with weights of another guarantee, it is another basis.
    assert sin_theta(combine.basis_of(agreed, sent[1:]), simulated.basis) > 1e4 * EXACT
    if method == "dpdis_pca":
        loose = replace(agreed.hospitals[0], epsilon=800.0)
        other = replace(agreed, hospitals=(loose, *agreed.hospitals[1:]))
        assert sin_theta(combine.basis_of(other, [replace(sent[0], hospital=loose), *sent[1:]]), basis) > 1e-4
