"""Sentences and a table of the page on hospitals that differ, from its numbers. No Streamlit here.

A *kind* is a way to standardise the hospitals' rows, a key of `KIND_TITLES`; those in `PAID` use means and
spreads of private rows, which cost a share of the privacy budget. "Plain" is the same analysis without
privacy.
"""

import math

import pandas as pd

from dppca_core.accounting import gaussian
from dppca_core.experiments.collaboration.site_recipe import SiteRecipe
from dppca_core.methods import METHODS
from dppca_core.methods.dps_pca import UNDONE
from dppca_core.populations import clinical, heart_disease
from dppca_core.populations.site_summaries import MOST_ROWS
from dppca_core.populations.standardisation import PAID
from pages.hospitals.differences.settings import KIND_TITLES
from pages.hospitals.differences.view import SiteView
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts.metric_axis import QUANTITIES, as_error
from pages.shared.settings.catalogue import CHOICES

TITLE = "Differences"
STEPS = (
    "Each line is one way to standardise before joining.",
    "Under More choices, let the hospitals differ more or less.",
    "A lower line is a better joint answer.",
)
LEAD = (
    "**What if hospitals differ?** They measure differently and treat different patients: who gains by "
    "joining, and at what cost?"
)
NOT_PRIVATE = " *Not private*: only who holds the rows can compute this."
PROTECTED = " All of this is protected: without privacy, in-house, a hospital may do better alone."


def headline(view: SiteView) -> str:
    """Return who gains or loses by joining, or that runs are coming."""
    gains = gains_and_losses(view)
    return gains if gains and view.kind in view.joint_errors(view.strength) else waiting(view)


def details(view: SiteView) -> str:
    """Return the error of the joint answer, and a kind that has clearly less if any; empty before a run."""
    recipe, measured = view.recipe, view.joint_errors(view.strength)
    if view.kind not in measured:
        return ""
    (_low, median, _high), plain = measured[view.kind]
    guess = view.text(view.guess)
    truth = "the directions common to all hospitals"
    beside = f"Without privacy it is {view.text(plain)}, and a random guess has {guess}."
    if not recipe.synthetic:  # the answer without privacy is the truth then, and has no error
        truth, beside = "what the same analysis finds without privacy", f"A random guess has {guess}."
    sentence = (
        f"Standardised by {KIND_TITLES[view.kind]}, the joint answer of {METHODS[recipe.method].title} "
        f"{'recovers' if view.unit == 'share' else 'is off by'} {view.text(float(median))} "
        f"{'of' if view.unit == 'share' else 'from'} {truth}. {beside}"
    )
    medians = {kind: float(spread[1]) for kind, (spread, _plain) in measured.items()}
    kind = min(medians, key=lambda kind: as_error(view.unit, medians[kind]))
    best = medians[kind]
    # An error counts as clearly less if it is less by a tenth, as for a hospital's gain.
    if as_error(view.unit, best) < 0.9 * as_error(view.unit, float(median)):
        share = f"for {text.percent(recipe.share)} of the privacy budget"
        price = share if kind in PAID else "at no cost in privacy"
        sentence += f" The least error, {view.text(best)}, comes with {KIND_TITLES[kind]}, {price}."
    gains = gains_and_losses(view) and "less" in view.outcomes()
    return sentence + (PROTECTED if gains else "")


def waiting(view: SiteView) -> str:
    """Return that runs are coming or, where all have failed, that none has an answer."""
    coming = view.results.next_missing(view.strength, view.kind) is not None
    return text.MEASURING if coming else failed_runs.NO_ANSWER


def gains_and_losses(view: SiteView) -> str:
    """Return whom joining helps and whom it harms, with the numbers of the hospital that it changes most.

    Empty before the first run.
    """
    recipe, alone, joined = view.recipe, view.spread("alone"), view.spread("joined")
    if alone is None or joined is None:
        return ""
    outcomes = view.outcomes()
    # Of each hospital: the medians over runs, which stand between the 10 and 90 % quantiles.
    alone_medians, joined_medians, without_privacy = alone[1], joined[1], view.without_privacy()

    def change(i: int) -> float:
        """Return by what factor joining changes a hospital's number, up or down alike, as a logarithm."""
        return abs(math.log(max(joined_medians[i], 1e-9) / max(alone_medians[i], 1e-9)))  # 0 has no logarithm

    as_text = text.percent if view.energy else view.text
    parts = []
    for outcome, verb in (("less", "helps"), ("more", "harms")):
        members = [i for i in range(len(outcomes)) if outcomes[i] == outcome]
        if not members:
            continue
        most = max(members, key=change)
        medians = (alone_medians, joined_medians, without_privacy)
        when_alone, when_joined, unprotected = (as_text(float(values[most])) for values in medians)
        beside = "" if view.plain_is_truth else f"; joined without privacy {unprotected}"
        numbers = f"({when_alone} alone, {when_joined} joined{beside})"
        names = text.listed([recipe.hospitals[i] for i in members])
        if recipe.synthetic:
            names = f"{'hospital' if len(members) == 1 else 'hospitals'} {names}"
        if len(members) > 1:
            names += f", most of all {recipe.hospitals[most]}"
        parts.append(f"{verb} {names} {numbers}")
    if parts:
        return f"Joining {'. It '.join(parts)}."
    if set(outcomes) == {"neither"}:
        return "No hospital does better than guessing, alone or joined."
    return "Joining makes little difference to any hospital."


