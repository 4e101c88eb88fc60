"""The synthetic twin: it rehearses the release that a press makes, without any row of the table."""

import math
import re

import numpy as np
import pytest

from dppca_core import METHODS, Budget, sin_theta
from dppca_core.accounting import gaussian
from dppca_core.bounds.stated_spectra import paid_spikes
from dppca_core.experiments import draws
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.fitted_release import FittedTwin
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.release import discrete_gaussian
from dppca_core.release.request import FITTED
from dppca_core.release.spectrum import Spectrum
from dppca_core.tables import Column, Schema
from pages.hospitals.your_data import (
    account_text,
    analyst_text,
    plain_text,
    rehearsal,
    release_request,
    twin_runs,
    twin_text,
)
from pages.hospitals.your_data import text as page_text
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import (
    DICTIONARY,
    OTHER_TABLE,
    ROWS,
    WIDE,
    TablePage,
    limited,
    of_size,
    prepared,
)


def test_a_twin_has_the_tables_size_and_none_of_its_rows():
    page, other = prepared(dictionary=WIDE), prepared(OTHER_TABLE, WIDE)
    assert f"as many ({ROWS}) and with as many measurements (5) as yours" in page.captions
    assert "patients in one place" in page.markdown
    assert page.figure["data"] == other.figure["data"]


# Each kind of release and each trust, with a value that no other default has: what is not passed on shows.
REHEARSED = {
    "analyze_gauss_sparse": {"own.shat": "4", "own.delta": "1e-7"},
    "own_noise_sparse": {"own.shat": "4", "own.N": "3"},
    "two_stage_sealed": {"own.shat": "chosen from the release", "own.N": "2"},
    "stacked_rounds": {"own.k": "3", "own.eps": "1"},
    "dpdis_pca": {"own.rank": "3", "own.N": "2"},
    "two_stage_own_noise": {"own.shat": "4", "own.N": "3"},
    "sealed_sparse": {"own.N": "3", "own.counts": "Equal weight"},
}


@pytest.mark.parametrize("method", REHEARSED)
def test_what_is_rehearsed_is_what_is_released(makes, built, method):
    """The Request of a press, the twin's settings, and its errors by running the method on its patients."""
    page = limited(dictionary=WIDE, **{"own.method": method, "repeats": "3"} | REHEARSED[method])
    table = page.state.ready
    settings = dict(page.app.session_state["settings of the last run"])
    asked = release_request.requested(settings, table, None, 1)
    twin = rehearsal.rehearse(asked, table.schema, table.sizes, settings)
    experiment, results = twin.experiment, Results(twin.experiment)
    # A busy machine shows the first runs alone, and their median.
    twin.results.try_cells((method, twin.epsilon, repeat) for repeat in range(experiment.repeats))
    page.run()
    title, reports = METHODS[method].title, [built()]
    assert f"Release* would make:** {title}" in page.markdown
    shown = page.markdown
    page.release()
    reports.append(built())
    ((request, parts),) = makes
    assert (experiment.method, experiment.k, experiment.providers, experiment.n) == (
        method,
        request.k,
        len(parts),
        ROWS,
    )
    assert page_text.odds(request) in page.captions
    assert experiment.sizes == table.sizes == tuple(map(len, parts))
    paid = request.budget if request.fitted else request.remainder.budget
    assert experiment.budget(twin.epsilon) == paid
    complete = not table.schema.leaves_rows_out
    target = (
        FittedTwin(ROWS, "own.counts" in REHEARSED[method], complete=complete) if method in FITTED else None
    )
    assert experiment.fitted == target
    assert {
        name: experiment.options(method)[name] for name in request.method_options
    } == request.method_options
    errors = []
    for repeat in range(experiment.repeats):
        rng = draws.generator(experiment.seed, repeat, draws.SAME_RUNS.get(method, method))
        if request.fitted:
            estimate = experiment.fitted_estimate(twin.epsilon, repeat, rng)
        else:
            estimate = METHODS[method].fit(
                experiment.cohort(repeat),
                k=request.k,
                budget=request.remainder.budget,
                rng=rng,
                **request.method_options,
            )
        errors.append(sin_theta(estimate.basis, results.truth.basis))
        measured = results.cell(method, twin.epsilon, repeat).sin[-1]
        assert measured == pytest.approx(errors[-1], rel=1e-6, abs=1e-9)
    recovered = trusts.spread(errors, request.k)[1]
    assert plain_text.rehearsed(recovered, 100 * request.k / 5) in shown
    released = page.state.releases[0].result
    assert released.basis.shape == (5, request.k) and released.document["method"] == method
    assert page_text.how_noise_is_drawn(method) in page.markdown
    assert released.document["hospitals"] == list(experiment.sizes)
    dealt = "at random" if "own.N" in REHEARSED[method] else "all in one place"
    assert released.document["public"]["dealt"].startswith(dealt)
    for report in reports:
        entries = dict(report.frame().settings)
        assert entries["Method"] == title
        assert entries["Privacy loss ε"] == text.number(request.budget.epsilon)


