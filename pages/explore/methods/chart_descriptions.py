"""Describe charts of the methods page for those who do not see them. No Streamlit here."""

from __future__ import annotations

import pandas as pd

from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.sweeps.recipe import Value
from dppca_core.methods import METHODS
from pages.explore.methods import text as page_text
from pages.explore.methods.charts import ComparisonMeasure
from pages.shared import text
from pages.shared.settings.catalogue import Settings


def compared(results: Results, rows: pd.DataFrame, key: str, here: Value, settings: Settings) -> str:
    """Return the headline of methods against each other, and the value of a method that is alone."""
    measure = ComparisonMeasure(results, settings, settings["compare.panel"])
    form = page_text.headline if measure.errs else page_text.cheapest
    headline = form(results, rows, key, here, settings)
    spreads = page_text.spreads(rows, measure)
    if len(spreads) != 1:
        return headline
    ((name, spread),) = spreads.items()
    quantity, unit = {
        "time": ("a fit takes", page_text.milliseconds),
        "bytes": ("a hospital sends", text.size),
    }.get(measure.panel, ("captured energy" if measure.energy else "error", measure.text))
    low, middle, high = (unit(float(value)) for value in spread)
    return f"{headline} {METHODS[name].title}: {quantity} {middle} ({low} to {high} in 8 of 10 runs)."
