"""Render the planner in plain view: what a study needs, by whom the hospitals trust.

Plain view is for those without statistics, such as a hospital's board. The trust models are "central",
"secure aggregation" and "untrusted server".
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import streamlit as st

from dppca_core.experiments.planning.evaluations import EVALUATIONS
from pages.hospitals.planner import charts, controls, plain_text, view
from pages.hospitals.planner import text as analyst_text
from pages.hospitals.planner.view import CautiousPlanner, Planner
from pages.shared import text
from pages.shared.background import refresh
from pages.shared.document import streamlit
from pages.shared.plain import phrases
from pages.shared.reports import html_report, sources, take_along
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

# Plain view has no control for these settings: they are as advised, whatever a link from the other view says.
ADVISED = {
    **{"plan.trust": "any", "plan.tuned": "published", "plan.simulate": False},
    **{"accounting": "exact", "scaling": "public"},
}


class PlainPlan(CautiousPlanner):
    """Say what a study needs under each trust, as far as it has been evaluated when this is made.

    Attributes:
        least: What is recommended under each trust, and its answer; the least trust first.
        numbers: The answers that are known, by trust, in words and without a unit.
        chosen: The entry of `least` under the trust that is set for all pages.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings | ADVISED)
        self.least = self.by_trust()[::-1]  # which begins with the most trust
        self.numbers = {
            each.trust: analyst_text.number(each.answer.value, self.asked)
            for each in self.least
            if each.answer.value is not None
        }
        self.chosen = next(each for each in self.least if each.trust == settings["trust"])

    @property
    def headline(self) -> str:
        """Return the answer in one sentence."""
        if view.EVALUATING in (each.answer for each in self.least):
            return plain_text.WORKING
        return plain_text.headline(self.asked, self.numbers)

    def _row(self, least: view.TrustAnswer) -> str:
        """Return the sentence of one trust: its number, that it is being worked out, or why there is none."""
        if least.trust in self.numbers:
            return plain_text.row(least.trust, self.asked, self.numbers[least.trust])
        if least.answer == view.EVALUATING:
            return f"{phrases.ROWS[least.trust]}: {plain_text.WORKING}"
        return plain_text.no_answer(least.trust, least.answer.kind)

    @property
    def rows(self) -> list[str]:
        """Return a sentence for each trust, then under which of them the present patients are enough.

        Last stand warnings: where a number rests on too small a chance that all features that matter are
        kept, and where the recommended method has no formula.
        """
        lines = [self._row(each) for each in self.least]
        if self.asked == "patients" and self.numbers:
            satisfied = [each.trust for each in self.least if (each.answer.value or math.inf) <= self.n]
            lines.append(plain_text.enough(self.n, satisfied))
        if any(
            analyst_text.uncertainty_mark(each.answer) for each in self.least if each.trust in self.numbers
        ):
            lines.append(plain_text.UNCERTAIN)
        if any(
            analyst_text.nothing_predicts(self, each.name, best.method)
            for each, best in self.recommended()
            if each.trust in self.numbers
        ):
            lines.append(plain_text.NO_FORMULA)
        return lines

    def figure(self) -> dict[str, Any]:
        """Return the chart of a bar for each trust, with a line at what there is now."""
        lengths = {each.trust: float(each.answer.value or math.nan) for each in self.least}
        return charts.by_trust(lengths, self.numbers, plain_text.AXES[self.asked], now=self.current_value)

    def cautious(self) -> list[str]:
        """Return how many more patients are needed, by trust, if one hospital asks for a smaller epsilon.

        The first sentence states the case. Empty for a single hospital, or where no number is known.
        """
        if not self.has_cautious or not self.numbers:
            return []
        strictest = self.epsilon / self.settings["plan.cautious"]
        lines = [plain_text.cautious(*map(text.number, (self.epsilon, strictest)))]
        for each in (each for each in self.least if each.trust in self.numbers):
            before, answer = each.answer.value, self.with_cautious(each)
            if before is None or answer == view.EVALUATING:
                lines.append(f"{phrases.ROWS[each.trust]}: {plain_text.WORKING}")
            elif (after := answer.value) is None:
                lines.append(plain_text.no_answer(each.trust, answer.kind))
            else:
                numbers = self.numbers[each.trust], analyst_text.amount(after, up=True)
                lines.append(plain_text.cautious_row(each.trust, *numbers, after / before - 1))
        return lines

    @property
    def paragraph(self) -> str:
        """Return the text for a study protocol: plan, privacy, assumptions and limits, a paragraph each."""
        if self.chosen.trust not in self.numbers:
            return self._row(self.chosen)
        parts = {"Plan": self._sentence, "Privacy": self.guarantee, "Assumptions": self.likeness}
        parts["Limits"] = " ".join(plain_text.LIMITS)
        return "\n\n".join(f"{title}. {words}" for title, words in parts.items())

    @property
    def _sentence(self) -> str:
        """Return the plan in a sentence: the target, what it needs under the chosen trust, and where."""
        number = self.numbers[self.chosen.trust]
        where = f" in {text.count(self.settings['providers'], 'hospital', 'hospitals')}"
        if self.asked == "hospitals":
            where = f" of {self.size:,} patients{' each' * (number != '1')}"
        elif self.asked == "epsilon":
            where = f", with {self.n:,} patients{where}"
        d, amount = self.untuned_plan(self.chosen.name).experiment.d, plain_text.needed(self.asked, number)
        return plain_text.plan(self.goal, self.settings["k"], d, amount, where)

    @property
    def goal(self) -> str:
        """Return the target as the verb phrase of a study's aim, such as "recover at least 99 % of ..."."""
        if self.energetic:
            return plain_text.goal("energy", f"{100 * self.settings['plan.share']:g} %")
        shown = analyst_text.target_in_words(self.settings, self.settings["plan.target"])
        return plain_text.goal(analyst_text.goal_unit(self.settings), shown)

    @property
    def guarantee(self) -> str:
        """Return what each patient is promised and who is trusted; where no plan exists, why not."""
        value, settings, trust = self.chosen.answer.value, self.settings, self.chosen.trust
        if value is None:
            return self._row(self.chosen)  # the sentence that tells why
        # The rounded epsilon is promised, since that is the one which the plan states.
        epsilon = float(self.numbers[trust]) if self.asked == "epsilon" else self.epsilon
        # The patients of the plan, for which delta may be too large.
        n = {"patients": value, "hospitals": value * self.size}.get(self.asked, self.n)
        promised = plain_text.promise(epsilon, settings["delta"], n)
        return f"{promised} {plain_text.TRUST[trust]}"

    @property
    def likeness(self) -> str:
        """Return the sentence on what the numbers assume about patients."""
        settings = self.settings
        if self.table is not None:
            patterns = self.table.patterns(settings["k"])
            return plain_text.like_own_table(len(patterns), patterns[0].paid)
        if self.bundled is not None:
            return f"Patients are like those of this table: {self.bundled.title}."
        return plain_text.population(settings["k"], settings["s"], settings["spike"] / settings["bulk"])


