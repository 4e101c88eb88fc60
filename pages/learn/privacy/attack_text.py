"""What the privacy page says of attacks, from its numbers. Plain functions, tested without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dppca_core.auditing import membership, tradeoff_curves
from dppca_core.auditing.membership import Rates
from dppca_core.experiments.demonstrations.neighbours import PATIENTS, Picture
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from pages.learn.privacy.settings import NO_BUG
from pages.learn.privacy.view import LEVEL, Attack
from pages.shared import text
from pages.shared.text.privacy_phrases import sides

FORMULAS = r"""
A test has false alarms $\alpha$ and misses $\beta$. $(\varepsilon,\delta)$ allows $\beta\ge
f(\alpha)=\max(0,\;1-\delta-e^{\varepsilon}\alpha,\;e^{-\varepsilon}(1-\delta-\alpha))$; a Gaussian release
that a patient moves by $\mu=\Delta/\sigma$ standard deviations has as its best tests exactly
$G_\mu(\alpha)=\Phi(\Phi^{-1}(1-\alpha)-\mu)$ (Dong, Roth & Su, JRSS-B 2022), attained by a threshold on the
coordinate of the message along the way in which it moves (Neyman & Pearson 1933). From even odds the best
guess is right with probability $\Phi(\mu/2)$ against this release,
$(e^{\varepsilon}+\delta)/(1+e^{\varepsilon})$ against the worst that the promise allows.

$T$ rounds with noise $\sigma$ are one release with $\mu=\sqrt T\,\Delta/\sigma$ (exact); basic composition
adds $T$ times $(\varepsilon/T,\delta/T)$; advanced composition charges
$\sqrt{2T\ln(2/\delta)}\,e+Te(e^{e}-1)$ for $T$ rounds of $(e,\delta/2T)$; zCDP adds
$\rho=\Delta^2/2\sigma^2$ and converts by Canonne, Kamath & Steinke (2020); Ge et al. print
$\sigma=\tfrac{2T}{\varepsilon}\sqrt{2\ln(2T/\delta)}$ (with the logarithm of their Lemma A.1 restored).

