"""The closed forms of an experiment's methods, and how often runs find all features that matter.

A closed form predicts a method's error by a formula, for what the method does by default. Where the
experiment asks for more, it is void, with the reason in `why`: two stages are predicted for a number of
features kept that was set beforehand, and for a population in which the number that matter is known.
"""

from collections.abc import Iterable
from dataclasses import replace

from dppca_core.bounds import BOUNDS
from dppca_core.bounds.rule import BoundRule, void_bound
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Cell, Results
from dppca_core.methods import METHODS
from dppca_core.populations.stated import StatedCorrelations
from dppca_core.populations.synthetic import Synthetic
from dppca_core.records import Bound, Setting

# By method, the key in BOUNDS of its closed form.
CLOSED_FORMS = {
    method: rule.name
    for rule in BOUNDS.values()
    if rule.kind == "prediction" and rule.measure == "sin"
    for method in rule.methods
}


def evaluate(results: Results, name: str, epsilon: float, *, tau: float = 3.3, **constants: float) -> Bound:
    """Return a bound at the experiment's setting; void where the runs are not those that it is about.

    tau: the standard deviations of slack in the probability with which a theorem holds.
    """
    rule = BOUNDS[name]
    reason = why_not_applicable(results.experiment, rule)
    if reason:
        return replace(void_bound(((False, reason),)), source=rule.source)
    return rule(replace(_setting(results, rule, epsilon), tau=tau), **constants)


def takes_unit_rows(rule: BoundRule) -> bool:
    """Return whether a rule is about methods that scale every row to length 1, and so see no heavy tails."""
    return bool(rule.methods) and all(METHODS[method].scaling == "unit" for method in rule.methods)


def _setting(results: Results, rule: BoundRule, epsilon: float) -> Setting:
    setting, population = results.setting(epsilon), results.experiment.population
    if isinstance(population, Synthetic) and setting.tails is not None and takes_unit_rows(rule):
        # Rows of length 1 are those of Gaussian patients, whose eigenvalues no clipping has changed.
        return replace(setting, tails=None, eigenvalues=population.eigenvalues / results.truth.bound**2)
    return setting


def why_not_applicable(experiment: ExplorerExperiment, rule: BoundRule) -> str:
    """Return, as a sentence's end, why a closed form of two stages is not about this experiment; else ""."""
    if not any(METHODS[method].chooses_rows for method in rule.methods):
        return ""
    if experiment.choose_rows:
        return "it needs a number of features kept ŝ, and here they are chosen from the release"
    if experiment.table is not None:
        return "it needs to know how many features matter, and of a table nobody does"
    if isinstance(experiment.population, StatedCorrelations) and experiment.s_hat < experiment.d:
        return "it supposes features that matter alike, and of stated correlations some matter more"
    return ""


def closed_form(results: Results, method: str, epsilon: float) -> Bound | None:
    name = CLOSED_FORMS.get(method)
    return None if name is None else evaluate(results, name, epsilon)


def count_complete(cells: Iterable[Cell]) -> int:
    """Return how many runs found all features that matter, that is the support of the truth."""
    return sum(cell.support == 1.0 for cell in cells)
