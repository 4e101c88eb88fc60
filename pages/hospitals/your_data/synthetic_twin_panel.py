"""Rehearse the release that a press of Release would make, on as many invented patients."""

import math
from bisect import bisect_left
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from dppca_core.accounting import gaussian
from dppca_core.experiments.explorer.experiment import EPSILONS, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.numerics import subspace_metrics
from dppca_core.privacy import Budget
from dppca_core.release import spectrum as spectrum_release
from dppca_core.release.ledger import Ledger
from dppca_core.release.ledger_records import Account
from dppca_core.release.private_release import Progress, Request
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Schema
from pages.hospitals.your_data import confirmation, ledger_text, session, twin_text
from pages.hospitals.your_data import text as page_text
from pages.hospitals.your_data.prepared_table import PreparedTable
from pages.hospitals.your_data.session import Order
from pages.shared import text
from pages.shared.background import cache, engine, failed_runs, refresh
from pages.shared.charts import explorer_summary
from pages.shared.figure import component
from pages.shared.settings import catalogue, to_experiment, widgets
from pages.shared.settings.catalogue import CHOICES, Settings

BULK = 10.0
TOO_MUCH = 1 / 3  # of a guess's error: beyond it a pattern is of little use
_FEW_RUNS = 3
_FEWEST = 4  # features of a twin: k below s, and s at most d
_MOST_DRAWN = 10**7  # numbers of rows that are drawn one by one: a quarter of a second for each repeat


class Twin(NamedTuple):
    """Hold the rehearsal of one release: its experiment, and the settings of the figure that draws it."""

    experiment: ExplorerExperiment
    epsilon: float
    settings: Settings
    request: Request

    @property
    def results(self) -> Results:
        """Return the cells measured so far."""
        return cache.results(self.experiment)


def twin_of(request: Request | str, schema: Schema, sizes: tuple[int, ...], settings: Settings) -> Twin | str:
    """Return the rehearsal of a release, on a population with the person's guesses, or why there is none.

    Its settings may lie between the explorer's options; `nearest` does not.

    Args:
        request: What would be released, or why it would be refused.
        schema: The dictionary, of which the bound of rows is used.
        sizes: Patients of each hospital.
        settings: Those of the page.
    """
    if isinstance(request, str):
        return request
    n, d = sum(sizes), request.d
    if d < _FEWEST:
        return f"A twin needs at least {_FEWEST} measurements."
    wanted = catalogue.defaults() | asdict(request.budget)
    wanted |= {name: getattr(request, name) for name in ("d", "k", "iterations", "burn_in")}
    wanted |= {
        "view": settings["view"],
        "n": n,
        "s": min(max(settings["own.s"], request.k + 1), d),
        "s_hat": request.s_hat,
        "providers": len(sizes),
        "largest_share": max(sizes) / n if max(sizes) > min(sizes) + 1 else 0.0,
        "spike": BULK * settings["own.ratio"],
        "bulk": BULK,
    }
    experiment, epsilon = to_experiment.from_settings(wanted)
    # The row bound, in root mean square lengths of rows that spread evenly over the dictionary's ranges.
    clip = schema.bound / schema.default_bound if n * d <= _MOST_DRAWN else None
    if page_text.is_unit(request.method):
        clip = None  # rows of length 1 need no bound
    experiment = replace(
        experiment, method=request.method, rank=request.rank, clip=clip, mean_share=request.mean_share
    )
    return Twin(experiment, epsilon, wanted, request)


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
    return drawn | {"words": entries}


def _share_of_guess(twin: Twin, epsilon: float) -> float:
    """Return the rehearsed error as a share of a guess's, as far as it was measured; 0 before that."""
    errors = [cell.sin[-1] for cell in twin.results.measured(twin.experiment.method, epsilon)]
    guess = subspace_metrics.random_guess(twin.experiment.d, twin.experiment.k)
    return float(np.median(errors)) / guess if errors else 0.0


