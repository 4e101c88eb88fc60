"""Test the fitted bound: what one patient moves, what steps cost, their noise, rules, and planted bugs."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dppca_core import Budget
from dppca_core.accounting import closed_form, gaussian
from dppca_core.arrays import Array
from dppca_core.experiments import fitted_release
from dppca_core.mechanisms.paid_lengths import STEPS, FittedBound, Layout, RowFrame
from dppca_core.numerics import linalg
from dppca_core.privacy import Neighbours
from dppca_core.tables import Column, Schema
from dppca_core.tables.layout import layout_of
from tests.core.laws import follows

SIZES = (0, 3, 0, 1, 0, 2)  # three numbers; columns of three, one and two categories
SIMPLE = (True,) * len(SIZES)
LAYOUT = Layout.of_columns(SIZES, SIMPLE, np.zeros(9))
PAIRS = 4000


def draw_rows(n: int, rng: np.random.Generator, corners: float | Array = 0.0) -> Array:
    """Return encoded rows, (n, 9): numbers, a share of them at the ends of their ranges, and indicators.

    corners: that share, of all rows or of each, (n, 1).
    """
    parts = []
    for size in SIZES:
        if size:
            answers = rng.integers(-1 if size == 1 else 0, size, n)  # the single category is a yes or no
            parts.append((answers[:, None] == np.arange(size)) - 1 / max(size, 2))
        else:
            spread = rng.beta(2, 5, (n, 1)) * 2 - 1
            ends = rng.choice([-1.0, 1.0], (n, 1))
            parts.append(np.where(rng.random((n, 1)) < corners, ends, spread))
    return np.hstack(parts)


@dataclass(frozen=True)
class Patients:
    """Hold the rows of some patients, of whom each has one to three.

    rows: (m, 9). begins: the first row of each patient. sizes: how many rows each has, (patients, 1).
    """

    rows: Array
    begins: NDArray[np.int_]
    sizes: NDArray[np.int_]

    @staticmethod
    def single(rows: Array) -> "Patients":
        """Return one patient."""
        return Patients(rows, np.array([0]), np.array([[len(rows)]]))

    @staticmethod
    def drawn(count: int, rng: np.random.Generator, empty: Array) -> "Patients":
        """Return random patients; of those whose `empty` is True the rows are zeros."""
        sizes = rng.integers(1, 4, count)
        corners, nothing = (np.repeat(each, sizes)[:, None] for each in (rng.random(count), empty))
        rows = np.where(nothing, 0.0, draw_rows(int(sizes.sum()), rng, corners))
        return Patients(rows, np.cumsum(sizes) - sizes, sizes[:, None])

    def average(self, added: Array) -> Array:
        """Return what each patient adds, (patients, ...), of what their rows do."""
        return np.add.reduceat(added, self.begins) / self.sizes


def rule_at(
    n: int,
    *,
    neighbours: Neighbours = "replace-one",
    standardised: bool = False,
    epsilon: float = 1.0,
    hospitals: int = 1,
    complete: bool = True,
    averaged: bool = False,
) -> FittedBound:
    """Return the rule of n patients of LAYOUT, of whom some may be left out unless they are complete."""
    layout = replace(LAYOUT, complete=complete)
    return FittedBound(layout, Budget(epsilon, 1e-6, neighbours), n, standardised, hospitals, averaged)


@dataclass(frozen=True)
class Replay:
    """Replay the four steps for a table of patients with outputs given: what each sums, and its noise's std.

    Bugs are planted by other functions for what a step reads: `mean_bound` and `bound` may look at the rows.
    """

    rule: FittedBound
    mean_bound: Callable[[FittedBound, Array, Array], float] = lambda rule, squares, rows: rule.mean_bound(
        squares
    )
    bound: Callable[[FittedBound, Array, RowFrame, Array], float] = lambda rule, tails, frame, rows: (
        rule.bound(tails, frame)
    )

    def steps(
        self, patients: Patients, table: Array, outputs: tuple[Array, Array, Array]
    ) -> dict[str, tuple[Array, float]]:
        """Return what each patient adds in each step, (patients, entries), and the std of the step's noise.

        A patient's rows count once together. table: all rows, which only a planted bug reads. outputs:
        squares, mean and tails as released.
        """
        squares, mean, tails = outputs
        rule, rows, mean_bound = self.rule, patients.rows, self.mean_bound(self.rule, squares, table)
        frame = rule.frame(squares, mean)
        bound = self.bound(rule, tails, frame, table)
        shortened = rule.fitted(rows, frame, bound) * bound
        added = {
            "squares": rule.squares(rows),
            "mean": rule.mean(rows, mean_bound),
            "tails": rule.tails(rows, frame),
            "moment": np.einsum("mi,mj->mij", shortened, shortened).reshape(len(rows), -1),
        }
        bounds = {"mean": mean_bound, "moment": bound}
        return {
            step: (patients.average(added[step]), rule.sum_std(step, bounds.get(step, 0.0))) for step in STEPS
        }

    def largest_ratios(self, pairs: int, seed: int, outputs: int) -> dict[str, float]:
        """Return for each step the largest shift seen, over std, in units of what its share allows.

        Infinite where the std itself tells the two tables apart. outputs: how many the pairs are shared by.
        """
        rule, rng = self.rule, np.random.default_rng(seed)
        replaced = rule.budget.neighbours == "replace-one"
        largest = dict.fromkeys(STEPS, 0.0)
        each = pairs // outputs
        for _ in range(outputs):
            table = draw_rows(6, rng, corners=0.1)
            first = Patients.drawn(each, rng, np.zeros(each, dtype=bool))
            # Left out, or not there.
            second = Patients.drawn(each, rng, (rng.random(each) < 0.2) | (not replaced))
            released = released_at_random(rule, rng)
            before, after = (
                self.steps(patients, np.vstack([table, patients.rows]), released)
                for patients in (first, second)
            )
            for step in STEPS:
                allowed = math.sqrt(rule.shares[step]) / gaussian.noise_multiplier(rule.budget)
                (added, std), (other, same) = before[step], after[step]
                shift = float(np.linalg.norm(added - other, axis=1).max()) / std
                largest[step] = max(largest[step], shift / allowed if std == same else math.inf)
        return largest


def released_at_random(rule: FittedBound, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return outputs of the first three steps, as noise may leave them: near the truth or far."""
    rows = draw_rows(200, rng)
    wide = rng.choice([0.01, 0.1, 1.0])
    squares = rule.squares(rows).mean(axis=0) + wide * rng.standard_normal(rule.layout.count)
    mean = rule.about_middle(rows).mean(axis=0) + wide * rng.standard_normal(rule.layout.d)
    if not rule.layout.complete:
        usable = 0.8 + wide * rng.standard_normal()
        mean = np.append(mean * usable, rule.count_weight(rule.mean_bound(squares)) * usable)
    return squares, mean, wide * np.abs(rng.standard_normal(2))


