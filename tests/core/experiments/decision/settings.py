"""Settings that tests of decisions share."""

from functools import cache
from typing import Any

from dppca_core import SpikedModel
from dppca_core.experiments.decision.hospitals import JoiningExperiment, JoiningHospital
from dppca_core.experiments.decision.outcomes import JoiningRuns
from dppca_core.populations.differing import DifferingHospitals

MODEL = SpikedModel(d=30, k=2, s=6, spike=30.0, bulk=(0.0, 10.0))


def members(*sizes: int, epsilon: float = 1.0) -> tuple[JoiningHospital, ...]:
    return tuple(JoiningHospital(f"Hospital {i}", size, epsilon) for i, size in enumerate(sizes, start=1))


def joining(*sizes: int, epsilon: float = 1.0, **fields: Any) -> JoiningExperiment:
    """Return a setting of hospitals of these sizes, the first of which is ours."""
    given = {"population": MODEL, "k": 2, "ours": 0} | fields
    return JoiningExperiment(members(*sizes, epsilon=epsilon), **given)


QUICK = {"population": SpikedModel(d=12, k=1, s=12, spike=30.0, bulk=(0.0, 10.0)), "k": 1}
# Its first runs show that ours has enough patients alone.
CLEAR = joining(5000, 200, 200, **QUICK)


@cache
def runs_of(setting: JoiningExperiment) -> JoiningRuns:
    """Return the runs of a setting, which all tests in a process share: they follow from the setting."""
    return JoiningRuns(setting)


def differing(
    population: DifferingHospitals, *sizes: int, epsilon: float = 1.0, **fields: Any
) -> JoiningExperiment:
    """Return a setting of hospitals that differ, the first of which is ours; by default of usual sizes."""
    each = sizes or population.sizes(1000)
    members = tuple(
        JoiningHospital(name, size, epsilon)
        for name, size in zip(population.names(len(each)), each, strict=True)
    )
    given = {"population": population, "k": population.k, "ours": 0, "repeats": 8} | fields
    return JoiningExperiment(members, **given)