@pytest.mark.parametrize(("epsilon", "hopeless"), [("0.05", True), ("10", False)])
def test_a_rehearsal_no_better_than_a_guess_says_so(epsilon, hopeless):
    """The stop sign is that of the worst stated spectrum."""
    page = prepared(dictionary=WIDE, **{"own.eps": epsilon})
    assert ("**Noise would hide the pattern:**" in page.warnings) == hopeless


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_each_trust_is_rehearsed_and_more_trust_does_no_worse(makes, epsilon):
    """At epsilon 10 own noise errs less than sealed sums, whose bound is tighter: these run it then."""
    page = limited(dictionary=WIDE, **{"own.eps": f"{epsilon:g}", "own.N": "3", "own.usable": "1"})
    settings = dict(page.app.session_state["settings of the last run"])
    table, alone = page.state.ready, {}
    for trust, method in release_request.ONE_MOMENT.items():
        asked = release_request.requested(settings, table, None, 1, trust)
        assert (asked.method, METHODS[method].trust) == (method, trust)
        twin = rehearsal.rehearse(asked, table.schema, table.sizes, settings)
        alone[trust] = float(trusts.spread(twin_runs.run_errors(twin), 2)[1])
    ordered = ("untrusted server", "secure aggregation", "central")
    best = np.maximum.accumulate([alone[trust] for trust in ordered])
    (drawn,) = (trace["x"] for trace in page.figure["data"] if trace["name"] == "share recovered, %")
    assert drawn == pytest.approx(best, rel=1e-3)
    assert (best[1] > alone["secure aggregation"]) == (epsilon == 10)
    for trust, share in zip(("secure aggregation", "untrusted server"), best[1::-1], strict=True):
        page.move("own.trust", trust)
        assert plain_text.rehearsed(share, 40) in page.markdown


def test_a_plan_is_rehearsed_as_its_table_will_be(built):
    """A dictionary and a number of patients give the number, the chart and the file; nothing is released."""
    link = {"own.eps": "2", "own.usable": "1", "own.delta": "1e-6"}
    page = TablePage(**link)
    page.open_dictionary(WIDE)
    page.answer_rows("one")
    page.app.number_input(key="own planned").set_value(ROWS)
    page.run()
    plan, drawn, headline = built().html(), page.figure["data"], next(built().blocks()).words
    assert not page.has_button("Set this limit", "Release") and not page.app.exception
    table = prepared(dictionary=WIDE, **link)
    assert headline in table.markdown and headline in page.markdown
    assert drawn == table.figure["data"] and "Nothing was released" in plan