NEAREST = {"squares": 0.9, "mean": 0.9, "tails": 0.99, "moment": 0.97}  # of what is allowed, at least


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_no_neighbours_move_a_step_further_than_it_pays_for(
    neighbours, standardised, complete, record_property
):
    """4,000 random pairs: numbers at their ends, categories, empty rows, patients of one to three rows.

    They share 200 random outputs.
    """
    rule = rule_at(300, neighbours=neighbours, standardised=standardised, complete=complete)
    ratios = Replay(rule).largest_ratios(PAIRS, seed=1, outputs=200)
    for step, ratio in ratios.items():
        record_property(step, float(ratio))
        assert NEAREST[step] < ratio <= 1 + 1e-9, (step, ratio)


def test_a_bound_of_the_mean_that_is_read_from_rows_is_seen():
    def looked(rule: FittedBound, squares: Array, rows: Array) -> float:
        """Return the mean length of the rows themselves."""
        return float(np.linalg.norm(rule.about_middle(rows), axis=1).mean())

    assert Replay(rule_at(300), mean_bound=looked).largest_ratios(50, seed=2, outputs=50)["mean"] == math.inf


def test_a_bound_from_the_true_lengths_is_seen():
    def looked(rule: FittedBound, tails: Array, frame: RowFrame, rows: Array) -> float:
        """Return the bound from tails without noise."""
        return rule.bound(rule.tails(rows, frame).mean(axis=0), frame)

    assert Replay(rule_at(300), bound=looked).largest_ratios(50, seed=3, outputs=50)["moment"] == math.inf


