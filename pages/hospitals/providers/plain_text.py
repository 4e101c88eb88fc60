"""The sentences of the providers page in plain view. No Streamlit here.

A `ShareRow` is a bar: the share of the true pattern in % that an answer recovers. A `Gain` tells whether
joining errs "less" or "more" than staying alone.
"""

from collections.abc import Sequence

from dppca_core.experiments.verdicts import Gain
from pages.shared.plain import phrases
from pages.shared.plain.rows import ShareRow

TITLE = "Should we join?"
INTRODUCTION = "What a hospital finds alone, what all find together, and what leaves the building."
IN_HOUSE, PUBLISHED = "alone, own use", "alone, to publish"
# Whose own use the first sentence is about: the largest hospital's, or all are alike; and the smallest's.
PURPOSES = ("For our own use", "For the smallest hospital's own use")
NEAR_GUESS = "Predictions are near a random guess, so no method is recommended."
NO_ANSWER = "Some of these have no answer at this setting."
TRY = "**Try this:** move *Hospitals* far to the right. Each hospital gets smaller. Does joining pay now?"
ALONE = "**Try this:** move *Hospitals* to 5. Then there is somebody to join."
IN_HOUSE_MEANS = "For its own use a hospital keeps the pattern inside, so it needs no noise."
# What leaves a hospital, by whom the hospitals trust.
LEAVES = {
    "untrusted server": "No record leaves a hospital. Each adds noise to its sums before it sends them.",
    "secure aggregation": "No record leaves a hospital. Each encrypts its sums: only the total can be read.",
    "central": "No record leaves a hospital. The trusted place sees each hospital's sums.",
}
_ADVICE: dict[Gain, str] = {
    "less": "join",
    "more": "stay alone",
    "level": "no difference",
    "neither": "no answer either way",
}
_NEARLY_ALL = 99.5  # % from which on both find almost all of the pattern, and no number says more


def label_start(size: str, patients: int) -> str:
    """Return the start of a bar's label. size: "Largest", "Smallest", or "Each" where all are equal."""
    return f"{size} ({patients:,} patients)" if size == "Each" else f"{size} ({patients:,})"


def advice(whose: str, verdicts: Sequence[Gain], alone: Sequence[ShareRow], joined: ShareRow) -> str:
    """Return two sentences with both shares: whether to join for use in-house, and whether to publish.

    Args:
        whose: The beginning of the first, one of PURPOSES.
        verdicts: How joining compares with staying alone, in-house and to publish.
        alone: The bars of the hospital alone, in the same order.
        joined: The bar of all hospitals together.
    """
    sentences = []
    for purpose, verdict, row in zip((whose, "To publish"), verdicts, alone, strict=True):
        shares = f"{phrases.share(row.share)} alone, {phrases.share(joined.share)} together"
        if verdict == "level" and min(row.share, joined.share) > _NEARLY_ALL:
            sentences.append(f"{purpose}: no difference. Both find almost all of the pattern.")
        else:
            sentences.append(f"{purpose}, {_ADVICE[verdict]}: {shares}.")
    return " ".join(sentences)


def nobody_to_join(in_house: ShareRow, published: ShareRow) -> str:
    """Return what a single hospital recovers, unprotected in-house and protected to publish."""
    return (
        f"One hospital has nobody to join: it recovers {phrases.share(in_house.share)} for its own use, "
        f"{phrases.share(published.share)} to publish."
    )


def about(hospitals: int, patients: str, trust: str) -> str:
    """Return who "together" is: how many hospitals, whom they trust, and their patients in words."""
    return f"Together means {hospitals:,} hospitals {phrases.WHO[trust]}, with {patients} in all."
