"""Try out a release on one population of invented patients, a twin of the table.

Errors are ||sin Theta|| between released and true components, often as a share of the error of a random
guess. All of it follows from public numbers. No Streamlit here.
"""

from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from dppca_core.bounds import stated_spectra
from dppca_core.bounds.stated_spectra import Pattern, predicted_errors
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.fitted_release import FittedTwin
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.dictionary_twin import FITTED, DictionaryTwin, dictionary_cells, spiked_twin
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED
from dppca_core.release.request import STACKED_ROUNDS, TWO_STAGES, Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Schema, limits
from pages.hospitals.your_data import text as page_text
from pages.shared.background import cache
from pages.shared.settings import catalogue, to_experiment

_BULK = 10.0  # the top of a spiked model's bulk
_MOST_FEATURES = 400  # up to which a run takes little time
_MOST_DRAWN = 10**7  # numbers of rows that are drawn one by one: a quarter of a second for each repeat
_NO_NOISE = 1e6  # an epsilon at which the noise is far below any error of sampling


class Twin(NamedTuple):
    """Hold the rehearsal of one release on one population.

    experiment: runs the release's method on invented patients. others: rehearsals of the same release on the
    other populations. own_results: a store of runs that no other visitor has, for the owner's part.
    """

    experiment: ExplorerExperiment
    epsilon: float
    request: Request
    pattern: Pattern
    others: tuple["Twin", ...] = ()
    own_results: Results | None = None

    @property
    def results(self) -> Results:
        """Return the store of runs on this population, which keeps them for all visitors and makes more."""
        return cache.results(self.experiment) if self.own_results is None else self.own_results

    @property
    def in_closed_form(self) -> bool:
        """Return whether errors are predicted: runs on so many features would keep the page waiting."""
        return self.experiment.d > _MOST_FEATURES and self.request.method in (
            *TWO_STAGES,
            *STACKED_ROUNDS,
        )

    @property
    def is_only_predicted(self) -> bool:
        """Return whether no run is drawn at all: one would take a d x d matrix."""
        return self.in_closed_form and self.experiment.d > limits.MOST_MATRIX_FEATURES

    @property
    def rehearsed(self) -> list["Twin"]:
        return [self, *self.others]


def patterns(d: int, k: int, paid: Spectrum | None, centred: bool) -> list[Pattern]:
    """Return the patterns to rehearse on: by released eigenvalues or, without any, three that are stated."""
    eigenvalues, std = (None, 0.0) if paid is None else (paid.eigenvalues, paid.std)
    return stated_spectra.patterns(d, k, centred, eigenvalues, std)


def twin_of(request: Request, schema: Schema, sizes: tuple[int, ...], pattern: Pattern, counted: int) -> Twin:
    """Return the rehearsal of a release on one population.

    The release's numbers become settings of the explorer, whose runs the rehearsal uses. They may lie between
    the options that the explorer's controls have.

    sizes: patients of each hospital who have a usable row. counted: all patients, by whom a fitted bound
    reckons.
    """
    n, d = sum(sizes), request.d
    # The explorer's defaults, with the release's budget and numbers in their places.
    explorer_settings = catalogue.defaults_with(asdict(request.budget))
    explorer_settings |= {
        "d": d,
        "k": request.k,
        "n": n,
        "s": pattern.carriers,
        "s_hat": request.kept,
        "providers": len(sizes),
        # Sizes that differ by one at most are equal sizes.
        "largest_share": max(sizes) / n if max(sizes) > min(sizes) + 1 else 0.0,
        # In the explorer's units, in which the largest eigenvalue of the bulk is _BULK: the weakest spike.
        "spike": _BULK * pattern.spikes[-1],
        "bulk": _BULK,
    }
    experiment, epsilon = to_experiment.from_settings(explorer_settings)
    spiked = experiment.population
    assert isinstance(spiked, SpikedModel)  # by the explorer's defaults
    # The row bound, in root mean square lengths of rows that spread evenly over the dictionary's ranges. None
    # where rows are too many to be drawn one by one: then none is shortened.
    clip = schema.bound / schema.default_bound if n * d <= _MOST_DRAWN else None
    if request.fitted or page_text.is_unit(request.method, request.fitted):
        clip = None  # rows of length 1 need no bound, and a fitted one is not public
    spiked = replace(spiked, spike=tuple(_BULK * spike for spike in pattern.spikes))
    population: SpikedModel | DictionaryTwin = spiked
    # Small tables have invented rows that follow the dictionary, others Gaussian ones.
    if request.fitted or (d <= _MOST_FEATURES and n * d <= _MOST_DRAWN):
        population = spiked_twin(
            dictionary_cells(schema),
            schema.bound,
            spiked,
            centred=request.mean_share > 0,
            square=pattern.mean_square_length,
            fitted=FITTED[request.standardised] if request.fitted else "",
        )
    target = FittedTwin(counted, request.standardised, request.averaged, not schema.leaves_rows_out)
    experiment = replace(
        experiment,
        population=population,
        method=request.method,
        rank=request.rank,
        clip=clip,
        # A fitted bound has its own shares of a budget, by its rule at each epsilon.
        mean_share=0.0 if request.fitted else request.mean_share,
        fitted=target if request.fitted else None,
    )
    return Twin(experiment, epsilon, request, pattern)