def test_a_count_that_weighs_more_than_is_free_is_seen():
    ratios = Replay(Heavy(**vars_of(rule_at(300, complete=False)))).largest_ratios(2000, seed=6, outputs=200)
    assert ratios["mean"] > 1.02


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_rows_that_are_not_shortened_are_no_longer_than_the_count_reckons_with(neighbours, size):
    """Of two numbers, or categories alone, whose rows may all be within b_m or no two be 2 b_m apart."""
    layout = Layout.of_columns((size,) * 2, (True, True), np.zeros(2 * max(size, 1)), complete=False)
    rule = FittedBound(layout, Budget(1.0, 1e-6, neighbours), 100)
    rows = np.array([[1.0, -1], [-1, 1], [0, 0]]) if not size else np.eye(4)[[0, 3]] + np.eye(4)[[2, 1]] - 0.5
    rows = np.vstack([rows, np.zeros((1, layout.d))])
    for bound in (0.3, 0.7, 1.0, 1.2, 2.0, 5.0):
        added = rule.mean(rows, bound)
        apart = max(float(np.linalg.norm(a - b)) for a in added for b in added)
        longest = float(np.linalg.norm(added, axis=1).max())
        assert (longest if neighbours == "add-remove" else apart) <= rule.sensitivity("mean", bound)


def test_a_row_that_is_cut_too_late_is_seen():
    """Rows shortened at a bound 5 % longer than the noise is for."""
    ratios = Replay(Late(**vars_of(rule_at(300, neighbours="add-remove")))).largest_ratios(
        300, seed=4, outputs=30
    )
    assert ratios["moment"] > 1.05 and ratios["mean"] > 1.04


def vars_of(rule: FittedBound) -> dict[str, object]:
    return {name: getattr(rule, name) for name in FittedBound.__dataclass_fields__}


class Late(FittedBound):
    """Shorten rows 5 % too late: a planted bug."""

    def mean(self, rows: Array, bound: float) -> Array:
        return super().mean(rows, 1.05 * bound)

    def fitted(self, rows: Array, frame: RowFrame, bound: float) -> Array:
        return super().fitted(rows, frame, 1.05 * bound) * 1.05


class Heavy(FittedBound):
    """Let the count weigh a tenth more than is free: a planted bug."""

    def count_weight(self, bound: float) -> float:
        return 1.1 * super().count_weight(bound)


class FreeTails(FittedBound):
    """Take the share of the tails for the moment as well: a planted bug."""

    @property
    def shares(self):
        paid = super().shares
        return paid | {"moment": paid["moment"] + paid["tails"]}


class FreeMean(FittedBound):
    """Charge nothing for the mean: a planted bug."""

    @property
    def shares(self):
        paid = super().shares
        return paid | {"moment": paid["moment"] + paid["mean"]}


def true_multiplier(rule: FittedBound, rows: Array) -> float:
    """Return the multiplier of all that a release draws, from the noise that its steps have."""
    out = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0))
    bounds = {"mean": rule.mean_bound(out.squares), "moment": out.bound}
    stds = {step: rule.sum_std(step, bounds.get(step, 0.0)) for step in STEPS}
    return sum((rule.sensitivity(step, bounds.get(step, 0.0)) / stds[step]) ** 2 for step in STEPS) ** -0.5


