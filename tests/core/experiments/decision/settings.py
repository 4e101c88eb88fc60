"""Settings that tests of decisions share."""

from typing import Any

from dppca_core import SpikedModel
from dppca_core.experiments.decision.hospitals import JoiningHospital, JoiningSetting

MODEL = SpikedModel(d=30, k=2, s=6, spike=30.0, bulk=(0.0, 10.0))


def members(*sizes: int, epsilon: float = 1.0) -> tuple[JoiningHospital, ...]:
    """Return hospitals of these sizes, with one ε."""
    return tuple(JoiningHospital(f"Hospital {i}", size, epsilon) for i, size in enumerate(sizes, start=1))


def joining(*sizes: int, epsilon: float = 1.0, **fields: Any) -> JoiningSetting:
    """Return a setting of hospitals of these sizes, the first of which is ours."""
    given = {"population": MODEL, "k": 2, "ours": 0} | fields
    return JoiningSetting(members(*sizes, epsilon=epsilon), **given)
