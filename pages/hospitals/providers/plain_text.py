"""The sentences of the providers page in plain view. No Streamlit here."""

from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.plain.rows import ShareRow
from pages.shared.text.verdicts import Gain

TITLE = "Providers"
QUESTION = (
    "**Should we join?** What a hospital finds alone, what all find together, and what leaves the building."
)
IN_HOUSE, PUBLISHED = "alone, in-house, no protection", "alone, protected to publish"
NO_ANSWER = "Some of these have no answer at this setting."
TRY = "**Try this:** move *Hospitals* far to the right. Each hospital gets smaller. Does joining pay now?"
ALONE = "**Try this:** move *Hospitals* to 5. Then there is somebody to join."
# What leaves a hospital, by whom the hospitals trust.
LEAVES = {
    "untrusted server": "No record leaves a hospital. Only sums hidden by noise do.",
    "secure aggregation": "No record leaves a hospital. Only sealed sums do: nobody can read a single one.",
    "central": "No record leaves a hospital. The trusted place sees each hospital's sums.",
}
_ADVICE: dict[Gain, str] = {
    "less": "join",
    "more": "stay alone",
    "level": "joining changes little",
    "neither": "nothing helps",
}


def who(size: str, patients: int) -> str:
    """Return the start of a row's label: a hospital with its number of patients."""
    return f"{size} hospital ({patients:,})"


def advice(purpose: str, verdict: Gain, alone: ShareRow, joined: ShareRow) -> str:
    """Return whether to join for a purpose, with both shares."""
    shares = f"{phrases.share(alone.share)} alone, {phrases.share(joined.share)} together"
    return f"{purpose}, {_ADVICE[verdict]}: {shares}."


def headline(in_house: tuple[Gain, ShareRow], published: tuple[Gain, ShareRow], joined: ShareRow) -> str:
    """Return whether a hospital should join, for use in-house and to publish."""
    (known, open_row), (shown, protected) = in_house, published
    return f"{advice('In-house', known, open_row, joined)} {advice('To publish', shown, protected, joined)}"


def nobody_to_join(in_house: ShareRow, published: ShareRow) -> str:
    """Return what a single hospital recovers."""
    return (
        f"One hospital has nobody to join: it recovers {phrases.share(in_house.share)} in-house, "
        f"{phrases.share(published.share)} to publish."
    )


def smallest(in_house: tuple[Gain, ShareRow], published: tuple[Gain, ShareRow], joined: ShareRow) -> str:
    """Return the same for the smallest hospital, in two short sentences."""
    (known, open_row), (shown, protected) = in_house, published
    first = advice("Smallest hospital in-house", known, open_row, joined)
    return f"{first} {advice('To publish', shown, protected, joined)}"


def about(hospitals: int, patients: int, trust: str) -> str:
    """Return who would join."""
    them = text.count(patients, "patient", "patients")
    return f"Together are {hospitals:,} hospitals {phrases.WHO[trust]}, with {them}."
