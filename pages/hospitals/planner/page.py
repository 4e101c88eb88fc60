"""Plan a study: the patients, privacy or hospitals that an error needs, and a paragraph for a protocol."""

from functools import partial

from pages.hospitals.planner import document
from pages.hospitals.planner.model.planner import Planner
from pages.hospitals.planner.sentences import numbers
from pages.shared.document import streamlit
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import CHOICES, RECOMMENDED, Settings


def show_controls(settings: Settings) -> None:
    widgets.show_panel_pills("plan.asked")
    planner, plain = Planner(settings), settings["view"] == "plain"
    keys = ["plan.share" if planner.energetic else "plan.target"]
    if not plain:
        keys += ["plan.of", "plan.trust", "plan.way", "plan.tuned"]
    if planner.asked == "hospitals":
        keys.append("plan.size")
    # A single control takes half of the row, not all of it.
    widths = [1.4, *(1.15 if key == "plan.way" else 1.0 for key in (*keys, "")[1:])][: max(len(keys), 2)]
    for column, key in zip(widgets.beside("plan", widths), keys, strict=False):
        with column:
            if key == "plan.way":
                widgets.show_select_box(key, [RECOMMENDED, *planner.comparable])
            elif key == "plan.target":
                show_target(planner)
            else:
                widgets.show_control(key)


def show_target(planner: Planner) -> None:
    """Show the slider of the largest error allowed, in the unit on screen.

    Its options are errors, ascending. Shown as shares recovered they would descend, so they are reversed.
    """
    settings, options = planner.settings, CHOICES["plan.target"].options
    ordered = options[::-1] if numbers.stricter_upwards(planner) else options
    label, words = numbers.target_label(planner), partial(numbers.target_in_words, settings)
    widgets.show("plan.target", label, plain=settings["view"] == "plain", options=ordered, format_func=words)


settings = widgets.settings()
streamlit.show(document.at(settings), above=partial(show_controls, settings))