def test_a_stop_sign_says_what_it_would_take_and_that_does_it():
    """The epsilon that it names errs at most a third of a guess in the twin, the one before it more."""
    page = limited(dictionary=WIDE, **{"own.eps": "0.1", "own.k": "1"})
    assert page.has_button("Release anyway")
    stop = re.search(
        r"To recover [\d.]+ %, 120 patients need ε = ([\d.]+); ε = 0.1 needs at most about ([\d,]+) patients",
        page.warnings,
    )
    assert stop is not None
    settings = dict(page.app.session_state["settings of the last run"])
    table, enough = page.state.ready, float(stop[1])
    shares = []
    for epsilon in (max(e for e in EPSILONS if e < enough), enough):
        asked = release_request.requested(settings | {"own.epsilon": epsilon}, table, None, 1)
        twin = rehearsal.rehearse(asked, table.schema, table.sizes, settings)
        shares.append(twin_runs.share_of_guess(twin))
    assert shares[1] <= 1 / 3 < shares[0]
    z = [gaussian.noise_multiplier(Budget(epsilon, 1e-6)) for epsilon in (0.1, enough)]
    assert int(stop[2].replace(",", "")) == pytest.approx(120 * z[0] / z[1], rel=0.1)
    calm = limited(dictionary=WIDE, **{"own.eps": "10", "own.k": "1", "own.usable": "1"})
    assert not calm.has_button("Release anyway") and "Noise would" not in calm.warnings


def test_one_rehearsal_has_one_number(built):
    """Headline, list of populations, stop sign and report give the median of the same ten runs, for good."""
    page = prepared(dictionary=WIDE, **{"own.eps": "1", "own.k": "1"})
    settings, table = dict(page.app.session_state["settings of the last run"]), page.state.ready
    asked = release_request.requested(settings, table, None, 1)
    twin = rehearsal.rehearse(asked, table.schema, table.sizes, settings)
    results, method = Results(twin.experiment), twin.experiment.method  # of this test's own
    errors = [results.cell(method, 1.0, repeat).sin[-1] for repeat in range(10)]
    share, of_three = (np.median(runs) / math.sqrt(1 - 1 / 5) for runs in (errors, errors[:3]))
    assert share > 1 / 3 and text.percent(of_three) != text.percent(share)
    for _ in range(2):
        assert plain_text.rehearsed(trusts.spread(errors, 1)[1], 20) in page.markdown
        assert f"{text.percent(share)} ({twin.pattern.title})" in page.markdown
        recovered = phrases.percent(trusts.spread(errors, 1)[1])
        assert f"the pattern:** a release would recover {recovered}" in page.warnings
        assert plain_text.rehearsed(trusts.spread(errors, 1)[1], 20) in next(built().blocks()).words
        twin.results.try_cells((method, epsilon, run) for epsilon in EPSILONS for run in range(12))
        page.run()


def test_noise_is_named_only_where_the_answer_without_privacy_would_be_better():
    """At epsilon 10 both err alike on 150 patients, and no larger one is searched; at 1 noise is named."""
    schema = Schema(NUMBERS)

    def rehearse_at(epsilon):
        settings = catalogue.defaults() | {"own.epsilon": epsilon}
        request = release_request.requested(settings, of_size(6, 150), None, 1)
        return rehearsal.rehearse(request, schema, (150,), settings)

    def unprotected(twin):
        results = Results(twin.experiment)
        errors = [results.cell("pca", twin.epsilon, repeat).sin[-1] for repeat in range(10)]
        return np.median(errors) / math.sqrt(2 * (1 - 2 / 6))

    def never(epsilon):
        raise AssertionError("an epsilon was searched")

    noisy, poor = rehearse_at(1.0), rehearse_at(10.0)
    signs = rehearsal.stop_sign(noisy, rehearse_at), rehearsal.stop_sign(poor, never)
    for sign, twin in zip(signs, (noisy, poor), strict=True):
        assert sign.unprotected == pytest.approx(unprotected(twin), rel=1e-6)
        assert sign.is_noise == (sign.unprotected < 0.9 * sign.share) == (twin is noisy)
        warning = analyst_text.stop(sign)
        for share in (sign.share, sign.unprotected):
            assert phrases.percent(sign.recovered(share)) in warning
        for words in (warning, plain_text.stop(sign)):
            assert ("with no privacy the answer would be poor" in words) == (twin is poor)
    assert signs[1].needed is None and "need" not in analyst_text.stop(signs[1])


def test_a_release_that_would_be_refused_is_not_rehearsed(monkeypatch):
    monkeypatch.setattr(discrete_gaussian, "MOST_FEATURES", 3)
    page = prepared(dictionary=WIDE, **{"own.method": "analyze_gauss"})
    assert "Nothing is rehearsed" in page.captions and not page.app.exception


