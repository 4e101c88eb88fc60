"""Describe the page that a board signs: one sheet of A4, at most 380 words and 30 an item."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dppca_core.accounting.deployments import deployments
from dppca_core.dossier import data_flow
from dppca_core.dossier.agreement import YEARS, Agreement
from dppca_core.experiments.decision.decision import ShareBar
from dppca_core.experiments.decision.rule import Answer
from pages.shared import text
from pages.shared.charts import Trace, arms, axis, bar, one_panel, style
from pages.shared.document.blocks import Blocks, Figure, Frame, Headline, Table, Text
from pages.shared.document.html import Document
from pages.shared.plain import phrases

TITLE = "Should we join? One page to sign"
STEM = "dppca-paper"
MOST_WORDS, MOST_OF_AN_ITEM = 380, 30
BLANK = "_" * 24
_LINE = BLANK * 3
_NAMES = {  # of the bars
    "alone": "Alone",
    "together": "Together, with privacy",
    "together, no privacy": "Together, no privacy",
}
SEALED = "No product we know runs this safely today; simulated only."


class _TrustWords(NamedTuple):
    """Hold what leaves our hospital and what never does, of sealed sums, and how we can stop."""

    leaves: str
    never_leaves: str
    sealed_sums: str
    stopping: str


_BY_TRUST = {
    "untrusted server": _TrustWords(
        leaves="Sums over our patients, with our own noise",
        never_leaves="Records, names, and sums without noise.",
        sealed_sums="Not used: each hospital adds its own noise, and nobody need be trusted.",
        stopping="We may stop before any message; the others can go on.",
    ),
    "secure aggregation": _TrustWords(
        leaves="Sums over our patients, with a share of the noise, sealed",
        never_leaves="Records, names, and any sum that can be read by itself.",
        sealed_sums=f"Only the sum over all hospitals can be read. {SEALED}",
        stopping="We may stop before any message; without us no sum opens.",
    ),
    "central": _TrustWords(
        leaves="Sums over our patients, without noise, for the trusted place alone",
        never_leaves="Records and names.",
        sealed_sums="Not used: one trusted place reads each hospital's sums, and adds the noise.",
        stopping="We may stop before any message; the trusted place keeps what it has.",
    ),
}
_WITHDRAWAL = "A patient who withdraws is left out of later releases. What was released stays."
_HEIGHT = 150  # pixels of the figure


def paper(agreement: Agreement, made: str) -> Document:
    """Return the page to sign, which prints on one sheet; made: when, with which seed and versions."""
    setting = agreement.setting
    use = "to publish" if setting.use == "publish" else "for our own use"
    question = (
        f"{agreement.ours.name}: {agreement.ours.patients:,} of {setting.n:,} patients in "
        f"{text.count(len(setting.hospitals), 'hospital', 'hospitals')}. The pattern is {use}."
    )
    frame = Frame((), promise="", limits=(), made=made, compact=True)
    return Document(TITLE, question, STEM, partial(_blocks, agreement), lambda: frame)


def _blocks(agreement: Agreement) -> Blocks:
    yield Headline(answer(agreement))
    yield Text(numbers(agreement))
    yield Figure("paper figure", _bars(agreement), phrases.TITLE, f"{STEM}-bars", alt_text=numbers(agreement))
    rows = [(f"**{name}**", words) for name, words in items(agreement)]
    yield Table(pd.DataFrame(rows, columns=["", ""]))


def answer(agreement: Agreement) -> str:
    decision = agreement.decision
    verdict = decision.in_words.capitalize()
    if decision.answer == Answer.JOIN_IF and not agreement.joins:
        return f"{verdict}; not if nobody is trusted."
    return f"{verdict}."


def numbers(agreement: Agreement) -> str:
    alone, together, free = (_share(agreement.bars[name]) for name in _NAMES)
    protected = ", protected" if agreement.setting.use == "publish" else ""
    whose = "our own pattern" if agreement.setting.differing else "the pattern"
    return (
        f"Share of {whose}: {alone} alone{protected}; {together} together, with privacy; {free} "
        f"together, no privacy. Medians of {agreement.setting.repeats} runs, 99 % intervals."
    )


def _share(each: ShareBar) -> str:
    lower = phrases.percent(each.lower).removesuffix(" %")
    return f"**{phrases.percent(each.median)}** ({lower} to {phrases.percent(each.upper).removesuffix(' %')})"


def items(agreement: Agreement) -> Iterator[tuple[str, str]]:
    """Yield the name and the words of each item, blank lines where only the hospital knows."""
    budget, words = agreement.budget, _BY_TRUST[agreement.noise_by]
    yield "Purpose", f"{_LINE}\\\n{_LINE}"
    yield "Benefit to patients", f"{_LINE}\\\n{_LINE}"
    yield "Whom we trust", f"{text.TRUST_TITLES[agreement.noise_by]}."
    yield "What leaves", _leaves(agreement)
    yield "What never leaves", words.never_leaves
    yield "Promise to each patient", text.odds(budget.epsilon, budget.delta)
    yield "Failure chance δ", _delta(agreement)
    yield "Privacy loss ε", f"{text.number(budget.epsilon)}, for one patient's record. {published()}"
    yield "Sealed sums", words.sealed_sums
    yield f"Budget for {YEARS} years", _years(agreement)
    yield "Leaving, withdrawal", f"{words.stopping} {_WITHDRAWAL}"
    yield "Not promised", "All of this to a patient in several hospitals; anything to a hospital as a whole."
    yield "Not checked", _not_checked(agreement)
    yield "Server run by", _LINE
    yield "Costs, staff days", f"{BLANK} a year, {BLANK} days"
    yield "Review on", BLANK
    yield "We decide", "☐ to join ☐ to stay alone ☐ to ask again"
    yield "Medical director", f"{BLANK * 2} date {BLANK}"
    yield "Data protection officer", f"{BLANK * 2} date {BLANK}"


def published() -> str:
    by_unit: dict[str, list[float]] = {}
    for release in deployments():
        if release.health:
            unit = release.unit.split(",")[0].removeprefix("a ").removeprefix("an ")
            by_unit.setdefault(unit, []).append(release.epsilon)
    spans = [f"{_span(values)} per {unit}" for unit, values in by_unit.items()]
    return f"Published health releases: {text.listed(spans)}; units differ, so not comparable."


def _span(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _leaves(agreement: Agreement) -> str:
    size, messages = data_flow.bytes_sent(agreement), data_flow.messages_sent(agreement)
    most = f"at most {text.size(size)} in {text.count(messages, 'message', 'messages')}"
    sums = f"{_BY_TRUST[agreement.noise_by].leaves}: {most}."
    return sums if agreement.joins else f"Nothing, unless we join. {sums}"


def _delta(agreement: Agreement) -> str:
    delta, n = agreement.budget.delta, agreement.setting.n
    if delta * n > 1:
        return f"{text.one_in(delta)}: too large beside 1/n, 1 in {n:,}."
    times = 1 / (delta * n)
    factor = text.patients(times) if times >= 10 else f"{times:.2g}"
    return f"{text.one_in(delta)}. It is 1/n, 1 in {n:,}, divided by {factor}."


def _years(agreement: Agreement) -> str:
    yearly, quarterly = agreement.over_years(1), agreement.over_years(4)
    return (
        f"For a patient in all, one release a year adds up to ε = {text.short(yearly.epsilon)}, four a year "
        f"to {text.short(quarterly.epsilon)}. To stay at {text.number(agreement.budget.epsilon)}: "
        f"{text.short(yearly.each)} or {text.short(quarterly.each)} each."
    )


def _not_checked(agreement: Agreement) -> str:
    return (
        f"Our patients: all shares are of {agreement.patients}. Hospitals that collude, noise in floating "
        "point, timing. No machine has checked the proofs."
    )


def _bars(agreement: Agreement) -> dict[str, Any]:
    shown = [agreement.bars[name] for name in _NAMES]
    own_use = agreement.setting.use == "in-house"
    colours = (style.NOT_PRIVATE if own_use else style.PRIVATE, style.PRIVATE, style.NOT_PRIVATE)
    traces = [
        bar(
            name,
            colour,
            fill=1,
            edge=1,
            x=[each.median],
            y=[name],
            error_x=_arms(each),
            text=phrases.percent(each.median),
            textposition="inside",
            insidetextanchor="start",
            hoverinfo="skip",
        )
        for name, colour, each in zip(_NAMES.values(), colours, shown, strict=True)
    ]
    return one_panel(
        traces,
        height=_HEIGHT,
        showlegend=False,
        margin={"l": 150, "r": 12, "t": 4, "b": 40},
        xaxis=axis(text.METRIC_TITLES["share"], range=[0, 101], fixedrange=True),
        yaxis=axis("", autorange="reversed", fixedrange=True),
    )


def _arms(each: ShareBar) -> Trace:
    low, middle, high = (np.array([end]) for end in (each.lower, each.median, each.upper))
    return arms(low, middle, high, style.INK)