@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("n", [50, 5000])
def test_all_steps_together_are_one_release_at_the_budget(n, neighbours, standardised):
    rule = rule_at(n, neighbours=neighbours, standardised=standardised)
    rows = draw_rows(50, np.random.default_rng(0))
    z = gaussian.noise_multiplier(rule.budget)
    assert true_multiplier(rule, rows) == pytest.approx(z, rel=1e-12)
    spent = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0)).spent
    assert len(spent) == 4
    assert closed_form.epsilon_of(spent, rule.budget.delta) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("planted", [FreeTails, FreeMean])
def test_a_step_that_is_not_paid_for_is_seen(planted):
    rule = planted(**vars_of(rule_at(2000)))
    rows = draw_rows(50, np.random.default_rng(0))
    assert true_multiplier(rule, rows) < 0.995 * gaussian.noise_multiplier(rule.budget)


def noises(rule: FittedBound, runs: int, factor: float = 1.0) -> dict[str, Array]:
    """Return the noise of each step over its stated std, of all entries of many releases of no rows.

    A release has two tails, so that their step is drawn more often. factor: of the stated std, other than 1
    for a planted error.
    """
    rows = np.zeros((rule.n, rule.layout.d))
    drawn: dict[str, list[Array]] = {step: [] for step in STEPS}
    for run in range(runs):
        rng = np.random.default_rng(run)
        out = fitted_release.fitted_moment(rows, rule, rng)
        parts = {"squares": out.squares, "mean": out.mean, "tails": out.tails}
        parts["moment"] = out.released.diagonal()
        bounds = {"mean": rule.mean_bound(out.squares), "moment": out.bound}
        for step in STEPS:
            hospitals = math.sqrt(rule.hospitals)
            std = factor * hospitals * rule.sum_std(step, bounds.get(step, 0.0)) / rule.n
            drawn[step].append(parts[step] / std)
        for _ in range(19):
            tails = rule.noisy_sum("tails", rows, parts, rng, part=math.sqrt(rule.hospitals))
            drawn["tails"].append(tails / (factor * math.sqrt(rule.hospitals) * rule.sum_std("tails")))
    return {step: np.concatenate(parts) for step, parts in drawn.items()}


@pytest.mark.parametrize("hospitals", [1, 5])
def test_the_noise_of_every_step_is_as_stated(hospitals):
    """KS at ALPHA, one in a million, for each step; 15 % more or less is rejected."""
    rule = replace(rule_at(40, hospitals=hospitals), layout=Layout.of_numbers(40))
    for drawn in noises(rule, 225).values():
        assert follows(drawn, stats.norm())
        assert not follows(drawn, stats.norm(scale=1.15)) and not follows(drawn, stats.norm(scale=0.85))


def shortened(rows: Array, bound: float) -> Array:
    """Return rows no longer than the bound, written out."""
    return rows * np.minimum(1, bound / np.linalg.norm(rows, axis=1, keepdims=True))


def test_without_noise_it_is_the_moment_of_shortened_rows_about_their_mean():
    """At epsilon 1e10; the mean is of shortened rows too."""
    rows = draw_rows(3000, np.random.default_rng(0))
    rule = rule_at(3000, epsilon=1e10)
    out = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0))
    square = float(np.square(rows[:, LAYOUT.numbers]).mean(axis=0).sum()) + 2 / 3 + 1 / 4 + 1 / 2
    mean = shortened(rows, 1.05 * math.sqrt(square)).mean(axis=0)
    np.testing.assert_allclose(out.mean, mean, atol=1e-6)
    cut = shortened(rows - mean, out.bound)
    np.testing.assert_allclose(out.released, cut.T @ cut / len(rows), atol=2e-6)
    np.testing.assert_allclose(out.moment, out.released, atol=2e-6)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
