"""Turn settings into the hospitals that join, and their runs into what the page shows. No Streamlit here."""

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

from dppca_core.arrays import Array
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, TRUSTS, Protocol
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from dppca_core.experiments.explorer.quantiles import quantiles
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from pages.hospitals.providers import settings as page_settings
from pages.hospitals.providers import text as page_text
from pages.shared.charts.metric_axis import factor
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

_FIRST_SECONDS = 0.25  # of runs before anything is shown
_QUICK_SECONDS = 0.15  # of a single run that a page may wait for
_LEAST_ERROR = 1e-4  # below it an axis of errors does not begin


def recipe(settings: Settings) -> tuple[CollaborationSetting, tuple[str, ...]]:
    """Return the hospitals and how they would join, and a sentence for each setting that was changed."""
    experiment, epsilon = to_experiment.from_settings(settings)
    sizes, adjustments = page_settings.typed_sizes(settings), []
    if settings["join.sizes"] and not sizes:
        adjustments.append(page_text.sizes_ignored(TABLES[settings["data"]].n))
    asked = settings["join.rank"]
    rank = min(max(asked, experiment.k), experiment.d)
    if rank != asked:
        adjustments.append(page_text.rank_changed(asked, rank, experiment.k, experiment.d))
    same = ("population", "k", "s_hat", "iterations", "burn_in", "scaling", "repeats", "seed")
    joining = CollaborationSetting(
        **{name: getattr(experiment, name) for name in same},
        sizes=sizes or experiment.sizes,
        rank=rank,
        budget=experiment.budget(epsilon),
    )
    return joining, tuple(adjustments)


def measure_first(results: CollaborationResults) -> None:
    """Measure quick runs for a quarter of a second, so that the first rendering shows some."""
    until = time.monotonic() + _FIRST_SECONDS
    for cell in results.wanted():
        if time.monotonic() > until:
            return
        if cell not in results.failed and results.recipe.seconds(PROTOCOLS[cell[0]]) <= _QUICK_SECONDS:
            results.try_cell(*cell)


class Row(NamedTuple):
    """Hold a line of the chart: a protocol at a hospital, and the 10, 50 and 90 % quantiles of its runs.

    error: in the metric on screen. energy: the share captured. Both are None before the first run.
    """

    protocol: Protocol
    hospital: int
    error: Array | None
    energy: Array | None

    @property
    def middle(self) -> float:
        """Return the median error, infinite before the first run."""
        return math.inf if self.error is None else float(self.error[1])


class GainScale:
    """Hold what a random guess gives, in the error on screen (sin Theta or the projectors' distance)."""

    def __init__(self, results: CollaborationResults, settings: Settings) -> None:
        recipe = results.recipe
        self.plain = settings["view"] == "board"
        self.guess = factor(settings) * subspace_metrics.random_guess(recipe.d, recipe.k)
        self.energy_guess = subspace_metrics.random_energy(recipe.truth.eigenvalues, recipe.k)


class ErrorAxis:
    """Span the axis of errors from the least one drawn up to a random guess.

    floor: where a logarithmic axis begins, a power of ten of at most 0.01. properties: Plotly's.
    """

    def __init__(self, settings: Settings, guess: float, least: float) -> None:
        if settings["scale"] == "log":
            self.floor = 10.0 ** min(math.floor(math.log10(max(least, _LEAST_ERROR))), -2)
            span = [math.log10(self.floor), math.log10(1.6 * guess)]
            ticks = {"type": "log", "dtick": 1, "exponentformat": "e", "minexponent": 6}
            self.properties = {"range": span, **ticks}
        else:
            self.floor = 0.0
            self.properties = {"range": [0.0, 1.12 * guess]}


def rows(results: CollaborationResults, settings: Settings) -> dict[str, list[Row]]:
    """Return the lines shown, by whom they trust; larger hospitals come first, then smaller errors."""
    shown = settings["join.trust"]
    grouped: dict[str, list[Row]] = {trust: [] for trust in TRUSTS if shown in ("all", trust)}
    for key, protocol in PROTOCOLS.items():
        if protocol.trust in grouped and key not in results.refused:
            for hospital in results.hospitals(key):
                errors, energies = (results.values(key, hospital, energy) for energy in (False, True))
                measured = len(errors) > 0
                grouped[protocol.trust].append(
                    Row(
                        protocol,
                        hospital,
                        quantiles(factor(settings) * errors) if measured else None,
                        quantiles(energies) if measured else None,
                    )
                )
    largest_first = {hospital: i for i, hospital in enumerate(results.recipe.hospitals)}
    return {
        trust: sorted(members, key=lambda row: (largest_first.get(row.hospital, 0), row.middle))
        for trust, members in grouped.items()
        if members
    }


def best(grouped: Mapping[str, list[Row]], trust: str, hospital: int | None = None) -> Row | None:
    """Return the row of the least median error under this trust (at one hospital), None without a run.

    Only guarantees of the same kind are compared: one that holds only where the data behave as assumed
    ("on a good event") is left out.
    """
    candidates = [
        row
        for row in grouped.get(trust, [])
        if row.error is not None
        and METHODS[row.protocol.method].guarantee != "on a good event"
        and hospital in (None, row.hospital)
    ]
    return min(candidates, key=lambda row: row.middle, default=None)
