"""Six exercises for a class: each is a link, one move, what can be observed, and why (exercises.toml).

Links are made from settings, so they stay valid; a browser test follows each and finds `observed` there.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from pages.shared.settings.catalogue import CHOICES, Settings, Value, defaults_with, to_link

TITLE = "Ten minutes in front of a class: six things to try"


@dataclass(frozen=True)
class Exercise:
    """Hold a question, settings to start from that differ from the defaults, and one control to move.

    `key` is the control to move and `to` the option to move it to. `numbers` are what the page shows, to the
    digits that hold from run to run, and fill {0}, {1}, ... in `observed`. In `observed` and `why` the key of
    a control in braces stands for its name on screen.
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
        """Return the settings of all controls, before or after the move."""
        return defaults_with(self.start | {self.key: self.to} if moved else self.start)

    def link(self, moved: bool) -> str:
        """Return the link to the page before or after the move, relative to the front page's address."""
        query = urlencode(to_link(self.settings(moved)))
        return f"{self.page or '.'}?{query}" if query else self.page or "."

    def text(self, base: str = "") -> str:
        """Return the exercise in Markdown, as an entry of a numbered list, with both links.

        base: the dashboard's address, where the text stands elsewhere; empty on the front page.
        """
        choice = CHOICES[self.key]
        was, now = (choice.text(self.settings(moved)[self.key]) for moved in (False, True))
        links = (self.link(moved) for moved in (False, True))
        # On the front page links are relative: its own address is then ".".
        before, after = (base + link.removeprefix(".") if base else link for link in links)
        # Keys of a page's own controls have a dot, which a format string would take for an attribute.
        names = {key: f"*{CHOICES[key].label}*" for key in CHOICES if "." not in key}
        observed = self.observed.format(*(f"{number:g}" for number in self.numbers), **names)
        lines = (
            f"**{self.question}**",
            f"[Open this]({before}) and move *{choice.label}*{self.where} from {was} to {now} "
            f"([or open it already moved]({after})).",
            f"*Observe:* {observed}",
            f"*Why:* {self.why.format(**names)}",
        )
        return "  \n   ".join(lines)  # Markdown: a line break, and the indent of a list's entry


_FILE = Path(__file__).with_suffix(".toml")
EXERCISES = tuple(Exercise(**each) for each in tomllib.loads(_FILE.read_text(encoding="utf-8"))["exercise"])


def markdown(base: str = "") -> str:
    """Return all six as a numbered list; base: the dashboard's address, empty on the front page itself."""
    return "\n".join(f"{i}. {exercise.text(base)}" for i, exercise in enumerate(EXERCISES, 1))
