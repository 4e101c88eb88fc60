"""Turn settings into the hospitals that join by every protocol, and their runs into what full view shows.

By a protocol hospitals either join (at `ALL` of them) or one works alone. "trust" says whom a protocol's
hospitals trust, or that they are alone.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS
from dppca_core.datasets import TABLES
from dppca_core.experiments.collaboration.experiment import ALL, CollaborationExperiment
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import ALONE, PROTOCOLS, Protocol
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import DPS_PCA, ExplorerExperiment
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.numerics.subspace_metrics import runs_in_unit, share_recovered
from pages.hospitals.providers.sentences import surroundings
from pages.shared.background import engine
from pages.shared.charts.metric_axis import as_error, error_unit, value_text
from pages.shared.settings import scenes, to_experiment
from pages.shared.settings.catalogue import Settings

_FIRST_SECONDS = 0.25  # of runs before anything is shown


def to_setting(settings: Settings) -> tuple[CollaborationExperiment, tuple[str, ...]]:
    """Return the hospitals with the parameters of all protocols, and a sentence for each changed setting.

    Typed sizes that a table is too small for give way to the sliders', and DPdisPCA can send no fewer
    directions than are to be found and no more than there are features.
    """
    experiment, epsilon = to_experiment.from_settings(settings)
    sizes, adjustments = scenes.typed_sizes(settings), []
    if settings["join.sizes"] and not sizes:
        adjustments.append(surroundings.sizes_ignored(TABLES[settings["data"]].n))
    asked = settings["join.rank"]
    recipe = CollaborationExperiment.from_experiment(experiment, epsilon, asked, sizes)
    if recipe.rank != asked:
        limit = (
            f"it must send the {recipe.k} to find"
            if recipe.rank == recipe.k
            else f"there are only {recipe.d}"
        )
        adjustments.append(f"DPdisPCA sends {recipe.rank} directions here, not {asked}: {limit}.")
    if settings["join.losses"]:
        adjustments.append(surroundings.one_epsilon(epsilon))
    return recipe, tuple(adjustments)


def to_experiment_of(settings: Settings) -> tuple[ExplorerExperiment, float]:
    """Return the explorer's experiment with these hospitals' patients, and its epsilon.

    Of typed sizes it has the total and the number alone: noise depends on nothing else.
    """
    experiment, epsilon = to_experiment.from_settings_with_method(settings)
    if sizes := scenes.typed_sizes(settings):
        experiment = replace(experiment, n=sum(sizes), providers=len(sizes), largest_share=0.0)
    return experiment, epsilon


def first(results: CollaborationResults, settings: Settings) -> Iterator[None]:
    """Measure quick runs for a quarter of a second, so that the first rendering shows some."""
    deadline = time.monotonic() + _FIRST_SECONDS
    for cell in results.wanted(False, few(results.recipe, settings)):
        if time.monotonic() > deadline:
            return
        if cell not in results.failed and not engine.slow(results, cell, engine.first_step_seconds()):
            results.try_cell(*cell)
            yield


class Row(NamedTuple):
    """Hold a line of the chart: a protocol at a hospital, and the 10, 50 and 90 % quantiles of its runs.

    hospital: the index of the one that is alone, else `ALL`. error: in the metric on screen, (3,); NaN before
    the first run. energy: of the share of captured energy. shares: of the share of the pattern recovered, in
    %, in any metric.
    """

    protocol: Protocol
    hospital: int
    error: Array
    energy: Array
    shares: Array
    metric: str = "sin"

    @property
    def middle(self) -> float:
        """Return the median as a loss: in any metric it is less for a better row; infinite without runs."""
        return float(np.nan_to_num(as_error(self.metric, float(self.error[1])), nan=math.inf))

    @property
    def text(self) -> str:
        return value_text(self.metric, float(self.error[1]))


def rows(results: CollaborationResults, settings: Settings) -> dict[str, list[Row]]:
    """Return the lines shown, by trust; in each group larger hospitals come first, then smaller errors."""
    grouped: dict[str, list[Row]] = {}
    shown = few(results.recipe, settings)
    metric = error_unit(settings)
    for key, protocol in PROTOCOLS.items():
        asked = settings["join.trust"] in ("all", protocol.trust) and key in shown
        if asked and key not in results.refused:
            for hospital in results.hospitals(key):
                sines, angles, energies = results.values(key, hospital)
                k = results.recipe.k
                runs = (runs_in_unit(metric, sines, angles, k), energies, 100 * share_recovered(sines, k))
                error, energy, shares = (
                    np.asarray(quantiles(values)) if len(values) else np.full(3, math.nan) for values in runs
                )
                row = Row(protocol, hospital, error, energy, shares, metric)
                grouped.setdefault(protocol.trust, []).append(row)
    largest_first = (ALL, *results.recipe.hospitals)
    for members in grouped.values():
        members.sort(key=lambda row: (largest_first.index(row.hospital), row.middle))
    return grouped


class Advised(NamedTuple):
    """Hold the row of the protocol that is recommended; near_guess: none is, as predictions are of no use."""

    row: Row
    near_guess: bool


def advised(grouped: dict[str, list[Row]], settings: Settings, trust: str) -> Advised | None:
    """Return the row of the method recommended to all hospitals under a trust; None before its first run."""
    experiment, epsilon = to_experiment_of(settings)
    chosen = trusts.recommended(experiment, epsilon, trust)
    return _measured(grouped, PROTOCOLS[chosen.method], ALL, chosen.near_guess)


def advised_alone(
    grouped: dict[str, list[Row]], settings: Settings, patients: int, hospital: int
) -> Advised | None:
    """Return the row of the method recommended to a hospital alone; None before its first run."""
    experiment, epsilon = to_experiment_of(settings)
    chosen = trusts.recommended_alone(experiment, epsilon, patients)
    return _measured(grouped, ALONE[chosen.method], hospital, chosen.near_guess)


def few(recipe: CollaborationExperiment, settings: Settings) -> frozenset[str]:
    """Return the protocols shown at first, by key; all of them where the visitor asks for that.

    At first they are those recommended under each trust and to a hospital alone, DPS-PCA as published, and
    the best without privacy.
    """
    if settings["all_methods"] or settings["join.trust"] != "all" or settings["join.panel"] != "gain":
        return frozenset(PROTOCOLS)
    experiment, epsilon = to_experiment_of(settings)
    joined = {trusts.recommended(experiment, epsilon, trust).method for trust in TRUSTS}
    sizes = {recipe.sizes[hospital] for hospital in recipe.hospitals}
    alone = {trusts.recommended_alone(experiment, epsilon, size).method for size in sizes}
    free = {key for key, protocol in PROTOCOLS.items() if protocol.free}
    return frozenset({DPS_PCA, *joined, *(ALONE[method].key for method in alone), *free})


def next_cell(results: CollaborationResults, settings: Settings) -> tuple[Any, ...] | None:
    return results.next_missing(settings["slow"], few(results.recipe, settings))


def without_privacy(grouped: dict[str, list[Row]], hospital: int) -> Row | None:
    """Return the row without privacy of a hospital alone, or at `ALL` of them; None before its first run."""
    key = NO_PRIVACY if hospital == ALL else f"alone, {NO_PRIVACY}"
    outcome = _measured(grouped, PROTOCOLS[key], hospital, near_guess=False)
    return outcome and outcome.row


def _measured(
    grouped: dict[str, list[Row]], protocol: Protocol, hospital: int, near_guess: bool
) -> Advised | None:
    rows_there = (row for members in grouped.values() for row in members if row.hospital == hospital)
    row = next((row for row in rows_there if row.protocol == protocol), None)
    return Advised(row, near_guess) if row and math.isfinite(row.middle) else None
