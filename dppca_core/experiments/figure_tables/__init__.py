"""The table behind every figure on screen, as a function of settings, from which pages write its code.

Each public function of a module here is one figure's table, with the key "module.function". A page that
offers a figure's Python code takes the body of that function, its comments too, with the arguments above and
the last line, which must be the only `return`, printed. So these bodies are written to be read by visitors.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import isfunction
from pkgutil import iter_modules

import pandas as pd

_MODULES = [
    import_module(f"{__name__}.{info.name}")
    for info in iter_modules(__path__)
    if info.name != "figure_recipe"  # it imports this registry, so cannot be imported here
]
FIGURE_TABLES: Mapping[str, Callable[..., pd.DataFrame | pd.Series]] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in _MODULES
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
