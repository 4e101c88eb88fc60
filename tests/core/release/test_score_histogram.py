"""The noisy histogram of scores: how far a patient moves it, its noise, its price, and what it equals."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, OverLimitError
from dppca_core.numerics import moments
from dppca_core.release import discrete_gaussian, patient_rows, private_release, score_histogram
from dppca_core.release.patient_rows import PatientRows
from dppca_core.release.request import Request
from dppca_core.release.score_histogram import Group, ScoreRequest
from tests.core.accounts.paying import TABLE

ALPHA = 1e-6  # of each statistical test here; noise comes from the operating system, so no seed
D, N = 5, 400
NAMES = [f"column {j}" for j in range(D)]
PUBLIC = {"dictionary": "ours"}
RNG = np.random.default_rng(3)
ROWS = moments.clip_rows(RNG.standard_normal((N, D)) * [3, 2, 1, 1, 1] + 0.5, 6.0)
ROWS[7] = 0.0  # left out for a missing cell
BUDGET, HARDLY_ANY = Budget(1.0, 1e-5), Budget(1e6, 1e-5)
GROUP = Group("clinic", ("north", "south"))
CODES = RNG.integers(0, 3, N)


def payer(limit=1e9, neighbours="replace-one"):
    made = Book().payer(TABLE)
    made.set_limit(Limit(limit, 1e-5, neighbours))
    return made


def released(parts, **asked):
    request = Request("analyze_gauss", D, 2, HARDLY_ANY, **asked)
    made = private_release.make(request, parts, payer(), features=NAMES, public=PUBLIC)
    return score_histogram.part_for_scores(made.document)


RELEASE = released([ROWS])


def asked(budget=BUDGET, release=RELEASE, cells=6, **more):
    return ScoreRequest(release, score_histogram.grid(release, cells), budget, **more)


def make(request, parts=(ROWS,), account=None, **more):
    return score_histogram.make(
        request, parts, account or payer(), **{"features": NAMES, "public": PUBLIC} | more
    )


def patient(rng, most):
    """Return the rows of a patient, their weights, of squares that add up to 1, and each row's group."""
    rows = moments.clip_rows(rng.standard_normal((rng.integers(1, most + 1), D)), 0.5)
    if rng.random() < 0.5:
        rows[:] = rows[0]  # all in one cell: the furthest that a patient moves it
    return (
        rows,
        np.full((len(rows), 1), 1 / (math.sqrt(len(rows)) * (1 + 1e-12))),
        rng.integers(0, 3, len(rows)),
    )


def counts(who, request, whole_rows=False):
    rows, weights, codes = map(np.concatenate, zip(*who, strict=True))
    part = PatientRows(rows, np.ones_like(weights) if whole_rows else weights, len(who))
    return score_histogram.whole_counts(request, [part], [codes])[0] * 2.0**-20


def furthest(neighbours, whole_rows=False):
    """Search neighbours: one patient of three has other rows, another number of them, other groups."""
    rng, moved = np.random.default_rng(4), 0.0
    request = asked(Budget(1.0, 1e-5, neighbours), group=GROUP, averaged=True)
    others = [patient(rng, 9) for _ in range(2)]
    for _ in range(150):
        who, other = patient(rng, 9), patient(rng, 9)
        if neighbours == "add-remove":
            other = (np.zeros_like(other[0]), *other[1:])
        tables = ([others[0], each, others[1]] for each in (who, other))
        before, after = (counts(table, request, whole_rows) for table in tables)
        moved = max(moved, float(np.linalg.norm(before - after)))
    return moved, request.std / request.events[0].noise_multiplier


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_patient_moves_it_by_at_most_the_sensitivity_which_is_attained(neighbours):
    moved, sensitivity = furthest(neighbours)
    assert sensitivity - 1e-5 <= moved <= sensitivity


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_visits_that_count_in_full_are_found_out(neighbours):
    moved, sensitivity = furthest(neighbours, whole_rows=True)
    assert moved > 2 * sensitivity


