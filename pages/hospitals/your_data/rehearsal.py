"""Rehearse a release on as many invented patients: which population is worst, and what it would take.

Nobody knows the pattern of a table before a release. So the release is tried out on several populations, each
with a spectrum that a table may have (`Pattern`): k eigenvalues, the spikes, above the rest, the bulk. A twin
is such a trial on one population. Errors are ||sin Theta|| between released and true components, often as a
share of the error of a random guess. All of it follows from public numbers and from eigenvalues that were
paid for. No Streamlit here.
"""

import math
import secrets
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from dppca_core.accounting import gaussian
from dppca_core.bounds import stated_spectra
from dppca_core.bounds.stated_spectra import Pattern, predicted_errors
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.fitted_release import FittedTwin
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.dictionary_twin import FITTED, DictionaryTwin, dictionary_cells, spiked_twin
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.records import RELEASED
from dppca_core.release import discrete_gaussian
from dppca_core.release.request import (
    OFFERED,
    STACKED_ROUNDS,
    TWO_STAGES,
    Request,
    most_features,
)
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Schema, limits
from dppca_core.tables.patients import Counting
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data import twin_text, usable_patients
from pages.hospitals.your_data.planned_table import Study
from pages.hospitals.your_data.release_request import NotReleasedError
from pages.hospitals.your_data.settings import RECOMMENDED
from pages.hospitals.your_data.text import TOO_MUCH
from pages.shared.background import cache
from pages.shared.charts import style
from pages.shared.plain import phrases
from pages.shared.plain import rows as share_rows
from pages.shared.plain.rows import ShareRow, Shares
from pages.shared.settings import catalogue, to_experiment
from pages.shared.settings.catalogue import Settings

RELEASE = "A release like this"
_BULK = 10.0  # the top of a spiked model's bulk
_MOST_FEATURES = 400  # up to which a run takes little time
_MOST_DRAWN = 10**7  # numbers of rows that are drawn one by one: a quarter of a second for each repeat
_FEWEST_FEATURES = 4  # of a twin, whose components k are below its carriers s, and these at most d
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


class StopSign(NamedTuple):
    """Hold how bad a rehearsed release is, and what it would take instead.

    share: its error as a share of a guess's. unprotected: the same of PCA without privacy, on the same
    patients. guess: what a guess recovers, as a share of the pattern. rows: how many one patient can have at
    most. needed: the least epsilon that would do; None where none of those searched does. patients: how many
    would do at the epsilon asked for; 0 where `needed` is None.
    """

    share: float
    unprotected: float
    guess: float
    n: int
    epsilon: float
    rows: int
    needed: float | None = None
    patients: int = 0

    def recovered(self, share: float) -> float:
        """Return what is recovered of the pattern, in %; share: the error as a share of a guess's."""
        return 100 * (1 - share**2 * (1 - self.guess))

    @property
    def is_noise(self) -> bool:
        """Return whether noise is the cause: without privacy the error would be clearly smaller."""
        return self.unprotected < page_text.HARDLY_BETTER * self.share


class Rehearsal(NamedTuple):
    """Hold all that is said of a rehearsal: of public numbers, for everybody.

    twin: the release that is set, on its worst population. trust: under which it is. by_trust: what is
    recommended under each trust, that twin in its place; it alone where there is one hospital. sign: what it
    would take, where the release would be of little use. counting: how the rows of one patient count, None
    where no column names the patients. usable_share: of the patients, as stated; None where nothing is
    stated.
    """

    twin: Twin
    trust: str
    by_trust: Mapping[str, Twin]
    sign: StopSign | None
    schema: Schema
    sizes: tuple[int, ...]
    assignment: str
    counting: Counting | None
    usable_share: float | None


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


def rehearse(
    request: Request,
    schema: Schema,
    sizes: tuple[int, ...],
    settings: Settings,
    paid: Spectrum | None = None,
) -> Twin:
    """Return the rehearsal on the worst of the populations, with the others beside it.

    The worst is the one with the largest error at the release's epsilon. Raises NotReleasedError for too few
    features.

    sizes: patients of each hospital; those are counted that the owner states as usable. paid: eigenvalues of
    the table that were paid for.
    """
    if request.d < _FEWEST_FEATURES:
        raise NotReleasedError(f"A twin needs at least {_FEWEST_FEATURES} measurements.")
    centred = request.mean_share > 0
    # What was paid for are the eigenvalues of rows in public units, and not of correlations.
    paid = None if request.standardised else paid
    usable = usable_patients.sizes(schema, sizes, settings)
    twins = [
        twin_of(request, schema, usable, pattern, sum(sizes))
        for pattern in patterns(request.d, request.k, paid, centred)
    ]
    worst = max(twins, key=share_of_guess)
    _unprotected_share(worst)  # measures it: the headline states it too, by the same runs
    return worst._replace(others=tuple(twin for twin in twins if twin is not worst))


