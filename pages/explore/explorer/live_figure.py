"""Show the front page's moving figure, whose slider and second slider move the page's own settings.

The figure has a frame for each epsilon, between which its slider moves in the browser. Releasing the slider
sets the page's epsilon.
"""

from collections.abc import Callable

import streamlit as st

from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.explore.explorer.view import ExplorerView
from pages.shared.background import engine, prefetch, refresh
from pages.shared.charts import unit
from pages.shared.reports import take_along
from pages.shared.settings import to_experiment, widgets
from pages.shared.settings.catalogue import CHOICES


def keep_scrubbed(index: int) -> None:
    """Set the page's epsilon to that of the frame at which the slider was released; index: of the frame."""
    widgets.set_to("epsilon", EPSILONS[int(index)])


def move_patients(index: int) -> None:
    """Set the number of patients to the option that a telephone's second slider was moved to.

    The index is brought into range, since the browser may send anything.
    """
    options = CHOICES["n"].options
    widgets.set_to("n", options[min(max(int(index), 0), len(options) - 1)])


def show(view: ExplorerView, title: str) -> None:
    """Show the figure with its menu; where patients are simulated, a telephone gets their number as well.

    The menu offers the figure's data, its picture, the code that makes its numbers, and a sweep over epsilon.
    title: what stands above the figure in files that are saved from it.
    """
    payload, settings = view.payload(), widgets.settings()
    experiment, epsilon = view.experiment, view.epsilon
    if experiment.table is None:
        choice = CHOICES["n"]
        options = [choice.text(option) for option in choice.options]
        position = choice.options.index(settings["n"])
        label = choice.name(plain=settings["view"] == "plain")
        payload["second"] = {"label": label, "options": options, "at": position}
    payload |= prefetch.link(settings)  # the browser fetches what is one press of a slider away
    # `results.live_methods` are the methods fast enough to be measured live.
    others = tuple(
        name for name in view.results.live_methods if name in view.shown and name != experiment.method
    )
    panels = {"experiment": experiment, "epsilon": epsilon, "others": others, "metric": unit(view.settings)}
    take_along.show(
        *(payload, "live", "dppca-explorer", title),  # the figure, its key, its files' name, its title
        on_use=keep_scrubbed,
        on_move=move_patients,
        table=view.results.table,
        code=lambda: FigureRecipe("explorer.panels", panels),
        recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, (experiment.method,)),
    )


def show_while_measuring(part: Callable[[], None], view: ExplorerView) -> None:
    """Render a part of the page again and again while its runs are measured in the background.

    The runs that a first view needs are measured before it. At the end, the settings that the visitor may
    choose next are measured ahead. part: shows that part of the page.
    """

    moved = widgets.has_pending_move  # by the figure: only this fragment knows so far

    def render() -> None:
        """Render the part, unless the figure has moved a setting: then run the whole page again."""
        if moved():
            st.rerun()
        part()

    later = view.next_after if engine.engine().prefetches() else None
    refresh.while_cells_come(render, view.results, view.next_cell, view.first, moved=moved, later=later)
    prefetch.begin(widgets.settings(), widgets.last_move(), type(view))