def costs(view: SiteView) -> pd.DataFrame:
    """Return a row for each kind: the error of the joint answer, and what it takes of the budget.

    A kind that is paid for leaves a smaller epsilon for the PCA, and so more noise. Columns are few, for a
    telephone.
    """
    recipe, measured = view.recipe, view.joint_errors(view.strength)
    least_noise = gaussian.noise_multiplier(recipe.budget)  # if nothing but the PCA were paid for
    rows = []
    for kind in recipe.kinds:
        # What the kind leaves of the budget, and its errors: NaN until they are measured.
        left, (spread, plain) = recipe.budget_left(kind), measured.get(kind, ([math.nan] * 3, math.nan))
        low, median, high = (view.text(float(value)) for value in spread)
        quantity = QUANTITIES.get(view.unit, "error")
        row = {
            "standardised by": KIND_TITLES[kind],
            f"{quantity} (8 of 10 runs)": f"{median} ({low} to {high})",
        }
        if recipe.synthetic:
            row["no privacy"] = view.text(plain)
        cost = text.percent(recipe.share) if kind in PAID else "nothing"
        if kind in PAID:
            lowered = f", δ = {left.delta:.3g}" if left.delta != recipe.delta else ""
            noise = gaussian.noise_multiplier(left) / least_noise
            cost += f"; left ε = {left.epsilon:.3g}{lowered}, noise × {noise:.3g}"
        rows.append(row | {"cost of the budget": cost})
    return pd.DataFrame(rows)


def below_costs(recipe: SiteRecipe) -> str:
    """Return what the errors of the first chart and its table are measured against."""
    against = "the directions that hospitals would share if none differed."
    if not recipe.synthetic:
        against = f"PCA without privacy of the pooled rows, standardised in the same way.{NOT_PRIVATE}"
    return (
        f"Errors of the joint answer, against {against} Every hospital adds noise to its own means and "
        "spreads, so it need trust nobody with them. Very noisy values are drawn towards the public range."
    )


def about_joining(view: SiteView) -> str:
    """Return what "alone" and "joined" mean in the second chart, and what they are measured against."""
    synthetic = view.recipe.synthetic
    truths = {
        ("common", True): "the directions common to all hospitals",
        ("common", False): "PCA without privacy of all hospitals' rows together",
        ("own", True): "the hospital's own true directions, in the columns that it measures",
        ("own", False): "PCA without privacy of the hospital's own rows",
    }
    against = f"Error against {truths[view.against, synthetic]}."
    if view.energy:
        against = "Share of what the best directions would capture of the hospital's own patients."
    against += "" if synthetic else NOT_PRIVATE
    bar = " The grey bar is the joint answer without privacy: no privacy budget can reduce its error."
    return (
        f"{against} Alone: its own private answer, with the same method and budget. Joined: the one private "
        f"answer of all.{'' if view.plain_is_truth else bar}"
    )


def missing() -> str:
    """Return which measurements many patients of the real table lack, counted from its rows: not private."""
    absent = heart_disease.absent()
    # By hospital, the share of patients whose cholesterol is recorded as 0.
    zeros = {hospital: counts["chol"].zero for hospital, counts in absent.items() if counts["chol"].zero > 0}
    parts = [f"{text.percent(share)} of the patients of {hospital}" for hospital, share in zeros.items()]
    # A title that begins with an abbreviation, such as "ST slope", keeps its capitals.
    lacking = [
        title.lower() if title[1:2].islower() else title
        for key, title in heart_disease.MEASUREMENTS.items()
        if sum(counts[key].share > 0.5 for counts in absent.values()) >= 2
    ]
    return (
        f"Cholesterol is recorded as 0, that is absent, for {text.listed(parts)}. Most patients of two "
        f"hospitals or more lack {text.listed(lacking)}. Missing values are replaced by the public centre. A "
        "hospital without a column cannot contribute to directions along it. Counted from the rows: "
        "*not private*."
    )


