"""Build the planner's report on what a study needs, for a protocol or an ethics board."""

from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import charts, protocol_paragraph, table, view
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
    study = view.plan(settings, name)
    simulation, plain = simulations.get(name), settings["view"] == "plain"
    headline = page_text.headline(settings, simulations)
    figure = charts.figure(view.drawn(settings), settings, simulations)
    about = f"{headline} {page_text.below_chart(settings)}"
    notes = text.unmarked(page_text.below_table(settings))
    methods = dict.fromkeys(PLANNED_METHODS[other].method for other in view.listed(settings))
    formulas = (*page_text.PLAIN_FORMULAS, phrases.accounting(settings))
    return Report(
        title=page_text.QUESTION,
        sentence=headline,
        settings=phrases.settings_in_words(settings | {"plan.way": name}, _keys(settings)),
        figures=[ReportFigure(figure, "Where the target is reached", about)],
        tables=[phrases.table("By method", table.table(settings, simulations), notes)],
        texts=[
            (page_text.PARAGRAPH_TITLE, protocol_paragraph.paragraph(settings, simulation)),
            *([("Recommended", advice)] if (advice := page_text.recommended(settings)) else []),
        ],
        guarantee=protocol_paragraph.guarantee(settings, simulation),
        limits=[*page_text.limits(settings, simulation), *protocol_paragraph.limits(settings)],
        sources=[
            text.unmarked(page_text.CLOSED_FORM),
            *((text.unmarked(page_text.SIMULATION),) if simulations else ()),
            *(formulas if settings["view"] == "researcher" else ()),
            *(() if study.no_formula else (f"{study.rule.title}: {study.rule.source}.",)),
            *((text.unmarked(page_text.TUNING),) if settings["plan.tuned"] == "tuned" else ()),
            *phrases.methods(list(methods), settings["k"], plain),
        ],
        link=link,
        made=html_report.made(settings["seed"]),
    )


def _keys(settings: Settings) -> tuple[str, ...]:
    """Return the settings that the answer depends on, without the one that is asked for."""
    target = ("plan.share",) if view.energetic(settings) else ("plan.target", "metric")
    privacy = "n" if settings["plan.asked"] == "epsilon" else "epsilon"
    size = "plan.size" if settings["plan.asked"] == "hospitals" else "providers"
    held = ("plan.trust", "plan.way", "plan.tuned", privacy, size, "delta", "data")
    return ("plan.asked", "plan.of", *target, *held, *_KEYS)
