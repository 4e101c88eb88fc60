"""Build the planner's report on what a study needs, for a protocol or an ethics board."""

from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.hospitals.planner import charts, own_table_text, protocol_paragraph
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner.view import Planner
from pages.shared import text
from pages.shared.reports import phrases, sources
from pages.shared.reports.html_report import Report, ReportFigure

_KEYS = (  # of settings that are listed after those on the page
    *("d", "k", "s", "s_hat", "spike", "bulk", "largest_share", "iterations", "burn_in", "neighbours"),
    *("accounting", "scaling"),
)


def build(planner: Planner, link: str) -> Report:
    """Return the answer, the chart, the table and the paragraph, with what has been simulated so far.

    Args:
        planner: With the settings of the page and its simulations.
        link: The address that restores the screen.
    """
    planner.complete()
    settings, study, drawn = planner.settings, planner.plan(), planner.drawn()
    headline, more = page_text.headline(planner), page_text.details(planner)
    about = f"{headline} {page_text.below_chart(planner, drawn)}"
    notes = text.unmarked(page_text.below_table(planner))
    methods = dict.fromkeys(PLANNED_METHODS[other].method for other in planner.listed)
    formulas = (*page_text.PLAIN_FORMULAS, phrases.accounting(settings))
    return Report(
        title=page_text.QUESTION,
        sentence=headline,
        settings=_settings_in_words(planner),
        figures=[ReportFigure(charts.figure(drawn, planner), "Where the target is reached", about)],
        tables=[phrases.table("By method", page_text.table(planner), notes)],
        texts=[
            *([("Beside it", more)] if more else []),
            (page_text.PARAGRAPH_TITLE, protocol_paragraph.paragraph(planner)),
            *([("Recommended", advice)] if (advice := page_text.recommended(planner)) else []),
        ],
        guarantee=protocol_paragraph.guarantee(planner),
        limits=[*page_text.limits(planner), *protocol_paragraph.limits(planner)],
        sources=[
            text.unmarked(page_text.CLOSED_FORM if planner.table is None else own_table_text.SOURCE),
            *((text.unmarked(page_text.SIMULATION),) if planner.simulations else ()),
            *(formulas if planner.table is None else ()),
            *(() if study.no_formula else (f"{study.rule.title}: {study.rule.source}.",)),
            *((text.unmarked(page_text.TUNING),) if settings["plan.tuned"] == "tuned" else ()),
            *phrases.methods(list(methods), settings["k"]),
            sources.made(settings["seed"]),
        ],
        link=link,
        made=sources.today(),
    )


def _settings_in_words(planner: Planner) -> list[tuple[str, str]]:
    """Return labels and texts of the settings that the answer depends on, and a table's public sizes.

    The target stands first, in words; what is asked for is left out, since it is no setting here.
    """
    privacy = "n" if planner.asked == "epsilon" else "epsilon"
    size = "plan.size" if planner.asked == "hospitals" else "providers"
    keys = ("plan.asked", "plan.trust", "plan.way", "plan.tuned", privacy, size, "delta", "data", *_KEYS)
    rows = [("Target", page_text.goal(planner))]
    if planner.table is not None:
        rows.insert(0, ("Your table", own_table_text.facts(planner.table)))
        fixed = {"data", "d", "n", *_KEYS} - {"k", "neighbours"}  # by the table, or without effect
        keys = tuple(key for key in keys if key not in fixed)
    # The method that the page shows may be another than the chosen one, which may not be listed.
    return [*rows, *phrases.settings_in_words(planner.settings | {"plan.way": planner.focus}, keys)]
