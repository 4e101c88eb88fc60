"""Settings -> the hospitals that join, and what is read off their runs. No Streamlit here."""

from __future__ import annotations

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
from dppca_core.numerics import subspace_metrics
from pages.hospitals.providers import settings as page_settings
from pages.shared.charts.metric_axis import error_title, factor
from pages.shared.settings import to_experiment
from pages.shared.settings.catalogue import Settings

_FIRST_SECONDS = 0.25  # before anything is shown
_QUICK_SECONDS = 0.15  # a single run that a page may wait for


def recipe(settings: Settings) -> tuple[CollaborationSetting, tuple[str, ...]]:
    """The hospitals and how they would join; one sentence for each setting that had to give way."""
    experiment, epsilon = to_experiment.from_settings(settings)
    own, said = page_settings.own_sizes(settings), []
    if settings["join.sizes"] and not own:
        table = TABLES[settings["data"]]
        said.append(f"The sizes add up to more than the table's {table.n:,} patients: the sliders' are used.")
    rank = min(max(settings["join.rank"], experiment.k), experiment.d)
    if rank != settings["join.rank"]:
        limit = (
            f"fewer than the {experiment.k} to find"
            if rank == experiment.k
            else f"more than all {experiment.d}"
        )
        asked, verb = settings["join.rank"], "is" if settings["join.rank"] == 1 else "are"
        said.append(f"DPdisPCA sends {rank} directions here: {asked} {verb} {limit}.")
    joining = CollaborationSetting(
        population=experiment.population,
        sizes=own or experiment.sizes,
        k=experiment.k,
        s_hat=experiment.s_hat,
        rank=rank,
        budget=experiment.budget(epsilon),
        iterations=experiment.iterations,
        burn_in=experiment.burn_in,
        scaling=experiment.scaling,
        repeats=experiment.repeats,
        seed=experiment.seed,
    )
    return joining, tuple(said)


def first_look(found: CollaborationResults) -> None:
    """A quarter of a second of runs, first repeats first, none of them long."""
    until = time.monotonic() + _FIRST_SECONDS
    for key, hospital, repeat in found.wanted():
        if time.monotonic() > until:
            return
        cell = (key, hospital, repeat)
        if cell not in found.failed and found.recipe.seconds(PROTOCOLS[key]) <= _QUICK_SECONDS:
            found.try_cell(key, hospital, repeat)


class Row(NamedTuple):
    """One line of the chart: a way at a place, and 10, 50, 90 % of its error and its captured energy."""

    way: Protocol
    hospital: int
    error: Array | None
    energy: Array | None

    @property
    def middle(self) -> float:
        """The median error; infinite before the first run."""
        return math.inf if self.error is None else float(self.error[1])


class GainScale:
    """The error on screen: sin Theta or the distance of the projectors, and what a random guess gives."""

    def __init__(self, found: CollaborationResults, settings: Settings) -> None:
        of = found.recipe
        self.plain = settings["view"] == "board"
        self.factor = factor(settings)
        self.guess = self.factor * subspace_metrics.random_guess(of.d, of.k)
        self.energy_guess = subspace_metrics.random_energy(found.truth.eigenvalues, of.k)
        self.title = error_title(settings)
        self.log = settings["scale"] == "log"


def rows(found: CollaborationResults, settings: Settings) -> dict[str, list[Row]]:
    """The lines by whom they trust, in that order, the least error first; those that are shown."""
    shown = settings["join.trust"]
    factor = GainScale(found, settings).factor
    grouped: dict[str, list[Row]] = {trust: [] for trust in TRUSTS if shown in ("all", trust)}
    for key, way in PROTOCOLS.items():
        if way.trust in grouped and key not in found.refused:
            for hospital in found.hospitals(key):
                errors, energies = (found.values(key, hospital, energy) for energy in (False, True))
                seen = len(errors) > 0
                grouped[way.trust].append(
                    Row(
                        way,
                        hospital,
                        quantiles(factor * errors) if seen else None,
                        quantiles(energies) if seen else None,
                    )
                )
    largest_first = {hospital: i for i, hospital in enumerate(found.recipe.hospitals)}
    return {
        trust: sorted(own, key=lambda row: (largest_first.get(row.hospital, 0), row.middle))
        for trust, own in grouped.items()
        if own
    }


def best(grouped: Mapping[str, list[Row]], trust: str, hospital: int | None = None) -> Row | None:
    """The least median error of those who trust so (at one hospital), among those that promise the same.

    A promise that holds only where the data behave as assumed is another promise.
    """
    own = [
        row
        for row in grouped.get(trust, [])
        if row.error is not None
        and row.way.guarantee != "on a good event"
        and hospital in (None, row.hospital)
    ]
    return min(own, key=lambda row: row.middle, default=None)
