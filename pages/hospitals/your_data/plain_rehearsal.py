"""Render the rehearsal in plain view: how much of the pattern a release would recover."""

import math
from functools import partial

import streamlit as st

from dppca_core.experiments.explorer import trusts
from pages.hospitals.your_data import figure_code, plain_text
from pages.hospitals.your_data.rehearsal import Twin, first_errors
from pages.shared.charts import style
from pages.shared.plain import screen
from pages.shared.plain.rows import ShareRow, Shares


def shares(twin: Twin) -> Shares:
    """Return what a release recovers on each population, the worst first, and what a guess does, in %."""
    experiment = twin.experiment
    colour = style.look(experiment.method).colour
    each = tuple(
        ShareRow(
            f"Pattern {at.pattern.title}", trusts.spread(first_errors(at), experiment.k), colour, at is twin
        )
        for at in twin.rehearsed
    )
    return Shares(each, math.nan, 100 * experiment.k / experiment.d)


def sentence(twin: Twin) -> str:
    """Return what the worst population promises."""
    worst = shares(twin)
    return plain_text.rehearsed(worst.rows[0].share, worst.guess)


def show(twin: Twin) -> None:
    """Render sentence and figure."""
    st.markdown(plain_text.REHEARSAL)
    st.markdown(sentence(twin))
    code = partial(figure_code.rehearsal, twin, twin.epsilon)
    screen.bars(shares(twin), "rehearsal", plain_text.REHEARSED, note=plain_text.WORST, code=code)
