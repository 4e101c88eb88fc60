"""Turn the planner's settings into plans, with their answers and what is recommended under each trust.

A *planned method* is a private method under one trust model, a key of `PLANNED_METHODS`; that *in focus* is
the recommended one, or chosen on the page. A *plan* states the target for one of them. Its *answer* is the
smallest number of patients or hospitals, or the smallest epsilon, that reaches the target, found by inverting
the *closed form*: the formula that predicts the method's error. Other methods are simulated.

The engine asks `Plans.next_missing` what to evaluate next, so `Plans.wanted` must name all that a page reads.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from dppca_core.bounds.recommendation import TRUSTS as RECOMMENDED_TRUSTS
from dppca_core.bounds.recommendation import Recommendation
from dppca_core.datasets import TABLES
from dppca_core.experiments.explorer.experiment import DPS_PCA
from dppca_core.experiments.explorer.trusts import recommended as recommended_at
from dppca_core.experiments.planning.evaluations import EVALUATIONS, Evaluation
from dppca_core.experiments.planning.planning import PLANNED_METHODS, Asked, PlanAnswer, Question, StudyPlan
from dppca_core.records import TRUSTS
from pages.hospitals.planner.model.evaluated import (
    EVALUATING,
    evaluated,
    failed_or_evaluating,
    first_with_same_formula,
    is_slow,
    method,
    patients_at_least,
    published,
)
from pages.shared.settings.catalogue import Settings


class TrustAnswer(NamedTuple):
    """Hold the planned method that is recommended under a trust, and its answer.

    While an answer that it rests on is being evaluated, it is `EVALUATING`. Where no method has an answer, it
    is the reason of the first.
    """

    trust: str
    name: str
    answer: PlanAnswer


class Plans(ABC):
    """Give each method's plan at the page's settings, and its answers as far as they have been evaluated.

    n: the patients of all hospitals at this setting. size: of each hospital, where hospitals are asked for.
    bundled: the real table that comes with the program, if its patients are planned for. energetic: whether
    the target is a share of the captured energy, not an error. planned: all methods that can be compared
    here, by whom they trust, those with a formula first. trust: a method is recommended for that.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bundled = TABLES.get(settings["data"])
        self.asked: Asked = settings["plan.asked"]
        self.epsilon: float = settings["epsilon"]
        self.n = int(self.bundled.n if self.bundled else settings["n"])
        self.size: int = settings["plan.size"]
        self.question = Question(self.asked, self.epsilon, self.n, self.size)
        self.energetic = bool(settings["plan.of"] == "energy")
        planned = list(PLANNED_METHODS.values())
        planned.sort(key=lambda each: (TRUSTS.index(each.trust), not each.rule))  # False sorts first
        self.planned = [each.name for each in planned]
        self.trust: str = settings["trust"]
        self._by_trust: list[TrustAnswer] = []  # kept once it is known

    @property
    def focus(self) -> str:
        """Return the planned method in focus: the chosen one, if it is compared, else the recommended one."""
        chosen: str = self.settings["plan.way"]
        if chosen in self.planned and self._compared(chosen):
            return chosen
        return self.by_trust()[RECOMMENDED_TRUSTS.index(self.trust)].name

    def _compared(self, name: str) -> bool:
        return self.settings["plan.trust"] in ("any", PLANNED_METHODS[name].trust)

    @property
    def comparable(self) -> list[str]:
        """Return the planned methods that are compared if asked for, and the one in focus."""
        focus = self.focus
        return [name for name in self.planned if self._compared(name) or name == focus]

    @property
    def listed(self) -> list[str]:
        """Return the planned methods that are shown.

        They are all that are comparable where the visitor asks for that, or for one trust. At first they are
        those that are recommended under each trust, DPS-PCA as published, and the one in focus.
        """
        if self.settings["all_methods"] or self.settings["plan.trust"] != "any":
            return self.comparable
        shown = {DPS_PCA, self.focus, *(each.name for each in self.by_trust())}
        return [name for name in self.planned if name in shown]

    @property
    def current_value(self) -> float:
        values = {"patients": self.n, "hospitals": self.settings["providers"], "epsilon": self.epsilon}
        return float(values[self.asked])

    def untuned_plan(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus, with the rounds and row bound as published."""
        return published(tuple(self.settings.items()), name or self.focus)

    def _tuning_evaluation(self, name: str) -> Evaluation | None:
        """Return the evaluation that tunes a method's row bound and rounds; None if published ones stay."""
        if self.settings["plan.tuned"] == "published":
            return None
        return StudyPlan.tuned, self.untuned_plan(name), self.question

    def _plan(self, name: str) -> StudyPlan | None:
        """Return the plan of a method; None while its rounds are being tuned."""
        tuning, study = self._tuning_evaluation(name), self.untuned_plan(name)
        if tuning is None:
            return study
        # Only a method with a rule of its own for the rounds takes long to tune.
        slow = method(name).tuned is not None and not study.no_formula
        tuned: StudyPlan | None = evaluated(tuning, slow)
        return tuned

    @property
    def floor(self) -> int:
        """Return below how many patients the worst case stops every method; 0 where that is not known."""
        return patients_at_least(self.untuned_plan("analyze_gauss"), self.epsilon)

    def plan(self, name: str = "") -> StudyPlan:
        """Return the plan of a method, or of the one in focus; as published while it is being tuned."""
        return self._plan(name or self.focus) or self.untuned_plan(name)

    def _answer_evaluation(self, study: StudyPlan, asked: Asked) -> Evaluation:
        return StudyPlan.answer, first_with_same_formula(study), self.question._replace(asked=asked)

    def answer(self, name: str = "", asked: Asked | None = None) -> PlanAnswer:
        """Return a closed form's answer at the current setting; `EVALUATING` until the background has it.

        It is by default that of the method in focus to what the page asks.
        """
        name = name or self.focus
        study = self._plan(name)
        if study is None:
            return failed_or_evaluating(self._tuning_evaluation(name))
        evaluation = self._answer_evaluation(study, asked or self.asked)
        return evaluated(evaluation, slow=is_slow(study)) or failed_or_evaluating(evaluation)

    def _wanted_answers(self, names: list[str], question: Asked) -> Iterator[Evaluation]:
        for name in names:
            tuning = self._tuning_evaluation(name)
            if tuning is not None and question == self.asked:  # a method is tuned for this question only
                yield tuning
            if is_slow(study := self.plan(name)):
                yield self._answer_evaluation(study, question)

    def _wanted_by_trust(self) -> Iterator[Evaluation]:
        names = [name for name in self.guaranteed(self.planned) if PLANNED_METHODS[name].trust != "local"]
        names.sort(key=lambda name: name != self.settings["plan.way"])  # the chosen one comes first
        yield from self._wanted_answers(names, self.asked)

    @abstractmethod
    def wanted(self) -> Iterator[Evaluation]:
        """Return the slow evaluations that the page needs, in the order in which a visitor needs them."""

    def next_missing(self) -> Evaluation | None:
        # All are looked through each time, since one that was dropped to make room is missing again.
        return EVALUATIONS.first_missing(self.wanted())

    def complete(self) -> None:
        """Evaluate all that the page lacks, before a report or a table is written."""
        while (missing := self.next_missing()) is not None:
            EVALUATIONS.try_cell(*missing)

    def _answers(self, names: list[str]) -> Iterator[tuple[str, dict[str, PlanAnswer]]]:
        """Return, for each trust model that has some of these methods, their answers by planned method."""
        for trust in RECOMMENDED_TRUSTS:
            answers = {name: self.answer(name) for name in names if PLANNED_METHODS[name].trust == trust}
            if answers:
                yield trust, answers

    def by_trust(self) -> list[TrustAnswer]:
        """Return what is recommended under each trust with its answer, from most trust to least.

        It is the method that the core recommends at the smallest answer of the (ε, δ) methods or, where that
        has no answer by formula, the one with the smallest. One that asks for less trust is taken where it
        needs no more.
        """
        if self._by_trust:
            return self._by_trust
        result: list[TrustAnswer] = []
        for trust, answers in reversed(list(self._answers(self.guaranteed(self.planned)))):
            # False sorts first: while any method is being evaluated, nobody knows the smallest answer.
            needs = {name: (each != EVALUATING, each.value or math.inf) for name, each in answers.items()}
            name = min(answers, key=needs.__getitem__)
            best, less = TrustAnswer(trust, name, answers[name]), result[0] if result else None
            if best.answer != EVALUATING:
                advised = self._recommendation(best).method
                answer = self.answer(advised)
                neither = best.answer.value is None and answer.kind != "simulation"
                if answer.value is not None or neither:
                    best = TrustAnswer(trust, advised, answer)
            if less and best.answer != EVALUATING:
                needed = math.inf if best.answer.value is None else best.answer.value
                known = less.answer.value is not None and less.answer.value <= needed
                best = less._replace(trust=trust) if known or less.answer == EVALUATING else best
            result.insert(0, best)
        if EVALUATING not in (each.answer for each in result):
            self._by_trust = result
        return result

    @staticmethod
    def guaranteed(names: list[str]) -> list[str]:
        return [name for name in names if method(name).guarantee == "(ε, δ)"]

    def _recommendation(self, at: TrustAnswer) -> Recommendation:
        value = self.current_value if at.answer.value is None else at.answer.value
        patients, epsilon, hospitals = self.question.at(value)
        experiment = replace(self.untuned_plan(at.name).experiment, n=patients)
        if hospitals:  # they are asked for, and have the same size
            experiment = replace(experiment, providers=hospitals, largest_share=0.0)
        return recommended_at(experiment, epsilon, at.trust)

    def recommended(self) -> list[tuple[TrustAnswer, Recommendation]]:
        """Return for each trust its answer, and what is recommended there; [] while one is being evaluated.

        Where the core recommends another method than the answer's, that has no answer by formula.
        """
        answers = self.by_trust()
        if EVALUATING in (each.answer for each in answers):
            return []
        return [(each, self._recommendation(each)) for each in answers]

    def _figure_values(self, study: StudyPlan) -> dict[str, Any]:
        return {
            "experiment": study.experiment,
            "question": tuple(self.question),
            "target": study.target,
            "energy": study.energy,
        }
