"""The owner's public statement on how columns and the number of components were chosen.

Choosing them by looking at the rows costs privacy that no account counts, so a release says how it was done.
"""

KEY = "how columns and k were chosen"  # in the payment, if it was stated, and in the document
NOT_STATED = "not stated"
BY_LOOKING = "by looking at this table (not covered by the guarantee)"
ANSWERS = (
    "from the literature or a code book",
    "fixed before the data were seen",
    BY_LOOKING,
    NOT_STATED,
)
MOST_LETTERS = 200  # of the owner's own sentence


def statement(answer: str, sentence: str = "") -> str:
    """Return the statement, one of ANSWERS and the owner's own sentence; "" where nothing is said."""
    sentence = sentence.strip()
    if answer not in ANSWERS:
        raise ValueError(f"{KEY} must be one of {', '.join(ANSWERS)}")
    if not sentence.isprintable() or len(sentence) > MOST_LETTERS:
        raise ValueError(f"{KEY} must be said on one line, with at most {MOST_LETTERS} letters")
    if answer == NOT_STATED:
        return sentence
    return f"{answer}: {sentence}" if sentence else answer


def stated(kept: object) -> str:
    """Return a statement that a payment holds, or NOT_STATED for what `statement` could not return.

    An imported payment can state anything.
    """
    longest = max(map(len, ANSWERS)) + len(": ") + MOST_LETTERS
    if isinstance(kept, str) and kept and kept.isprintable() and len(kept) <= longest:
        return kept
    return NOT_STATED