def rehearse_for_owner(twin: Twin, schema: Schema, sizes: tuple[int, ...]) -> Twin:
    """Return the same release's rehearsal on the worst population, for the patients that really are usable.

    sizes: how many of these each hospital has, which is private. So runs are in no store of all visitors, and
    have a secret seed: caches below know patients by seed and number, and would answer others faster.
    """
    seed, twins = secrets.randbits(62), []
    for public in twin.rehearsed:
        fitted = public.experiment.fitted
        counted = sum(sizes) if fitted is None else fitted.n
        usable = twin_of(twin.request, schema, sizes, public.pattern, counted)
        experiment = replace(usable.experiment, seed=seed)
        twins.append(usable._replace(experiment=experiment, own_results=Results(experiment)))
    return max(twins, key=share_of_guess)


def under_each_trust(
    ask: Callable[[float, str], Request], study: Study, settings: Settings, paid: Spectrum | None
) -> Rehearsal:
    """Return the rehearsal of what is set, beside what is recommended under each trust.

    ask: returns the request at an epsilon under a trust, or what is set where that is "". Raises
    NotReleasedError where what is set cannot be released.
    """

    def rehearse_at(epsilon: float, trust: str) -> Twin:
        return rehearse(ask(epsilon, trust), study.schema, study.sizes, settings, paid)

    now, several = settings["own.epsilon"], len(study.sizes) > 1
    twin = rehearse_at(now, "")
    twins = _recommended_by_trust(partial(rehearse_at, now)) if several else {}
    trust, asked_again = METHODS[twin.request.method].trust, ""
    if several and settings["own.method"] == RECOMMENDED:
        trust = settings["own.trust"]
        twin = twins[trust]
        asked_again = METHODS[twin.request.method].trust
    sign = stop_sign(twin, lambda epsilon: rehearse_at(epsilon, asked_again))
    return Rehearsal(
        twin,
        trust,
        by_trust=twins | {trust: twin},
        sign=sign,
        schema=study.schema.published,
        sizes=study.sizes,
        assignment=study.assignment,
        counting=study.counting,
        usable_share=usable_patients.stated_share(study.schema, settings),
    )


def _recommended_by_trust(rehearse_under: Callable[[str], Twin]) -> dict[str, Twin]:
    """Return the rehearsals of what is recommended under each trust, from the least trust to the most.

    Who is trusted with more can run what asks for less. Where that errs less on its worst population it is
    recommended, so that more trust never does worse.
    """
    twins: dict[str, Twin] = {}
    best: Twin | None = None
    for trust in share_rows.LOOKS:
        with suppress(NotReleasedError):
            twin = rehearse_under(trust)
            if best is None or share_of_guess(twin) <= share_of_guess(best):
                best = twin
        if best is not None:
            twins[trust] = best
    return twins


def recovered(twin: Twin) -> float:
    return float(trusts.spread(run_errors(twin), twin.experiment.k)[1])


def recovered_by_guess(twin: Twin) -> float:
    return 100 * twin.experiment.k / twin.experiment.d


def shares(made: Rehearsal) -> Shares:
    """Return the rows of the figure: what a release recovers of the worst pattern, in %, under each trust.

    PCA without privacy is of the same patients as the row that stands out, the release that is set.
    """
    k, several = made.twin.experiment.k, len(made.by_trust) > 1
    rows = tuple(
        ShareRow(
            phrases.ROWS[trust] if several else RELEASE,
            trusts.spread(run_errors(twin), k),
            share_rows.LOOKS[trust].colour if several else style.PRIVATE,
            trust == made.trust,
            twin.request.method,
            trust,
        )
        for trust, twin in made.by_trust.items()
    )
    unprotected = trusts.spread(unprotected_errors(made.twin), k)
    return Shares(rows, float(unprotected[1]), recovered_by_guess(made.twin))


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


def _unprotected_share(twin: Twin) -> float:
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


