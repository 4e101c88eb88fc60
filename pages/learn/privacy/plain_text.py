"""The sentences of the privacy page in plain view: short ones, without symbols or names of methods."""

from dppca_core.auditing import outright_publication
from dppca_core.experiments.demonstrations.attacks import AttackDraws
from dppca_core.experiments.demonstrations.neighbours import Picture
from pages.learn.privacy import text as page_text
from pages.shared import text
from pages.shared.settings.catalogue import delta_for

RELEASES = "One patient more or less"
TRY_THIS = "move *Privacy loss* to the left. How close to a coin does the attacker come?"


def headline(draws: AttackDraws) -> str:
    """Return how often an attacker is right about you at most, with the noise that is really added.

    Noise as printed in a paper may keep a larger or smaller epsilon than the one that is set.
    """
    budget, kept = draws.attacked.budget, page_text.kept_epsilon(draws)
    odds = text.odds(kept, budget.delta, budget.neighbours, yours=True)
    if kept > budget.epsilon:
        return f"{odds} This noise protects less than the setting asks."
    return odds if kept == budget.epsilon else f"{odds} This noise protects more than the setting asks."


def releases(picture: Picture, limit: float) -> tuple[str, ...]:
    """Return sentences on the picture, and how many of the attacker's guesses are right.

    limit: the number read above which the attacker guesses "with the patient".
    """
    tries = len(picture.with_patient) + len(picture.without_patient)
    return (
        "The two groups of patients are alike, but for one patient.",
        "Each line is a pattern that we publish, with noise. Press *Play* to publish again.",
        "The attacker reads what we publish and guesses which group it comes from.",
        f"The attacker is right in {text.luck(picture.right_guesses(limit), tries)}",
    )


def failure(n: int, delta: float) -> tuple[str, ...]:
    """Return what the chance of failure allows among n patients, and a safer one where that is too much."""
    chance = text.one_in(delta)
    allowed = f"The promise alone would allow publishing each full record with a chance of {chance}."
    # Of one record or more, to two digits.
    some = float(f"{outright_publication.published(n, delta).chance_of_any:.2g}")
    follows = f"With {n:,} patients, that would publish at least one with a chance of {text.one_in(some)}."
    if delta > 1 / n:
        safer = f"set the chance of failure to {text.one_in(delta_for(n))}"
        follows = f"That is not safe enough for {n:,} patients: {safer}."
    return text.margin(delta), allowed, follows
