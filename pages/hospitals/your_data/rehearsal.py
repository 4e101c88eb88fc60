"""Rehearse a release on as many invented patients: which population is worst, and what it would take.

Nobody knows the pattern of a table before a release. So the release is tried out on several populations, each
with a spectrum that a table may have (`Pattern`): k eigenvalues, the spikes, above the rest, the bulk. All of
it follows from public numbers and from eigenvalues that were paid for. No Streamlit here.
"""

import math
import secrets
from bisect import bisect_left
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from dppca_core.accounting import gaussian
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from dppca_core.release.request import Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Schema
from dppca_core.tables.patients import Counting
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data import usable_patients
from pages.hospitals.your_data.planned_table import Study
from pages.hospitals.your_data.release_request import NotReleasedError
from pages.hospitals.your_data.settings import RECOMMENDED
from pages.hospitals.your_data.text import TOO_MUCH
from pages.hospitals.your_data.twin_runs import (
    Twin,
    patterns,
    recovered_by_guess,
    run_errors,
    share_of_guess,
    twin_of,
    unprotected_errors,
    unprotected_share,
)
from pages.shared.charts import style
from pages.shared.plain import phrases, share_bars
from pages.shared.plain.share_bars import ShareRow, Shares
from pages.shared.settings.catalogue import Settings

RELEASE = "A release like this"


_FEWEST_FEATURES = 4  # of a twin, whose components k are below its carriers s, and these at most d


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
    unprotected_share(worst)  # measures it: the headline states it too, by the same runs
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
    for trust in share_bars.LOOKS:
        with suppress(NotReleasedError):
            twin = rehearse_under(trust)
            if best is None or share_of_guess(twin) <= share_of_guess(best):
                best = twin
        if best is not None:
            twins[trust] = best
    return twins


def shares(made: Rehearsal) -> Shares:
    """Return the rows of the figure: what a release recovers of the worst pattern, in %, under each trust.

    PCA without privacy is of the same patients as the row that stands out, the release that is set.
    """
    k, several = made.twin.experiment.k, len(made.by_trust) > 1
    rows = tuple(
        ShareRow(
            phrases.ROWS[trust] if several else RELEASE,
            trusts.spread(run_errors(twin), k),
            share_bars.LOOKS[trust].colour if several else style.PRIVATE,
            trust == made.trust,
            twin.request.method,
            trust,
        )
        for trust, twin in made.by_trust.items()
    )
    unprotected = trusts.spread(unprotected_errors(made.twin), k)
    return Shares(rows, float(unprotected[1]), recovered_by_guess(made.twin))


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
    sign = StopSign(share, unprotected_share(twin), guess, n, budget.epsilon, rows)
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
