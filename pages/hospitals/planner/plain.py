"""Render the planner in plain view: what a study needs, by whom the hospitals trust."""

import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.evaluations import EVALUATIONS
from dppca_core.experiments.planning.planning import PlanAnswer
from pages.hospitals.planner import controls, figure_code, own_table, plain_chart, plain_text, view
from pages.hospitals.planner import text as analyst_text
from pages.hospitals.planner.plain_chart import NeedBar
from pages.shared import text
from pages.shared.background import engine, refresh, sessions
from pages.shared.figure import component
from pages.shared.plain import phrases
from pages.shared.reports import html_report, sources, take_along
from pages.shared.reports.html_report import Report, ReportFigure
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

_KEY = "plain plan figure"
# What a board neither sees nor moves: as we advise it, whatever a statistician's link says.
_ADVISED = {
    **{"plan.trust": "any", "plan.tuned": "published", "plan.simulate": False},
    **{"accounting": "exact", "scaling": "public"},
}


class Need(NamedTuple):
    """Hold what is needed under one trust, as an answer and as a number; "" where there is none."""

    least: view.TrustAnswer
    number: str

    @property
    def answer(self) -> PlanAnswer:
        return self.least.answer

    @property
    def sentence(self) -> str:
        """Return why there is no number."""
        if self.answer == view.EVALUATING:
            return f"{phrases.ROWS[self.least.trust]}: {plain_text.WORKING}"
        return plain_text.no_answer(self.least.trust, self.answer.kind)


def needs(settings: Settings) -> list[Need]:
    """Return what is needed under each trust, the least first."""
    asked, result = settings["plan.asked"], []
    for least in reversed(view.by_trust(settings)):
        current = least.answer.value
        result.append(Need(least, "" if current is None else analyst_text.number(current, asked)))
    return result


def sentences(settings: Settings, each: list[Need]) -> list[str]:
    """Return a sentence for each trust, and which of them the patients there are allow."""
    asked = settings["plan.asked"]
    lines = [
        plain_text.row(need.least.trust, asked, need.number) if need.number else need.sentence
        for need in each
    ]
    if asked == "patients" and any(need.number for need in each):
        n = view.in_total(settings)
        able = [need.least.trust for need in each if (need.answer.value or math.inf) <= n]
        lines.append(plain_text.enough(n, able))
    if any(map(analyst_text.doubt, (need.answer for need in each if need.number))):
        lines.append(plain_text.UNCERTAIN)
    return lines


def headline(settings: Settings, each: list[Need]) -> str:
    """Return the answer in one sentence."""
    if view.EVALUATING in (need.answer for need in each):
        return plain_text.WORKING
    numbers = {need.least.trust: need.number for need in each if need.number}
    return plain_text.headline(settings["plan.asked"], numbers)


def figure(settings: Settings, each: list[Need]) -> dict[str, object]:
    """Return the bars, with a line at what there is now."""
    asked = settings["plan.asked"]
    bars = [
        NeedBar(
            need.least.trust,
            phrases.ROWS[need.least.trust],
            float(need.answer.value or math.nan),
            need.number or ("…" if need.answer == view.EVALUATING else "no number"),
        )
        for need in each
    ]
    now = {"patients": view.in_total(settings), "hospitals": settings["providers"]}
    return plain_chart.figure(bars, plain_text.AXES[asked], now.get(asked, settings["epsilon"]))


def cautious(settings: Settings, each: list[Need]) -> list[str]:
    """Return what one more cautious hospital costs under each trust that has an answer."""
    epsilon = settings["epsilon"]
    lines = [plain_text.cautious(*map(text.number, (epsilon, epsilon / settings["plan.cautious"])))]
    for need in each:
        before = need.answer.value
        if before is None:
            continue
        after = view.with_cautious(settings, need.least).value
        if after is None:
            lines.append(f"{phrases.ROWS[need.least.trust]}: {plain_text.WORKING}")
            continue
        shown = analyst_text.amount(after, up=True)
        lines.append(plain_text.cautious_row(need.least.trust, need.number, shown, after / before - 1))
    return lines


def render() -> None:
    """Render the page."""
    settings = controls.choose_population(widgets.head(analyst_text.TITLE, plain_text.INTRODUCTION))
    controls.choose(settings)
    settings, trust = settings | _ADVISED, settings["trust"]
    next_missing = partial(_next_missing, settings)

    def panels() -> None:
        each = needs(settings)
        sentence = headline(settings, each)
        widgets.headline(sentence, "epsilon", "providers")
        drawn, lines = figure(settings, each), sentences(settings, each)
        component.figure(drawn, key=_KEY, says=" ".join(lines))
        take_along.menu(
            *(_KEY, "dppca-plan", "Planner", lambda: drawn), code=lambda: figure_code.by_trust(settings)
        )
        st.markdown("\n".join(f"- {line}" for line in lines))
        if settings["plan.asked"] == "patients" and any(need.number for need in each):
            st.header(plain_text.CAUTIOUS_TITLE)
            _show_cautious(settings, each)
        st.header(analyst_text.PARAGRAPH_TITLE)
        st.code(paragraph(settings, each, trust), language=None, wrap_lines=True)
        if next_missing() is not None:
            engine.engine().complete(sessions.visitor(), EVALUATIONS, next_missing)

    refresh.while_more(panels, lambda: next_missing() is not None)
    build = partial(report, settings, trust, html_report.link(widgets.settings(), "planner"))
    html_report.button(build, "dppca-plan")
    sources.foot(settings, partial(_about, settings), "", title=phrases.FOLD)


