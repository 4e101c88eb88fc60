"""Rehearse the release that a press of Release would make, on as many invented patients."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from dppca_core.accounting import gaussian
from dppca_core.bounds.stated_spectra import STATED
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics import subspace_metrics
from dppca_core.populations.spiked import SpikedModel
from dppca_core.privacy import Budget
from dppca_core.release import spectrum as spectrum_release
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import Progress, Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Schema
from pages.hospitals.your_data import confirmation, ledger_text, session, twin_text
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.prepared_table import PreparedTable, TableIdentity
from pages.hospitals.your_data.session import Order
from pages.hospitals.your_data.settings import NO_GUESS
from pages.shared import text
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.charts import explorer, explorer_summary, style
from pages.shared.charts.metric_axis import Scale
from pages.shared.charts.traces import line
from pages.shared.figure import component
from pages.shared.settings import catalogue, to_experiment, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

BULK = 10.0
TOO_MUCH = 1 / 3  # of a guess's error: beyond it a pattern is of little use
_FEW_RUNS = 3
_QUICK = 400  # features up to which a run takes little time
_FEWEST, _MOST_FEATURES = 4, 2000  # features of a twin: k below s, and s at most d
_DASHES = ("longdash", "dot", "dashdot")
_MOST_DRAWN = 10**7  # numbers of rows that are drawn one by one: a quarter of a second for each repeat


class Pattern(NamedTuple):
    """Hold the eigenvalues of a twin's population: its spikes, in tops of the bulk, and who carries them."""

    title: str
    spikes: tuple[float, ...]
    carriers: int
    guessed: bool = False  # by the visitor: it can add a curve, and nothing else


class Twin(NamedTuple):
    """Hold the rehearsal of one release: its experiment, and the settings of the figure that draws it.

    others: rehearsals of the same release on other populations, drawn as curves beside it.
    """

    experiment: ExplorerExperiment
    epsilon: float
    settings: Settings
    request: Request
    pattern: Pattern
    others: tuple["Twin", ...] = ()

    @property
    def results(self) -> Results:
        """Return the cells measured so far."""
        return cache.results(self.experiment)

    @property
    def rehearsed(self) -> list["Twin"]:
        """List this twin and the others that are no guess."""
        return [self, *(other for other in self.others if not other.pattern.guessed)]


def patterns(d: int, k: int, settings: Settings, paid: Spectrum | None, centred: bool) -> list[Pattern]:
    """Return the populations to rehearse on: of the eigenvalues that were paid for, or else three stated.

    A visitor's guess comes last. centred: whether the release is of rows about their mean.
    """
    spikes = () if paid is None else twin_text.paid_spikes(paid, k, centred)
    if spikes:
        ends = {STATED[0].carriers(d, k): "in few measurements", d: "in all measurements"}
        listed = [Pattern(f"as you paid to know, {where}", spikes, s) for s, where in ends.items()]
    else:
        listed = [Pattern(each.title, (each.times(d, k),) * k, each.carriers(d, k)) for each in STATED]
    if settings["own.ratio"] != NO_GUESS:
        carriers = min(max(settings["own.s"], k + 1), d)
        listed.append(Pattern("your guess", (settings["own.ratio"],) * k, carriers, guessed=True))
    return listed


