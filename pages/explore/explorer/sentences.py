"""The sentences of the explorer, in both views."""

from collections.abc import Collection, Sequence

import numpy as np

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.closed_forms import closed_form, count_complete
from dppca_core.experiments.explorer.experiment import DPS_PCA, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.charts import QUANTITIES, Scale, explorer_text
from pages.shared.plain import phrases, share_bars
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Explorer"
QUESTION = (
    "**What does privacy cost?** Hospitals find a pattern in their patients together, and noise hides each "
    "patient."
)
STEPS = (
    "Points are patients; the lines are the true and private pattern.",
    "Move privacy to the right: less noise, and the patterns meet.",
    "The error says how far the noise moves the answer.",
)

REFERENCE = "Methods under 'No privacy' protect nobody. They are drawn to show what privacy costs the others."
NO_PRIVACY_IS = (
    "Best, no privacy: the least error of three methods, on rows divided by a bound or of length 1. "
    "Sparse ones are told how many features matter."
)

LOADINGS = "Loadings of one release, turned onto the true ones"
TRY = "**Try this:** move *Patients in total* to the left. Where does the answer become a guess?"
TRY_TABLE = "**Try this:** move *Privacy loss ε* to the right until the answer is more than a guess."
SHARES_NOT_PRIVATE = "Shares are computed from the table without noise: they are not private."
OTHER_PATIENTS = "The patients are simulated. Real patients may give other shares."
STUDY_TOOL = "This is a study tool. It shows what to expect, and protects no real patients."
STILL_MEASURING = "Measuring went on while this file was made. Shares may still change a little."


def headline(results: Results, shares: share_bars.Shares, trust: str) -> str:
    row, experiment = shares.row_of_trust(trust), results.experiment
    if not row.measured:
        # Copy the keys, to which other threads may add while this looks through them.
        failed = any(name == row.method for name, _, _ in list(results.failed))
        return failed_runs.NO_ANSWER if failed else text.MEASURING
    patients = text.count(experiment.n, *(experiment.table.row_noun if experiment.table else PATIENTS))
    return phrases.recovered(patients, experiment.providers, trust, row.share, shares.guess)


def loadings_found(results: Results, epsilon: float) -> str:
    if results.support_size >= results.experiment.d:
        return "Every feature is kept."
    share = text.percent(results.cell(results.experiment.method, epsilon, 0).support)
    return f"It kept {share} of the {results.support_size:,} features with the largest true loadings."


def guarantee(results: Results, epsilon: float) -> str:
    experiment = results.experiment
    odds = text.odds(explorer_text.true_epsilon(results, epsilon), experiment.delta)
    caution = explorer_text.printed(results, epsilon, (experiment.method,))
    return (
        f"{METHODS[experiment.method].title}, over all that it releases together, is asked for (ε, δ) = "
        f"({text.number(epsilon)}, {text.number(experiment.delta)}); "
        f"{text.RELATIONS[experiment.neighbours]}. {odds} {caution}"
    ).strip()


def features_lost(matter: int, kept: int) -> str:
    if kept >= matter:
        return ""
    return f"Of {matter} measurements that matter only {kept} are kept: the rest is lost at any privacy."


def starts_near(error: float) -> str:
    start = f"{METHODS[DPS_PCA].title} starts {text.number(error)} from the truth here"
    return f"{start}, which nobody has outside a simulation."


def why(experiment: ExplorerExperiment, epsilon: float, trust: str) -> str:
    advised = trusts.recommended(experiment, epsilon, trust)
    if advised.near_guess:
        return f"**No method is recommended:** {advised.why}."
    if experiment.method != advised.method:
        return f"**Chosen by you.** Recommended under this trust: {METHODS[advised.method].title}."
    return f"**Why this method?** {advised.why[0].upper()}{advised.why[1:]}."


MEASURING = (
    "Two stages: measuring … For each trust this will say their error beside its closed form. It will also "
    "say how many runs find all true features, beside the predicted chance."
)


def two_stages(results: Results, epsilon: float, settings: Settings, shown: Collection[str]) -> str:
    # A two-stage method chooses features, which are rows of the answer, before it releases theirs.
    names = [name for name in results.live_methods if METHODS[name].chooses_rows and name in shown]
    # A prediction simulates runs of its own, which a first view must not wait for.
    if results.missing((name, epsilon, r) for name in names for r in range(results.repeats_of(name))):
        return MEASURING
    parts, failed_assumptions = [f"Two stages at ε = {text.number(epsilon)}."], ""
    for name in names:
        cells, bound = results.measured(name, epsilon), closed_form(results, name, epsilon)
        if not cells or bound is None:
            continue
        words = []
        if settings["metric"] != "energy":  # no closed form predicts captured energy
            scale = Scale(results, settings)  # `final_error` and `bound_in_unit` convert errors to its metric
            middle = scale.text(float(np.median([scale.final_error(cell) for cell in cells])))
            predicted = scale.text(float(scale.bound_in_unit(bound.final))) if bound.applies else "none"
            measured = QUANTITIES.get(scale.metric, "error")
            words.append(f"{measured} {middle}, closed form {predicted}")
        if results.experiment.table is None:  # nobody knows the true features of a table
            runs = text.count(len(cells), "run", "runs")
            share = f"all true features found in {count_complete(cells)} of {runs}"
            chance = bound.quantities.get("support_probability")
            words.append(share if chance is None else f"{share}, predicted {text.chance(chance)}")
        if words:
            parts.append(f"{text.trust_heading(METHODS[name].trust)}: {'; '.join(words)}.")
        failed_assumptions = failed_assumptions or "; ".join(bound.failed)
    if failed_assumptions:
        parts.append(f"The closed form does not apply: {failed_assumptions}.")
    return " ".join(parts)


def slow(titles: Sequence[str], seconds: float, measuring: bool) -> tuple[str, str]:
    """Return the label of the button that measures slow methods or leaves them out, and what they are."""
    offer = f"Measure the slow methods (about {max(seconds, 1):.0f} s a run)"
    label = "Leave out the slow methods" if measuring else offer
    return label, f"Too slow to update automatically: {', '.join(titles)}."


def of_scaling(results: Results, epsilon: float, trust: str) -> str:
    lead = trusts.lead(results, epsilon, trust)
    return "" if lead is None else lead.in_words


def try_this(experiment: ExplorerExperiment, settings: Settings) -> str:
    trust, place = CHOICES["trust"].label, CHOICES["trust"].text("central")
    if settings["data"] != "synthetic":
        return (
            "**Try this:** move the privacy slider to the right until the answer leaves the random guess. "
            f"Then set *{trust}* to {place}. Few patients buy little privacy."
        )
    hospitals = CHOICES["providers"].label
    sealed = CHOICES["trust"].text("secure aggregation")
    grows = "with its square root" if experiment.method == DPS_PCA else "where noise causes it"
    return (
        f"**Try this:** raise *{hospitals}*. The error grows {grows}, because each hospital adds its own "
        f"noise. Then set *{trust}* to {sealed}: one noise serves all, and the extra error is gone."
    )
