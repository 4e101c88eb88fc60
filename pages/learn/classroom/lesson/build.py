"""Write the lesson as one HTML file that needs nothing: no server, no network, no other file."""

import base64
import hashlib
import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from pages.learn.classroom.lesson import frames, screens
from pages.shared.charts import style

TITLE = "What privacy costs: a lesson"
END = (
    "Publishing a number can tell on a patient. Noise hides each patient, and its size is known.",
    "It costs accuracy. More patients, fewer measurements and some trust buy it back.",
)
MADE = (
    "All numbers are computed by a program, dppca_core, with the seeds shown. Screens 2 and 3 show real "
    "patients of public tables (UCI Heart Disease, Breast Cancer Wisconsin), the others simulated ones."
)
_HERE = Path(__file__).parent
_FILE = _HERE.parent / "lesson.html"  # scripts/lesson.py writes it
_JSON = re.compile(r'id="lesson">(.*?)</script>', re.DOTALL)


def content() -> dict[str, Any]:
    """Return all that lesson.js shows and checks; it takes some 20 s to compute."""
    return {
        "key": "lesson on what privacy costs",
        "draws": frames.DRAWS,
        "releases": frames.RELEASES,
        "screens": screens.screens(),
    }


@lru_cache(maxsize=1)
def stored() -> dict[str, Any]:
    written = _JSON.search(_FILE.read_text(encoding="utf-8"))
    assert written is not None
    shown: dict[str, Any] = json.loads(written[1])
    return shown


def html(shown: dict[str, Any]) -> str:
    """Return the file. A content security policy lets it load nothing, and run its own script alone."""
    script = _read("lesson.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    written = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Template(_read("template.html")).substitute(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri "
        "'none'; form-action 'none'",
        title=escape(TITLE),
        style=_read("lesson.css") + colours(),
        end="".join(f"<p>{escape(sentence)}</p>" for sentence in END),
        made=escape(MADE),
        json=written.replace("<", "\\u003c"),  # nothing in it ends the script
        script=script,
    )


def colours() -> str:
    by_class = {
        "patient": style.THE_PATIENT,
        "another": style.ANOTHER_PATIENT,
        "private": style.PRIVATE,
        "free": style.NOT_PRIVATE,
        "true": style.TRUE,
        "guess": style.GUESS,
        "nobody": style.NOBODY,
        "sealed": style.SEALED_SUMS,
        "place": style.ONE_PLACE,
    }
    return "".join(
        f"line.{name},circle.{name}{{stroke:{colour}}}rect.{name},circle.{name}{{fill:{colour}}}"
        f"text.{name}{{fill:color-mix(in srgb,{colour} 60%,var(--ink))}}"  # which is read in either theme
        for name, colour in by_class.items()
    )


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
