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


def compared(found: Results, rows: pd.DataFrame, key: str, here: Value, settings: Settings) -> str:
    """The headline of methods against each other; of one method alone, what it has."""
    measure = ComparisonMeasure(found, settings, settings["compare.panel"])
    said = page_text.headline if measure.errs else page_text.cheapest
    headline = said(found, rows, key, here, settings)
    seen = page_text.spreads(rows, measure)
    if len(seen) != 1:
        return headline
    ((name, (low, middle, high)),) = seen.items()
    what, unit = {
        "time": ("a fit takes", page_text.milliseconds),
        "bytes": ("a hospital sends", text.size),
    }.get(measure.panel, ("captured energy" if measure.energy else "error", measure.said))
    spread = f"{unit(float(middle))} ({unit(float(low))} to {unit(float(high))} in 8 of 10 runs)"
    return f"{headline} {METHODS[name].title}: {what} {spread}."
