"""Turn settings into the hospitals that join, and their runs into what the page shows. No Streamlit here.

By a protocol hospitals either join (at `ALL` of them) or one works alone. "trust" says whom a protocol's
hospitals trust, or that they are alone.
"""

import math
import time
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.experiments.collaboration.setting import ALL, CollaborationSetting
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.methods import METHODS
from pages.hospitals.providers import settings as page_settings
from pages.hospitals.providers import text as page_text
from pages.shared.charts.metric_axis import as_error, error_unit, runs_in_unit, value_text
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

# The fields that an experiment and a collaboration's setting have in common.
_SAME_FIELDS = ("population", "k", "s_hat", "iterations", "burn_in", "scaling", "repeats", "seed")
_FIRST_SECONDS = 0.25  # of runs before anything is shown
_QUICK_SECONDS = 0.15  # of a single run that a page may wait for


def to_setting(settings: Settings) -> tuple[CollaborationSetting, tuple[str, ...]]:
    """Return the hospitals with the parameters of all protocols, and a sentence for each changed setting.

    Typed sizes that a table is too small for give way to the sliders', and DPdisPCA can send no fewer
    directions than are to be found and no more than there are features.
    """
    experiment, epsilon = to_experiment.from_settings(settings)
    sizes, adjustments = page_settings.typed_sizes(settings), []
    if settings["join.sizes"] and not sizes:
        adjustments.append(page_text.sizes_ignored(TABLES[settings["data"]].n))
    asked = settings["join.rank"]
    rank = min(max(asked, experiment.k), experiment.d)
    if rank != asked:
        limit = f"it must send the {rank} to find" if rank == experiment.k else f"there are only {rank}"
        adjustments.append(f"DPdisPCA sends {rank} directions here, not {asked}: {limit}.")
    same = {name: getattr(experiment, name) for name in _SAME_FIELDS}
    sizes, budget = sizes or experiment.sizes, experiment.budget(epsilon)
    return CollaborationSetting(**same, sizes=sizes, rank=rank, budget=budget), tuple(adjustments)


def measure_first(results: CollaborationResults) -> None:
    """Measure quick runs for a quarter of a second, so that the first rendering shows some."""
    deadline = time.monotonic() + _FIRST_SECONDS
    for cell in results.wanted():
        if time.monotonic() > deadline:
            return
        # A cell begins with the key of its protocol.
        if cell not in results.failed and results.recipe.seconds(PROTOCOLS[cell[0]]) <= _QUICK_SECONDS:
            results.try_cell(*cell)


class Row(NamedTuple):
    """Hold a line of the chart: a protocol at a hospital, and the 10, 50 and 90 % quantiles of its runs.

    Attributes:
        protocol: By which hospitals join, or one works alone.
        hospital: The index of the one that is alone, else `ALL`.
        error: The quantiles of the error in the metric on screen, (3,); NaN before the first run.
        energy: Those of the share of captured energy, likewise.
        metric: The metric of errors on screen. Of "share", the share recovered, more is better.
    """

    protocol: Protocol
    hospital: int
    error: Array
    energy: Array
    metric: str = "sin"

    @property
    def middle(self) -> float:
        """Return the median as a loss: in any metric it is less for a better row; infinite without runs."""
        return float(np.nan_to_num(as_error(self.metric, float(self.error[1])), nan=math.inf))

    @property
    def losses(self) -> tuple[float, float, float]:
        """Return the three quantiles as losses, ascending: less is better in any metric."""
        low, middle, high = sorted(as_error(self.metric, float(value)) for value in self.error)
        return low, middle, high

    @property
    def text(self) -> str:
        """Return the median error as a text for sentences."""
        return value_text(self.metric, float(self.error[1]))


def rows(results: CollaborationResults, settings: Settings) -> dict[str, list[Row]]:
    """Return the lines shown, by trust; in each group larger hospitals come first, then smaller errors."""
    grouped: dict[str, list[Row]] = {}
    metric = error_unit(settings)
    for key, protocol in PROTOCOLS.items():
        if settings["join.trust"] in ("all", protocol.trust) and key not in results.refused:
            for hospital in results.hospitals(key):
                sines, angles, energies = results.values(key, hospital)
                runs = (runs_in_unit(metric, sines, angles, results.recipe.k), energies)
                spreads = [quantiles(values) if len(values) else np.full(3, math.nan) for values in runs]
                grouped.setdefault(protocol.trust, []).append(Row(protocol, hospital, *spreads, metric))
    largest_first = (ALL, *results.recipe.hospitals)
    for members in grouped.values():
        members.sort(key=lambda row: (largest_first.index(row.hospital), row.middle))
    return grouped


def best(grouped: dict[str, list[Row]], trust: str, hospital: int = ALL) -> Row | None:
    """Return the row of the least median error under this trust, at one hospital or all; None without a run.

    Only guarantees of the same kind are compared: one that holds only where the data behave as assumed
    ("on a good event") is left out.
    """
    candidates = [
        row
        for row in grouped.get(trust, [])
        if row.hospital == hospital
        and math.isfinite(row.middle)
        and METHODS[row.protocol.method].guarantee != "on a good event"
    ]
    return min(candidates, key=lambda row: row.middle, default=None)
