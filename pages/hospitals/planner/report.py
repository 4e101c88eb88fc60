"""The planner as a report: what a study needs, for a protocol or an ethics board."""

from __future__ import annotations

from collections.abc import Mapping

from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from dppca_core.experiments.planning.bisection import SimulatedAnswer
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.records import Bound
from pages.hospitals.planner import charts, protocol_paragraph, sources, table, view
from pages.hospitals.planner import text as page_text
from pages.shared import text
from pages.shared.reports import html_report, phrases
from pages.shared.reports.html_report import Report, ReportFigure
from pages.shared.settings.catalogue import Settings

_KEYS = (
    *("d", "k", "s", "s_hat", "spike", "bulk", "largest_share", "iterations", "burn_in", "neighbours"),
    *("accounting", "scaling"),
)
_FORMULAS = (
    "To first order: sin²Θ ≈ Σ_{j≤k<i} E|E_ij|² / (λ_j − λ_i)²; energy lost ≈ Σ_{j≤k<i} E|E_ij|² / "
    "(λ_j − λ_i) / Σ_{j≤k} λ_j; λ of the rows divided by the public bound B(n), solved with B(n) anew at "
    "every n.",
    "The simulated answer fits ln(mean sin²) = ln(closed form) + a + b ln n to the runs near it.",
)


def build(settings: Settings, read: Mapping[str, SimulatedAnswer], link: str) -> Report:
    """The answer, the chart, the table and the paragraph, with what has been simulated so far."""
    way = view.focus(settings)
    own, plain = read.get(way), settings["view"] == "board"
    sentence = page_text.headline(settings, read)
    figure = charts.figure(view.drawn(settings), settings, read)
    title = "Where the target is reached"
    promised = (
        protocol_paragraph.promised(settings, own)
        if protocol_paragraph.stated(settings, own)
        else "There is no plan at these settings, so nothing would be released and nothing is promised."
    )
    return Report(
        title="How many patients does it take?",
        sentence=sentence,
        settings=phrases.settings_in_words(settings | {"plan.way": way}, _keys(settings)),
        figures=[ReportFigure(figure, title, f"{sentence} {page_text.below_chart(settings)}")],
        tables=[
            phrases.table("By method", table.table(settings, read), text.unmarked(table.notes(settings)))
        ],
        texts=[("For a protocol or an ethics application", protocol_paragraph.paragraph(settings, own))],
        guarantee=promised,
        limits=_limits(settings, own),
        sources=[
            text.unmarked(sources.CLOSED_FORM),
            *((text.unmarked(sources.SIMULATION),) if read else ()),
            *(_FORMULAS if settings["view"] == "researcher" else ()),
            *((phrases.accounting(settings),) if settings["view"] == "researcher" else ()),
            f"{BOUNDS[PLANNED_METHODS[way].rule].title}: {_bound(settings).source}.",
            *phrases.methods(_methods(settings), settings["k"], plain),
        ],
        link=link,
        made=html_report.made(settings["seed"]),
    )


def _keys(settings: Settings) -> tuple[str, ...]:
    """The controls that the answer depends on: not the one that is asked for."""
    asked = settings["plan.asked"]
    target = ("plan.share",) if view.energetic(settings) else ("plan.target", "metric")
    held = {
        "patients": ("epsilon", "providers"),
        "epsilon": ("n", "providers"),
        "hospitals": ("epsilon", "plan.size"),
    }[asked]
    return ("plan.asked", "plan.of", *target, "plan.trust", "plan.way", *held, "delta", "data", *_KEYS)


def _methods(settings: Settings) -> list[str]:
    return list(dict.fromkeys(PLANNED_METHODS[name].method for name in view.listed(settings)))


def _bound(settings: Settings) -> Bound:
    """The closed form at the answer, or at this setting where there is none."""
    way = view.focus(settings)
    found = view.answer(settings, way)
    return found.bound or view.plan(settings, way).bound(view.in_total(settings), settings["epsilon"])


def _limits(settings: Settings, read: SimulatedAnswer | None) -> list[str]:
    bound, plain = _bound(settings), settings["view"] == "board"
    failed = [line.partition(": ")[2] for line in bound.why if not line.startswith("holds")]
    checked = len(bound.why)
    if not plain and failed:
        said = [f"The closed form needs, and does not have: {'; '.join(failed)}."]
    else:
        said = [f"{checked - len(failed)} of the {checked} assumptions that the formula rests on hold here."]
    if read is None:
        said.append("By formula only: no simulation was asked for.")
    elif read.state == "measuring":
        said.append("By formula: the simulation had not ended when this was made.")
    if settings["data"] in TABLES:
        said.append("Nobody can simulate more patients than a table has: this is by formula only.")
    said.append(protocol_paragraph.assumed(settings))
    said += [f"{one[0].upper()}{one[1:]}." for one in protocol_paragraph.limits()]
    return said
