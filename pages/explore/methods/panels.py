"""Show what was measured of a sweep: one function for each view of the methods page.

A sweep runs the methods at several values of one setting. `runs` hold its table so far, a row for each run.
`against`, `needed` and `frontier` return a container, into which the page puts what may still be measured.
"""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dppca_core.experiments.explorer.results import run_seconds
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.explore.methods import charts, controls, sweeps, text
from pages.explore.methods import frontier as frontier_charts
from pages.shared.charts import QUANTITIES, error_unit, factor, loadings, runs_in_unit, value_text
from pages.shared.charts.explorer_text import other_epsilon
from pages.shared.reports import take_along
from pages.shared.settings import swept, widgets
from pages.shared.text import duration, short

_AT_ONCE_SECONDS = 1.0  # a run that takes longer is made only when its button is pressed
# Pixels of a column. Without them a column would keep its first width, that of a dash for "not yet measured".
_NUMBER_WIDTH, _CHANCE_WIDTH = 78, 100


def _show(
    runs: charts.SweepRuns,
    finding: str,
    figure: dict[str, Any],
    caption: str,
    names: tuple[str, str],
    code: str,
    values: dict[str, Any],
    beside: bool = False,
    **more: Any,
) -> DeltaGenerator:
    """Show a finding, its figure and its menu; return a container for what else may be measured.

    finding: the answer in a sentence. names: the figure's key, and its files' name. code, values: the name of
    the table behind the figure, and its arguments, for the Python code that the menu offers. beside: whether
    published methods on rows of length 1 are drawn too. more: the menu's other arguments.
    """
    widgets.headline(finding, "epsilon", "n")
    recipes = sweeps.recipes_with(runs.sweep, set(runs.table["method"]))
    unit = sweeps.on_unit_rows(runs.sweep, runs.table) if beside else None
    drawn = (*recipes, *([unit] if unit else ()))
    take_along.show(
        *(figure, *names, text.TITLE),  # the figure, its key, its files' name, the title above it
        says=finding,
        table=lambda: runs.table,
        code=lambda: FigureRecipe(f"sweeps.{code}", {"recipes": drawn} | values),
        recipe=lambda: recipes[0] if len(recipes) == 1 else None,  # the menu has a place for one recipe
        **more,
    )
    st.caption(caption)
    return st.container()


def _table_arguments(runs: charts.SweepRuns) -> dict[str, Any]:
    """Return the arguments of the table behind a figure whose x axis is what is swept.

    They are the swept setting, the column of values, k, and the unit on screen.
    """
    measure, k = runs.measure, runs.measure.results.experiment.k
    return {"over": runs.sweep.over, "column": measure.column, "k": k, "metric": measure.metric}


def against(runs: charts.SweepRuns) -> DeltaGenerator:
    """Show error, time or bytes of every method against what is swept, and a table at the current setting."""
    measure, sweep = runs.measure, runs.sweep
    finding = text.compared(measure, runs.here(measure), sweep.over, sweep.here)
    failures = text.failures(runs.table) if measure.errs else ""
    left_out = swept.left_out(sweep.over, sweep.left_out)
    scaled = text.of_scaling(runs) if measure.errs else ""
    notes = (text.drawn(measure, sweep), *left_out, failures, scaled, runs.progress)
    caption = ". ".join(note.rstrip(".") for note in notes if note) + "."
    names = ("methods figure", f"dppca-{measure.panel}")
    has_unit = measure.errs and not runs.unit.empty
    values = _table_arguments(runs)
    below = _show(runs, finding, charts.against(runs), caption, names, "against", values, beside=has_unit)
    facts = text.facts(runs)
    st.markdown("**The same methods at the current setting**")
    column = st.column_config
    # Only short headings fit the width of a number.
    columns: dict[str, Any] = {
        name: column.NumberColumn(format="%.3g", width=_NUMBER_WIDTH if len(name) < 10 else None)
        for name in facts.select_dtypes("float")
    }
    columns["predicted"] = column.TextColumn(width=_CHANCE_WIDTH)
    columns["method"] = column.TextColumn(pinned=True)
    columns["guarantee"] = column.TextColumn(width="medium")
    st.dataframe(facts, hide_index=True, height="content", column_config=columns)
    return below