def judge(request: Request, n: int, d: int, hospitals: int) -> tuple[str, bool]:
    """Return what methods can do for a wide table, in sentences, and whether none of them gives an answer.

    It is judged by closed forms of public numbers, before anything is paid. The result is ("", False) for a
    table that is narrow enough for every method. n, d: patients and features. hospitals: how many there are.
    """
    if d <= discrete_gaussian.MOST_FEATURES:
        return "", False
    trust = METHODS[request.method].trust
    ways = _ways_out(n, d, request.k, request.budget, request.prior_share, hospitals, trust)
    return twin_text.judged(request, n, d, ways), ways.error_share > TOO_MUCH


@lru_cache(maxsize=64)
def _ways_out(
    n: int, d: int, k: int, budget: Budget, prior_share: float, hospitals: int, trust: str
) -> twin_text.WaysOut:
    """Return the best method's predicted error, and the patients, epsilon and features that would do.

    The best method errs least on the worst of the stated spectra. Its error would do if it were a third of a
    guess's. Each of the three is varied alone: patients are doubled up to 20 times, epsilon is one of the
    figure's, features are halved down to 2(k + 1). None where that is not enough, and where the error does
    already. prior_share: of the budget, in 1/z^2, pays for mean and scales. Cached, since a page asks again
    at each run.
    """

    def share(n: int, d: int, epsilon: float) -> float:
        """Return the best method's error with these numbers, as a share of a guess's."""
        method_budget = replace(budget, epsilon=epsilon)
        method_budget = gaussian.remaining(method_budget, prior_share) if prior_share else method_budget
        errors = stated_spectra.errors_on(
            stated_spectra.patterns(d, k), trust, n=n, d=d, k=k, budget=method_budget, providers=hospitals
        )
        possible = [name for name in errors if name in OFFERED and most_features(name) >= d]
        # Of each method the error on the worst of the spectra; of methods the best.
        return min(max(errors[name]) for name in possible) / subspace_metrics.random_guess(d, k)

    now = share(n, d, budget.epsilon)
    if now <= TOO_MUCH:
        return twin_text.WaysOut(now)
    patients = (n * 2**power for power in range(1, 21))
    larger = (epsilon for epsilon in EPSILONS if epsilon > budget.epsilon)
    fewer = (d >> power for power in range(1, d.bit_length()) if d >> power >= 2 * (k + 1))
    return twin_text.WaysOut(
        now,
        patients=next((m for m in patients if share(m, d, budget.epsilon) <= TOO_MUCH), None),
        epsilon=next((epsilon for epsilon in larger if share(n, d, epsilon) <= TOO_MUCH), None),
        features=next((m for m in fewer if share(n, m, budget.epsilon) <= TOO_MUCH), None),
    )


def stop_sign(twin: Twin, rehearse_at: Callable[[float], Twin]) -> StopSign | None:
    """Return what it would take if the rehearsed error is above a third of a guess's; None if it is not.

    Nothing is searched where noise is not the cause, as no epsilon would help then. Else the least epsilon is
    searched by halving among the figure's larger ones, where `rehearse_at` returns the rehearsal, on the
    worst population, of what would be released there. Noise in a mean goes as z/n, with z the noise
    multiplier and n the patients: so n z(epsilon)/z(needed) patients do as well as the larger epsilon.
    """
    share, n, budget = share_of_guess(twin), twin.experiment.n, twin.request.budget
    if share <= TOO_MUCH:
        return None
    guess, rows = recovered_by_guess(twin) / 100, twin.request.rows_per_patient
    sign = StopSign(share, _unprotected_share(twin), guess, n, budget.epsilon, rows)
    if not sign.is_noise:
        return sign
    larger = [epsilon for epsilon in EPSILONS if epsilon > twin.epsilon]
    # Errors fall as epsilon grows, so that False comes before True.
    index = bisect_left(larger, True, key=lambda epsilon: _is_good_enough(rehearse_at, epsilon))
    if index == len(larger):  # not even the largest epsilon would do
        return sign
    z, z_needed = (
        gaussian.noise_multiplier(twin.experiment.budget(epsilon))
        for epsilon in (twin.epsilon, larger[index])
    )
    return sign._replace(needed=larger[index], patients=math.ceil(n * z / z_needed))


def _is_good_enough(rehearse_at: Callable[[float], Twin], epsilon: float) -> bool:
    with suppress(NotReleasedError):
        return 0 < share_of_guess(rehearse_at(epsilon)) <= TOO_MUCH
    return False


def errors(twin: Twin) -> list[tuple[str, float]]:
    return [(each.pattern.title, share_of_guess(each)) for each in twin.rehearsed]
