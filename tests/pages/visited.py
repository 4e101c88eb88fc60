"""Visit a page as an attacker does, and check what it shows and how long it takes."""

import json
import re
import sys
import time
from typing import Any

import numpy as np

from pages.hospitals.providers.settings import Typed
from pages.shared.settings.catalogue import CHOICES, OF_PARAMETER
from pages.shared.settings.setting import Choice
from pages.shared.settings.stated_numbers import StatedNumbers
from scripts.started import ROOT
from tests import hostile
from tests.pages.conftest import Screen

SECONDS = 40.0  # of processor time with the engine's: ten times that of the slowest page alone
PAGES = sorted(path.relative_to(ROOT / "pages").as_posix() for path in ROOT.glob("pages/*/*/page.py"))
_QUICK = {"d": "30", "n": "10000", "k": "2", "s": "6", "shat": "10", "T": "3", "repeats": "1"}
_NO_NUMBER = re.compile(r"\b(nan|NaN|inf|-inf|Infinity)\b")
_MARKUP = re.compile(r"<(script|img|svg|iframe)\b|javascript:", re.IGNORECASE)
_SAID = ("markdown", "caption", "success", "warning", "error", "text", "title", "header", "metric", "table")


_SECRETS = ("etc/passwd", "win.ini", "id_rsa", "self/environ")
_OPENED: list[str] = []


def _note(event: str, given: tuple[object, ...]) -> None:
    if event == "open" and any(secret in str(given[0]) for secret in _SECRETS):
        _OPENED.append(str(given[0]))


sys.addaudithook(_note)  # Python cannot remove an audit hook


def allowed(choice: Choice, value: object) -> bool:
    """Return whether a control may be set to this: an option, or numbers that read as they are written."""
    if isinstance(choice, Typed | StatedNumbers):
        return isinstance(value, str) and choice.read(value) == (value, None)
    return value in choice.options


class Visit:
    """Open a page for one visitor, with quick settings where the link has none."""

    def __init__(self, page: str, link: dict[str, Any]) -> None:
        began = time.process_time()
        self.page = Screen(page, **(_QUICK | link))
        self.check(began)

    def check(self, began: float) -> None:
        """Check for a hang, an opened file of a link, NaN and markup; `Screen.run` checks for errors."""
        spent = time.process_time() - began
        assert spent < SECONDS, f"{spent:.1f} s"
        assert not _OPENED, _OPENED
        sentences = [
            str(box.value) for kind in _SAID for box in self.page.app.get(kind) if hasattr(box, "value")
        ]
        for sentence in sentences:
            assert "own table" in self.page.app.session_state or not _NO_NUMBER.search(sentence), sentence
            assert not _MARKUP.search(sentence.replace("\\", "")) or "\\<" in sentence or "\\:" in sentence, (
                sentence
            )
        for notice in self.page.app.info:
            assert not re.search(r"(?<!\\)[<>`\[\]$]|://|www\.", notice.value), notice.value
        for figure in self.page.app.get("bidi_component"):
            json.loads(figure.proto.json, parse_constant=_refuse)
        for key, choice in CHOICES.items():
            assert allowed(choice, self.page.app.session_state["settings of the last run"][key]), key

    def poke(self, rng: np.random.Generator) -> None:
        app = self.page.app
        free = [widget for kind in _WIDGETS for widget in app.get(kind) if not widget.disabled]
        if not free:
            return
        began, widget = time.process_time(), free[int(rng.integers(len(free)))]
        end = int(rng.choice([0, -1])) if rng.random() < 0.7 else None
        setting = (widget.key or "").removeprefix("telephone ")  # a telephone's slider of the same setting
        if setting in CHOICES:
            options = CHOICES[setting].options
            place = int(rng.integers(len(options))) if end is None else end
            widget.set_value(options[place])
        elif widget.type == "number_input":
            least, most = (
                widget.min if widget.min is not None else -1e308,
                widget.max if widget.max is not None else 1e308,
            )
            widget.set_value(float(rng.choice([least, most, (least + most) / 2])))
        elif widget.type == "selectbox":
            widget.select_index(int(rng.integers(len(widget.options))))
        elif widget.type == "multiselect":
            widget.set_value([name for name in widget.options if rng.random() < 0.5])
        elif widget.type in ("checkbox", "toggle"):
            widget.set_value(not widget.value)
        else:
            widget.click()
        try:
            self.page.run()
        except ValueError:  # AppTest refuses a box whose words have changed since it read them
            return
        self.check(began)


_WIDGETS = ("select_slider", "selectbox", "checkbox", "toggle", "number_input", "multiselect", "button")


def _refuse(name: str) -> float:
    raise AssertionError(f"{name} in a figure")


def proper(rng: np.random.Generator, parameter: str) -> str:
    """Return an option of this control as a link has it, mostly at an end; 1 for a parameter of none."""
    if parameter not in OF_PARAMETER:
        return "1"
    choice = OF_PARAMETER[parameter]
    place = int(rng.choice([0, -1, rng.integers(len(choice.options))]))
    return choice.link(choice.options[place])


def link(rng: np.random.Generator) -> dict[str, str | list[str]]:
    """Return parameters as a browser sends them, now and then twice; invalid characters are replaced."""
    parameters = hostile.link(rng, [*OF_PARAMETER, "embed", "run", "x"], lambda name: proper(rng, name))
    sent = {hostile.utf8(key): hostile.utf8(value) for key, value in parameters.items()}
    return {
        key: [hostile.utf8(hostile.word(rng)), value] if rng.random() < 0.1 else value
        for key, value in sent.items()
    }
