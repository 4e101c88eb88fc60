"""The registry of bounds: every module of this folder that holds BOUNDS, a dict of name to function.

Each function takes a `Setting` and its free constants by keyword, and returns a `Bound` on sin Theta.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from dppca_core.types import Bound

BOUNDS: dict[str, Callable[..., Bound]] = {
    name: function
    for info in iter_modules(__path__)
    for name, function in import_module(f"{__name__}.{info.name}").BOUNDS.items()
}
