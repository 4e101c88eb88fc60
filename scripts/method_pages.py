"""Write docs/methods: one page for each method of the registry, and their table, from the docstrings."""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from urllib.parse import urlencode

from dppca_core import methods
from dppca_core.experiments.draws import OPTIONS
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.records import Method
from pages.explore.methods.model.measure import needs
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, defaults, to_link
from scripts.docstrings import (
    arguments,
    cell,
    described,
    entries,
    link,
    markdown,
    named_modules,
    prose,
    sections,
    third_person,
)
from scripts.started import ROOT

FOLDER = ROOT / "docs" / "methods"
INDEX = FOLDER / "README.md"
GIVEN = ("k", "budget", "rng")  # what every method is given
TRUSTS = {
    "none": "Nothing is protected: for comparison only.",
    "central": "One trusted curator holds all second moments (or rows) and adds the noise.",
    "untrusted server": "Every hospital adds noise to what it sends; the server need not be trusted.",
    "secure aggregation": "Nobody sees a hospital's message alone: what is protected is their sum.",
    "local": "Every patient's record gets its noise before it leaves the patient; nobody is trusted.",
}
GUARANTEES = {
    "(ε, δ)": "Differential privacy whatever the data.",
    "ε": "Pure differential privacy whatever the data; δ is not used.",
    "on a good event": "(ε, δ) only where the data behave as the method's model assumes.",
    "approximate sampler": "ε for the exact law; the sampler only approaches it, without a proven distance.",
    "none": "No guarantee.",
}
# The settings on which a result can depend; `fit` takes those among OPTIONS.
USES = {"epsilon", "delta", "d", "n", "k", "s", "providers", "neighbours", "accounting", "batches", *OPTIONS}
SHORTEST_TEXT = 80  # characters of a module's docstring, below which it can have no mathematics
HEAD = "<!-- written by make docs from the docstrings: change those -->"


def module_of(method: Method) -> ModuleType:
    """Return the module of a method's name, which may have its `fit` from one that several share."""
    return sys.modules[f"{methods.__name__}.{method.name}"]


def lacking(method: Method, module: ModuleType) -> Iterator[str]:
    """Yield a sentence for each thing that the file of a method lacks: what to write there."""
    docstring, parameters = method.fit.__doc__ or "", inspect.signature(method.fit).parameters
    explained = entries(sections(docstring)[1].get("Args", ""))
    if len(module.__doc__ or "") < SHORTEST_TEXT:
        yield "its docstring must have the mathematics, with a proof of the sensitivity"
    if "only step that reads" not in (getattr(module, "release", Method).__doc__ or ""):
        yield "it must have `release`, whose docstring says that it is the only step that reads private rows"
    if "\nReturns:\n" not in docstring:
        yield "the docstring of `fit` must have a section `Returns:`"
    if unexplained := [name for name in parameters if name not in explained]:
        yield f"the docstring of `fit` must have a line under `Args:` for {', '.join(unexplained)}"
    if not (method.title and method.reference):
        yield "`title` and `reference` of METHOD must be given"
    if unknown := sorted(set(method.uses) - USES):
        yield f"`uses` of METHOD must be of {', '.join(sorted(USES))}, and not {', '.join(unknown)}"
    if not_taken := [use for use in method.uses if use in OPTIONS and use not in parameters]:
        yield f"`fit` must take {', '.join(not_taken)}, which `uses` of METHOD names"


def page_of(name: str) -> Path:
    return FOLDER / f"{name}.md"


def source(module: ModuleType | str) -> Path:
    name = module if isinstance(module, str) else module.__name__
    return ROOT / Path(*name.split(".")).with_suffix(".py")


def on_screen(use: str) -> str:
    """Return a setting's name on screen and in code; the few that have no control are named as in code."""
    return f"{CHOICES[use].label} (`{use}`)" if use in CHOICES else f"`{use}`"


def shown_by(name: str) -> str:
    """Return a link to the page *Methods* with this method alone, beside plain PCA."""
    chosen = {f"use.{other}": other in (name, "pca") for other in METHODS}
    query = urlencode(to_link(defaults() | chosen | {"compare.release": name}))
    return f"http://127.0.0.1:8501/methods?{query}"


