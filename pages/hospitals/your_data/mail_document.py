"""Describe what a joint study by mail gives, on screen and as a file. No Streamlit here."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from dppca_core.joint import document, in_words
from dppca_core.joint.combine import JointResult
from dppca_core.joint.forecast import forecast
from dppca_core.joint.plan import JointPlan
from dppca_core.methods import METHODS
from dppca_core.release import bundle
from dppca_core.release.projector import METHOD as PROJECTOR
from dppca_core.release.projector import ON_A_GOOD_EVENT
from pages.hospitals.your_data import charts, plain_text, results, sources
from pages.shared import text
from pages.shared.document.blocks import Blocks, Figure, Fold, Frame, Note, Notice, Section, Table, Text
from pages.shared.document.html import Document
from pages.shared.plain import phrases
from pages.shared.reports.sources import today

STEM = "dppca-joint-study"
_READING = (
    "How much a hospital counts follows from its patients and its privacy loss alone. What stands out from "
    "the noise could still be chance in who the patients are."
)


def leaving(plan: JointPlan, named: bool) -> Table:
    """Return all fields of an answer, with their numbers and bytes; named: with their names in the file."""
    rows = [
        (each.name, each.what, *((f"{each.numbers:,}", f"{each.size:,}") if each.noisy else ("public", "–")))
        for each in in_words.leaves(plan)
    ]
    frame = pd.DataFrame(rows, columns=["field", "what it is", "noisy numbers", "bytes"])
    return Table(frame if named else frame.drop(columns="field"))


def combined(made: JointResult, plain: bool) -> Blocks:
    words, plan = results.words_of(plain), made.plan
    yield Text(text.literal(_who_is_there(made) if plain else " ".join(in_words.missing(made))))
    if plan.method == PROJECTOR:
        yield Notice(ON_A_GOOD_EVENT, warns=True)
    yield Notice(text.literal(" ".join(in_words.left_out(made))), warns=True)
    features = plan.dictionary.features
    drawn = charts.loadings(features, made.components, made.loading_std, words.COMPONENT, words.LOADING)
    yield Figure(
        "joint loadings",
        drawn,
        title=f"{words.COMPONENT.capitalize()}s of the joint study",
        stem="joint-components",
        alt_text=charts.describe_loadings(drawn, words.COMPONENT),
    )
    clear = int(np.count_nonzero(np.abs(made.components) > charts.SURE * made.loading_std))
    yield Text(plain_text.apart(clear, made.components.size, words.LOADING))
    yield Section("What each hospital adds")
    yield Table(pd.DataFrame(list(_hospitals(made, plain))))
    yield Note(_READING)
    yield Text(text.literal(_turned(made) if plain else " ".join(in_words.turned(made))))
    yield Fold(phrases.FOLD, "joint study in full", partial(_in_full, made))


def _who_is_there(made: JointResult) -> str:
    """Return who has answered, and the share of the pattern that noise should leave with fewer."""
    sentence = in_words.missing(made)[0]
    errors = forecast(made.plan).error, forecast(made.plan, made.there).error
    if not made.missing or None in errors:
        return sentence
    whole, fewer = (phrases.percent(_share_left(made, error or 0.0)) for error in errors)
    return f"{sentence} By the formula these recover {fewer} of the pattern, and all {whole}."


def _share_left(made: JointResult, error: float) -> float:
    return 100 * (1 - error**2 / made.plan.k)


def _turned(made: JointResult) -> str:
    """Return without whom the pattern changes most; nothing for fewer than three hospitals."""
    if made.turned is None or len(made.turned) < 3:
        return ""
    most = int(made.turned.argmax())
    return (
        f"Without {made.there[most].name} the pattern changes most, by {_changed(made, most)}. One that "
        "changes it far more than the others differs from them, erred, or lied: ask it."
    )


def _changed(made: JointResult, hospital: int) -> str:
    assert made.turned is not None
    return text.percent(float(made.turned[hospital]) ** 2 / made.plan.k)


def _hospitals(made: JointResult, plain: bool) -> Iterator[dict[str, str]]:
    for i, (hospital, n) in enumerate(zip(made.there, made.patients, strict=True)):
        shown = {
            "hospital": text.literal(hospital.name),
            "patients": f"{n:,}",
            "privacy loss": f"{hospital.epsilon:g}",
            "counts for" if plain else "weight": text.percent(float(made.shares[i])),
        }
        if made.turned is not None:
            shown |= (
                {"changes, without it": _changed(made, i)}
                if plain
                else {"turns by, without it": text.short(float(made.turned[i]))}
            )
        yield shown


def _in_full(made: JointResult) -> Blocks:
    yield Text("\n".join(f"- {text.literal(sentence)}" for sentence in in_words.components(made)))
    frame = bundle.loadings(document.document(made))
    listed = frame.iloc[charts.strongest(made.components)]
    yield Table(listed.reset_index(drop=True), wide=True)


def file_of(made: JointResult, plain: bool) -> Document:
    plan = made.plan
    frame = Frame(_settings(made, plain), _promise(made), document.NOT_COVERED, today())

    def blocks() -> Blocks:
        yield from combined(made, plain)
        yield Section("What was agreed")
        agreed = [*in_words.plan(plan), f"The plan's 12 words: {' '.join(plan.words)}."]
        yield Fold(phrases.FOLD, "agreed", lambda: [Text("\n".join(f"- {text.literal(x)}" for x in agreed))])
        yield sources.fold([plan.method])

    return Document(f"A joint study by mail: {plan.name}", "", STEM, blocks, lambda: frame)


def _settings(made: JointResult, plain: bool) -> list[tuple[str, str]]:
    plan = made.plan
    entries = [
        ("Hospitals", f"{len(made.there):,} of {len(plan.hospitals):,}"),
        ("Patients", f"{sum(made.patients):,}"),
        ("Measurements", f"{len(plan.dictionary.columns):,}"),
        ("Patterns" if plain else "Components k", f"{plan.k:,}"),
        ("The plan's 12 words", " ".join(plan.words)),
    ]
    return entries if plain else [*entries, ("Method", METHODS[plan.method].title)]


def _promise(made: JointResult) -> str:
    """Return what the patients of the hospital with the weakest promise have."""
    if made.plan.method == PROJECTOR:
        return ON_A_GOOD_EVENT
    loosest = max(made.there, key=lambda hospital: (hospital.epsilon, hospital.delta))
    whose = (
        "" if len({hospital.epsilon for hospital in made.there}) == 1 else f"Of {loosest.name}, the loosest: "
    )
    return f"{whose}{text.odds(loosest.epsilon, loosest.delta)}"
