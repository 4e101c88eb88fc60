"""Plan a study in which one hospital asks for a stricter guarantee than the others.

Where hospitals' sums are pooled the strict one counts less, by its precision (`mechanisms.hospital_budgets`);
elsewhere one noise protects all, so that all get the strictest guarantee.
"""

from dataclasses import replace

from dppca_core.experiments.planning.planning import PLANNED_METHODS, PlanAnswer, StudyPlan
from dppca_core.mechanisms import hospital_budgets

# The answer gives the sizes, which the weights depend on, though little: so a few repetitions are enough.
_REPETITIONS = 3


def patients_with_cautious(plan: StudyPlan, epsilon: float, strictest: float) -> PlanAnswer:
    """Return the patients that a study needs of equal hospitals, one of which asks for `strictest`.

    It is the answer at the one epsilon that would give equal hospitals the same noise. That unequal weights
    also raise the sampling error is left out. Raises ValueError for accounting as printed, where hospitals'
    sums are pooled.
    """
    method, experiment = plan.method, plan.experiment
    if not method.pools:
        return plan.patients(strictest)
    hospitals, common = experiment.providers, experiment.budget(epsilon)
    budgets = [replace(common, epsilon=strictest), *[common] * (hospitals - 1)]
    s_hat = plan.options.get("s_hat") if method.pools == "restricted" else None  # to the s_hat features kept
    kept = s_hat if isinstance(s_hat, int) else None  # a word stands for a number that is not known before
    sampling = hospital_budgets.sampling_ratio(experiment.d, experiment.k, kept)
    # Budgets that are pooled have an epsilon by exact accounting, whatever that of each is.
    pooled_plan = replace(plan, experiment=replace(experiment, accounting="exact"))
    answer = plan.patients(epsilon)
    for _ in range(_REPETITIONS):
        if answer.value is None:  # without an answer there are no sizes to weight by
            break
        sizes = [answer.value / hospitals] * hospitals
        trust = PLANNED_METHODS[plan.planned].trust
        _weights, pooled = hospital_budgets.pooled_budget(sizes, budgets, trust, sampling)
        answer = pooled_plan.patients(pooled.epsilon)
    return answer