def example(method: Method) -> str:
    """Return a block of Python that runs the method on a synthetic population, as Markdown."""
    settings = {"s_hat": 16, "iterations": 4} if method.private else {"s_hat": 16}
    options = "".join(f", {name}={value}" for name, value in settings.items() if name in method.uses)
    return "\n".join(
        (
            "```python",
            "import numpy as np",
            "from dppca_core import METHODS, Budget, SpikedModel, sin_theta",
            "",
            "model = SpikedModel(d=40, k=2, s=8, spike=100.0, bulk=(0.0, 10.0), seed=0)",
            "cohort = model.draw(n=1_000_000, providers=3, rng=np.random.default_rng(1))",
            "budget, rng = Budget(epsilon=1.0, delta=1e-6), np.random.default_rng(2)",
            f'estimate = METHODS["{method.name}"].fit(cohort, k=2, budget=budget, rng=rng{options})',
            "print(sin_theta(estimate.basis, model.basis))  # 0 is the truth, 1.38 a random guess",
            "```",
        )
    )


def _release(method: Method, page: Path) -> list[str]:
    """Return paragraphs on the function that reads private rows and, if there is one, its sensitivity proof.

    The module may have imported `release` from a module that several methods share; the proof is there then.
    """
    module = module_of(method)
    step = module.release
    where = link(f"`{step.__module__}.{step.__qualname__}`", source(step.__module__), page)
    parts = [f"{where} {markdown(third_person(step.__doc__ or '', ''), page)}"]
    sensitivity = getattr(module, "sensitivity", None) or getattr(
        sys.modules[module.release.__module__], "sensitivity", None
    )
    if sensitivity is not None and method.private:
        proof = markdown(third_person(sensitivity.__doc__ or "", ""), page)
        parts += [f"`{sensitivity.__module__}.{sensitivity.__name__}(budget, ...)` {proof}"]
    return parts


def _fit(method: Method, page: Path) -> list[str]:
    options, docstring = (
        [row for row in arguments(method.fit) if row[0] not in GIVEN],
        method.fit.__doc__ or "",
    )
    parts = [f'`METHODS["{method.name}"].fit(cohort, *, k, budget, rng' + (", ...)`" if options else ")`")]
    explained = entries(sections(docstring)[1].get("Args", ""))
    parts.append(described(docstring, page, skip=("cohort", "k", *(row[0] for row in options))))
    if options:
        rows = [
            f"| `{name}` | `{cell(kind)}` | `{default}` | {cell(prose(explained[name], page))} |"
            for name, kind, default in options
        ]
        parts.append("\n".join(["| parameter | type | default | meaning |", "|---|---|---|---|", *rows]))
    return parts


def _spends(method: Method, page: Path) -> str:
    if method.spends is None:
        return "It spends nothing, because nothing is private."
    docstring = inspect.cleandoc(method.spends.__doc__ or "")
    return markdown(docstring.replace("Return", "It spends", 1), page)


def _guarantee(method: Method) -> str:
    guarantee = f"**{method.guarantee}**: {GUARANTEES[method.guarantee]}"
    return (
        guarantee + " For k = 1 the draw is exact, and the guarantee is ε."
        if method.exact_at_one
        else guarantee
    )


def _as_gaussian(method: Method) -> str:
    """Return a method's mu at one budget, for 30 features and two components, or why it has none."""
    trade_off = method.trade_off(Budget(1.0, 1e-5), d=30, k=2)
    if trade_off is None:
        return "none"
    if trade_off.mu is None:
        return "no μ is stated: only (ε, δ) is known of what it releases, or of a part"
    condition = f", {method.guarantee}" if method.guarantee == "on a good event" else ""
    return f"μ = {trade_off.mu:.4g} at ε = 1 and δ = 10⁻⁵{condition}"


