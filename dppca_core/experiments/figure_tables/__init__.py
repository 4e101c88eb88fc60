"""The table behind every figure on screen, as a function of settings, from which pages write its code."""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isfunction
from pkgutil import iter_modules

import pandas as pd

_MODULES = [
    import_module(f"{__name__}.{info.name}")
    for info in iter_modules(__path__)
    if info.name != "figure_recipe"  # it reads this registry
]
FIGURE_TABLES: Mapping[str, Callable[..., pd.DataFrame | pd.Series]] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in _MODULES
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
