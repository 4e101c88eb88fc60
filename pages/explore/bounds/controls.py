"""The bounds page's own controls: which bounds, their free constants, a card for each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from dppca_core.bounds import BOUNDS, fit_constant
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.regime_map import RULES, RegimeMap
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.records import Bound
from pages.explore.bounds import settings as page_settings
from pages.explore.bounds.charts import state
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts.metric_axis import Scale
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings

_KINDS = {"upper": "upper bound", "lower": "lower bound", "prediction": "closed-form prediction"}
_STATES = {
    "applies": ":green[every assumption holds]",
    "assumption fails": ":orange[an assumption fails]",
    "void": ":red[says nothing here]",
}


def choose(settings: Settings) -> list[str]:
    """Which method is measured, and which bounds are drawn; their names."""
    left, right = st.columns([1, 3])
    with left:
        widgets.choose("of")
    with right.expander(
        f"Bounds drawn: {len(drawn(settings))} of {len(page_settings.SIN_BOUNDS)}", key="bound list"
    ):
        columns = st.columns(2)
        for i, name in enumerate(page_settings.SIN_BOUNDS):
            with columns[i % 2]:
                widgets.choose(f"show.{name}")
    return drawn(settings)


def drawn(settings: Settings) -> list[str]:
    """Names of the bounds that are switched on."""
    return [name for name in page_settings.SIN_BOUNDS if settings[f"show.{name}"]]


def constants(settings: Settings, name: str) -> dict[str, float]:
    """The free constants of a bound, as the sliders have them."""
    return {constant: settings[f"{name}.{constant}"] for constant in BOUNDS[name].constants}


def evaluated(experiment: ExplorerExperiment, name: str, settings: Settings) -> tuple[Bound, ...]:
    """A bound at every epsilon of the sweep, with the sliders' constants."""
    return cache.bounds(experiment, name, settings["tau"], tuple(constants(settings, name).items()))


def regions(experiment: ExplorerExperiment, settings: Settings) -> RegimeMap:
    """The map, with the sliders' constants of the bound behind it."""
    by = settings["map"]
    return cache.regimes(experiment, by, settings["tau"], tuple(constants(settings, RULES[by]).items()))


def speaks_of(name: str, of: str) -> bool:
    """Whether the bound is about this method's error."""
    return not BOUNDS[name].methods or of in BOUNDS[name].methods


def headline(
    found: Results, of: str, here: Mapping[str, Bound], epsilon: float, scale: Scale, plain: bool = False
) -> str:
    """One sentence: what was measured, and how many bounds speak."""
    cells = found.measured(of, epsilon)
    most = math.sqrt(min(found.experiment.k, found.experiment.d - found.experiment.k))
    states = [state(name, bound, most) for name, bound in here.items() if speaks_of(name, of)]
    middle = text.error(float(np.median([scale.last(cell) for cell in cells]))) if cells else "…"
    failing, void = states.count("assumption fails"), states.count("void")
    setting = f"{'privacy setting' if plain else 'ε ='} {text.number(epsilon)}"
    return (
        f"At {setting}, {METHODS[of].title} has error {middle} (guessing: {text.short(scale.guess)}). "
        f"Of {text.count(len(states), 'bound', 'bounds')} drawn on it, "
        f"{text.count(states.count('applies'), 'applies', 'apply')}, "
        f"{text.count(failing, 'rests', 'rest')} on an assumption that fails, and "
        f"{text.count(void, 'says', 'say')} nothing."
    )


def card(name: str, bound: Bound, found: Results, of: str, settings: Settings) -> None:
    """Formula, value, assumptions with their numbers, free constants, source; for a board how many hold."""
    rule, plain = BOUNDS[name], settings["view"] == "board"
    most = math.sqrt(min(found.experiment.k, found.experiment.d - found.experiment.k))
    with st.container(border=True):
        st.markdown(f"**{rule.title}** · {_KINDS[rule.kind]} · {_STATES[state(name, bound, most)]}")
        if not plain:
            st.latex(rule.formula)
        value = bound.final
        shown = text.short(value) if math.isfinite(value) else "none, it is void"
        parts = [f"Value here: {shown}"]
        if "probability" in bound.quantities and (bound.applies or bound.quantities["probability"] <= 0):
            chance = bound.quantities["probability"]
            parts.append(
                f"holds with probability at least {text.short(chance)}"
                if chance > 0
                else "success probability below zero: says nothing"
            )
        st.markdown("; ".join(parts) + ".")
        if plain:
            st.markdown(_counted(bound))
            st.caption(f"Source: {bound.source}")
            return
        lines = [
            line.replace("holds:", ":green[✓ holds:]", 1).replace("fails:", ":red[✗ fails:]", 1)
            for line in bound.why
        ]
        st.markdown("  \n".join(lines))
        if name == "ge2018":
            widgets.choose("tau")
        if rule.constants:
            _constants(name, found, of, settings)
        st.caption(f"Source: {bound.source}")


def _counted(bound: Bound) -> str:
    """How many assumptions hold: each is a formula, which a board is not shown."""
    hold = sum(line.startswith("holds:") for line in bound.why)
    return f"{hold} of its {text.count(len(bound.why), 'assumption holds', 'assumptions hold')} here."


def _constants(name: str, found: Results, of: str, settings: Settings) -> None:
    rule = BOUNDS[name]
    columns = st.columns(max(2, len(rule.constants)))
    for column, constant in zip(columns, rule.constants, strict=False):
        with column:
            widgets.choose(f"{name}.{constant}")
    said = st.session_state.setdefault("fitted constants", {})
    key = (found.experiment, of, name, settings["tau"], tuple(constants(settings, name).items()))
    if (
        rule.fits
        and speaks_of(name, of)
        and st.button("What would the constant have to be?", key=f"fit {name}")
    ):
        said[key] = _fitted(name, found, of, settings["tau"], constants(settings, name))
    if key in said:
        st.markdown(said[key])


def _fitted(name: str, found: Results, of: str, tau: float, now: dict[str, float]) -> str:
    rule = BOUNDS[name]
    measured = {e: [float(cell.sin[-1]) for cell in found.measured(of, e)] for e in EPSILONS}
    at = [e for e, errors in measured.items() if errors]
    settings = [replace(found.setting(e), tau=tau) for e in at]
    samples = [np.array(measured[e]) for e in at]
    rng = np.random.default_rng([found.experiment.seed, *name.encode()])
    held = {constant: value for constant, value in now.items() if constant != rule.fits}
    try:
        fit = fit_constant.fit_constant(rule, settings, samples, rng, level=0.8, **held)
    except ValueError as reason:
        return f"No constant can be fitted: {reason}."
    return (
        f"To match {METHODS[of].title} over {fit.settings} values of ε, {rule.symbols[rule.fits]} would have "
        f"to be **{fit.value:.3g}** (10 to 90 % over resampled runs: {fit.low:.3g} to {fit.high:.3g}); here "
        f"it is set to {now[rule.fits]:g}. A fit to this one sweep: nothing else uses it."
    )