def recovered(twin: Twin) -> float:
    return float(trusts.spread(run_errors(twin), twin.experiment.k)[1])


def recovered_by_guess(twin: Twin) -> float:
    return 100 * twin.experiment.k / twin.experiment.d


def share_of_guess(twin: Twin) -> float:
    """Return the error at the twin's epsilon as a share of a guess's; 0 where no run has succeeded."""
    errors = run_errors(twin)
    return float(np.median(errors)) / _guess(twin) if errors else 0.0


def run_errors(twin: Twin) -> list[float]:
    """Return the errors of all runs at the twin's epsilon, measured if need be, or the one predicted.

    All are measured before the page is shown: the headline, the worst population and the stop sign then have
    the same runs, and do not change while a visitor looks.
    """
    return [_predicted(twin)] if twin.in_closed_form else _runs_of(twin, twin.experiment.method)


def _runs_of(twin: Twin, method: str) -> list[float]:
    """Return the error of each run of a method at the twin's epsilon, on its patients."""
    runs = range(twin.experiment.repeats)
    twin.results.try_cells((method, twin.epsilon, repeat) for repeat in runs)
    return [cell.sin[-1] for cell in twin.results.measured(method, twin.epsilon)]


def unprotected_errors(twin: Twin) -> list[float]:
    """Return the errors of PCA without privacy on the twin's patients.

    Of a table too wide for runs it is what is predicted of the release's method without noise.
    """
    if twin.in_closed_form:
        return [_predicted(twin._replace(epsilon=_NO_NOISE))]
    return _runs_of(twin, _without_privacy(twin.experiment.method))


def unprotected_share(twin: Twin) -> float:
    errors = unprotected_errors(twin)
    return float(np.median(errors)) / _guess(twin) if errors else 0.0


def _without_privacy(method: str) -> str:
    """Return the method without privacy that treats features as this one does."""
    if METHODS[method].chooses_rows:
        return "sparse_pca_shrunk"
    return "sparse_pca" if "s_hat" in METHODS[method].uses else "pca"


def _guess(twin: Twin) -> float:
    return subspace_metrics.random_guess(twin.experiment.d, twin.experiment.k)


def _predicted(twin: Twin) -> float:
    trust, budget, numbers = predicted_at(twin)
    errors, _ = predicted_errors(trust, budget=budget, **numbers)  # by method; and that of a guess
    return errors[twin.request.method]


def predicted_at(twin: Twin) -> tuple[str, Budget, dict[str, Any]]:
    """Return the arguments by which `predicted_errors` gives a twin's error: trust, budget, other keywords.

    All k spikes count as the weakest.
    """
    request, experiment = twin.request, twin.experiment
    # None: the method chooses how many features it keeps.
    s_hat = None if request.s_hat == RELEASED or request.method in STACKED_ROUNDS else int(request.kept)
    numbers = {name: getattr(experiment, name) for name in ("n", "d", "k", "providers")}
    numbers |= {"ratio": twin.pattern.spikes[-1], "carriers": twin.pattern.carriers, "s_hat": s_hat}
    return METHODS[request.method].trust, experiment.budget(twin.epsilon), numbers
