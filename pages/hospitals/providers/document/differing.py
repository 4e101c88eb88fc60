"""Describe what full view compares where hospitals differ: standardising, each hospital, what is missing."""

from collections.abc import Iterator
from functools import partial

from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.hospitals.providers.charts import differing as charts
from pages.hospitals.providers.model.differing import SiteView, to_recipe
from pages.hospitals.providers.sentences import differing as sentences
from pages.shared import text
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.document.blocks import (
    Blocks,
    Controls,
    Figure,
    Fold,
    Live,
    Measuring,
    Note,
    Section,
    Table,
    Text,
)
from pages.shared.reports import phrases, sources
from pages.shared.settings.catalogue import Settings


def view(settings: Settings) -> SiteView:
    return SiteView(cache.site_results(to_recipe(settings)), settings)


def compared(shown: SiteView) -> Blocks:
    synthetic, results = shown.recipe.synthetic, shown.results
    yield Controls("sites", ("sites.method", "sites.kind", "sites.share", "sites.against"))
    if synthetic:
        yield Controls("strength", ("sites.strength", "sites.differ"))
    yield Note("\n\n".join(sentences.notes(shown)))
    missing = partial(results.next_missing, shown.strength, shown.kind)
    yield Live("differing", partial(_measured, shown), Measuring(results, missing, partial(_first, shown)))
    if not synthetic:
        yield Section(sentences.MISSING)
        yield Figure(
            "missing figure",
            charts.missing(),
            title=sentences.MISSING,
            stem="dppca-missing",
            alt_text=sentences.missing(),
            code=lambda: FigureRecipe("collaboration.missing", {}),
        )
        yield Note(sentences.missing())


def _first(shown: SiteView) -> Iterator[None]:
    """Measure step by step the runs needed before anything is shown; the background measures the rest."""
    results = shown.results
    return engine.missing_cells(
        results, lambda: results.first_missing(results.first(shown.strength, shown.kind))
    )


def _measured(shown: SiteView) -> Blocks:
    results = shown.results
    coming = results.next_missing(shown.strength, shown.kind) is not None
    details = sentences.details(shown) or (text.MEASURING if coming else failed_runs.NO_ANSWER)
    yield failed_runs.notice(results.failed)
    yield Section(sentences.STANDARDISING)
    draw = charts.against_strength if shown.recipe.synthetic else charts.by_kind
    yield Figure(
        "standardising figure",
        draw(shown),
        title=sentences.STANDARDISING,
        stem="dppca-standardising",
        alt_text=details,
        table=results.table,
        code=lambda: shown.code("standardising"),
    )
    yield Text(details)
    yield Table(sentences.costs(shown))
    yield Note(sentences.below_costs(shown.recipe))
    yield Section(sentences.BY_HOSPITAL)
    about = sentences.about_joining(shown)
    yield Figure(
        "hospitals figure",
        charts.joining(shown),
        title=sentences.BY_HOSPITAL,
        stem="dppca-hospitals",
        alt_text=about,
        table=results.table,
        code=lambda: shown.code("joining"),
    )
    yield Note(about)
    yield Note(refresh.coming(len(results.cells)) if coming else sentences.runs(shown))


def origins(shown: SiteView, decided: str) -> Fold:
    methods = phrases.methods([shown.recipe.method], shown.recipe.k)
    about = (decided, sentences.about(shown.recipe), *methods, sentences.FORMULAS)
    return sources.fold(shown.settings, lambda: about, sentences.LIMITS)