@pytest.mark.parametrize("settings", [{}, {"mean_share": 0.2, "scale_share": 0.2}])
def test_without_noise_it_is_numpys_histogram_of_the_scores(settings):
    """By hand, from the document: hospitals of any sizes, paid means and scales, groups, ends included."""
    release = released([ROWS[:150], ROWS[150:]], **settings)
    document = release | {}
    there = ROWS.any(axis=1)
    units = ROWS[there]
    if settings:
        units = (units - document["mean"]) / document["scales"] / document["length after scaling"]
    along = units @ np.array(document["components"]).T
    request = asked(HARDLY_ANY, release, group=GROUP)
    result = make(request, [ROWS[:150], ROWS[150:]], groups=[CODES[:150], CODES[150:]])
    clamped = [
        np.clip(values, edges[0], edges[-1]) for values, edges in zip(along.T, request.edges, strict=True)
    ]
    for code, noisy in enumerate(result.counts):
        chosen = CODES[there] == code
        expected = np.histogram2d(*(values[chosen] for values in clamped), bins=request.edges)[0]
        np.testing.assert_allclose(noisy, expected, atol=0.05)
    assert result.counts.sum() == pytest.approx(N - 1, abs=0.5)
    assert json.loads(json.dumps(result.document))["groups"] == ["north", "south", "other"]


def test_usual_answers_are_in_a_cell_and_only_rows_that_were_left_out_in_none():
    """A row of zeros is at -mean, held, weighted or read again; leaving it out moves one cell by 1."""
    request = asked(release=released([ROWS], mean_share=0.2))
    halves, ones = np.full((N, 1), 0.5), np.ones((N, 1))
    zero = score_histogram.scores(np.zeros((1, D)), request.release)[0]
    assert np.linalg.norm(zero) > 0

    def exact(part, present=None, read=None):
        counts = score_histogram.whole_counts(request, [part], None, read, present=present)[0]
        return counts.reshape(request.shape)[0] * 2.0**-20

    def again(use, progress, of_mean):
        use(0, ROWS, ones)

    last = np.roll(ROWS, -8, axis=0)  # the row of zeros is the last
    whole, less = exact(last, [N]), exact(last, [N - 1])
    expected, *_ = np.histogram2d(*zero[:, None], bins=request.edges)
    np.testing.assert_array_equal(whole - less, expected)
    assert expected.sum() == 1
    np.testing.assert_array_equal(exact(ROWS, read=again), whole)
    np.testing.assert_array_equal(exact(PatientRows(ROWS, halves, N), [N]), whole / 4)
    np.testing.assert_array_equal(exact(last), less)  # nothing is known: as for the release itself
    assert make(asked(HARDLY_ANY), [last], present=[N]).counts.sum() == pytest.approx(N, abs=0.5)


def noise(budget, release=RELEASE, parts=(ROWS,)):
    """Return the noise of 17,600 cells, in stds."""
    request = asked(budget, release, cells=40, group=Group("clinic", tuple("abcdefghij")))
    codes = [np.zeros(len(part), dtype=int) for part in parts]
    result = make(request, parts, payer(neighbours=budget.neighbours), groups=codes)
    exact = score_histogram.whole_counts(request, parts, codes).sum(axis=0).reshape(request.shape)
    return (result.counts - exact * 2.0**-20).ravel() / result.std, result.std


@pytest.mark.parametrize("factor", [1.0, 0.8, 1.2])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_the_noise_is_gaussian_of_its_size(neighbours, factor):
    """Kolmogorov and Smirnov, wrong alarm 1e-6, at 0.02; a fifth off moves it by 0.044, 6 stds beyond."""
    values, std = noise(Budget(1.0, 1e-5, neighbours))
    paid = asked(Budget(1.0, 1e-5, neighbours)).events[0].noise_multiplier
    assert std == pytest.approx(math.sqrt(2 if neighbours == "replace-one" else 1) * paid)
    assert (stats.kstest(values * factor, "norm").pvalue > ALPHA) == (factor == 1.0)


