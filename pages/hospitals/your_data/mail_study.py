"""Hold what a visitor's session has of a joint study by mail. No Streamlit here."""

from dataclasses import dataclass, field
from typing import NamedTuple

from dppca_core.accounts.account import Payment
from dppca_core.joint.combine import JointResult
from dppca_core.joint.plan import JointPlan
from dppca_core.joint.take_part import TakingPart


class AnswerFile(NamedTuple):
    """Hold the file that a hospital sends; anybody may see it. payment: what it cost."""

    name: str
    data: bytes
    payment: Payment


class PreparedPart(NamedTuple):
    """Hold a table encoded as a plan says, or why it is refused; request: for which plan and hospital."""

    request: object
    part: TakingPart | None
    refusal: str = ""


@dataclass
class MailStudy:
    """Hold the plan, which hospital the visitor is, their table for it, and answers put together.

    compared: the digest of the plan whose words were compared. finished: ids of payments for answers that are
    finished. combined: from which files, and what they gave, or why they are refused.
    """

    plan: JointPlan | None = None
    hospital: str | None = None
    compared: str = ""
    prepared: PreparedPart | None = None
    finished: set[str] = field(default_factory=set)
    combined: tuple[tuple[str, tuple[str, ...]], JointResult | None, str] = (("", ()), None, "")

    @property
    def ready(self) -> TakingPart | None:
        return None if self.prepared is None else self.prepared.part
