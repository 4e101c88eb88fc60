"""Form the phrases that several pages' reports share: settings in words, formulas as plain text."""

from collections.abc import Container, Iterable, Sequence
from itertools import chain

from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, STATED, Settings, fixed, sizes
from pages.shared.settings.of_pages import panel_keys

_PLAIN_LABELS = {"epsilon": "Privacy loss ε (smaller protects more)"}  # in place of the control's
_STATISTICAL = ("metric", "scale", "accounting")  # left out in plain view


def settings_in_words(
    settings: Settings,
    keys: Iterable[str] = (),
    *,
    first: Iterable[str] = (),
    without: Container[str] = (),
) -> list[tuple[str, str]]:
    """Return (label, setting in words) of these controls; what a table fixes is as the table has it.

    keys: by default those of the panel that pages share, after `first` and without those in `without`.
    """
    plain = settings["view"] == "plain"
    keys = keys or (key for key in chain(first, *panel_keys(plain)) if key not in without)
    rows = []
    known = settings | dict(zip(("n", "d"), sizes(settings), strict=True))
    not_used = {*fixed(settings), *(() if settings["data"] == STATED else ("stated",))} - {"n", "d"}
    for key in keys:
        choice, value = CHOICES[key], known[key]
        if key in not_used or (plain and key in _STATISTICAL):
            continue
        shown = text.one_in(value) if plain and key.endswith("delta") else choice.option(value, plain)
        label = choice.name(plain)
        rows.append((_PLAIN_LABELS.get(key, label) if plain else label, shown))
    return rows


def methods(names: Sequence[str], k: int) -> list[str]:
    lines = []
    for method in (METHODS[name] for name in names):
        trust = "" if method.trust == "none" else f"{text.trust_heading(method.trust).lower()}; "
        about = f"{trust}{text.guarantee(method.guarantee_at(k))}"
        lines.append(f"{method.title}: {method.reference} ({about}).")
    return lines
