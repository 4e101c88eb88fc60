"""Minimax rates for spiked covariances under privacy (Cai, Xia & Zha, arXiv 2401.03820), in Schatten norms.

As recalled; constants not checked against the paper (only its abstract was read). Rows have covariance
U L U^T + v I_p, r = k spikes of one order l. For the projector, with a = v/l + sqrt(v/l),

    lower:  C r^(1/q) a [ sqrt(p/n) + p sqrt(r) / (n epsilon) ]
    upper:  C r^(1/q) a [ sqrt(p/n) + p sqrt((r + log n) log(1/delta)) / (n epsilon) ]

and for the covariance's spiked part, b = sqrt(v (l + v)),

    lower:  C r^(1/q) { l [ sqrt(r/n) + r^(3/2) / (n epsilon) ] + b [ sqrt(p/n) + p sqrt(r) / (n epsilon) ] }
    upper:  the same with sqrt((r + log n) log(1/delta)) for sqrt r, sqrt(r log(1/delta)) (r + log n) for
            r^(3/2): derived here from the sensitivities of the mechanism (`methods.spiked_projector`).

The vector sin Theta holds every angle once, and the difference of projectors holds it twice: |P - Q|_q =
2^(1/q) |sin Theta|_q. So the total is the rate over 2^(1/q), and for q = 2 the sin Theta of all other bounds.
The trivial maximum r^(1/q) of the rates is not applied here. The upper bound's privacy holds on a good event
only.

We add two checks. A lower rate at C = 1 must not exceed what Analyze Gauss attains, to first order. A
covariance rate must exceed what is lost where the bulk is not v I.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dppca_core import checks
from dppca_core.arrays import Array
from dppca_core.bounds.rule import BoundRule, Check, check_gap, check_reachable, make_bound, spectrum
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import METHODS
from dppca_core.records import Bound, Setting

SOURCE = "Cai, Xia & Zha, arXiv 2401.03820, as recalled; constants not checked against the paper"
# The paper says "of order l" and "identity" without numbers. These two are our reading: the largest ratio of
# spikes to each other, and that of the bulk's largest eigenvalue to its mean.
_ONE_ORDER = 10.0
_FLAT = 1.1


class Scales(NamedTuple):
    """Hold the spike l, the bulk v, and the two summands by which privacy enters the module's brackets.

    `inside_privacy` stands beside sqrt(r/n) and is about the k x k block of eigenvalues. `across_privacy`
    stands beside sqrt(p/n) and is about the directions. Upper rates have logarithms in both, lower rates
    have none.
    """

    spike: float
    flat: float
    inside_privacy: float
    across_privacy: float


def _scales(setting: Setting, logs: bool) -> Scales:
    """Return what the rates are made of at a setting; `logs` for the logarithms of an upper rate."""
    top, bulk = spectrum(setting)
    flat, r, n, budget = float(bulk.mean()), setting.k, setting.n, setting.budget
    # r, or r + log n; and 1/(n epsilon), or sqrt(log(1/delta)) times that.
    moved = r + math.log(n) if logs else float(r)
    unit = (math.sqrt(math.log(1 / budget.delta)) if logs else 1.0) / (n * budget.epsilon)
    # The minimum keeps the spike at least as large as the gap, which rounding of the mean could undercut.
    spike = float(top[-1] - min(bulk.mean(), bulk[0]))
    return Scales(spike, flat, math.sqrt(r) * moved * unit, setting.d * math.sqrt(moved) * unit)


def _conditions(setting: Setting, scales: Scales, c_signal: float) -> list[Check]:
    """Return the assumptions of all four rates; c_signal scales the least signal over bulk, l/v."""
    p, n, r = setting.d, setting.n, setting.k
    top, bulk = spectrum(setting)
    ratio = scales.spike / scales.flat if scales.flat > 0 else math.inf
    needed = c_signal * (p / n + math.sqrt(p / n))
    order = (float(top[0]) - scales.flat) / scales.spike
    bent = float(bulk[0]) / scales.flat if scales.flat > 0 else 1.0
    return [
        check_gap(top, bulk),
        (ratio >= needed, f"signal λ/σ² = {ratio:.3g} should be at least {needed:.3g}"),
        (n >= r + math.log(n), f"n = {n} should be at least r + log n = {r + math.log(n):.3g}"),
        (
            order <= _ONE_ORDER,
            f"spikes: largest over smallest = {order:.3g} should be at most {_ONE_ORDER:g}",
        ),
        (bent <= _FLAT, f"bulk: largest over mean = {bent:.3g} should be at most {_FLAT:g}"),
    ]


def _flat_enough(setting: Setting, total: float, q: float) -> Check:
    """Check that a covariance rate, `total`, is at least the Schatten-q error of taking the bulk for v I.

    The paper's bulk is v I, so its rate knows nothing of the error that eigenvalues around v add.
    """
    bulk = spectrum(setting)[1]
    left = float(np.linalg.norm(bulk - bulk.mean(), q))
    return left <= total, (
        f"our own check: {total:.3g} should not be below the {left:.3g} that a flat bulk leaves out"
    )


@dataclass(frozen=True)
class Rate:
    """Evaluate one of the module's four rates: lower or upper, for the covariance or for the projector."""

    lower: bool
    covariance: bool

    def bound(self, setting: Setting, *, c: float = 1.0, c_signal: float = 1.0, q: float = 2.0) -> Bound:
        """Return the rate in the Schatten-q norm, for the projector that of sin Theta.

        A lower rate is that of the worst case.

        Args:
            c: C, the constant of the rate.
            c_signal: Constant of the condition that the signal is strong enough.
            q: Schatten norm, from 1 to infinity.

        Returns:
            The bound; its terms stat and priv add up. For the covariance it is in units of the scaled rows'.

        Raises:
            ValueError: For a q below 1.
        """
        checks.within(1.0, math.inf, q=q)
        n, p, r = setting.n, setting.d, setting.k
        scales = _scales(setting, logs=not self.lower)
        ratio = scales.flat / scales.spike
        if self.covariance:
            lead, across_weight = r ** (1 / q), math.sqrt(scales.flat * (scales.spike + scales.flat))
            inside_weight = scales.spike
        else:
            # Over 2^(1/q), from the difference of projectors to sin Theta. No part is for eigenvalues.
            lead, across_weight, inside_weight = (r / 2) ** (1 / q), ratio + math.sqrt(ratio), 0.0
        private = inside_weight * scales.inside_privacy + across_weight * scales.across_privacy
        terms: dict[str, float | Array] = {
            "stat": c * lead * (inside_weight * math.sqrt(r / n) + across_weight * math.sqrt(p / n)),
            "priv": c * lead * private,
        }
        total = terms["stat"] + terms["priv"]
        conditions = _conditions(setting, scales, c_signal)
        if self.covariance:
            conditions.append(_flat_enough(setting, float(total), q))
        elif self.lower and q == 2:
            # The first-order error of Analyze Gauss on this population, whose pairs all have the gap l.
            tau = symmetric_gaussian.entry_std(setting.budget, n, noise=None)
            noise = (scales.spike + scales.flat) * scales.flat / n + tau**2
            attained = math.sqrt(r * (p - r) * noise) / scales.spike
            conditions.append(check_reachable(setting, float(total), attained, "Analyze Gauss"))
        return make_bound(conditions, terms, total, {"spike": scales.spike, "bulk": scales.flat})


