"""Build the planner's report on what a study needs, for a protocol or an ethics board."""

from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import charts, own_table, own_table_text, protocol_paragraph, view
from pages.hospitals.planner import table as table_of_methods
from pages.hospitals.planner import text as page_text
from pages.shared import text
from pages.shared.reports import html_report, phrases
from pages.shared.reports.html_report import Report, ReportFigure
from pages.shared.settings.catalogue import Settings

_KEYS = (
    *("d", "k", "s", "s_hat", "spike", "bulk", "largest_share", "iterations", "burn_in", "neighbours"),
    *("accounting", "scaling"),
)


def build(settings: Settings, simulations: view.Simulations, link: str) -> Report:
    """Return the answer, the chart, the table and the paragraph, with what has been simulated so far.

    Args:
        settings: Of the page.
        simulations: The simulated answers, by planned method.
        link: The address that restores the screen.
    """
    view.complete(settings)
    name = view.focus(settings)
    study, table = view.plan(settings, name), own_table.table_of(settings)
    simulation = simulations.get(name)
    headline, _, more = page_text.headline(settings, simulations).partition(". ")
    drawn = view.drawn(settings)
    figure = charts.figure(drawn, settings, simulations)
    about = f"{headline.removesuffix('.')}. {page_text.below_chart(settings, drawn.reaching)}"
    notes = text.unmarked(page_text.below_table(settings))
    methods = dict.fromkeys(PLANNED_METHODS[other].method for other in view.listed(settings))
    formulas = (*page_text.PLAIN_FORMULAS, phrases.accounting(settings))
    return Report(
        title=page_text.QUESTION,
        sentence=f"{headline.removesuffix('.')}.",
        settings=_settings_in_words(settings | {"plan.way": name}),
        figures=[ReportFigure(figure, "Where the target is reached", about)],
        tables=[phrases.table("By method", table_of_methods.table(settings, simulations), notes)],
        texts=[
            *([("Beside it", more)] if more else []),
            (page_text.PARAGRAPH_TITLE, protocol_paragraph.paragraph(settings, simulation)),
            *([("Recommended", advice)] if (advice := page_text.recommended(settings)) else []),
        ],
        guarantee=protocol_paragraph.guarantee(settings, simulation),
        limits=[*page_text.limits(settings, simulation), *protocol_paragraph.limits(settings)],
        sources=[
            text.unmarked(page_text.CLOSED_FORM if table is None else own_table_text.SOURCE),
            *((text.unmarked(page_text.SIMULATION),) if simulations else ()),
            *(formulas if settings["view"] == "researcher" and table is None else ()),
            *(() if study.no_formula else (f"{study.rule.title}: {study.rule.source}.",)),
            *((text.unmarked(page_text.TUNING),) if settings["plan.tuned"] == "tuned" else ()),
            *phrases.methods(list(methods), settings["k"]),
            html_report.made(settings["seed"]),
        ],
        link=link,
        made=html_report.today(),
    )


def _settings_in_words(settings: Settings) -> list[tuple[str, str]]:
    """Return the settings that the answer depends on, and what is public of a table that is planned for."""
    table, keys = own_table.table_of(settings), _keys(settings)
    target = ("Target", page_text.goal(settings))
    if table is None:
        return [target, *phrases.settings_in_words(settings, keys)]
    fixed = {"data", "d", "n", *_KEYS} - {"k", "neighbours"}
    given = phrases.settings_in_words(settings, [key for key in keys if key not in fixed])
    return [("Your table", own_table_text.facts(table)), target, *given]


def _keys(settings: Settings) -> tuple[str, ...]:
    """Return the settings that the answer depends on, without the target and the one that is asked for."""
    privacy = "n" if settings["plan.asked"] == "epsilon" else "epsilon"
    size = "plan.size" if settings["plan.asked"] == "hospitals" else "providers"
    return ("plan.asked", "plan.trust", "plan.way", "plan.tuned", privacy, size, "delta", "data", *_KEYS)
