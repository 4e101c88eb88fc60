"""The words of the three bars of a decision."""

from pages.shared import text
from pages.shared.plain import phrases

WITHOUT = "Together, no privacy"
_USE = {"in-house": "own use, no privacy", "publish": "to publish, with privacy"}


def alone(patients: int, use: str) -> str:
    return f"Alone ({text.count(patients, 'patient', 'patients')}), {_USE[use]}"


def together(trust: str) -> str:
    return f"Together, {phrases.ROWS[trust][0].lower()}{phrases.ROWS[trust][1:]}"


def note(start: float, repeats: int) -> str:
    """Return how to read the bars. start: of their scale, in %."""
    begins = f"The scale begins at {start:g} %. " if start else ""
    return (
        f"{begins}Each bar shows the median of {repeats} repeats. The thin line holds it with 99 % "
        "certainty. Pages with ten repeats can show other shares where it is long."
    )
