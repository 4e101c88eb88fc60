"""Collect what pages add to the settings, by scanning: a page folder may have a settings.py.

Such a file may hold
    settings(shared)   the page's own settings; some are named after the shared ones
    PANEL              what the page changes in the panel of shared settings, a `Panel`
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from pages.shared.settings.setting import Choice

_PAGES = Path(__file__).resolve().parents[2]
Reasons = Mapping[str, str]  # by a shared setting's key: why it cannot be moved, in a few words
_MAIN = ("data", "stated", "trust", "epsilon", "delta", "n", "providers", "d", "k", "s", "s_hat")
_MORE: tuple[str, ...] = ("iterations", "burn_in", "provider_noise", "largest_share", "accounting")
_MORE += (
    "neighbours",
    "scaling",
    "spike",
    "fall",
    "bulk",
    "correlation",
    "tails",
    "start",
    "repeats",
    "seed",
    "metric",
    "scale",
)
# Plain view shows only what a board understands: the rest is as a link has it, or as we advise.
_PLAIN_MAIN = ("data", "stated", "trust", "epsilon", "n", "providers", "d", "k", "s")
_PLAIN_MORE = ("delta", "largest_share", "spike", "bulk", "tails")


def panel_keys(plain: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the settings of the panel that pages share: those in sight, and more."""
    return (_PLAIN_MAIN, _PLAIN_MORE) if plain else (_MAIN, _MORE)


@dataclass(frozen=True)
class Panel:
    """Hold what a page changes in the panel of shared settings.

    Attributes:
        opens: Title of the preset at which the page opens, until a setting that pages share is set by hand.
        full_only: Whether the page has no plain view, as it is for statisticians.
        hidden: Whether the page has its settings beside what they decide, and no panel.
        beside: Settings whose control stands beside the page's figure.
        decided: Settings that are decided on the page itself, with the reason.
        unused: From all settings to those that make no difference on the page, with the reason; or to None,
            as where there is no such function, if a table fixes some of them as on other pages.
        plain_uses: Settings among these that the page's plain view uses all the same.
        held: From all settings to those that something else decides, with what they show and what decides.
        differing: Whether the page offers presets of hospitals that differ.
    """

    opens: str = "Small study"
    full_only: bool = False
    hidden: bool = False
    beside: tuple[str, ...] = ()
    decided: Reasons = field(default_factory=dict)
    unused: Callable[[Mapping[str, Any]], Reasons | None] | None = None
    plain_uses: tuple[str, ...] = ()
    held: Callable[[Mapping[str, Any]], Mapping[str, tuple[str, str]]] = field(default=lambda settings: {})
    differing: bool = False


@cache
def modules() -> dict[str, ModuleType]:
    """Import and return the settings of every page that has some, by the page's name."""
    folders = (page.parent for page in sorted(_PAGES.glob("*/*/page.py")))
    return {
        folder.name: import_module(f"pages.{folder.parent.name}.{folder.name}.settings")
        for folder in folders
        if (folder / "settings.py").is_file()
    }


def settings(shared: Mapping[str, Choice]) -> dict[str, Choice]:
    """Return pages' own settings by key. Raises ValueError for what `shared` or another page has already."""
    result: dict[str, Choice] = {}
    taken = {word for choice in shared.values() for word in (choice.key, choice.parameter)}
    for name, module in modules().items():
        for choice in module.settings(shared) if hasattr(module, "settings") else ():
            words = {choice.key, choice.parameter}
            if words & taken:
                raise ValueError(f"key must be new, got {choice.key!r} of the page {name}")
            result[choice.key] = choice
            taken |= words
    return result


def panel(page: str) -> Panel:
    return getattr(modules().get(page), "PANEL", Panel())
