"""Read a speaker's notes for each step of the story (speaker_notes.toml), true at any setting."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Note(NamedTuple):
    """Hold the seconds of a step, what to say, a likely question and its answer."""

    seconds: int
    say: str
    question: str
    answer: str


_FILE = Path(__file__).with_suffix(".toml")
NOTES = tuple(Note(**note) for note in tomllib.loads(_FILE.read_text(encoding="utf-8"))["step"])
