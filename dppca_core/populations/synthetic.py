"""Name what a population of simulated patients with a public covariance may be."""

from collections.abc import Mapping
from typing import Any

from dppca_core.populations.spiked import SpikedModel
from dppca_core.populations.stated import StatedCorrelations, StatedEigenvalues

# One kind after another, as recipes name them; each is an `EllipticalModel`.
Synthetic = SpikedModel | StatedEigenvalues | StatedCorrelations
# Fields that came later than others. Where they have these defaults recipes are written without them, so that
# recipes and fingerprints of stored results stay as they are.
LATER: Mapping[str, object] = {"fall": 1.0, "correlation": 0.0, "tails": None}


def without_later_defaults(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a population's fields by name, without those of LATER that have their defaults."""
    return {name: value for name, value in fields.items() if LATER.get(name, ...) != value}
