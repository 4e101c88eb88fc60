"""The words of the class's page. No Streamlit here."""

from collections.abc import Sequence
from typing import Any

from pages.learn.classroom import lesson_file
from pages.learn.classroom.lesson.screens import MINUTES

TITLE = "Class"
INTRODUCTION = "A lesson of 45 minutes on telephones, and eight exercises to hand in."
STEPS = (
    "Hand out the lesson: one file, which needs no network and no program.",
    "Follow the timetable. Everyone predicts first, then moves, then reads why.",
    "Give an exercise to hand in. Answers are folded at the end of this page.",
)
MUST_KNOW = (
    "What a mean, a percentage and an angle are.",
    "That repeated measurements scatter, and that a normal distribution describes how.",
    "No program, no calculus and no PCA. Every word is explained where it first stands.",
)
TRY_THIS = (
    "open screen 1 below and predict how often the attacker is right. Then move ε, and see whom noise "
    "protects."
)
ON_THIS_MACHINE = (
    "Nobody else can open this dashboard: it is open on this machine alone. Put lesson.html on your course "
    "page, or hand it out."
)
LESSON_MINUTES = 45


def timetable(content: dict[str, Any]) -> list[dict[str, str]]:
    titles = [screen["title"] for screen in content["screens"]]
    begins = [MINUTES * position for position in range(len(titles) + 1)]
    ends = [*begins[1:], LESSON_MINUTES]
    parts = zip(begins, ends, [*titles, "The end: codes, and what surprised us"], _DOES, strict=True)
    return [
        {"Minutes": f"{begin} to {end}", "Screen": title, "What the class does": does}
        for begin, end, title, does in parts
    ]


_DOES: Sequence[str] = (
    "Predicts, in silence, how often an attacker is right. Who said 50, who 73?",
    "Chooses a cap by show of hands, then finds the best one.",
    "Turns a line by eye, then drags one patient until the line turns.",
    "Guesses what four times the patients do. Half the class moves ε, half the measurements.",
    "Votes on whom to trust, before and after the bars.",
    "Pastes codes into the teacher's screen and talks about the most frequent mistake.",
)


def download() -> str:
    size = f"{len(lesson_file.packed()) / 1000:.0f} kB"
    return (
        f"The lesson takes {size}. At {lesson_file.WIRE / 1e6:.0f} Mbit/s, {lesson_file.DOWNLOADS} "
        f"telephones have it after {lesson_file.seconds():.1f} seconds."
    )


def answers(content: dict[str, Any]) -> str:
    parts = []
    for i, screen in enumerate(content["screens"], 1):
        lines = [f"**{i}. {screen['title']}**", f"*Predict:* {screen['predict']['question']}"]
        for outcome in screen["predict"]["outcomes"]:
            answer = outcome.get("label") or outcome["name"]
            lines.append(f"- {'**' + answer + '**' if outcome['right'] else answer}: {outcome['says']}")
        lines += ["", f"*Move:* {screen['task']['question']} {right_positions(screen)}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def right_positions(screen: dict[str, Any]) -> str:
    """Return in bold where a slider is right, in the first draw; where there is none, what is said."""
    right = next(i for i, outcome in enumerate(screen["task"]["outcomes"]) if outcome["right"])
    if not screen["ways"]:
        return f"**{screen['task']['outcomes'][right]['says']}**"
    outcomes, values = screen["draws"][0]["answers"][0], screen["ways"][0]["values"]
    good = [value for value, outcome in zip(values, outcomes, strict=True) if outcome == right]
    return f"**{good[0]}**" if len(good) == 1 else f"**{good[0]} to {good[-1]}**"