def test_a_paid_spectrum_is_on_the_account_and_shapes_the_twin(folder):
    """They stand in place of the three stated spectra, on few measurements and on all."""
    link = {"own.slice": "0.5", "own.delta": "1e-6", "own.k": "1", "own.N": "1"}
    page = limited(dictionary=WIDE, rows=8, **link)
    assert "so 3 populations are rehearsed" in page.markdown
    page.press("Pay for the spectrum")
    assert "used 0 of your limit 1, afterwards it is 0.5" in page.markdown
    question = next(box.value for box in page.app.markdown if account_text.ONCE in box.value)
    cost = gaussian.epsilon_of(gaussian.noise_multiplier(Budget(0.5, 1e-6)) / 8, 1e-6)
    assert f"ε = {cost:.2f}" in question
    page.spend()
    (payment,) = page.payments
    assert (payment.title, payment.rows_per_patient) == ("Eigenvalues", 8)
    assert "that you paid for" in page.markdown
    later = prepared(dictionary=WIDE, rows=8, **link)  # in another session
    assert "that you paid for" in later.markdown and len(later.payments) == 1


def test_paid_eigenvalues_state_spikes_that_rows_about_their_mean_reach():
    """Of rows with a large mean: no spike above the covariance's own; and none where noise hides them."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((4000, 6)) * np.sqrt([9.0, 4.0, 1, 1, 1, 1]) + 5
    moment, covariance = (
        np.sort(np.linalg.eigvalsh(x.T @ x / len(x)))[::-1] for x in (rows, rows - rows.mean(axis=0))
    )
    centred, moved = (paid_spikes(moment, 0.01, 2, about_mean) for about_mean in (True, False))
    rest = 2 * moment[2:].mean()
    assert centred == pytest.approx(np.maximum(moment[1:3] / rest, 1.01))
    assert moved == pytest.approx(moment[:2] / rest)
    assert moment[1] <= covariance[0] * 1.001 and moment[2] <= covariance[1] * 1.001 < moment[0]
    assert paid_spikes(moment, moment[2], 2, True) == ()


def test_paid_eigenvalues_are_of_the_dictionary_they_were_paid_for():
    """Wider: fewer eigenvalues than k asks for. Another bound: other ones. Back again: shown again."""
    page = limited(dictionary=WIDE, **{"own.slice": "0.5", "own.k": "6", "own.N": "1"})
    page.release("Pay for the spectrum")
    assert "that you paid for" in page.markdown
    sexes = Column("sex", "category", categories=("f", "m", "x", "y", "z"), fill="")
    for number, (schema, shown) in enumerate(
        (
            (Schema((*DICTIONARY.columns, sexes)), False),
            (Schema(WIDE.columns, bound=0.3), False),
            (WIDE, True),
        )
    ):
        page.open_dictionary(schema, f"d{number}.json")
        assert not page.app.exception and ("that you paid for" in page.markdown) == shown


@pytest.mark.parametrize("method", ["recommended", "two_stage", "stacked_rounds"])
def test_a_wide_table_is_judged_by_closed_forms_and_keeps_nobody_waiting(monkeypatch, method):
    """No run is made to choose the worst population, nor for the stop sign."""

    def refused(*_):
        raise AssertionError("a run was made")

    monkeypatch.setattr(Results, "try_cells", refused)
    schema = Schema(tuple(Column(f"c{i}", "number", 0.0, 1.0) for i in range(1000)))
    settings = catalogue.defaults() | {"own.method": method, "own.epsilon": 0.5}

    def rehearse_at(epsilon):
        changed = settings | {"own.epsilon": epsilon}
        request = release_request.requested(changed, of_size(1000, 5000), None, 1)
        return rehearsal.rehearse(request, schema, (5000,), settings)

    twin = rehearse_at(0.5)
    shares = [share for _, share in rehearsal.errors(twin)]
    assert twin.in_closed_form and min(shares) > 0 and max(shares) == shares[0]
    assert rehearsal.stop_sign(twin, rehearse_at).share == max(shares)
    assert "Predicted errors" in twin_text.populations(rehearsal.errors(twin), False, twin.in_closed_form)


NUMBERS = tuple(Column(f"c{i}", "number", 0.0, 1.0) for i in range(6))


def twins(columns, n=300, paid=None, **changed):
    """Return the dictionary, and the rehearsals of a release of its rows on all populations but a guess."""
    schema = Schema(columns)
    settings = catalogue.defaults() | {"own.epsilon": 10.0} | changed
    request = release_request.requested(settings, of_size(schema.d, n), None, 1)
    return schema, rehearsal.rehearse(request, schema, (n,), settings, paid).rehearsed


@pytest.mark.parametrize(
    ("columns", "features"),
    [
        ((*NUMBERS, Column("u", "number", 0.0, 1.0, usual=0.0)), 7),
        (tuple(Column(f"c{i}", "category", categories=("a", "b", "c")) for i in range(5)), 15),
        ((Column("c", "category", categories=tuple("abcdef")),), 6),
        ((Column("c", "category", categories=tuple("abcdef"), usual="b"),), 6),
    ],
    ids=["usual at the end", "categories", "one category", "one usual category"],
)
def test_a_rehearsal_draws_rows_that_the_dictionary_allows(columns, features):
    """Their encoded features, bound and centre are the table's; no name and no cell is in the recipe."""
    schema, each = twins(columns)
    for twin in each:
        population = twin.experiment.population
        assert (population.d, population.bound) == (features, schema.bound)
        complete = not schema.leaves_rows_out
        assert population.fitted == "centred"
        assert twin.experiment.fitted == FittedTwin(300, False, complete=complete)
        assert not any(name in repr(population) for name in ("'c'", "c0", "abc"))
        assert np.isfinite(twin_runs.share_of_guess(twin))


