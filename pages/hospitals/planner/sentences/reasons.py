"""Say why a plan has no answer, by the `kind` of its `PlanAnswer`."""

from dataclasses import dataclass

from dppca_core.experiments.planning.planning import PlanAnswer


@dataclass(frozen=True)
class NoAnswerReason:
    """Hold a reason in the words of a cell, of a sentence and of plain view.

    full: to be filled with the answer's numbers; "" where the answer's `failed` says why.
    """

    cell: str
    full: str = ""
    plain: str = "no formula applies"


_REASONS = {
    "guess": NoAnswerReason(
        "a random guess does",
        full="a random guess does as well ({guess})",
        plain="a random guess does as well",
    ),
    "gap": NoAnswerReason("no eigengap"),
    "first order": NoAnswerReason(
        "target too rough",
        full="an error beyond a third of a random guess is outside what the formula describes",
        plain="so rough a target cannot be predicted",
    ),
    "assumption": NoAnswerReason("formula does not hold"),
    "sampling": NoAnswerReason(
        "none: too few patients",
        full="{n} patients give {without} even without any noise for privacy",
        plain="there are too few patients, however weak the protection",
    ),
    "simulation": NoAnswerReason("by simulation"),
    "evaluating": NoAnswerReason("…"),
    "too large": NoAnswerReason("too many features"),
    "epsilon": NoAnswerReason(
        "none up to 10",
        full="even ε = 10 gives {best}; without noise it would be {without}",
        plain="no privacy loss here is large enough",
    ),
    "patients": NoAnswerReason(
        "none",
        full="{most} patients still give {best}",
        plain="no number of patients is enough",
    ),
    "hospitals": NoAnswerReason(
        "none",
        full="{most} such hospitals still give {best}",
        plain="no number of such hospitals is enough",
    ),
}


def reason(answer: PlanAnswer) -> NoAnswerReason:
    return _REASONS[answer.kind]