@pytest.mark.parametrize("standardised", [False, True])
def test_without_noise_patients_who_are_left_out_change_nothing(standardised, neighbours):
    """A third of them are: mean, bound and moment are nearly those of the others alone."""
    rows = draw_rows(3000, np.random.default_rng(0))
    some = np.vstack([rows, np.zeros((1500, 9))])
    same = {"epsilon": 1e10, "standardised": standardised, "neighbours": neighbours}
    alone = fitted_release.fitted_moment(rows, rule_at(3000, **same), np.random.default_rng(0))
    counted = rule_at(4500, **same, complete=False)
    out = fitted_release.fitted_moment(some, counted, np.random.default_rng(0))
    assert out.frame.usable == pytest.approx(2 / 3, abs=1e-6)
    # b_m is reckoned from all patients, so that more rows are shortened in the mean.
    np.testing.assert_allclose(out.frame.mean, alone.frame.mean, atol=0.03)
    assert out.bound == pytest.approx(alone.bound, rel=0.07)
    np.testing.assert_allclose(out.moment, alone.moment, atol=0.08 if standardised else 0.01)
    uncounted = fitted_release.fitted_moment(some, rule_at(4500, **same), np.random.default_rng(0))
    assert np.abs(uncounted.moment - alone.moment).max() > 0.08


def test_without_noise_and_rows_of_short_tails_standardised_components_are_those_of_correlations():
    rng = np.random.default_rng(1)
    factor = rng.uniform(-0.5, 0.5, (4000, 1)) * np.array([1.0, 0.6, 0.3, 0.0, 0.0])
    rows = factor + rng.uniform(-0.5, 0.5, (4000, 5)) * np.array([0.2, 0.4, 0.6, 0.5, 0.05])
    rule = FittedBound(Layout.of_numbers(5), Budget(1e9, 1e-6), len(rows), standardised=True)
    out = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0))
    np.testing.assert_allclose(out.moment, np.corrcoef(rows.T), atol=2e-3)


@pytest.mark.parametrize("neighbours", ["replace-one", "add-remove"])
def test_a_row_that_is_left_out_adds_nothing(neighbours):
    rule = rule_at(100, neighbours=neighbours)
    empty, outputs = np.zeros((1, 9)), released_at_random(rule, np.random.default_rng(0))
    added = Replay(rule).steps(Patients.single(empty), empty, outputs)
    assert all(not np.any(added[step][0]) for step in STEPS)


def test_weights_count_a_patients_rows_once():
    """Each row twice at half the weight gives the same noise and the same release."""
    rows = draw_rows(80, np.random.default_rng(0))
    rule = rule_at(80)
    once = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0))
    twice = fitted_release.fitted_moment(
        np.repeat(rows, 2, axis=0), rule, np.random.default_rng(0), np.full(160, 0.5)
    )
    np.testing.assert_allclose(once.moment, twice.moment, atol=1e-12)


def test_the_diameter_is_that_of_encoded_rows():
    """No pair is further apart than D, and pairs without the single category and numbers attain it."""
    layout = Layout.of_columns((0, 2), (True, True), np.zeros(3))
    assert layout.diameter == pytest.approx(np.linalg.norm([2, 1, 1]))
    rows = draw_rows(3000, np.random.default_rng(0), corners=1.0)
    assert np.linalg.norm(rows[:1500] - rows[1500:], axis=1).max() <= LAYOUT.diameter
    assert np.linalg.norm(rows, axis=1).max() <= LAYOUT.longest + 1e-12 <= LAYOUT.diameter


def test_a_usual_value_moves_the_origin_and_nothing_else():
    """About the middles, rows encoded with usual values are those without."""
    plain = Schema((Column("age", "number", 0.0, 100.0), Column("sex", "category", categories=("f", "m"))))
    usual = Schema(
        (
            Column("age", "number", 0.0, 100.0, usual=70.0),
            Column("sex", "category", categories=("f", "m"), usual="f"),
        )
    )
    cells = np.array([[30.0, 0], [90.0, 1]])

    def encoded(schema: Schema) -> Array:
        """Return both patients' rows by the formula of the dictionary."""
        age, sex = schema.columns
        indicators = (cells[:, 1:] == np.arange(2)) - np.asarray(sex.centres)
        return np.hstack([(cells[:, :1] - age.origin) / age.half, indicators])

    budget = Budget(1.0, 1e-6)
    about = [
        FittedBound(layout_of(schema), budget, 2).about_middle(encoded(schema)) for schema in (plain, usual)
    ]
    np.testing.assert_allclose(about[0], about[1], atol=1e-12)
    assert np.abs(encoded(plain) - encoded(usual)).max() > 0.3


