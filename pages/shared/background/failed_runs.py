"""Say on a page how many runs failed, and why, once. No Streamlit here."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from dppca_core.experiments.explorer.results import RUNS, Results
from pages.shared import text
from pages.shared.document.blocks import Notice

NO_ANSWER = "No run has an answer at this setting."
_MOST_NAMED = 3  # reasons, and methods that failed for one of them


def notice(failed: Mapping[Any, str], name: Callable[[Any], str] | None = None) -> Notice:
    return Notice(message(failed, name) if failed else "", warns=True)


def message(failed: Mapping[Any, str], name: Callable[[Any], str] | None = None) -> str:
    """Return how many runs failed and why, the commonest reason first.

    failed: the reason by a cell's key. name: from that key to its method, where there are several.
    """
    cells = list(failed.items())  # copied at once: another thread may add to it
    causes = Counter(reason for _, reason in cells).most_common()
    parts = []
    for reason, _ in causes[:_MOST_NAMED]:
        methods = dict.fromkeys(name(cell) for cell, why in cells if why == reason) if name else {}
        whose = f" ({_first_names(list(methods))})" if methods else ""
        parts.append(text.sentence(f"{text.symbols(reason).rstrip('.')}{whose}."))
    if len(causes) > _MOST_NAMED:
        more = len(causes) - _MOST_NAMED
        parts.append(f"And {text.count(more, 'further reason', 'further reasons')}.")
    verb = "failed and is left out" if len(cells) == 1 else "failed and are left out"
    return f"{text.count(len(cells), 'run', 'runs')} {verb}. {' '.join(parts)}"


def by_method(results: Results) -> Notice:
    return notice(results.failed, lambda cell: RUNS[cell[0]].title)  # a cell's first part is its method


def _first_names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