def render() -> None:
    """Render the page in plain view."""
    settings = controls.choose_population(widgets.head(analyst_text.TITLE, plain_text.INTRODUCTION))
    controls.choose(Planner(settings))

    def panels() -> None:
        """Render the answers, with what has been evaluated so far."""
        # Made anew at each rendering: it holds what has been evaluated by then.
        plan = PlainPlan(settings)
        widgets.headline(plan.headline, "epsilon", "providers")  # on a telephone with these two sliders
        take_along.show(
            *(plan.figure(), "plain plan figure", "dppca-plan", analyst_text.TITLE),
            says=" ".join(plan.rows),
            code=plan.code_by_trust,
        )
        st.markdown(_listed(plan.rows))
        if plan.asked == "patients":
            st.header(plain_text.CAUTIOUS_TITLE)
            _show_cautious(plan)
        st.header(analyst_text.PARAGRAPH_TITLE)
        st.code(plan.paragraph, language=None, wrap_lines=True)

    planner = CautiousPlanner(settings | ADVISED)
    refresh.while_cells_come(panels, EVALUATIONS, planner.next_missing)
    link = streamlit.link(widgets.settings())
    html_report.button(partial(report, settings, link), "dppca-plan")
    streamlit.show_block(sources.fold(settings, partial(_about, planner), title=phrases.FOLD))


def _listed(lines: list[str]) -> str:
    """Return lines as a Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def _show_cautious(plan: PlainPlan) -> None:
    """Render what the most cautious hospital costs, or that nothing can be said about it."""
    if lines := plan.cautious():
        widgets.show_control("plan.cautious")
        st.markdown(f"{lines[0]}\n\n{_listed(lines[1:])}")
    else:
        st.markdown(plain_text.NOT_CAUTIOUS)


def _about(planner: Planner) -> Iterator[str]:
    """Return, for the fold below the page, the methods behind the sentences and which are recommended."""
    lines = ["| whom they trust | method | closed form | source |", "|---|---|---|---|"]
    for trust, name, _ in planner.by_trust():
        study = planner.untuned_plan(name)
        formula = "small simulations" if study.predicted else "–"
        formula = formula if study.no_formula else study.rule.title
        lines.append(f"| {phrases.ROWS[trust]} | {view.title(name)} | {formula} | {study.method.reference} |")
    yield "\n".join(lines)
    yield analyst_text.recommended(planner)
    yield plain_text.FOLD_NOTE


def report(settings: Settings, link: str) -> html_report.Report:
    """Return the report that is downloaded, after evaluating all that it needs. link: restores the page."""
    CautiousPlanner(settings | ADVISED).complete()
    plan = PlainPlan(settings)
    texts = {
        "In words": " ".join(plan.rows),
        plain_text.CAUTIOUS_TITLE: " ".join(plan.cautious()),
        analyst_text.PARAGRAPH_TITLE: plan.paragraph,
    }
    return html_report.Report(
        title=analyst_text.QUESTION,
        sentence=plan.headline,
        settings=[
            ("Target", f"To {plan.goal}"),
            ("Patients now", f"{plan.n:,}"),
            ("Hospitals", f"{settings['providers']:,}"),
            ("Privacy loss ε", text.number(settings["epsilon"])),
            ("Failure chance", text.one_in(settings["delta"])),
        ],
        figures=[html_report.ReportFigure(plan.figure(), plain_text.AXES[plan.asked], plan.rows[0])],
        texts=[(title, words) for title, words in texts.items() if words],
        guarantee=plan.guarantee,
        limits=[plan.likeness, *plain_text.LIMITS],
        sources=[
            plain_text.NO_SIMULATION,
            *(f"{phrases.ROWS[trust]}: {view.method(name).reference}." for trust, name, _ in plan.least),
            sources.made(settings["seed"]),
        ],
        link=link,
        made=sources.today(),
    )