def twin_of(
    request: Request | str, schema: Schema, sizes: tuple[int, ...], settings: Settings, pattern: Pattern
) -> Twin | str:
    """Return the rehearsal of a release on one population, or why there is none.

    Its settings may lie between the explorer's options; `nearest` does not.

    Args:
        request: What would be released, or why it would be refused.
        schema: The dictionary, of which the bound of rows is used.
        sizes: Patients of each hospital.
        settings: Those of the page.
        pattern: Of the population.
    """
    if isinstance(request, str):
        return request
    n, d = sum(sizes), request.d
    wanted = catalogue.defaults() | asdict(request.budget)
    wanted |= {name: getattr(request, name) for name in ("d", "k", "iterations", "burn_in")}
    wanted |= {
        "view": settings["view"],
        "n": n,
        "s": pattern.carriers,
        "s_hat": request.s_hat,
        "providers": len(sizes),
        "largest_share": max(sizes) / n if max(sizes) > min(sizes) + 1 else 0.0,
        "spike": BULK * pattern.spikes[-1],
        "bulk": BULK,
    }
    experiment, epsilon = to_experiment.from_settings(wanted)
    # The row bound, in root mean square lengths of rows that spread evenly over the dictionary's ranges.
    clip = schema.bound / schema.default_bound if n * d <= _MOST_DRAWN else None
    if page_text.is_unit(request.method):
        clip = None  # rows of length 1 need no bound
    assert isinstance(experiment.population, SpikedModel)
    experiment = replace(
        experiment,
        population=replace(experiment.population, spike=tuple(BULK * spike for spike in pattern.spikes)),
        method=request.method,
        rank=request.rank,
        clip=clip,
        mean_share=request.mean_share,
    )
    return Twin(experiment, epsilon, wanted, request, pattern)


def rehearse(
    request: Request | str,
    schema: Schema,
    sizes: tuple[int, ...],
    settings: Settings,
    paid: Spectrum | None = None,
) -> Twin | str:
    """Return the rehearsal on the worst of the populations, with the others beside it, or why there is none.

    The worst is the one with the largest error at this epsilon, of a few runs each; a guess never is.
    """
    if isinstance(request, str):
        return request
    if request.d < _FEWEST:
        return f"A twin needs at least {_FEWEST} measurements."
    if request.d > _MOST_FEATURES:
        return f"Rehearsed are at most {_MOST_FEATURES:,} measurements."
    centred = request.mean_share > 0
    twins = [
        twin_of(request, schema, sizes, settings, pattern)
        for pattern in patterns(request.d, request.k, settings, paid, centred)
    ]
    stated = [twin for twin in twins if not twin.pattern.guessed]
    for twin in stated:
        _measure(twin)
    worst = max(stated, key=lambda twin: _share_of_guess(twin, twin.epsilon))
    return worst._replace(others=tuple(twin for twin in twins if twin is not worst))


def rehearse_table(prepared: PreparedTable, request: Request | str, settings: Settings) -> Twin | str:
    """Return the rehearsal of a release of this table, with the eigenvalues that this session paid for."""
    return rehearse(request, prepared.schema, prepared.sizes, settings, paid_spectrum(prepared.identity))


def _measure(twin: Twin) -> None:
    """Run the release a few times on this population, or once where a run takes long."""
    few = _FEW_RUNS if twin.experiment.d <= _QUICK else 1
    runs = range(min(few, twin.experiment.repeats))
    twin.results.try_cells((twin.experiment.method, twin.epsilon, repeat) for repeat in runs)


def nearest(wanted: Settings) -> Settings:
    """Return the explorer's options nearest to these settings, possible together."""
    snapped = {
        key: CHOICES[key].nearest(value) if CHOICES[key].numeric and not isinstance(value, str) else value
        for key, value in wanted.items()
    }
    return catalogue.reconcile(snapped)[0]


def payload(twin: Twin) -> dict[str, Any]:
    """Return the explorer's figure of the release, with a warning where it is no better than a guess.

    Where a patient can have several rows, its sentences count rows and its odds are for a row and a patient.
    """
    drawn = explorer_summary.payload(twin.results, twin.epsilon, twin.settings)
    n, rows = twin.experiment.n, twin.request.rows_per_patient
    entries = []
    for epsilon, entry in zip(EPSILONS, drawn["words"], strict=True):
        if hopeless(twin, epsilon):
            entry = entry | {"sentence": f"{entry['sentence']} {twin_text.NO_BETTER}"}
        if rows > 1:
            request = replace(twin.request, budget=replace(twin.request.budget, epsilon=epsilon))
            odds = page_text.odds(request.budget, rows, request.patient_epsilon)
            counted = entry["sentence"].replace(f"{n:,} patients", f"{n:,} rows", 1)
            entry = entry | {"odds": odds, "sentence": counted}
        entries.append(entry)
    return _with_others(twin, drawn) | {"words": entries}