def test_hospitals_that_trust_nobody_each_add_their_own_noise():
    parts = (ROWS[:100], ROWS[100:300], ROWS[300:])
    request = Request("own_noise_sparse", D, 2, HARDLY_ANY)
    document = private_release.make(request, parts, payer(), features=NAMES, public=PUBLIC).document
    values, std = noise(BUDGET, score_histogram.part_for_scores(document), parts)
    assert std == pytest.approx(asked().std * math.sqrt(3))
    assert stats.kstest(values, "norm").pvalue > ALPHA


def test_it_costs_what_was_asked_and_is_refused_beyond_the_limit():
    account = payer(1.2)
    make(asked(), account=account)
    assert account.account().spent().epsilon == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(OverLimitError):
        make(asked(), account=account)
    assert len(account.account().payments) == 1


def test_an_interrupted_one_goes_on_and_is_drawn_once(tmp_path, monkeypatch):
    account, draws, draw = Book(tmp_path / "book").payer(TABLE), [], discrete_gaussian.add_noise
    account.set_limit(Limit(9.0, 1e-5, "replace-one"))

    def stopping(*given, **more):
        draws.append(given)
        if len(draws) == 1:
            raise discrete_gaussian.StoppedError
        return draw(*given, **more)

    monkeypatch.setattr(discrete_gaussian, "add_noise", stopping)
    with pytest.raises(discrete_gaussian.StoppedError):
        make(asked(), account=account)
    (payment,) = account.account().payments
    request = ScoreRequest.from_plain(account.drawn(payment.id).asked["scores"])
    first, second = (make(request, account=account, resumed=payment) for _ in range(2))
    np.testing.assert_array_equal(first.counts, second.counts)
    assert first.document == second.document
    assert len(draws) == 2 and len(account.account().payments) == 1
    with pytest.raises(ValueError, match="another picture"):
        make(asked(cells=5), account=account, resumed=payment)


@pytest.mark.parametrize(
    ("parts", "more", "says"),
    [
        ([ROWS * 9], {}, "clipped"),
        ([ROWS[:-1]], {}, "another table"),
        ([ROWS], {"public": {}}, "another table"),
        ([ROWS], {"features": NAMES[::-1]}, "other columns"),
        ([ROWS[:, 1:]], {}, "other columns"),
        ([ROWS], {"groups": [CODES]}, "groups"),
        ([PatientRows(ROWS, np.ones((N, 1)), N)], {}, "their patients"),
        ([patient_rows.sum_rows([ROWS], D)], {}, "only their sums"),
    ],
)
def test_what_is_not_the_releases_table_is_refused_before_it_is_paid(parts, more, says):
    account = payer()
    with pytest.raises(ValueError, match=says):
        make(asked(), parts, account, **more)
    assert not account.account().payments


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"budget": Budget(1.0, 1e-5, accounting="as-printed")}, "exact, zcdp"),
        ({"edges": ((0.0, 1.0), (1.0, 0.0))}, "rise"),
        ({"release": RELEASE | {"components": RELEASE["components"][:1]}}, "two components"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(broken, says):
    with pytest.raises(ValueError, match=says):
        ScoreRequest(**{"release": RELEASE, "edges": ((0.0, 1.0),) * 2, "budget": BUDGET} | broken)


@pytest.mark.parametrize(
    ("words", "says"),
    [((), "between 1 and 10"), (("a",) * 2, "different names"), (("a", "other"), "different names")],
)
def test_groups_that_are_none_are_refused(words, says):
    with pytest.raises(ValueError, match=says):
        Group("clinic", words)


def test_a_row_is_in_the_same_cell_wherever_it_stands():
    """To the last bit: a patient with more visits must not move another's row into another cell."""
    turned = score_histogram.scores(np.roll(ROWS, 3, axis=0)[1:], RELEASE)
    np.testing.assert_array_equal(turned, np.roll(score_histogram.scores(ROWS, RELEASE), 3, axis=0)[1:])
