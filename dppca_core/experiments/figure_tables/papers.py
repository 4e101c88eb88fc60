"""Tables of the papers' figures, from stored runs or from formulas."""

import pandas as pd

from dppca_core.experiments.papers import FIGURES, stored


def curves(key: str, index: int) -> pd.DataFrame:
    """Return the curves of one run of a paper's figure, from stored results or a formula."""
    figure = FIGURES[key]
    run = figure.runs[index]
    runs = stored(run.recipe).table if run.recipe else None
    return figure.curves(run, runs)
