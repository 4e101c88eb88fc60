"""The registry of bounds: every module of this folder that holds BOUNDS, a tuple of `BoundRule`.

`BOUNDS[name](setting)` evaluates one, with its free constants by keyword, and returns a `Bound`. An unknown
name raises a KeyError that names the nearest.
"""

from importlib import import_module
from pkgutil import iter_modules

from dppca_core.bounds.rule import BoundRule
from dppca_core.records import Registry

BOUNDS: Registry[BoundRule] = Registry(
    "bound",
    {
        rule.name: rule
        for info in iter_modules(__path__)
        for rule in import_module(f"{__name__}.{info.name}").__dict__.get("BOUNDS", ())
    },
)
