"""The numerical core: arrays and budgets, no screen. Start with the README's eight lines."""

from dppca_core.methods import METHODS
from dppca_core.metrics import sin_theta
from dppca_core.spiked import SpikedModel
from dppca_core.types import (
    Bound,
    Budget,
    Cohort,
    Estimate,
    Guarantee,
    Method,
    Provider,
    Release,
    Setting,
)

__all__ = [
    "METHODS",
    "Bound",
    "Budget",
    "Cohort",
    "Estimate",
    "Guarantee",
    "Method",
    "Provider",
    "Release",
    "Setting",
    "SpikedModel",
    "sin_theta",
]
