"""Say what methods can do for a table with many features, by closed forms of public numbers.

It is judged before anything is paid. No Streamlit here.
"""

from dataclasses import replace
from functools import lru_cache

from dppca_core.accounting import gaussian
from dppca_core.bounds import stated_spectra
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.privacy import Budget
from dppca_core.release import discrete_gaussian
from dppca_core.release.request import OFFERED, Request, most_features
from pages.hospitals.your_data import twin_text
from pages.hospitals.your_data.text import TOO_MUCH


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
