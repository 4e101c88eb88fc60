"""The speaker's notes, which are true at any setting: the numbers are on the steps. No Streamlit here."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class SpeakerNote(NamedTuple):
    seconds: int
    say: str
    question: str
    answer: str


_FILE = Path(__file__).with_name("speaker_notes.toml")
NOTES = tuple(SpeakerNote(**note) for note in tomllib.loads(_FILE.read_text(encoding="utf-8"))["step"])


def until(step: int) -> str:
    seconds = sum(note.seconds for note in NOTES[:step])
    return f"{seconds // 60}:{seconds % 60:02d}"
