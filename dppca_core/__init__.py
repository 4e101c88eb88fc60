"""The public interface of the numerical core: arrays and budgets, no screen.

Start with the README's eight lines; the methods' mathematics stands in `dppca_core.methods`.
"""

from dppca_core.accounting.trade_off import TradeOff
from dppca_core.arrays import Provider
from dppca_core.cohort import Cohort
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import sin_theta
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget, Guarantee, Release
from dppca_core.records import Bound, Estimate, Method, Setting

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
    "TradeOff",
    "sin_theta",
]


def __dir__() -> list[str]:
    return __all__
