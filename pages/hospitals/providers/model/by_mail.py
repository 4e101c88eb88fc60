"""Make the plan of a joint study by mail from the hospitals of the decision and a dictionary."""

from dataclasses import dataclass

from dppca_core.experiments.decision.rule import Answer
from dppca_core.joint.plan import METHODS_BY_MAIL, JointPlan, PlannedHospital
from dppca_core.tables.dictionary_file import DictionaryFile
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.hospitals.providers.sentences import table

# A moment of rows whose bound is fitted: of the methods of one message the one that is recommended.
METHOD = METHODS_BY_MAIL[0]


@dataclass
class PlanDraft:
    """Hold what a visitor has given for a plan, which outlives the fold that is closed."""

    opened: DictionaryFile | None = None
    file_id: str = ""  # of the upload that was read last
    refused: str = ""
    name: str = "Joint study"
    rows: str = "standardised"


def is_advised(board: JoiningBoard) -> bool:
    """Return whether joining pays for hospitals that trust nobody: by mail each adds its own noise."""
    decision = board.decision
    return decision is not None and decision.answer is Answer.JOIN and len(board.setting.hospitals) > 1


def rests_on_rounds(board: JoiningBoard) -> bool:
    """Return whether the verdict is of a method that needs many messages, and so a server."""
    return board.cells.runs.plan("untrusted server").method not in METHODS_BY_MAIL


def unnamed(board: JoiningBoard) -> list[str]:
    """Return the hospitals without a name of their own, which nobody else would know by ours."""
    return [name for name in board.names if table.is_default(name)]


def planned(board: JoiningBoard, opened: DictionaryFile, *, name: str, rows: str) -> JointPlan:
    """Return the plan of the page's hospitals. Raises ValueError, one sentence, for what cannot be planned.

    rows: "centred" or "standardised".
    """
    column, counting = opened.patients or ("", "averaged")
    return JointPlan(
        name=name.strip(),
        dictionary=opened.schema.published,
        method=METHOD,
        rows=rows,
        k=board.setting.k,
        hospitals=tuple(
            PlannedHospital(each, hospital.patients, hospital.epsilon, board.setting.delta)
            for each, hospital in zip(board.names, board.setting.hospitals, strict=True)
        ),
        patient_column=column,
        counting=counting,
    )