def notes(view: SiteView) -> list[str]:
    """List which settings do not count or were adjusted here, and what is special about the guarantee."""
    recipe, settings, method = view.recipe, view.settings, METHODS[view.recipe.method]
    guarantee, sentences = method.guarantee_at(recipe.k), []
    if view.kind != settings["sites.kind"]:
        instead = KIND_TITLES[view.kind]
        sentences.append(f"No laboratory's printed ranges are known for this table: shown by {instead}.")
    if "s_hat" in recipe.options and recipe.s_hat != settings["s_hat"]:
        name = CHOICES["s_hat"].label
        limits = f"{recipe.d} columns and {recipe.k} directions"
        sentences.append(f"{name}: {recipe.s_hat}, as there are {limits} here.")
    if view.energy:
        sentences.append("Captured energy is shown hospital by hospital; the first chart keeps the error.")
    if recipe.options.get("provider_noise") == "shared":
        sentences.append(f"{UNDONE[0].upper()}{UNDONE[1:]}.")  # two messages together undo shared noise
    if method.trust == "central":
        sentences.append(f"{method.title} needs a curator whom all hospitals trust with their rows.")
    if guarantee in text.UNUSUAL_GUARANTEES:
        sentences.append(f"{method.title}: {text.guarantee(guarantee)}.")
    return sentences


def try_this(view: SiteView) -> str:
    """Return a suggestion of what to do next, by the data and the kind that are shown."""
    if not view.recipe.synthetic:
        return "move the privacy slider to the right: noise fades, and what hospitals do not share is left."
    if view.kind == "public":
        return "set *Standardised by* to printed ranges: as public, they undo most of what laboratories add."
    name = CHOICES["sites.differ"].label
    return (
        f"choose *shift only*, then *support only* under *{name}*: printed ranges mostly undo shifts, but "
        "nothing can replace a column that a hospital does not measure."
    )


def about(recipe: SiteRecipe) -> str:
    """Return how the numbers are simulated: on synthetic patients, or with noise on the real table."""
    if recipe.synthetic:
        factors = text.listed([name for name, _, _ in clinical.FACTORS])
        return (
            f"**Simulation, synthetic patients**: {recipe.repeats} runs, each with its own patients and "
            f"noise. Hospitals of {text.listed([f'{size:,}' for size in recipe.sizes])} patients, {recipe.d} "
            f"columns; {len(clinical.FACTORS)} clinical factors ({factors}) with invented loadings. At 1 a "
            "column's shift has a standard deviation of half a public scale, spreads are off by a fifth, one "
            "column in ten is missing at a hospital, and factors' variances lie between 0.55 and 1.8; "
            f"printed ranges carry {clinical.PRINTED:.0%} of a laboratory's shift and (log) scale. Means and "
            "Wishart matrices are drawn from their exact law. Rows are divided by a length that all respect "
            "with probability 0.99, from the known population; a real release sets it beforehand, and clips. "
            f"Methods that scale patients to length 1 read patients drawn one by one, {MOST_ROWS:,} of a "
            "hospital at most."
        )
    table = heart_disease.TABLE
    return (
        f"**Simulation on a real table**: {recipe.repeats} runs, each with its own noise. {table.title}: "
        f"{table.source}; licence {table.licence}. {table.provenance} The bound clips "
        f"{text.percent(heart_disease.clipped_share())} of the rows (*not private*). The diagnosis is left "
        f"out; {len(heart_disease.MEASUREMENTS)} measurements give {table.d} columns."
    )


FORMULAS = r"""
Each hospital releases, $u$ a row in public units clipped to the public bound $B$ and divided by it,

$$
\tilde m=\tfrac1n\sum u+N\big(0,(\tfrac{\Delta_1z'}{n})^2I\big),\quad
\tilde q=\tfrac1n\sum u\circ u+N\big(0,(\tfrac{\Delta_2z'}{n})^2I\big).
$$

$\Delta_1=2$, $\Delta_2=\sqrt2$ for replace one, since $\Vert u-v\Vert\le2$ and $u\circ u$ has no negative
entry and a length of at most 1; both are 1 for add or remove one. With $z(\varepsilon,\delta)$ of one
Gaussian release (Balle & Wang 2018) and the share $f$, $z'=z\sqrt{2/f}$ and the PCA has $z/\sqrt{1-f}$ left:
$1/z^2=2/z'^2+(1-f)/z^2$, exactly (Dong, Roth & Su 2022, Corollary 3.3).
"""