def _with_others(twin: Twin, drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the figure with the median error of the other populations as curves, a guess's among them."""
    curves, legend, method = [], [], twin.experiment.method
    for number, other in enumerate(twin.others):
        results = other.results
        middle = explorer.spreads(results, scale := Scale(results, other.settings), (method,))[0][:, 1]
        seen = np.isfinite(middle)
        name, dash = f"{other.pattern.title}, median", _DASHES[number % len(_DASHES)]
        colour = style.WITH if other.pattern.guessed else style.look(method).colour
        x = [epsilon for epsilon, measured in zip(EPSILONS, seen, strict=True) if measured]
        curves.append(line(2, name, colour, dash, x=x, y=scale.drawn(middle[seen]), opacity=0.7))
        legend.append((name, colour, dash, "line"))
    return drawn | {
        "data": [*drawn["data"], *curves],
        "legend": [*drawn["legend"], *legend],
        "version": drawn["version"] + sum(len(other.results.cells) for other in twin.others),
    }


def _share_of_guess(twin: Twin, epsilon: float) -> float:
    """Return the rehearsed error as a share of a guess's, as far as it was measured; 0 before that."""
    errors = [cell.sin[-1] for cell in twin.results.measured(twin.experiment.method, epsilon)]
    guess = subspace_metrics.random_guess(twin.experiment.d, twin.experiment.k)
    return float(np.median(errors)) / guess if errors else 0.0


def hopeless(twin: Twin, epsilon: float) -> bool:
    """Return whether the rehearsed release errs nearly as much as a guess."""
    return _share_of_guess(twin, epsilon) > twin_text.HARDLY_BETTER


def stop_sign(twin: Twin, rehearse_at: Callable[[float], Twin | str]) -> str:
    """Return what it would take, where the rehearsed error is above a third of a guess; nothing elsewhere.

    The least epsilon is looked for among the figure's, with a few runs each of what would be released there,
    on the worst population. Noise goes as z/n, z the noise multiplier: so many times more patients do as well
    as the larger epsilon.
    """
    share = _share_of_guess(twin, twin.epsilon)
    if share <= TOO_MUCH:
        return ""
    larger = [epsilon for epsilon in EPSILONS if epsilon > twin.epsilon]
    index = bisect_left(larger, True, key=lambda epsilon: _does(rehearse_at(epsilon)))
    if index == len(larger):
        return twin_text.stop(twin.request, share, twin.experiment.n)
    z, needed = (
        gaussian.noise_multiplier(twin.experiment.budget(epsilon))
        for epsilon in (twin.epsilon, larger[index])
    )
    return twin_text.stop(
        twin.request, share, twin.experiment.n, larger[index], math.ceil(twin.experiment.n * z / needed)
    )


def _does(twin: Twin | str) -> bool:
    return isinstance(twin, Twin) and 0 < _share_of_guess(twin, twin.epsilon) <= TOO_MUCH


def show(
    prepared: PreparedTable, account: Account | None, request: Request | str, settings: Settings
) -> Twin | None:
    """Render the guesses, the figure, a link to the explorer, and the price of the table's eigenvalues."""
    spectrum, twin = paid_spectrum(prepared.identity), rehearse_table(prepared, request, settings)
    if isinstance(twin, str):
        st.caption(f"Nothing is rehearsed. {page_text.refusal(text.symbols(twin))}")
        return None
    plain, rows = settings["view"] == "plain", twin.request.rows_per_patient
    guessed = [other.pattern.carriers for other in twin.others if other.pattern.guessed]
    widgets.choose_beside("own.ratio", *["own.s"] * len(guessed))
    if guessed and guessed[0] != settings["own.s"]:
        st.caption(page_text.adjusted("own.s", settings, guessed[0]))
    st.markdown(twin_text.rehearsed(twin.request, len(prepared.sizes), plain))
    st.markdown(twin_text.populations(twin.pattern.title, _errors(twin)))
    results, epsilon = twin.results, twin.epsilon

    def panels() -> None:
        if widgets.settings()["own.epsilon"] != epsilon:
            st.rerun()  # scrubbing the figure changed it, which only this fragment knows so far
        drawn = payload(twin) | {"follow": "own-epsilon"}
        component.figure(drawn, key="own twin", on_use=_keep_scrubbed)
        failed_runs.of_methods(results)

    def first_look() -> None:
        for _ in engine.at_first(results.steps(results.first(epsilon))):
            pass

    def next_cell() -> tuple[Any, ...] | None:
        """Return the next cell of the curves, then of what is compared with them."""
        curves = (results, *(other.results for other in twin.others))
        for each in curves:
            if (cell := each.next_of(twin.experiment.method, _FEW_RUNS)) is not None:
                return (each, *cell)
        cell = results.next_missing(epsilon, False)
        return None if cell is None else (results, *cell)

    refresh.while_cells_come(panels, _Cells(), next_cell, first_look)
    link = urlencode(catalogue.to_link(nearest(twin.settings)))
    label = "Open the explorer with these settings"
    st.link_button(label, f"./?{link}", help="In a new tab: this table stays here.")
    st.caption(
        twin_text.invented(
            twin.experiment, rows, twin.pattern.title, prepared.schema.bound, twin.request.method
        )
    )
    if spectrum is not None:
        centred = twin.request.mean_share > 0
        st.markdown(twin_text.spectrum(spectrum, twin.request.k, centred, plain))
    if account is not None and account.limit is not None:
        with st.expander("Shape the twin by your own table, for a slice of the budget", key="own shaping"):
            widgets.choose("own.slice")
            budget = Budget(settings["own.slice"], settings["own.delta"], account.limit.neighbours)
            what = "The strength of every direction" if plain else "A release of all eigenvalues"
            events = spectrum_release.events(budget)
            price = ledger_text.price(what, events, account, budget, rows, plain)
            order = Order("spectrum", (budget, rows), account, prepared.identity, prepared.raw.name)
            question = f"**Release the strength of every direction?** {price.sentence} {ledger_text.ONCE}"
            confirmation.show(order, "Pay for the spectrum …", price, question, _make)
    return twin


class _Cells:
    """Measure cells of several populations, each named with its results."""

    def try_cell(self, results: Results, *cell: Any) -> None:
        """Measure one cell of these results, unless it is there."""
        results.try_cell(*cell)


def _errors(twin: Twin) -> list[tuple[str, float]]:
    """List the rehearsed errors on all populations but a guessed one, as shares of a guess's."""
    return [(each.pattern.title, _share_of_guess(each, twin.epsilon)) for each in twin.rehearsed]


def paid_spectrum(table: TableIdentity) -> Spectrum | None:
    """Return the eigenvalues that this session paid for, of this table by this dictionary."""
    state = session.current()
    paid = [job for job in state.confirmed if job.what.kind == "spectrum" and job.result is not None]
    # Another dictionary has other eigenvalues.
    return next((job.result for job in reversed(paid) if job.what.table == table), None)


def _make(order: Order, prepared: PreparedTable, ledger: Ledger, _: Progress) -> Spectrum:
    budget, rows = order.request
    return spectrum_release.make(prepared.parts, budget, ledger, rows)


def _keep_scrubbed() -> None:
    """Set the release's epsilon to the one that the figure was scrubbed to."""
    widgets.set_to("own.epsilon", EPSILONS[int(st.session_state["own twin"]["use"])])