The audit's bound is that of $\mu\ge\Phi^{-1}(1-\alpha)-\Phi^{-1}(\beta)$ at upper limits of both error
rates, over 9 thresholds, and the $\varepsilon$ of a Gaussian release with that $\mu$ at $\delta$.
"""


def figures(value: float) -> str:
    """Two or three digits; what root finders leave of a round number is round."""
    return text.short(float(f"{value:.6g}"))


def at(budget: Budget, plain: bool) -> str:
    """The promise in a sentence."""
    if plain:
        return f"privacy setting {budget.epsilon:g}"
    return f"ε = {text.number(budget.epsilon)}, δ = {text.number(budget.delta)}"


def headline(found: Attack, truly: float, budget: Budget, method: str) -> str:
    """Return the odds of the epsilon that this noise keeps, `truly`, and those of the best attack on it."""
    kept = budget.epsilon if abs(truly / budget.epsilon - 1) <= 1e-6 else truly
    promised = text.even_odds(tradeoff_curves.best_guess(kept, budget.delta))
    ends = text.even_odds(tradeoff_curves.gaussian_guess(found.mu))
    said = text.odds(kept, budget.delta, budget.neighbours)
    title = METHODS[method].title
    if kept > budget.epsilon:
        said += f" The noise of {title} does not keep its promise of {text.number(budget.epsilon)}:"
        said += f" it truly gives {figures(truly)}."
    elif kept < budget.epsilon:
        asked = text.number(budget.epsilon)
        said += f" The noise of {title} is set for {asked} and truly gives {figures(truly)}."
    if ends == promised:
        return f"{said} That is what the best attack on the messages of {title} comes to."
    return f"{said} The best attack on the messages of {title} comes to {ends}."


def experiment(drawn: Picture, limit: float, budget: Budget, plain: bool) -> str:
    """What the picture shows, over all its releases."""
    count = len(drawn.here)
    right = _right(drawn, limit, count)
    change = "one patient is replaced by another" if drawn.instead is not None else "one patient is left out"
    return (
        f"**Two data sets of {PATIENTS} patients, alike except that {change}.** From each, a noisy summary "
        f"is published {count} times by {METHODS['analyze_gauss'].title} at {at(budget, plain)}; its main "
        f"direction is drawn. The attacker knows everybody else's data, and of these {2 * count} releases "
        f"gives {right} to the right data set. A coin gives about {count}."
    )


def _right(drawn: Picture, limit: float, count: int) -> int:
    return sum(one.read > limit for one in drawn.here[:count]) + sum(
        one.read <= limit for one in drawn.there[:count]
    )


def frames(drawn: Picture, limit: float) -> list[dict[str, Any]]:
    """What each frame says, and how the figure is read aloud."""
    count = len(drawn.here)
    first, second = (side.lower() for side in sides(drawn.instead is not None))
    shown = []
    for index, (one, other) in enumerate(zip(drawn.here, drawn.there, strict=True), 1):
        called = [first if read > limit else second for read in (one.read, other.read)]
        notes = (
            f"Release {index}: {first} the attacker reads {one.read:.2f} and says “{called[0]}”; "
            f"{second} {other.read:.2f} and says “{called[1]}”. Right so far: "
            f"{_right(drawn, limit, index)} of {2 * index}."
        )
        spoken = f"Two data sets that differ in one patient, {index} of {count} releases. {notes}"
        shown.append({"at": f"{index} of {count}", "notes": notes, "sentence": "", "spoken": spoken})
    return shown


def chosen(found: Attack, plain: bool) -> str:
    """The chosen test: its two error rates by calculation."""
    scale = " on the scale below" if plain else " standard deviations"
    return (
        f"The attacker says “with” above {found.limit:.2f}{scale}. At {100 * found.alarms:g} % false "
        f"alarms every test misses {share(found.misses)} or more."
    )


def measured(found: Attack, draws: int) -> str:
    """What the live attack measured, with its intervals, and whether the curve passes through them."""
    seen = found.measured
    lies = (
        "The exact curve passes through these intervals."
        if membership.on_curve(seen, found.mu)
        else "The exact curve misses these intervals, as chance alone makes it in at most 1 of 20 attacks."
    )
    silent = found.silent
    least = 1 - (silent.false_alarm_span[1] + silent.miss_span[1]) / 2
    clear = (
        f"Without noise the attacker is right every time (at least {100 * least:.1f} %)."
        if silent.right == 1
        else f"Without noise the attacker is right {_counted(silent.right)} of the time."
    )
    return (
        f"**Attacked here, {draws:,} times with the patient and {draws:,} times without:** "
        f"{_spanned(seen, alarms=True)} false alarms, {_spanned(seen, alarms=False)} misses. {lies} "
        f"From 50:50 this attack was right {_counted(seen.right)} of the time. {clear} Both intervals hold "
        f"at once in {round(20 * LEVEL)} of 20 attacks."
    )


def share(value: float) -> str:
    """A calculated share, never rounded to nothing or to all."""
    if not 1e-5 <= value <= 1 - 1e-5:
        return f"{'below 0.001' if value < 0.5 else 'above 99.999'} %"
    return f"{100 * value:.{1 if 0.01 <= value <= 0.99 else 3}f} %"


def _counted(value: float) -> str:
    """A measured share."""
    return f"{100 * value:.1f} %"


def _spanned(seen: Rates, alarms: bool) -> str:
    value = seen.false_alarms if alarms else seen.misses
    low, high = seen.false_alarm_span if alarms else seen.miss_span
    return f"{_counted(value)} ({100 * low:.1f} to {100 * high:.1f} %)"


def attacked(method: str, settings: Mapping[str, Any]) -> str:
    """What is drawn, in a sentence below the charts."""
    count = text.count(settings["iterations"], "message", "messages")
    what = {
        "dps_pca": f"{'all' if settings['iterations'] > 1 else 'the'} {count} of one hospital in a run",
        "dp_oja": "the message of the batch that the patient enters",
        "ldp_pca": "one patient's own message",
    }.get(method, "the noisy second moment")
    return (
        f"Seen by the attacker: {what}, drawn by the method's own release step at the pair of patients "
        "that moves it most. Everybody else's data are known and only shift it."
    )


def try_this(settings: Mapping[str, Any], refuted: bool) -> str:
    """What to do next."""
    if settings["audit.bug"] == NO_BUG:
        planted = "Mistake planted" if settings["view"] == "board" else "Planted bug"
        return (
            f"set *{planted}* to noise half as large, and see whether the audit notices from releases alone."
        )
    if not refuted:
        return "draw more releases: the more there are, the smaller a mistake the audit sees."
    name = "Privacy" if settings["view"] == "board" else "Privacy loss ε"
    return f"move *{name}* to the left until the audit no longer sees the mistake."