def _next_missing(settings: Settings) -> view.Evaluation | None:
    return EVALUATIONS.first_missing(view.wanted_by_trust(settings))


def _show_cautious(settings: Settings, each: list[Need]) -> None:
    if not view.has_cautious(settings):
        st.markdown(plain_text.ONE_HOSPITAL)
        return
    widgets.choose("plan.cautious")
    lead, *lines = cautious(settings, each)
    st.markdown("\n".join((lead, "", *(f"- {line}" for line in lines))))


def _about(settings: Settings) -> Iterator[str]:
    """Return for statisticians the methods behind the rows, and which are recommended there."""
    lines = ["| whom they trust | method | closed form | source |", "|---|---|---|---|"]
    for trust, name, _ in view.by_trust(settings):
        study, method = view.published(settings, name), view.method(name)
        formula = "–" if study.no_formula else study.rule.title
        lines.append(f"| {phrases.ROWS[trust]} | {view.title(name)} | {formula} | {method.reference} |")
    yield "\n".join(lines)
    yield analyst_text.recommended(settings)
    yield plain_text.FOLD_NOTE


def paragraph(settings: Settings, each: list[Need], trust: str) -> str:
    """Return the paragraph for a protocol under a trust: plan, privacy, assumptions and limits."""
    need = _under(each, trust)
    if not need.number:
        return need.sentence
    return "\n\n".join(
        (
            f"Plan. {_plan(settings, need)}",
            f"Privacy. {guarantee(settings, need)}",
            f"Assumptions. {assumptions(settings)}",
            f"Limits. {' '.join(plain_text.LIMITS)}",
        )
    )


def _under(each: list[Need], trust: str) -> Need:
    return next(need for need in each if need.least.trust == trust)


def _plan(settings: Settings, need: Need) -> str:
    asked, study = settings["plan.asked"], view.published(settings, need.least.name)
    where = f" in {text.count(settings['providers'], 'hospital', 'hospitals')}"
    if asked == "hospitals":
        where = f" of {settings['plan.size']:,} patients{' each' * (need.number != '1')}"
    elif asked == "epsilon":
        where = f", with {view.in_total(settings):,} patients{where}"
    amount = plain_text.needed(asked, need.number)
    return plain_text.plan(_goal(settings), settings["k"], study.experiment.d, amount, where)


def _goal(settings: Settings) -> str:
    if view.energetic(settings):
        return plain_text.goal("energy", f"{100 * settings['plan.share']:g} %")
    unit = analyst_text.goal_unit(settings)
    return plain_text.goal(unit, analyst_text.in_goal(settings, settings["plan.target"]))


def guarantee(settings: Settings, need: Need) -> str:
    """Return what each patient is promised, and who is trusted."""
    asked, value = settings["plan.asked"], need.answer.value
    if value is None:
        return need.sentence
    epsilon = float(need.number) if asked == "epsilon" else settings["epsilon"]
    patients = {"patients": value, "hospitals": value * settings["plan.size"]}
    n = patients.get(asked, view.in_total(settings))
    promised = plain_text.promise(epsilon, settings["delta"], settings["neighbours"], n)
    return f"{promised} {plain_text.TRUST[need.least.trust]}"


def assumptions(settings: Settings) -> str:
    """Return what patients are taken to be."""
    public, table = own_table.table_of(settings), TABLES.get(settings["data"])
    if public is not None:
        patterns = public.patterns(settings["k"])
        return plain_text.like_own_table(len(patterns), patterns[0].paid)
    if table is not None:
        return plain_text.like_table(table.title)
    return plain_text.population(settings["k"], settings["s"], settings["spike"] / settings["bulk"])


def report(settings: Settings, trust: str, link: str) -> Report:
    """Return the report."""
    while (missing := _next_missing(settings)) is not None:
        EVALUATIONS.try_cell(*missing)
    each = needs(settings)
    lines = sentences(settings, each)
    texts = [("In words", " ".join(lines)), (analyst_text.PARAGRAPH_TITLE, paragraph(settings, each, trust))]
    if view.has_cautious(settings) and any(need.number for need in each):
        texts.insert(1, (plain_text.CAUTIOUS_TITLE, " ".join(cautious(settings, each))))
    return Report(
        title=analyst_text.QUESTION,
        sentence=headline(settings, each),
        settings=list(_settings_in_words(settings)),
        figures=[ReportFigure(figure(settings, each), plain_text.AXES[settings["plan.asked"]], lines[0])],
        texts=texts,
        guarantee=guarantee(settings, _under(each, trust)),
        limits=[assumptions(settings), *plain_text.LIMITS],
        sources=[
            plain_text.NO_SIMULATION,
            *(f"{phrases.ROWS[at]}: {view.method(name).reference}." for (at, name, _), _ in each),
            html_report.made(settings["seed"]),
        ],
        link=link,
        made=html_report.today(),
    )


def _settings_in_words(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "Target", f"To {_goal(settings)}"
    yield "Patients now", f"{view.in_total(settings):,}"
    yield "Hospitals", f"{settings['providers']:,}"
    yield "Privacy loss", text.number(settings["epsilon"])
    yield "Chance that privacy fails", text.one_in(settings["delta"])
