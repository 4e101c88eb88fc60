"""The sentences of the privacy page in plain view: short ones, without symbols or names of methods."""

from dppca_core.experiments.demonstrations.attacks import AttackDraws
from dppca_core.experiments.demonstrations.neighbours import Picture
from pages.learn.privacy import text as page_text
from pages.shared import text

TRY_THIS = "move *Privacy loss ε* to 10. How often is the attacker right then?"


def headline(draws: AttackDraws) -> str:
    """Return how often an attacker is right at most, with the noise that is really added.

    Noise as printed in a paper may keep a larger or smaller epsilon than the one that is set.
    """
    budget, kept = draws.attacked.budget, page_text.kept_epsilon(draws)
    odds = text.odds(kept, budget.delta)
    if kept > budget.epsilon:
        return f"{odds} This noise protects less than the setting asks."
    return odds if kept == budget.epsilon else f"{odds} This noise protects more than the setting asks."


def releases(picture: Picture) -> tuple[str, ...]:
    """Return sentences on the picture, and how many of the attacker's guesses are right."""
    change = "one patient is left out of the second"
    if picture.instead is not None:
        change = "another patient takes the place of one"
    return (
        f"Both groups of patients are alike, except that {change}.",
        "Each line is a pattern that we publish, with noise. *Play* shows all results in turn.",
        "The attacker reads each result. Right of the dashed line the guess is “with the patient”.",
        text.luck(picture.right_guesses(), picture.tries),
    )


def failure(delta: float) -> tuple[str, ...]:
    """Return what the failure chance is, and what of it our method never does."""
    return text.margin(delta), text.NEVER_PUBLISHED
