"""The sentences of the front page. No Streamlit here."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from dppca_core.experiments.explorer.closed_forms import closed_form, found_all
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES, Scale
from pages.shared.settings.catalogue import Settings

TITLE = "Explorer"
INTRODUCTION = (
    "**What does privacy cost?** How far private, distributed, sparse PCA is from the truth, measured live."
)

MEASURING = (
    "Two stages: measuring … This will say under each trust what they err, beside their closed form, and "
    "in how many runs they find all true rows, beside the predicted chance of that."
)


def two_stages(results: Results, epsilon: float, settings: Settings) -> str:
    """Return what two stages err here and how often they find all true rows, each beside its prediction.

    Nothing is predicted before all runs at this epsilon are there: a first view must not wait for it.
    """
    names = [name for name in results.names if METHODS[name].chooses_rows]
    if results.missing((name, epsilon, r) for name in names for r in range(results.repeats_of(name))):
        return MEASURING
    parts, needs = [f"Two stages at ε = {text.number(epsilon)}."], ""
    for name in names:
        cells, bound = results.measured(name, epsilon), closed_form(results, name, epsilon)
        if not cells:
            continue
        words = []
        if settings["metric"] != "energy":
            scale = Scale(results, settings)
            middle = scale.text(float(np.median([scale.last(cell) for cell in cells])))
            predicted = scale.text(float(scale.bounded(bound.final))) if bound.applies else "none"
            measured = QUANTITIES.get(scale.metric, "error")
            words.append(f"{measured} {middle}, closed form {predicted}")
        if results.experiment.table is None:
            share = f"all true rows found in {found_all(cells)} of {text.count(len(cells), 'run', 'runs')}"
            chance = bound.quantities.get("support_probability")
            words.append(share if chance is None else f"{share}, predicted {text.chance(chance)}")
        if words:
            parts.append(f"{text.TRUST_TITLES[METHODS[name].trust]}: {'; '.join(words)}.")
        needs = needs or "; ".join(bound.failed)
    return " ".join([*parts, *([f"The closed form needs {needs}."] if needs else [])])


def try_this(settings: Mapping[str, Any]) -> str:
    """Return what to try next."""
    hospitals = "Hospitals" if settings["view"] == "plain" else "Hospitals N"
    if settings["data"] != "synthetic":
        return (
            "move the privacy slider to the right until DPS-PCA leaves the random guess, and compare with "
            "Analyze Gauss, which needs a curator whom all hospitals trust. Few patients buy little privacy."
        )
    return (
        f"move *{hospitals}* up and watch the error grow with its square root, then set *Noise across "
        "hospitals* (*More settings*) to secure aggregation: the price of not trusting the server is gone."
    )
