"""Eight exercises to hand in, each with one number, a hint, and an answer apart (exercises.toml).

Links are made from settings and are relative to the dashboard, so they hold under any host's name.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pages.shared.settings.catalogue import CHOICES, Settings, defaults_with, to_link
from pages.shared.settings.setting import Value


@dataclass(frozen=True)
class Exercise:
    """Hold one exercise; what its fields mean is said in exercises.toml."""

    title: str
    where: str
    ask: str
    hint: str
    answer: float
    tolerance: float
    why: str
    page: str | None = None  # "" is the front page
    start: dict[str, Any] = field(default_factory=dict)
    key: str = ""
    to: Value = ""

    def settings(self, moved: bool) -> Settings:
        return defaults_with(self.start | ({self.key: self.to} if moved else {}))

    def link(self, moved: bool = False) -> str:
        """Return the link to the page before or after the move, relative to the address of any page."""
        return f"{self.page or '.'}?{urlencode(to_link(self.settings(moved)))}"

    def task(self, here: bool) -> str:
        """Return what is asked, in Markdown; here: on the dashboard, where links open."""
        if self.page is None:
            return f"**{self.title}** ({self.where}). {self.ask}"
        choice = CHOICES[self.key]
        was, now = (choice.text(self.settings(moved)[self.key]) for moved in (False, True))
        link = self.link()
        begin = f"Open [{self.where}]({link})" if here else f"Open `{link}` ({self.where})"
        return f"**{self.title}**. {begin} and move *{choice.label}* from {was} to {now}. {self.ask}"

    def in_words(self, sentence: str) -> str:
        # Keys of a page's own controls have a dot, which a format string would take for an attribute.
        return sentence.format(**{key: f"*{CHOICES[key].label}*" for key in CHOICES if "." not in key})

    @property
    def solution(self) -> str:
        accepted = f"±{self.tolerance:g}" if self.tolerance else "exactly"
        return f"**{self.answer:g}** ({accepted}). {self.in_words(self.why)}"


_FILE = Path(__file__).with_suffix(".toml")
EXERCISES = tuple(Exercise(**each) for each in tomllib.loads(_FILE.read_text(encoding="utf-8"))["exercise"])


def tasks(here: bool) -> str:
    return "\n".join(
        f"{i}. {exercise.task(here)}  \n   *Hint:* {exercise.in_words(exercise.hint)}"
        for i, exercise in enumerate(EXERCISES, 1)
    )


def solutions() -> str:
    return "\n".join(f"{i}. {exercise.solution}" for i, exercise in enumerate(EXERCISES, 1))
