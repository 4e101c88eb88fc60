"""Say whether a joint study by mail is for these hospitals, and what its plan needs."""

from collections.abc import Sequence

from dppca_core.experiments.decision.rule import Answer
from pages.shared import text

TITLE = "Study by mail, without a server"
STAY = "No study by mail is planned here: "
_WHY_NOT = {
    Answer.STAY: "staying alone is the better answer.",
    Answer.JOIN_IF: "joining pays only where sums are sealed or one place is trusted. By mail each hospital "
    "adds its own noise.",
    Answer.ASK_AGAIN: "it would not pay with so few patients.",
    Answer.TOO_CLOSE: "whether it would pay is too close to tell.",
}
ADVISED = (
    "Joining pays even if nobody is trusted. So it can be done by mail: each hospital sends one file, and "
    "anybody puts the files together."
)
ROUNDS = (
    "The verdict rests on messages to and fro, which need a server. By mail each hospital sends only one. "
    "Go by what the plan below recovers."
)
ABOUT = (
    "A plan states the hospitals of the table above and what they measure. All of it becomes known to all of "
    "them."
)
DICTIONARY = "The dictionary of what all hospitals measure"
WHERE = "Make one on *Your data*: type the public ranges of the measurements, and save it there."
NAME = "Name of the study"
ROWS = {"standardised": "Each measurement counts the same", "centred": "Public ranges decide"}
COUNTS = "What should count?"
DOWNLOAD = "Download the plan"
THEN = "Send it to all hospitals. Each opens it on *Your data*, under *A joint study by mail*."
NEAR_GUESS = (
    "**That is too near a random guess**, so this plan is not offered: stay alone, or find more patients, a "
    "larger privacy loss or fewer measurements."
)
BETTER_BY_ROUNDS = (
    "**Messages to and fro would recover more**, over a network with a server. The fold says how much."
)


def why_not(answer: Answer) -> str:
    return STAY + _WHY_NOT[answer]


def left_out(columns: Sequence[str]) -> str:
    """Return which columns of a dictionary are not in the plan."""
    shown = text.literal(text.listed(columns[:3]))
    more = f" and {len(columns) - 3:,} more" if len(columns) > 3 else ""
    return f"Left out, since no range and no answers are stated: {shown}{more}."


def unnamed(names: Sequence[str]) -> str:
    """Return that everybody reads the plan, so that each hospital needs a name of its own."""
    shown = text.listed([f"“{name}”" for name in names[:2]])
    return f"Type the name of every hospital into the table above: nobody else knows who {shown} would be."


def other_measurements(simulated: int, measured: int) -> str:
    """Return that the verdict is of patients with another number of measurements than the dictionary has."""
    if simulated == measured:
        return ""
    return (
        f"The verdict is of patients with {simulated:,} measurements; this dictionary makes {measured:,} "
        "columns. Set as many on the left to see whether it still holds."
    )
