"""The method recommended under each trust, and what it recovers: the same on every page of these patients.

A trust says whom hospitals trust, one of TRUSTS: one place, sealed sums, or nobody. The share recovered is
1 - sin^2 Theta/k, in %.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import TRUSTS, Recommendation, recommend
from dppca_core.experiments import draws
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import UNIT_NAMES, Results, quantiles
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS
from dppca_core.numerics.subspace_metrics import share_recovered
from dppca_core.populations.synthetic import Synthetic
from dppca_core.privacy import Budget
from dppca_core.records import SIGNAL

# Of one hospital: the method of one moment whose rows have length 1.
_ALONE = dict.fromkeys(("analyze_gauss", "analyze_gauss_sparse"), "sealed_sparse")


def signal(experiment: ExplorerExperiment) -> float:
    """Return k lambda_k/tr Sigma as if declared; for a table or invented rows a usual guess stands in."""
    population = experiment.population
    return population.signal if isinstance(population, Synthetic) else SIGNAL


def recommended(experiment: ExplorerExperiment, epsilon: float, trust: str) -> Recommendation:
    """Return the method recommended under a trust model, one of TRUSTS, from public numbers alone.

    It may ask for less trust, and is then the same method, with the same runs, as under that trust. A
    simulated population is public, so that its eigenvalues are known; of hospitals that differ, those that
    they would have if they did not.
    """
    return recommend(
        trust,
        n=experiment.n,
        d=experiment.d,
        k=experiment.k,
        budget=Budget(epsilon, experiment.delta, experiment.neighbours),
        s_hat=None if experiment.choose_rows else experiment.s_hat,
        providers=experiment.providers,
        model=draws.public_model(experiment.population),
    )


def recommended_alone(experiment: ExplorerExperiment, epsilon: float, patients: int) -> Recommendation:
    """Return the method recommended to one hospital of so many patients that publishes its own result.

    All trusts have the same noise there. One moment has rows of length 1, as its prediction has: its method
    is that of sealed sums, of which one hospital's is its own.
    """
    lone = recommended(replace(experiment, n=patients, providers=1), epsilon, "central")
    errors = {_ALONE.get(name, name): error for name, error in lone.errors.items()}
    method = min(errors, key=errors.__getitem__)
    return replace(lone, method=method, error=errors[method], errors=errors)


def methods_shown(experiment: ExplorerExperiment, epsilon: float) -> tuple[str, ...]:
    """Return the runs that a page shows: of the method recommended under each trust, and without privacy."""
    names = {recommended(experiment, epsilon, trust).method for trust in TRUSTS}
    return (*(name for name in METHODS if name in names), NO_PRIVACY)


class Lead(NamedTuple):
    """Hold by how much a recommended method on rows of length 1 errs less than published ones do."""

    method: str  # recommended method
    published: str  # best method of the same trust that keeps published rows (`Results.best_published`)
    whole: float  # how many times as much it errs, as published
    left: float  # how many times as much it errs on rows of length 1 too

    @property
    def scaling(self) -> float:
        """Return the part of the lead that the scaling of rows explains, of the logarithms; NaN for none."""
        return 1 - math.log(self.left) / math.log(self.whole) if self.whole > 1 else math.nan

    @property
    def part(self) -> str:
        """Return that part in %; a published method that errs more on rows of length 1 owes them nothing."""
        return f"{100 * min(max(self.scaling, 0.0), 1.0):.0f} %"

    @property
    def in_words(self) -> str:
        leader, other = METHODS[self.method].title, METHODS[self.published].title
        best = f"{other}, the best here that divides rows by a public bound,"
        if not self.whole > 1:
            return f"{best} errs no more than {leader}."
        return (
            f"{best} errs {self.whole:.2g} times as much as {leader}. On rows of length 1 it errs "
            f"{self.left:.2g} times as much: scaling is {self.part} of the lead."
        )


def lead(results: Results, epsilon: float, trust: str) -> Lead | None:
    """Return the lead of the method recommended under a trust, in medians over the runs so far."""
    advised = recommended(results.experiment, epsilon, trust)
    method, published = advised.method, results.best_published(epsilon, trust)
    if advised.near_guess or METHODS[method].scaling != "unit" or published is None:
        return None
    names = (method, published, UNIT_NAMES[published])
    runs = [[cell.sin[-1] for cell in results.measured(name, epsilon)] for name in names]
    if not all(runs):
        return None
    least, bounded, unit = (float(np.median(sines)) for sines in runs)
    return Lead(method, published, bounded / least, unit / least) if least > 0 else None


def by_trust(names: Sequence[str]) -> dict[str, str]:
    """Return which of the methods that a page shows belongs to each trust, as `recommended` chose them.

    It is the one that asks for this trust, or else the one of the next lower trust: more trust gains little
    there, and the runs are the same.
    """
    asks = {METHODS[name].trust: name for name in names if name != NO_PRIVACY}
    shown, method = dict[str, str](), ""
    for trust in reversed(TRUSTS):  # from the least
        shown[trust] = method = asks.get(trust, method)
    return shown


def spread(sines: Sequence[float], k: int) -> Array:
    """Return the 10, 50 and 90 % quantiles of the share recovered, in %, from sin Theta of runs."""
    return quantiles(100 * share_recovered(np.array(sines), k)) if len(sines) else np.full(3, math.nan)


def share_recovered_quantiles(results: Results, name: str, epsilon: float) -> Array:
    return spread([cell.sin[-1] for cell in results.measured(name, epsilon)], results.experiment.k)
