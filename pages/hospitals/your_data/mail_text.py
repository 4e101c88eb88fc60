"""The sentences of a joint study by mail. No Streamlit here."""

from dppca_core.joint import in_words
from dppca_core.joint.plan import JointPlan, PlannedHospital
from dppca_core.joint.take_part import TakingPart
from pages.shared import text

TITLE = "A joint study by mail"
ABOUT = (
    "Several hospitals agree on one plan. Each sends one file, with its own noise. Anybody puts the files "
    "together, and nobody runs a server."
)
PLAN = "The plan of the study (plan.json)"
NO_PLAN = "A plan is made on *Should we join?*, under *To take to the board*."
TAKE_PART = "Take part"
TOGETHER = "Put answers together"
NO_TABLE = "To take part, load your table at the top of this page."
SEVERAL = "A hospital takes part with its own table alone. Take the other hospitals' tables out above."
WHO = "Which hospital are you?"
COMPARED = "The other hospitals read me the same 12 words"
COMPARE = "Compare the 12 words first."
ACCOUNT_ABOVE = "First answer the question on your accounts above, under *Release*."
LIMIT_ABOVE = "First set your limit above, under *Release*."
PRICE = "An answer to this plan"
ASK = "Take part …"
AGAIN = "Make the file again"
PAID = (
    "Your table has paid for this plan. The same file is made again, and costs nothing. It is of the cells "
    "and the dictionary as they were then."
)
END = "The noise is drawn once, and anybody may see the file."
SEND = "Send it to whoever puts the files together. Anybody may see it."
ANSWERS = "The files that hospitals sent, yours too"
NO_ANSWERS = "This needs no account, costs nothing, and gives everybody the same result."
UNREADABLE_PLAN = "The file is no plan of a joint study."
UNFIT = "The table does not fit the plan's dictionary."
NOT_COMBINED = "The files cannot be put together."


def you_are(part: TakingPart) -> str:
    unit = text.literal(in_words.unit(part.plan))
    return f"You are **{text.literal(part.hospital.name)}**, with {part.n:,} patients. {unit}"


def question(part: TakingPart) -> str:
    return f"**Send an answer of {text.literal(part.hospital.name)}, made of {part.n:,} patients?**"


def leaves(plan: JointPlan, hospital: PlannedHospital) -> str:
    size = in_words.file_bytes(plan, hospital)
    return (
        f"**What leaves:** one file of about {size:,} bytes, and nothing else. It is text, and so longer "
        "than its numbers."
    )


def other_neighbours(plan: JointPlan) -> str:
    """Return that the account's promise is of other neighbours than the plan's."""
    return (
        f"The plan is of neighbours by {plan.neighbours}, and your account of others: agree on another plan."
    )


def made(hospital: str, name: str, size: int) -> str:
    return f"The answer of **{text.literal(hospital)}** is made: {text.literal(name)}, {size:,} bytes. {SEND}"
