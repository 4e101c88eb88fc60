"""Write docs/bounds.md: every bound of the registry, from its rule and its docstrings."""

import sys
from pathlib import Path

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.rule import BoundRule
from dppca_core.methods import METHODS
from scripts.docstrings import cell, described, link, markdown
from scripts.method_pages import HEAD, page_of, source
from scripts.started import ROOT

PAGE = ROOT / "docs" / "bounds.md"
MOST_NAMED = 4
KINDS = {
    "upper": "The error is at most this, with the probability and under the assumptions stated.",
    "lower": "No method of the class errs less than this on its worst case.",
    "prediction": "A closed form for the error, to first order: neither above nor below, but near.",
}


def _row(rule: BoundRule) -> str:
    methods = ", ".join(link(f"`{name}`", page_of(name), PAGE) for name in rule.methods)
    if not rule.methods:
        methods = "every method"
    elif len(rule.methods) > MOST_NAMED:
        private = {name for name, method in METHODS.items() if method.private}
        methods = f"every {'private method' if set(rule.methods) >= private else 'one with Gaussian noise'}"
    constants = ", ".join(f"{rule.symbols[name]} (`{name}`)" for name in rule.constants) or "none"
    return f"| `{rule.name}` | {cell(rule.title)} | {rule.kind} | {methods} | {constants} |"


def document() -> str:
    """Return docs/bounds.md: one table, then each module's docstring with the formulas of its bounds."""
    rows = [_row(rule) for rule in BOUNDS.values()]
    parts = [
        "# Bounds",
        HEAD,
        "The registry `dppca_core.bounds.BOUNDS` holds every rule. `BOUNDS[name](setting)` is a `Bound` with "
        "its terms and its total. For each assumption a line says whether it holds, and why. Constants that "
        "a paper leaves unspecified are free. All rules bound ‖sin Θ‖_F, except those of the covariance. "
        f"{link('Symbols', ROOT / 'docs' / 'symbols.md', PAGE)} explains the letters.",
        "\n".join(("| name | bound | kind | methods | free constants |", "|---|---|---|---|---|", *rows)),
        "\n".join(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items()),
    ]
    modules = dict.fromkeys(rule.compute.__module__ for rule in BOUNDS.values())
    for name in modules:
        parts += [
            f"## {link(f'`{name}`', source(name), PAGE)}",
            markdown(sys.modules[name].__doc__ or "", PAGE),
        ]
        for rule in (rule for rule in BOUNDS.values() if rule.compute.__module__ == name):
            text = described(rule.compute.__doc__ or "", PAGE, subject="")
            parts += [
                f"### {rule.title}",
                f"`{rule.name}` {text}\n- **References**: {rule.source}.",
                f"```math\n{rule.formula}\n```",
            ]
    return "\n\n".join(parts) + "\n"


def documents() -> dict[Path, str]:
    return {PAGE: document()}
