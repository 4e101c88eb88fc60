"""Find which values of a swept control are possible beside the other settings. No Streamlit here."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings, conflict
from pages.shared.settings.setting import Value

_V = TypeVar("_V", bound=Value)


def possible(settings: Settings, key: str, values: Iterable[_V]) -> tuple[tuple[_V, ...], dict[_V, str]]:
    """Return the values of setting `key` that the other settings allow, and why the rest is impossible."""
    conflicts = {value: conflict(settings | {key: value}) for value in values}
    left_out = {value: reason for value, reason in conflicts.items() if reason is not None}
    return tuple(value for value in conflicts if value not in left_out), left_out


def left_out(key: str, values: Mapping[_V, str]) -> list[str]:
    """Return a sentence for each reason why values of setting `key` are impossible; values: to reasons."""
    texts = text.names_by_value({CHOICES[key].text(value): reason for value, reason in values.items()})
    return [f"{CHOICES[key].label} {', '.join(names)} left out: {reason}." for reason, names in texts.items()]
