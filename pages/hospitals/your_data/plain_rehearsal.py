"""Render the rehearsal in plain view: how much of the pattern a release would recover."""

import math
from typing import Any

import streamlit as st

from pages.hospitals.your_data import figure_code, plain_text
from pages.hospitals.your_data.rehearsal import Twin, first_errors
from pages.shared.charts import style
from pages.shared.figure import component
from pages.shared.plain import rows
from pages.shared.plain.rows import ShareRow, Shares
from pages.shared.reports import take_along

_KEY = "own plain rehearsal"


def shares(twin: Twin) -> Shares:
    """Return what a release recovers on each population, the worst first, and what a guess does, in %."""
    experiment = twin.experiment
    colour = style.look(experiment.method).colour
    each = tuple(
        ShareRow(
            f"Pattern {at.pattern.title}", rows.spread(first_errors(at), experiment.k), colour, at is twin
        )
        for at in (twin, *(other for other in twin.others if not other.pattern.guessed))
    )
    return Shares(each, math.nan, 100 * experiment.k / experiment.d)


def figure(twin: Twin) -> dict[str, Any]:
    """Draw the rows."""
    return rows.figure(shares(twin))


def sentence(twin: Twin) -> str:
    """Return what the worst population promises."""
    worst = shares(twin)
    return plain_text.rehearsed(worst.rows[0].share, worst.guess)


def show(twin: Twin) -> None:
    """Render sentence and figure."""
    st.markdown(f"{plain_text.REHEARSAL} {plain_text.WORST}")
    st.markdown(sentence(twin))
    drawn = figure(twin)
    component.figure(drawn, key=_KEY, says=rows.description(shares(twin)))
    take_along.menu(
        *(_KEY, "rehearsal", "Rehearsal on invented patients", lambda: drawn),
        code=lambda: figure_code.rehearsal(twin),
    )