_PROJECTOR = (
    r"\Vert\sin\Theta\Vert_q %s C\left(\tfrac r2\right)^{1/q}"
    r"\left(\tfrac{\sigma^2}{\lambda}+\sqrt{\tfrac{\sigma^2}{\lambda}}\right)"
    r"\left[\sqrt{\tfrac pn}+\tfrac{p\sqrt{%s}}{n\varepsilon}\right]"
)
_COVARIANCE = (
    r"\Vert\tilde\Sigma-\Sigma\Vert_q %s C\,r^{1/q}\left\{"
    r"\lambda\left[\sqrt{\tfrac rn}+\tfrac{%s}{n\varepsilon}\right]+\sqrt{\sigma^2(\lambda+\sigma^2)}"
    r"\left[\sqrt{\tfrac pn}+\tfrac{p\sqrt{%s}}{n\varepsilon}\right]\right\}"
)
_LOGS = r"(r+\log n)\log\frac1\delta"


def _rule(rate: Rate, formula: str) -> BoundRule:
    kind, end = ("lower", "_lower") if rate.lower else ("upper", "")
    measured = "covariance" if rate.covariance else "projector"
    return BoundRule(
        name=f"cai_{measured}{end}",
        title=f"Cai, Xia & Zha 2024, {measured}{end.replace('_', ', ')}",
        kind=kind,
        methods=PRIVATE if rate.lower else ("spiked_projector",),
        formula=formula,
        compute=rate.bound,
        source=SOURCE,
        symbols={"c": "C", "c_signal": "C of the signal"},
        measure="covariance" if rate.covariance else "sin",
        fits="c",
    )


PRIVATE = tuple(name for name, method in METHODS.items() if method.private)
BOUNDS = (
    _rule(Rate(lower=False, covariance=False), _PROJECTOR % (r"\le", _LOGS)),
    _rule(Rate(lower=True, covariance=False), _PROJECTOR % (r"\ge", "r")),
    _rule(
        Rate(lower=False, covariance=True),
        _COVARIANCE % (r"\le", r"\sqrt{r\log\frac1\delta}(r+\log n)", _LOGS),
    ),
    _rule(Rate(lower=True, covariance=True), _COVARIANCE % (r"\ge", "r^{3/2}", "r")),
)
