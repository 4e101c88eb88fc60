"""The planner as a report: what a study needs, for a protocol or an ethics board."""

from __future__ import annotations

from collections.abc import Mapping

from dppca_core.bounds import BOUNDS
from dppca_core.datasets import TABLES
from dppca_core.experiments.bisection import Reading
from dppca_core.experiments.planning import WAYS
from dppca_core.types import Bound
from pages.shared import (
    plan_charts,
    plan_origins,
    plan_protocol,
    plan_table,
    plan_words,
    plans,
    report,
    report_words,
    text,
)
from pages.shared.choices import Settings
from pages.shared.report import Drawn, Report

_KEYS = ("d", "k", "s", "shat", "spike", "bulk", "share", "T", "burn", "neighbours", "accounting", "scaling")
_FORMULAS = (
    "To first order: sin²Θ ≈ Σ_{j≤k<i} E|E_ij|² / (λ_j − λ_i)²; energy lost ≈ Σ_{j≤k<i} E|E_ij|² / "
    "(λ_j − λ_i) / Σ_{j≤k} λ_j; λ of the rows divided by the public bound B(n), solved with B(n) anew at "
    "every n.",
    "The simulated answer fits ln(mean sin²) = ln(closed form) + a + b ln n to the runs near it.",
)


def build(settings: Settings, read: Mapping[str, Reading], link: str) -> Report:
    """The answer, the chart, the table and the paragraph, with what has been simulated so far."""
    way = plans.focus(settings)
    own, plain = read.get(way), settings["view"] == "board"
    sentence = plan_words.headline(settings, read)
    figure = plan_charts.figure(plans.drawn(settings), settings, read)
    title = "Where the target is reached"
    promised = (
        plan_protocol.promised(settings, own)
        if plan_protocol.stated(settings, own)
        else "There is no plan at these settings, so nothing would be released and nothing is promised."
    )
    return Report(
        title="How many patients does it take?",
        sentence=sentence,
        settings=report_words.settings_said(settings | {"plan.way": way}, _keys(settings)),
        figures=[Drawn(figure, title, f"{sentence} {plan_words.below_chart(settings)}")],
        tables=[
            report_words.table(
                "By method", plan_table.table(settings, read), text.unmarked(plan_table.notes(settings))
            )
        ],
        texts=[("For a protocol or an ethics application", plan_protocol.paragraph(settings, own))],
        guarantee=promised,
        limits=_limits(settings, own),
        sources=[
            text.unmarked(plan_origins.CLOSED_FORM),
            *((text.unmarked(plan_origins.SIMULATION),) if read else ()),
            *(_FORMULAS if settings["view"] == "researcher" else ()),
            *((report_words.accounting(settings),) if settings["view"] == "researcher" else ()),
            f"{BOUNDS[WAYS[way].rule].title}: {_bound(settings).source}.",
            *report_words.methods(_methods(settings), settings["k"], plain),
        ],
        link=link,
        made=report.made(settings["seed"]),
    )


def _keys(settings: Settings) -> tuple[str, ...]:
    """The controls that the answer depends on: not the one that is asked for."""
    asked = settings["plan.asked"]
    target = ("plan.share",) if plans.energetic(settings) else ("plan.target", "metric")
    held = {"patients": ("eps", "N"), "epsilon": ("n", "N"), "hospitals": ("eps", "plan.size")}[asked]
    return ("plan.asked", "plan.of", *target, "plan.trust", "plan.way", *held, "delta", "data", *_KEYS)


def _methods(settings: Settings) -> list[str]:
    return list(dict.fromkeys(WAYS[name].method for name in plans.listed(settings)))


def _bound(settings: Settings) -> Bound:
    """The closed form at the answer, or at this setting where there is none."""
    way = plans.focus(settings)
    found = plans.answer(settings, way)
    return found.bound or plans.plan(settings, way).bound(plans.in_total(settings), settings["eps"])


def _limits(settings: Settings, read: Reading | None) -> list[str]:
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
    said.append(plan_protocol.assumed(settings))
    said += [f"{one[0].upper()}{one[1:]}." for one in plan_protocol.limits()]
    return said