def hopeless(twin: Twin, epsilon: float) -> bool:
    """Return whether the rehearsed release errs nearly as much as a guess."""
    return _share_of_guess(twin, epsilon) > twin_text.HARDLY_BETTER


def stop_sign(twin: Twin) -> str:
    """Return what it would take, where the rehearsed error is above a third of a guess; nothing elsewhere.

    The least epsilon is looked for among the figure's, with a few runs each. Noise goes as z/n, z the noise
    multiplier: so many times more patients do as well as the larger epsilon.
    """
    share = _share_of_guess(twin, twin.epsilon)
    if share <= TOO_MUCH:
        return ""
    larger = [epsilon for epsilon in EPSILONS if epsilon > twin.epsilon]
    index = bisect_left(larger, True, key=lambda epsilon: _does(twin, epsilon))
    if index == len(larger):
        return twin_text.stop(twin.request, share, twin.experiment.n)
    z, needed = (
        gaussian.noise_multiplier(twin.experiment.budget(epsilon))
        for epsilon in (twin.epsilon, larger[index])
    )
    return twin_text.stop(
        twin.request, share, twin.experiment.n, larger[index], math.ceil(twin.experiment.n * z / needed)
    )


def _does(twin: Twin, epsilon: float) -> bool:
    method, runs = twin.experiment.method, range(min(_FEW_RUNS, twin.experiment.repeats))
    twin.results.try_cells((method, epsilon, repeat) for repeat in runs)
    return 0 < _share_of_guess(twin, epsilon) <= TOO_MUCH


def show(
    prepared: PreparedTable, account: Account | None, request: Request | str, settings: Settings
) -> Twin | None:
    """Render the guesses, the figure, a link to the explorer, and the price of the table's eigenvalues."""
    twin = twin_of(request, prepared.schema, prepared.sizes, settings)
    if isinstance(twin, str):
        st.caption(f"Nothing is rehearsed. {page_text.refusal(text.symbols(twin))}")
        return None
    plain, rows = settings["view"] == "plain", twin.request.rows_per_patient
    spectrum = _paid_spectrum(prepared, twin.request.k)
    widgets.choose_beside("own.ratio", "own.s")
    if twin.settings["s"] != settings["own.s"]:
        st.caption(page_text.adjusted("own.s", settings, twin.settings["s"]))
    st.markdown(twin_text.rehearsed(twin.request, len(prepared.sizes), plain))
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

    refresh.while_cells_come(panels, results, partial(results.next_missing, epsilon, False), first_look)
    link = urlencode(catalogue.to_link(nearest(twin.settings)))
    label = "Open the explorer with these settings"
    st.link_button(label, f"./?{link}", help="In a new tab: this table stays here.")
    st.caption(
        twin_text.invented(
            twin.experiment, rows, spectrum is not None, prepared.schema.bound, twin.request.method
        )
    )
    if spectrum is not None:
        st.markdown(twin_text.spectrum(spectrum, twin.request.k, plain))
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


def _paid_spectrum(prepared: PreparedTable, k: int) -> Spectrum | None:
    """Return the eigenvalues that were paid for, and once move the guess to them."""
    state = session.current()
    paid = [job for job in state.confirmed if job.what.kind == "spectrum" and job.result is not None]
    # Another dictionary has other eigenvalues.
    job = next((job for job in reversed(paid) if job.what.table == prepared.identity), None)
    if job is None:
        return None
    if state.shaped_by != job.number:
        state.shaped_by = job.number
        widgets.set_to("own.ratio", CHOICES["own.ratio"].nearest(twin_text.ratio(job.result, k)))
        st.rerun()  # before the control of the guess is drawn
    spectrum: Spectrum = job.result
    return spectrum


def _make(order: Order, prepared: PreparedTable, ledger: Ledger, _: Progress) -> Spectrum:
    budget, rows = order.request
    return spectrum_release.make(prepared.parts, budget, ledger, rows)


def _keep_scrubbed() -> None:
    """Set the release's epsilon to the one that the figure was scrubbed to."""
    widgets.set_to("own.epsilon", EPSILONS[int(st.session_state["own twin"]["use"])])