def test_a_paid_spectrum_sets_how_long_rows_are():
    """The twin's rows are as long as paid eigenvalues add up to, where numbers are narrow enough."""
    paid = Spectrum(np.array([0.03, 0.02, 0.004, 0.003, 0.002, 0.001]), 1e-5, payment=None, document={})
    schema, each = twins(NUMBERS, paid=paid)
    square = paid.eigenvalues[1:].sum() * schema.bound**2  # the first may be the mean's
    for twin in each:
        assert twin.pattern.paid
        assert twin.results.truth.eigenvalues.sum() == pytest.approx(square, rel=0.05)


@pytest.mark.parametrize(("n", "draws"), [(10**5, 10), (3 * 10**5, 5), (10**6, 1)])
def test_the_ten_runs_of_a_large_twin_share_draws_of_its_rows(n, draws):
    """All draws together have ten million numbers at most, so that the page waits as long for any table."""
    settings, schema = catalogue.defaults() | {"own.method": "stacked_rounds"}, Schema(NUMBERS)
    request = release_request.requested(settings, of_size(6, n), None, 1)
    pattern = twin_runs.patterns(6, 2, None, True)[0]
    experiment = twin_runs.twin_of(request, schema, (n,), pattern, n).experiment
    assert (experiment.repeats, experiment.patient_draws) == (10, draws)


def test_a_large_twin_is_gaussian_and_says_so():
    """Beyond 10^7 numbers, but for a fitted bound, for which fewer rows stand; else it says what it is."""
    for n, method, follows in (
        (10**6, "stacked_rounds", True),
        (2 * 10**6, "stacked_rounds", False),
        (2 * 10**6, "recommended", True),
    ):
        settings = catalogue.defaults() | {"own.method": method}
        experiment = twin_runs.twin_of(
            release_request.requested(settings, of_size(6, n), None, 1),
            Schema(NUMBERS),
            (n,),
            twin_runs.patterns(6, 2, None, True)[0],
            n,
        ).experiment
        assert isinstance(experiment.population, DictionaryTwin) == follows
        shown = twin_text.invented(experiment, 1, "weak", 1.0, experiment.method, n)
        assert ("100,000 of them are drawn" in shown) == (method == "recommended")
        assert ("They follow your dictionary" in shown) == follows != ("They are Gaussian" in shown)
