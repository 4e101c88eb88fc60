"""The sentences of the front page in plain view. No Streamlit here."""

TITLE = "Explorer"
QUESTION = (
    "**What does privacy cost?** Hospitals find a pattern in their patients together, and noise hides each "
    "patient."
)
TRY = "**Try this:** move *Patients in total* to the left. Where does the answer become a guess?"
TRY_TABLE = "**Try this:** move *Privacy loss ε* to the right until the answer is more than a guess."
NOT_PRIVATE = "Shares are computed from the table without noise: they are not private."
SIMULATED = "The patients are simulated. Real patients may give other shares."
LIMITS = "This is a study tool. It shows what to expect, and protects no real patients."
MEASURING = "Measuring went on while this report was made. Shares may still change a little."
