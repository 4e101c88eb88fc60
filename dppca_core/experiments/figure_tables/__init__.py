"""The table behind every figure on screen, as a function of settings, from which pages write its code."""

from collections.abc import Callable, Mapping

import pandas as pd

from dppca_core.experiments.figure_tables import (
    bounds,
    collaboration,
    explorer,
    own_table,
    papers,
    planning,
    privacy,
    story,
    sweeps,
)

FIGURE_TABLES: Mapping[str, Callable[..., pd.DataFrame | pd.Series]] = {
    f"{module.__name__.rpartition('.')[2]}.{function.__name__}": function
    for module, functions in {
        explorer: (explorer.panels, explorer.shares, explorer.loadings),
        sweeps: (sweeps.trajectories, sweeps.against, sweeps.needed, sweeps.packages),
        bounds: (bounds.against_epsilon, bounds.chances, bounds.terms, bounds.regimes, bounds.figure_2),
        collaboration: (
            *(collaboration.gains, collaboration.sent, collaboration.rounds, collaboration.stored),
            *(collaboration.message, collaboration.pair),
            *(collaboration.standardising, collaboration.joining, collaboration.missing),
        ),
        privacy: (privacy.releases, privacy.best_test, privacy.failure, privacy.accounting, privacy.audit),
        planning: (planning.plans, planning.by_trust),
        story: (story.errors, story.record, story.weights),
        own_table: (
            *(own_table.rehearsal, own_table.predicted, own_table.released, own_table.scores),
            *(own_table.twin_scores, own_table.spectrum, own_table.biplot),
        ),
        papers: (papers.curves,),
    }.items()
    for function in functions
}
