"""Name the tables of the privacy page's figures, with the current settings as arguments."""

from dppca_core.experiments.demonstrations.attacks import AttackSetting
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.privacy import Budget
from pages.learn.privacy import view
from pages.shared.settings.catalogue import CHOICES


def releases(budget: Budget, seed: int) -> FigureRecipe:
    """Return the table of twenty releases from two data sets."""
    return FigureRecipe("privacy.releases", {"budget": budget, "seed": seed})


def test(attacked: AttackSetting, alarms: float, count: int) -> FigureRecipe:
    """Return the table of the attacker's best test and of its errors."""
    values = {"attacked": attacked, "alarms": alarms, "count": count, "level": view.LEVEL}
    return FigureRecipe("privacy.best_test", values)


def failure(n: int) -> FigureRecipe:
    """Return the table of the patients whom the worst mechanism publishes."""
    options = CHOICES["delta"].options
    least, most = float(options[0]), float(options[-1])
    return FigureRecipe("privacy.failure", {"n": n, "least": least, "most": most})


def rounds(costs: view.Accounted, budget: Budget, quantity: str) -> FigureRecipe:
    """Return the table of the "noise" of several rounds, or of what they are "charged"."""
    values = {"budget": budget, "sensitivity": costs.sensitivity, "steps": costs.steps}
    return FigureRecipe("privacy.accounting", values | {"rounds": view.ROUNDS, "quantity": quantity})


def audit(attacked: AttackSetting, bug: str | None, count: int) -> FigureRecipe:
    """Return the table of the audit, as programmed and with the planted mistake."""
    kinds = ("true",) if bug is None else ("true", bug)
    return FigureRecipe(
        "privacy.audit", {"attacked": attacked, "kinds": kinds, "count": count, "level": view.LEVEL}
    )
