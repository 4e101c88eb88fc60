"""The table behind every figure on screen, as a function of settings, from which pages write its code."""

from collections.abc import Callable, Mapping
from inspect import isfunction

import pandas as pd

from dppca_core.experiments.figure_tables import (
    bounds,
    collaboration,
    explorer,
    own_table,
    papers,
    planning,
    privacy,
    story,
    sweeps,
)

FIGURE_TABLES: Mapping[str, Callable[..., pd.DataFrame | pd.Series]] = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in (explorer, sweeps, bounds, collaboration, privacy, planning, story, own_table, papers)
    for name, function in vars(module).items()
    if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}
