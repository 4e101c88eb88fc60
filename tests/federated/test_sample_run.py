"""The stored run in data/runs is one of the demonstration, and what it shows follows from its messages."""

from pathlib import Path

import numpy as np

from dppca_core.federated import coordinator, protocol
from dppca_core.federated import record as records
from examples.flower import demo

STORED = Path(__file__).parents[2] / "data" / "runs" / "breast-cancer.jsonl"


def test_every_basis_follows_from_the_messages():
    record = records.read(STORED.read_text(encoding="utf-8"))
    assert record.plan == demo.plans(record.plan.budget.epsilon)[0]
    assert record.ended == "" and "Flower" in record.about["engine"]
    start = coordinator.public_start(record.plan, np.random.default_rng(demo.SEED))
    np.testing.assert_allclose(record.start, start, rtol=0, atol=1e-12)
    state = protocol.start(record.plan, start)
    for done in record.rounds:
        asked = protocol.question(record.plan, state).arrays
        np.testing.assert_allclose(done.question.arrays["block"], asked["block"], rtol=0, atol=1e-12)
        state = protocol.server_step(record.plan, state, {i: a.message for i, a in done.answers.items()})
        np.testing.assert_allclose(done.basis, state.iterates[-1], rtol=0, atol=1e-12)
