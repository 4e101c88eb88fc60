"""The bounds page's own controls: which bounds, their free constants, and a card for each."""

from dataclasses import replace

import numpy as np
import streamlit as st

from dppca_core.bounds import BOUNDS, fit_constant
from dppca_core.experiments.explorer.closed_forms import CLOSED_FORMS
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.records import Bound
from pages.explore.bounds import text
from pages.explore.bounds.charts import concerns, largest_error
from pages.explore.bounds.settings import SIN_BOUNDS
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, Settings


def choose(settings: Settings) -> list[str]:
    """Show the controls of the method measured and of the bounds drawn; return the names of those bounds.

    The measured method's own closed form is drawn in any case, so it has no switch.
    """
    always = closed_form_drawn(settings)
    drawn = [name for name in SIN_BOUNDS if name == always or settings[f"show.{name}"]]
    left, right = widgets.beside("bounds", [1, 3])
    with left:
        widgets.show_control("of")
    with right.expander(f"Bounds drawn: {len(drawn)} of {len(SIN_BOUNDS)}", key="bound list"):
        columns = st.columns(2)
        for i, name in enumerate(SIN_BOUNDS):
            with columns[i % 2]:
                if name == always:
                    st.caption(f"{BOUNDS[name].title}: drawn while its method is measured")
                else:
                    widgets.show_control(f"show.{name}")
    return drawn


def closed_form_drawn(settings: Settings) -> str | None:
    """Return the closed form of the measured method, which is drawn without being switched on.

    None where the method has no closed form, or one that is switched on by default: that one the visitor may
    switch off.
    """
    name = CLOSED_FORMS.get(settings["of"])
    return None if name is None or CHOICES[f"show.{name}"].default else name


def constants(settings: Settings, name: str) -> tuple[tuple[str, float], ...]:
    """Return the (name, value) of each constant that a bound's paper leaves open, as the sliders have it."""
    return tuple((constant, settings[f"{name}.{constant}"]) for constant in BOUNDS[name].constants)


def card(name: str, bound: Bound, results: Results, method: str, settings: Settings) -> None:
    """Show a bound's formula, value, assumptions, free constants and source.

    bound: its value at the current setting. method: the one measured, to which constants can be fitted.
    """
    rule = BOUNDS[name]
    with st.container(border=True):
        st.markdown(text.card_title(name, bound, largest_error(results)))
        st.latex(rule.formula)
        st.markdown(text.value(bound))
        st.markdown(text.assumptions(bound))
        if name == "ge2018":
            widgets.show_control("tau")
        if rule.constants:
            _constants(name, results, method, settings)
        st.caption(f"Source: {bound.source}")


def _constants(name: str, results: Results, method: str, settings: Settings) -> None:
    """Show sliders for a bound's free constants, and a button that fits one of them to the runs.

    The button's answer stays on screen until one of the things that it depends on changes: they are its key.
    """
    rule = BOUNDS[name]
    widgets.show_control_row(*(f"{name}.{constant}" for constant in rule.constants))
    messages = st.session_state.setdefault("fitted constants", {})
    now, tau = constants(settings, name), settings["tau"]
    key = (results.experiment, method, name, tau, now)
    can_fit = rule.fits and concerns(name, method)  # `rule.fits` is the name of the constant
    if can_fit and st.button("What would the constant have to be?", key=f"fit {name}"):
        try:
            fit = _fit(name, results, method, tau, dict(now))
            messages[key] = text.fitted_constant(name, method, fit, dict(now)[rule.fits])
        except ValueError as reason:
            messages[key] = f"No constant can be fitted: {reason}."
    if key in messages:
        st.markdown(messages[key])


def _fit(name: str, results: Results, method: str, tau: float, now: dict[str, float]) -> fit_constant.Fitted:
    """Fit a bound's free constant `rule.fits` to the method's measured errors over all epsilons.

    tau: the slack of Theorem 4.3. now: the values of all its constants; those that are not fitted are held.
    The interval of the fit holds 80 % of resampled runs. Raises ValueError where no constant can be fitted.
    """
    rule = BOUNDS[name]
    measured = {e: results.measured(method, e) for e in EPSILONS}
    samples = {e: np.array([float(cell.sin[-1]) for cell in cells]) for e, cells in measured.items() if cells}
    settings = [replace(results.setting(e), tau=tau) for e in samples]
    # Seed the bootstrap by experiment and bound, so that the same runs give the same interval.
    rng = np.random.default_rng([results.experiment.seed, *name.encode()])
    held = {constant: value for constant, value in now.items() if constant != rule.fits}
    return fit_constant.fit_constant(rule, settings, list(samples.values()), rng, level=0.8, **held)