def needed(runs: charts.SweepRuns) -> DeltaGenerator:
    """Show how many patients each method needs for the error wanted.

    A method is shown once it has runs at all numbers of patients: from some of them the answer would be
    wrong.
    """
    measure, sweep, table, methods, progress, _ = runs
    target = measure.settings["compare.target"]
    # The table has ||sin Theta||, and the target may be set for another multiple of it.
    values = {"target": target / factor(measure.settings), "seed": measure.results.experiment.seed}
    # Keep the rows of methods ("label") that have runs at every number of patients.
    complete = table.groupby("label")["n"].transform("nunique") == len(sweep.values)
    estimates = patients_needed(table[complete], **values)
    figure = charts.needed(estimates, measure, sweep.values, len(methods))
    finding = text.needed(estimates, measure.wanted(target))
    caption = f"{text.grid(sweep.values)} {text.no_energy(measure.settings)}{progress}"
    names = ("needed figure", "dppca-patients-needed")
    return _show(runs, finding, figure, caption, names, "needed", values)


def frontier(runs: charts.SweepRuns) -> DeltaGenerator:
    """Show error against epsilon as points to click, and the hull of methods whose guarantees compare."""
    measure, _, table, methods, progress, _ = runs
    off = frontier_charts.off_hull(measure.results.experiment, methods)
    hull = frontier_charts.hull(table, measure, [name for name in methods if name not in off])
    figure = frontier_charts.figure(table, measure, methods, hull)
    finding = text.frontier(hull)
    caption = f"{text.FRONTIER_HELP} {text.off_hull(off)} {text.no_energy(measure.settings)}{progress}"
    names, pick = ("frontier figure", "dppca-frontier"), {"on_pick": controls.keep_picked}
    return _show(runs, finding, figure, caption, names, "against", _table_arguments(runs), **pick)


def release(measure: charts.ComparisonMeasure, name: str) -> None:
    """Show the loadings of one release of a method, at the epsilon chosen on the page.

    It is the first of the sweep's runs, with the same patients and noise. name: the method.
    """
    results, epsilon = measure.results, measure.settings["compare.at"]
    experiment, title = results.experiment, METHODS[name].title
    about = run_seconds(name, experiment.d, experiment.k, experiment.providers)
    label = f"Draw one release of {title}, about {duration(about)}"
    if about > _AT_ONCE_SECONDS and not st.button(label, key="draw release"):
        return
    try:
        estimate = results.estimate(name, epsilon, 0)  # repeat 0, the first run
    except ValueError as reason:
        st.info(f"{title} has no release here: {reason}.")
        return
    # The errors are computed for several runs at once: here for a stack of one, (1, d, k).
    metric, truth, bases = error_unit(measure.settings), results.truth.basis, estimate.basis[None]
    errors = subspace_metrics.sin_thetas(bases, truth), subspace_metrics.largest_angles(bases, truth)
    error = value_text(metric, float(runs_in_unit(metric, *errors, experiment.k)[0]))
    st.markdown(text.release(name, epsilon, f"{QUANTITIES.get(metric, 'error')} {error}", estimate))
    true = other_epsilon(experiment, name, epsilon)
    if true is not None:
        st.caption(f"Its calibration truly gives ε = {short(true)}.")
    figure = loadings.loadings(results, estimate.basis)
    drawn = {"experiment": experiment, "method": name, "epsilon": epsilon}
    take_along.show(
        *(figure, "release figure", "dppca-release", f"One release of {title}"),
        says=loadings.description(figure),
        code=lambda: FigureRecipe("explorer.loadings", drawn),
    )
    st.caption(text.LOADINGS_NOTE)
