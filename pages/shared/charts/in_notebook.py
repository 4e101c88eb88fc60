"""Show a page's figure in a notebook, without Streamlit."""

from typing import Any

from plotly import graph_objects

from dppca_core import checks
from pages.shared.charts import traces
from pages.shared.settings import catalogue
from pages.shared.settings.catalogue import Settings

_METRICS = ("sin", "projector", "share", "degrees")


def settings(metric: str) -> Settings:
    """Return the settings by which a page shows errors in this unit; ValueError for an unknown one."""
    checks.one_of(_METRICS, metric=metric)
    return catalogue.defaults_with({"metric": metric, "view": "full"})


def plotly(payload: dict[str, Any]) -> graph_objects.Figure:
    """Return what the browser draws as a Plotly figure, without what only the dashboard can do with it."""
    shown = traces.as_shown(payload)
    layout = {name: value for name, value in shown["layout"].items() if name != "meta"}
    return graph_objects.Figure({"data": shown["data"], "layout": layout | {"template": "none"}})
