"""Each bug that a two-stage method could have, planted, and refuted by the audit of its release."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core import Budget
from dppca_core.auditing import lower_bound
from dppca_core.auditing.cases import Case, stages
from dppca_core.mechanisms import normalised_product
from dppca_core.numerics.moments import RowMoment
from tests.core.laws import ALPHA

BUDGET = Budget(4.0, 0.01)
DRAWS = 3000


def shown(case: Case, draws: int = DRAWS) -> float:
    """A lower bound on epsilon; above the truth with probability ALPHA at most."""
    return lower_bound.audit(
        case.mechanism,
        case.pair,
        delta=case.delta,
        draws=draws,
        rng=np.random.default_rng(0),
        bound=lower_bound.gaussian_tradeoff,
        alpha=ALPHA,
    ).epsilon


def test_a_round_charged_at_sensitivity_1_is_refuted(monkeypatch):
    claim = stages.rounds(BUDGET, 2)[0].epsilon
    monkeypatch.setattr(normalised_product, "sensitivity", lambda budget: 1.0)
    (bug,) = stages.rounds(BUDGET, 2)
    assert shown(bug) > claim


def with_lengths(case: Case, shorter: float = 0.3) -> Case:
    """The same release where the other patient's row is short."""
    pair = stages.tilted(BUDGET)
    for cohort in pair:
        rows = np.array(cohort.pooled.rows)
        rows[1] *= shorter
        object.__setattr__(cohort.pooled, "rows", rows)
    return replace(case, pair=pair)


@pytest.mark.parametrize("weights", ["mean", "inverse"])
def test_rows_of_stage_2_that_may_be_longer_than_1_are_refuted(weights, monkeypatch):
    """Divided by their own mean length, or weighted by what they lost in stage 1."""
    case = with_lengths(stages.one_place(BUDGET, 2)[0])
    assert shown(case, DRAWS // 3) <= case.epsilon

    def too_long(moment: RowMoment, columns) -> RowMoment:
        rows = moment.rows[:, columns]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        divided_by = lengths.mean() if weights == "mean" else lengths * np.sqrt(lengths.mean())
        return RowMoment(rows / np.maximum(divided_by, 1e-9))

    monkeypatch.setattr(RowMoment, "restricted_unit", too_long)
    assert shown(case, DRAWS // 3) > 2 * case.epsilon


def test_rows_chosen_from_a_noiseless_round_are_refuted(monkeypatch):
    """The bug shows 12 where 2.5 are claimed, so that few draws are enough."""
    case = stages.one_place(BUDGET, 1)[1]
    assert shown(case, 400) <= case.epsilon
    kept = normalised_product.release
    monkeypatch.setattr(
        normalised_product, "release", lambda cohort, block, std, rng: kept(cohort, block, 1e-9, rng)
    )
    assert shown(case, 400) > 4 * case.epsilon


@pytest.mark.parametrize("stage", ["round_stds", "block_std"])
def test_a_stage_that_is_not_charged_is_refuted(stage):
    """Its noise is that of the whole budget where it may spend half: 1/sqrt 2 as large."""
    noise = stages.noise_at(BUDGET)
    quieter = np.array(getattr(noise, stage)) / np.sqrt(2)
    bug = noise._replace(**{stage: tuple(quieter) if quieter.ndim else float(quieter)})
    case = stages.both_stages(BUDGET, 2, bug)
    assert shown(case) > case.epsilon


def test_noise_for_sealed_sums_sent_alone_is_refuted():
    """Both stages at their worst pair attain nearly what they may spend together."""
    alone = stages.own_noise(BUDGET, 2)[0]
    assert 0.6 * alone.epsilon < shown(alone, 2000) <= alone.epsilon
    sealed = stages.both_stages(BUDGET, 2, stages.noise_at(BUDGET, "secure aggregation"))
    assert shown(sealed, 2000) > alone.epsilon
