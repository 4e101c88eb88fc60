"""Write the Python that makes a figure's numbers: the function of its table, with the current settings."""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Collection
from dataclasses import MISSING, fields, is_dataclass
from itertools import groupby
from typing import Any

import numpy as np

from dppca_core.experiments import Variant
from dppca_core.experiments.figure_tables import FIGURE_TABLES
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe

_WIDTH = 90  # letters of a line
_REPEATS = 4  # a tuple with more values than this times its runs of equal ones is written as (value,) * count


def of_table(recipe: FigureRecipe) -> str:
    """Return a script that prints a figure's table: imports, the arguments, and its function's body."""
    function = FIGURE_TABLES[recipe.figure]
    source = inspect.getsource(function)
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    body = textwrap.dedent("\n".join(source.splitlines()[tree.body[1].lineno - 1 :]))  # no docstring
    steps, _, table = f"\n{body}".rpartition("\nreturn ")  # what comes before the last line, and its value
    assert table, f"{recipe.figure} must end by returning its table"
    steps = steps[1:] + ("" if table == "table" else f"\ntable = {table}")
    records: dict[str, str] = {}  # from each class that the arguments need to its module
    arguments = [f"{name} = {constructor(value, records)}" for name, value in recipe.arguments.items()]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    imported = _imports(inspect.getsource(sys.modules[function.__module__]), used)
    imported |= {(module, name) for name, module in records.items()}
    packages = sorted(f"import {name}" for module, name in imported if not module)
    others = [  # one line for each module
        f"from {module} import {', '.join(sorted(name for at, name in imported if at == module))}"
        for module in sorted({module for module, _ in imported if module})
    ]
    imports = [*packages, *([""] if packages else []), *others]
    return "\n".join([*imports, "", *arguments, f"{steps}\nprint(table)\n"])


def _imports(source: str, used: Collection[str]) -> set[tuple[str, str]]:
    """Return (module, name) of each import of a source that is `used`; ("", name) for `import name`."""
    return {
        (str(node.module) if isinstance(node, ast.ImportFrom) else "", ast.unparse(alias))
        for node in ast.parse(source).body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if (alias.asname or alias.name) in used
    }


def constructor(value: Any, records: dict[str, str]) -> str:
    """Return the expression that makes a value; each record's class goes into `records` with its module."""
    if isinstance(value, Variant):
        records["variant"] = "dppca_core.experiments"
        named = [value.method, *([value.label] if value.label != value.method else [])]
        options = [f"{key}={constructor(each, records)}" for key, each in value.options]
        return f"variant({', '.join([*map(_quoted, named), *options])})"
    if is_dataclass(value) and not isinstance(value, type):
        name = type(value).__name__
        records[name] = _module(type(value))
        pairs = ((field, getattr(value, field.name)) for field in fields(value) if field.init)
        changed = [(field.name, each) for field, each in pairs if not _is_default(field, each)]
        arguments = [f"{field}={constructor(each, records)}" for field, each in changed]
        return f"{name}({_wrapped(arguments)})"
    if isinstance(value, list):
        return f"[{_wrapped([constructor(each, records) for each in value])}]"
    if isinstance(value, tuple):
        runs = [(each, len(list(same))) for each, same in groupby(value)]
        if len(value) > _REPEATS * len(runs):
            return " + ".join(f"({constructor(each, records)},) * {count}" for each, count in runs)
        inside = _wrapped([constructor(each, records) for each in value])
        # On lines of its own a single item has its comma already.
        return f"({inside},)" if len(value) == 1 and "\n" not in inside else f"({inside})"
    if isinstance(value, dict):
        items = [f"{_quoted(key)}: {constructor(each, records)}" for key, each in value.items()]
        return f"{{{_wrapped(items)}}}"
    if isinstance(value, str):
        return _quoted(value)
    return repr(value.item() if isinstance(value, np.generic) else value)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_default(field: Any, value: Any) -> bool:
    """Return whether a field has its default, of the same type: a recipe's 1 is not its 1.0."""
    return field.default is not MISSING and repr(field.default) == repr(value)


def _module(kind: type) -> str:
    """Return the shortest module that has the class: the public one, where there is one."""
    parts = kind.__module__.split(".")
    names = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next(name for name in names if getattr(sys.modules[name], kind.__name__, None) is kind)


def _wrapped(items: list[str]) -> str:
    if sum(map(len, items)) + 2 * len(items) < _WIDTH - 30:  # room for a name in front
        return ", ".join(items)
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > _WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return "\n    " + "\n    ".join(line.replace("\n", "\n    ") for line in lines if line) + "\n"
