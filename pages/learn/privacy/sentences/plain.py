"""The sentences of plain view: short ones, without symbols or names of methods."""

from dppca_core.experiments.demonstrations.attacks import AttackDraws
from dppca_core.experiments.demonstrations.neighbours import Picture
from pages.learn.privacy.sentences.attack import kept_epsilon
from pages.shared import text

TRY_THIS = "**Try this:** move *Privacy loss ε* to 10. How often is the attacker right then?"


def headline(draws: AttackDraws) -> str:
    budget, kept = draws.attacked.budget, kept_epsilon(draws)
    odds = text.odds(kept, budget.delta)
    if kept > budget.epsilon:
        return f"{odds} This noise protects less than the setting asks."
    return odds if kept == budget.epsilon else f"{odds} This noise protects more than the setting asks."


def releases(picture: Picture) -> str:
    change = "one patient is left out of the second"
    if picture.instead is not None:
        change = "another patient takes the place of one"
    return _lines(
        f"Both groups of patients are alike, except that {change}.",
        "Each line is a pattern that we publish, with noise. *Play* shows all results in turn.",
        "The attacker reads each result. Right of the dashed line the guess is “with the patient”.",
        text.luck(picture.right_guesses(), picture.tries),
    )


def failure(delta: float) -> str:
    return _lines(text.margin(delta), text.NEVER_PUBLISHED)


def _lines(*sentences: str) -> str:
    return "  \n".join(sentences)
