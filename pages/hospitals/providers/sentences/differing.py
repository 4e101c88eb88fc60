"""Form the sentences and the table of what full view compares where hospitals differ.

A *kind* is a way to standardise the hospitals' rows, a key of `KIND_TITLES`; those in `PAID` use means and
spreads of private rows, which cost a share of the privacy budget. "Plain" is the same analysis without
privacy.
"""

import math
from pathlib import Path

import pandas as pd

from dppca_core.accounting import gaussian
from dppca_core.experiments.collaboration.site_experiment import HEART, SYNTHETIC, SiteExperiment
from dppca_core.methods import METHODS
from dppca_core.methods.dps_pca import UNDONE
from dppca_core.populations import clinical, heart_disease
from dppca_core.populations.site_summaries import MOST_ROWS
from dppca_core.populations.standardisation import PAID
from pages.hospitals.providers.model.differing import SiteView
from pages.hospitals.providers.sentences.surroundings import one_epsilon
from pages.hospitals.providers.settings import KIND_TITLES
from pages.shared import text
from pages.shared.charts.metric_axis import QUANTITIES
from pages.shared.settings.catalogue import CHOICES
from pages.shared.settings.scenes import typed_sizes

STANDARDISING, BY_HOSPITAL = "Standardising, and what it costs", "Alone and joined, hospital by hospital"
MISSING = "What is missing, hospital by hospital"
NOT_PRIVATE = " *Not private*: only who holds the rows can compute this."
_OUR_PATTERN = "A share is of the pattern of our own patients"
# Whose pattern a board's numbers are about, and how measurements are standardised.
WHOSE = {
    SYNTHETIC: (f"{_OUR_PATTERN}. Measurements are standardised by the ranges that each laboratory prints.",),
    HEART: (
        f"{_OUR_PATTERN}. Measurements are standardised by one public range.",
        "Our own records define it, so that alone, with no protection, we find all of it.",
        "These shares are computed from real records without noise, so this page itself is not private.",
    ),
}
SIZES_OF_THE_COHORT = "Compared are the cohort's six hospitals; the decision is about the typed ones."
LIMITS = "Accounting is exact. A study tool, not a hardened release."


def details(view: SiteView) -> str:
    recipe, measured = view.recipe, view.joint_errors(view.strength)
    if view.kind not in measured:
        return ""
    (_low, median, _high), plain = measured[view.kind]
    truth, without = "the directions common to all hospitals", f"No privacy: {view.text(plain)}. "
    if not recipe.synthetic:  # the answer without privacy is the truth then, and has no error
        truth, without = "what the same analysis finds without privacy", ""
    return (
        f"Standardised by {KIND_TITLES[view.kind]}, the joint answer of {METHODS[recipe.method].title} "
        f"{'recovers' if view.unit == 'share' else 'is off by'} {view.text(float(median))} "
        f"{'of' if view.unit == 'share' else 'from'} {truth}. {without}"
        f"A random guess: {view.text(view.guess)}."
    )


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


def below_costs(recipe: SiteExperiment) -> str:
    against = "the directions that hospitals would share if none differed."
    if not recipe.synthetic:
        against = f"PCA without privacy of the pooled rows, standardised in the same way.{NOT_PRIVATE}"
    return (
        f"Errors of the joint answer, against {against} Every hospital adds noise to its own means and "
        "spreads, so it need trust nobody with them. Very noisy values are drawn towards the public range."
    )


def about_joining(view: SiteView) -> str:
    synthetic = view.recipe.synthetic
    truths = {
        ("common", True): "the directions common to all hospitals",
        ("common", False): "PCA without privacy of all hospitals' rows together",
        ("own", True): "the hospital's own true directions, in the columns that it measures",
        ("own", False): "PCA without privacy of the hospital's own rows",
    }
    against = f"Error against {truths[view.against, synthetic]}."
    against += "" if synthetic else NOT_PRIVATE
    bar = " The upright bar is the joint answer without privacy."
    return (
        f"{against} Alone: its own private answer, with the same method and budget. Joined: the one private "
        f"answer of all.{'' if view.plain_is_truth else bar}"
    )


def runs(view: SiteView) -> str:
    most = "at most " if view.results.failed else ""
    return f"Medians of {most}{view.recipe.repeats} runs; intervals hold 8 of 10."


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
    recipe, settings, method = view.recipe, view.settings, METHODS[view.recipe.method]
    guarantee, sentences = method.guarantee_at(recipe.k), []
    if typed_sizes(settings):
        sentences.append(SIZES_OF_THE_COHORT)
    if settings["join.losses"]:
        sentences.append(one_epsilon(settings["epsilon"]))
    if view.kind != settings["sites.kind"]:
        instead = KIND_TITLES[view.kind]
        sentences.append(f"No laboratory's printed ranges are known for this table: shown by {instead}.")
    if "s_hat" in recipe.options and recipe.s_hat != settings["s_hat"]:
        name = CHOICES["s_hat"].label
        limits = f"{recipe.d} columns and {recipe.k} directions"
        sentences.append(f"{name}: {recipe.s_hat}, as there are {limits} here.")
    if recipe.options.get("provider_noise") == "shared":
        sentences.append(f"{UNDONE[0].upper()}{UNDONE[1:]}.")  # two messages together undo shared noise
    if method.trust == "central":
        sentences.append(f"{method.title} needs a curator whom all hospitals trust with their rows.")
    if guarantee in text.UNUSUAL_GUARANTEES:
        sentences.append(f"{method.title}: {text.guarantee(guarantee)}.")
    return sentences


def about(recipe: SiteExperiment) -> str:
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


FORMULAS = Path(__file__).with_name("formulas.md").read_text(encoding="utf-8")
