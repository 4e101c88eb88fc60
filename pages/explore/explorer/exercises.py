"""Six exercises for a class: each is a link, one move, what can be observed, and why (exercises.toml).

Links are made from settings, so they stay valid; a browser test follows each and finds `observed` there.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from pages.shared.settings.catalogue import CHOICES, Settings, Value, changed, to_link

TITLE = "Ten minutes in front of a class: six things to try"


@dataclass(frozen=True)
class Exercise:
    """Hold a question, settings to start from that differ from the defaults, and one control to move.

    `numbers` are what the page shows, to the digits that hold from run to run, and fill `observed`.
    In both sentences a control in braces stands for its name on screen.
    """

    question: str
    page: str  # "" is the front page
    start: Settings
    key: str
    to: Value
    observed: str
    numbers: list[float]
    why: str
    where: str = ""  # where the control is, when not among the sliders

    def settings(self, moved: bool) -> Settings:
        """Return every control before or after the move."""
        return changed(self.start | {self.key: self.to} if moved else self.start)

    def link(self, moved: bool) -> str:
        """Return the link, relative to the front page."""
        query = urlencode(to_link(self.settings(moved)))
        return f"{self.page or '.'}?{query}" if query else self.page or "."

    def text(self, base: str = "") -> str:
        """Return an entry of a numbered list in Markdown. base: the address before the links."""
        choice = CHOICES[self.key]
        was, now = (choice.text(self.settings(moved)[self.key]) for moved in (False, True))
        links = (self.link(moved) for moved in (False, True))
        here, there = (base + link.removeprefix(".") if base else link for link in links)
        names = {key: f"*{CHOICES[key].label}*" for key in CHOICES if "." not in key}
        observed = self.observed.format(*(f"{number:g}" for number in self.numbers), **names)
        lines = (
            f"**{self.question}**",
            f"[Open this]({here}) and move *{choice.label}*{self.where} from {was} to {now} "
            f"([or open it already moved]({there})).",
            f"*Observe:* {observed}",
            f"*Why:* {self.why.format(**names)}",
        )
        return "  \n   ".join(lines)


_FILE = Path(__file__).with_suffix(".toml")
EXERCISES = tuple(Exercise(**each) for each in tomllib.loads(_FILE.read_text(encoding="utf-8"))["exercise"])


def markdown(base: str = "") -> str:
    """Return all six as a numbered list. base: the address before the links, empty on the front page."""
    return "\n".join(f"{i}. {exercise.text(base)}" for i, exercise in enumerate(EXERCISES, 1))