def test_the_empty_direction_of_an_answered_column_is_empty():
    """Of rows about any mean that adds up; a single category and a column filled with none have no such."""
    rows = draw_rows(500, np.random.default_rng(0))
    divisors = np.random.default_rng(1).uniform(0.5, 2.0, 9)
    directions = LAYOUT.empty_directions(divisors)
    assert directions.shape == (9, 2) and LAYOUT.rank == 7
    framed = (rows - rows.mean(axis=0)) / divisors
    np.testing.assert_allclose(framed @ directions, 0.0, atol=1e-12)
    moment = framed.T @ framed
    np.testing.assert_allclose(linalg.without_directions(moment, directions), moment, atol=1e-9)
    noisy = moment + np.eye(9)
    assert np.linalg.norm(linalg.without_directions(noisy, directions) @ directions) < 1e-9
    schema = Schema(
        (Column("sex", "category", categories=("f", "m"), fill=""), Column("age", "number", 0.0, 9.0))
    )
    assert layout_of(schema).answered == (False,)


def test_the_rule_of_the_bound():
    """f falls with noise and rises with tails; at typical ones it balances what it cuts with the noise."""
    squares = [rule_at(n).relative_square() for n in (200, 1000, 5000, 50000)]
    assert squares == sorted(squares)
    rule = rule_at(5000)
    tails = [(0.02, 0.001), (0.05, 0.005), (0.1, 0.03)]
    assert sorted(squares := [rule.relative_square(each) for each in tails]) == squares
    square = rule.relative_square()
    # By hand: survival A exp(-r (X - 1.3)), r = ln(10)/.7, A/r = .05/(1 - e^-r).
    rate = math.log(10) / 0.7
    cut = 0.05 / (1 - math.exp(-rate)) * math.exp(-rate * (square - 1.3))
    factor = min(max((rule.height / 0.006) ** 0.4, 0.75), 2.2)
    assert square > 1.3 and cut == pytest.approx(1.5 * factor * rule.height * square, rel=1e-6)


def test_a_small_table_uses_the_typical_tails():
    small, large = rule_at(60), rule_at(10**6)
    far = (0.3, 0.1)
    assert small.relative_square(far) == pytest.approx(small.relative_square(), rel=0.05)
    assert large.relative_square(far) > 1.5 * large.relative_square()


def test_rows_of_categories_alone_pay_for_no_squares():
    layout = Layout.of_columns((3, 2), (True, True), np.zeros(5))
    rule = FittedBound(layout, Budget(1.0, 1e-6), 500)
    rows = draw_rows(500, np.random.default_rng(0))[:, [1, 2, 3, 7, 8]]
    out = fitted_release.fitted_moment(rows, rule, np.random.default_rng(0))
    assert len(out.spent) == 3 and len(out.squares) == 0
    assert closed_form.multiplier_of(out.spent) == pytest.approx(gaussian.noise_multiplier(rule.budget))


def test_hospitals_that_trust_nobody_are_fewer_patients_to_the_rules():
    """Four hospitals have twice the noise, as one of half the patients has; prices are the same."""
    four, half = rule_at(2000, hospitals=4), rule_at(1000)
    assert four.height == pytest.approx(half.height)
    assert four.shares == pytest.approx(half.shares)
    assert four.mean_std("moment", 1.0) == pytest.approx(half.mean_std("moment", 1.0))
    assert four.price("moment") == half.price("moment")


def test_numbers_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="n must be"):
        rule_at(0)
    with pytest.raises(ValueError, match="hospitals must be"):
        rule_at(5, hospitals=0)
    with pytest.raises(ValueError, match="step must be"):
        rule_at(5).sensitivity("guess")
    with pytest.raises(ValueError, match="accounting must be"):
        FittedBound(LAYOUT, Budget(1.0, 1e-6, accounting="as-printed"), 5)
