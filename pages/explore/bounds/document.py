"""Describe the bounds page: what papers promise beside what is measured, and a card for each bound."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.regime_map import RULES
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.bounds import charts, sentences
from pages.explore.bounds.model import THEOREM, Bounds
from pages.explore.bounds.settings import PANEL
from pages.shared.background import cache, failed_runs, refresh
from pages.shared.charts import error_unit
from pages.shared.document.blocks import (
    Block,
    Blocks,
    Card,
    Controls,
    Figure,
    Fold,
    Frame,
    Headline,
    Live,
    Measuring,
    Note,
    OnScreen,
    Section,
    Text,
)
from pages.shared.document.html import Document
from pages.shared.reports import sources
from pages.shared.reports.phrases import settings_in_words
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings


def at(settings: Settings) -> Document:
    m = Bounds(settings)
    return Document(
        title=sentences.TITLE,
        question=sentences.INTRODUCTION,
        stem="dppca-bounds",
        blocks=partial(_blocks, m),
        frame=partial(_frame, m),
        steps=sentences.STEPS,
    )


def _blocks(m: Bounds) -> Blocks:
    yield Controls("main settings", ("epsilon", "n"), on_telephone=True)
    yield Live("bounds", partial(_measured, m), Measuring(m.results, m.next_cell, m.first))
    yield from _map(m)
    yield Section("The bounds, one by one")
    for name in m.names:
        yield Card(tuple(_card(m, name)))
    yield from _figure_2(m)
    yield OnScreen((Text(f"**Try this:** {sentences.TRY_THIS}"),))
    constants = sentences.constants(m, THEOREM)
    yield sources.of_results(m.results, m.epsilon, m.settings, theorem=constants)


def _measured(m: Bounds) -> Blocks:
    headline = sentences.headline(m)
    bounds = {name: dict(m.constants(name)) for name in m.names}
    recipe = {"method": m.method, "bounds": bounds, "metric": error_unit(m.settings)}
    yield Headline(headline)
    yield failed_runs.by_method(m.results)
    yield Figure(
        name="bounds figure",
        payload=charts.against_epsilon(m),
        title=sentences.TITLE,
        stem="dppca-bounds",
        alt_text=headline,
        table=lambda: charts.table(m),
        code=lambda: _code(m, "against_epsilon", **recipe),
        recipe=lambda: to_experiment.over_epsilon(m.experiment, m.epsilon, (m.method,)),
    )
    yield Note(sentences.below_the_figure(m))
    if m.has_chances:
        yield from _chances(m)
    if THEOREM in m.names:
        terms = charts.terms(m)
        yield Text("**Theorem 4.3 term by term**, at this ε")
        yield Figure(
            name="terms figure",
            payload=terms,
            title="Theorem 4.3 term by term",
            stem="dppca-theorem-terms",
            alt_text=sentences.terms(terms, m.here[THEOREM].applies),
            code=lambda: _code(m, "terms", epsilon=m.epsilon, constants=dict(m.constants(THEOREM))),
        )
    yield Note("" if m.next_cell() is None else refresh.coming(len(m.results.cells)))


def _chances(m: Bounds) -> Blocks:
    alt_text, rule = f"{sentences.chances(m)} {sentences.CHANCES_NOTE}", CLOSED_FORMS[m.method]
    recipe = {"method": m.method, "rule": rule, "constants": dict(m.constants(rule))}
    yield Text(f"**{sentences.CHANCES}**, predicted and measured")
    yield Figure(
        name="chances figure",
        payload=charts.chances(m),
        title=sentences.CHANCES,
        stem="dppca-rows-recovered",
        alt_text=alt_text,
        code=lambda: _code(m, "chances", **recipe),
    )
    yield Note(alt_text)


def _map(m: Bounds) -> Blocks:
    by, n = m.settings["map"], m.experiment.n
    constants = m.constants(RULES[by])
    regime_map = cache.regimes(m.experiment, by, m.tau, constants)
    yield Section(sentences.MAP)
    yield Controls("map", ("map",))
    yield Figure(
        name="regime figure",
        payload=charts.regimes(regime_map, n, m.epsilon),
        title=sentences.MAP,
        stem="dppca-regimes",
        alt_text=sentences.regimes(regime_map, n, m.epsilon),
        code=lambda: _code(m, "regimes", by=by, constants=dict(constants)),
    )
    yield Note(sentences.REGIME_NOTES[by])


def _card(m: Bounds, name: str) -> Iterator[Block]:
    rule, bound = BOUNDS[name], m.here[name]
    yield Text(sentences.card_title(m, name))
    yield Text(f"$$\n{rule.formula}\n$$")
    yield Text(sentences.value(m, name))
    yield Text(sentences.assumptions(bound))
    sliders = (*(("tau",) if name == THEOREM else ()), *(f"{name}.{constant}" for constant in rule.constants))
    if sliders:
        yield Controls(name, sliders)
    if rule.fits and m.concerns(name):
        answer = lambda: [Text(sentences.fitted_constant(m, name))]  # noqa: E731
        yield Fold("What would the constant have to be?", f"fit {name}", answer)
    yield Note(f"Source: {bound.source}")


def _figure_2(m: Bounds) -> Blocks:
    heading = Section(sentences.FIGURE_2)
    yield heading if m.settings["figure2"] else OnScreen((heading,))
    yield Controls("figure2", ("figure2",))
    if not m.settings["figure2"]:
        return
    yield Figure(
        name="figure 2",
        payload=charts.figure_2(),
        title=sentences.FIGURE_2,
        stem="ge-figure-2",
        alt_text=sentences.FIGURE_2_NOTE,
        code=lambda: FigureRecipe("bounds.figure_2", {}),
    )
    yield Note(sentences.FIGURE_2_NOTE)


def _code(m: Bounds, figure: str, **values: Any) -> FigureRecipe:
    return FigureRecipe(f"bounds.{figure}", {"experiment": m.experiment, "tau": m.tau} | values)


def _frame(m: Bounds) -> Frame:
    return Frame(
        settings=settings_in_words(m.settings, first=("of",), without=PANEL.decided),
        promise="",
        limits=(*sources.limits(m.experiment), sentences.CONSTANTS_OPEN, sentences.incomplete(m)),
        made=sources.made(m.experiment.seed),
    )
