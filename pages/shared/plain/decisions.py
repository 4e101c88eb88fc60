"""Say whether our hospital should join, in the same words on every page. No Streamlit here."""

from dppca_core.experiments.decision.decision import JoiningDecision
from dppca_core.experiments.decision.rule import Answer
from pages.shared import text
from pages.shared.plain import phrases

NOBODY_TO_JOIN = "One hospital has nobody to join."
PURPOSES = {"in-house": "For our own use", "publish": "To publish"}
WITHOUT = "Together, no privacy"
_USE = {"in-house": "no privacy", "publish": "with privacy"}
_HEADLINES = {
    Answer.JOIN: "Join: it pays even if nobody is trusted.",
    Answer.JOIN_IF: "Join only if sums are sealed or one place is trusted.",
    Answer.STAY: "Stay alone: joining would gain us too little, whomever we trust.",
    Answer.TOO_CLOSE: "Too close to tell whether joining pays.",
}


def headline(decision: JoiningDecision, hospitals: int) -> str:
    if hospitals == 1:
        return NOBODY_TO_JOIN
    if decision.answer is Answer.ASK_AGAIN:
        return f"Not yet: ask again with about {text.patients(decision.patients or 0)} patients in all."
    return _HEADLINES[decision.answer]


def alone(use: str, share: float) -> str:
    return f"{PURPOSES[use]}, we recover {phrases.percent(share)} of the pattern alone."


def together(trust: str, share: float, without: float) -> str:
    return (
        f"{phrases.ROWS[trust]}, all recover {phrases.percent(share)} together; "
        f"without privacy {phrases.percent(without)}."
    )


def alone_label(patients: int, use: str) -> str:
    return f"Alone, {text.count(patients, 'patient', 'patients')}, {_USE[use]}"


def together_label(trust: str) -> str:
    return f"Together, {phrases.ROWS[trust][0].lower()}{phrases.ROWS[trust][1:]}"


def note(start: float, repeats: int) -> str:
    """Say how to read the bars; start: of their scale, in %."""
    begins = f"The scale begins at {start:g} %. " if start else ""
    return (
        f"{begins}Each bar shows the median of {repeats} repeats. The thin line holds it with 99 % "
        "certainty. Other pages make ten repeats, so that their shares differ a little."
    )