def document(method: Method) -> str:
    """Return a method's whole page, with the docstrings of the modules of the core that its own names."""
    page, module = page_of(method.name), module_of(method)
    shared = dict.fromkeys([*named_modules(module.__doc__ or ""), module.release.__module__])
    beyond = [name for name in shared if name != module.__name__]
    parts = [
        f"# {method.title}",
        HEAD,
        "\n".join(
            (
                f"| name in code | `{method.name}` |",
                "|---|---|",
                f"| reference | {cell(method.reference)} |",
                f"| whom it trusts | **{method.trust}**: {TRUSTS[method.trust]} |",
                f"| guarantee | {_guarantee(method)} |",
                f"| as Gaussian differential privacy | {_as_gaussian(method)} |",
                f"| what it needs | {needs(method.name)} |",
                f"| settings that matter | {', '.join(on_screen(use) for use in method.uses)} |",
                f"| forms a d × d matrix | {'yes' if method.matrix else 'no'} |",
            )
        ),
        "## The method",
        markdown(module.__doc__ or "", page),
        *(part for name in beyond for part in _beyond(name, page)),
        "## The step that reads rows",
        *_release(method, page),
        "## `fit`",
        *_fit(method, page),
        "## What it spends",
        _spends(method, page),
        "## Run it",
        example(method),
        "## Where it is",
        _where(method, page),
    ]
    return "\n\n".join(parts) + "\n"


def _beyond(name: str, page: Path) -> list[str]:
    docstring = import_module(name).__doc__ or ""
    return [f"### {link(f'`{name}`', source(name), page)}", markdown(docstring, page)]


def _where(method: Method, page: Path) -> str:
    contract = ROOT / "tests" / "core" / "methods" / "test_contract.py"
    checks = link("how the numbers are checked", ROOT / "docs" / "checks.md", page)
    return "\n".join(
        (
            f"- Source: {link(f'`{source(module_of(method)).name}`', source(module_of(method)), page)}",
            f"- Tests of every method: {link(f'`{contract.name}`', contract, page)}; {checks}",
            f"- On the dashboard: [Methods, with this one]({shown_by(method.name)})",
            f"- {link('All methods', INDEX, page)}, {link('symbols', ROOT / 'docs' / 'symbols.md', page)}",
        )
    )


def by_trust() -> list[Method]:
    """Return all methods, in the order of TRUST_TITLES, then by name."""
    order = {trust: rank for rank, trust in enumerate(text.TRUST_TITLES)}
    return sorted(METHODS.values(), key=lambda method: (order[method.trust], method.name))


def index() -> str:
    rows = [
        f"| {link(cell(method.title), page_of(method.name), INDEX)} `{method.name}` | {method.trust} "
        f"| {method.guarantee} | {needs(method.name)} | {cell(method.reference)} |"
        for method in by_trust()
    ]
    parts = [
        "# Methods",
        HEAD,
        "The registry `dppca_core.METHODS` holds every method. All are called alike: "
        "`METHODS[name].fit(cohort, k=..., budget=..., rng=...)`. The arguments are a `Cohort` of hospitals, "
        "the number of directions `k`, a `Budget` and a NumPy generator. Each returns an `Estimate` whose "
        "`basis`, (d, k), has orthonormal columns. A method's page lists its other arguments.",
        "\n".join(
            ("| method | trust | guarantee | what it needs | reference |", "|---|---|---|---|---|", *rows)
        ),
        "## Trust",
        "\n".join(f"- **{trust}**: {meaning}" for trust, meaning in TRUSTS.items()),
        "## Guarantee",
        "\n".join(f"- **{kind}**: {meaning}" for kind, meaning in GUARANTEES.items()),
        "Noise is drawn in floating point from a seeded generator, so these are simulations. "
        f"{link('How the numbers are checked', ROOT / 'docs' / 'checks.md', INDEX)} also says what is not.",
    ]
    return "\n\n".join(parts) + "\n"


def documents() -> dict[Path, str]:
    """Return every page by its path. Raises ValueError for files that lack something, with what to write."""
    lacks = [
        f"dppca_core/methods/{method.name}.py: {sentence}"
        for method in METHODS.values()
        for sentence in lacking(method, module_of(method))
    ]
    if lacks:
        raise ValueError("\n".join(lacks))
    return {INDEX: index()} | {page_of(method.name): document(method) for method in METHODS.values()}
