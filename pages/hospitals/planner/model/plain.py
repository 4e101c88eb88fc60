"""Hold the page in plain view: the answer under each trust, and what a cautious hospital costs."""

from collections.abc import Iterator

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.planning.cautious import patients_with_cautious
from dppca_core.experiments.planning.evaluations import Evaluation
from dppca_core.experiments.planning.planning import PlanAnswer
from pages.hospitals.planner.model.evaluated import evaluated, failed_or_evaluating
from pages.hospitals.planner.model.plans import Plans, TrustAnswer
from pages.shared.settings.catalogue import Settings

# Plain view has no control for these settings: they are as advised, whatever a link from the other view says.
ADVISED = {
    "plan.trust": "any",
    "plan.tuned": "published",
    "plan.simulate": False,
    "accounting": "exact",
    "scaling": "public",
}


class PlainPlanner(Plans):
    """Give the answer under each trust, and what one hospital that asks for more privacy costs.

    That hospital's epsilon, `strictest`, is smaller by the factor of the setting "plan.cautious".
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings | ADVISED)
        self.strictest = self.epsilon / self.settings["plan.cautious"]

    @property
    def least(self) -> list[TrustAnswer]:
        return self.by_trust()[::-1]

    @property
    def known(self) -> dict[str, float]:
        """Return the answers that are known, by trust; the least trust first."""
        return {each.trust: each.answer.value for each in self.least if each.answer.value is not None}

    @property
    def chosen(self) -> TrustAnswer:
        return next(each for each in self.least if each.trust == self.settings["trust"])

    @property
    def has_cautious(self) -> bool:
        return self.asked == "patients" and self.settings["providers"] > 1

    def with_cautious(self, least: TrustAnswer) -> PlanAnswer:
        """Return the patients needed where one hospital is more cautious; `EVALUATING` until it is known."""
        evaluation = self._cautious_evaluation(least)
        return evaluated(evaluation, slow=True) or failed_or_evaluating(evaluation)

    def _cautious_evaluation(self, least: TrustAnswer) -> Evaluation:
        return patients_with_cautious, self.plan(least.name), self.epsilon, self.strictest

    def wanted(self) -> Iterator[Evaluation]:
        """Return the slow evaluations of plain view: the answers, then those with a cautious hospital."""
        yield from self._wanted_by_trust()
        if self.has_cautious:
            for least in self.by_trust():
                if least.answer.value is not None:
                    yield self._cautious_evaluation(least)

    def code(self) -> FigureRecipe:
        names = tuple(each.name for each in self.by_trust())
        # Experiment and target are the same in the plans of all methods, so the first gives them.
        values = self._figure_values(self.untuned_plan(names[0]))
        return FigureRecipe("planning.by_trust", values | {"names": names})
