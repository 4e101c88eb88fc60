"""Write the lesson as one HTML file that needs nothing: no server, no network, no other file."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2

from dppca_core.experiments.no_privacy import NO_PRIVACY
from pages.learn.classroom.lesson import frames, screens
from pages.shared.charts import style

_HERE = Path(__file__).parent
FILE = _HERE.parent / "lesson.html"
WORDS = {
    "title": "What privacy costs: a lesson",
    "end": [
        "Publishing a number can tell on a patient. Noise hides each patient, and its size is known.",
        "It costs accuracy. More patients, fewer measurements and some trust buy it back.",
    ],
    "made": "All numbers are computed by a program, dppca_core, with the seeds shown. Pictures show real "
    "patients "
    "of public tables (UCI Heart Disease, Breast Cancer Wisconsin) on screens 2 and 3, simulated ones "
    "elsewhere.",
}


def lesson() -> dict[str, Any]:
    """Return all that lesson.js shows and checks."""
    return {
        "key": "lesson on what privacy costs",
        "draws": frames.DRAWS,
        "releases": frames.RELEASES,
        "screens": screens.screens(),
    }


def html(content: dict[str, Any] | None = None) -> str:
    """Return the file. content: what `lesson` returns, which takes half a minute to compute."""
    script = _read("lesson.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    written = json.dumps(content or lesson(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    environment = jinja2.Environment(autoescape=True, loader=jinja2.FileSystemLoader(_HERE))
    return environment.get_template("lesson.html.jinja").render(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri "
        "'none'; "
        "form-action 'none'",
        words=WORDS,
        style=_read("lesson.css") + colours(),
        json=written.replace("<", "\\u003c"),  # nothing in it ends the script
        script=script,
    )


def colours() -> str:
    """Return the rules that give each meaning of a picture its colour."""
    by_class = {
        "patient": style.THE_PATIENT,
        "another": style.ANOTHER_PATIENT,
        "private": style.look("two_stage").colour,
        "free": style.look(NO_PRIVACY).colour,
        "true": style.LOOKS["fantope_pca"].colour,
        "guess": style.GUESS,
    }
    return "".join(
        f"line.{name},circle.{name}{{stroke:{colour}}}rect.{name},circle.{name}{{fill:{colour}}}"
        f"text.{name}{{fill:color-mix(in srgb,{colour} 60%,var(--ink))}}"  # which is read in either theme
        for name, colour in by_class.items()
    )


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    FILE.write_text(html(), encoding="utf-8")
