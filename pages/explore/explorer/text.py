"""The sentences of the front page. No Streamlit here."""

from collections.abc import Collection

import numpy as np

from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.closed_forms import closed_form, count_complete
from dppca_core.experiments.explorer.experiment import DPS_PCA, ExplorerExperiment
from dppca_core.experiments.explorer.results import Results
from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.charts import QUANTITIES, Scale
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Explorer"
STEPS = (
    "Points are patients; the lines are the true and private pattern.",
    "Move privacy to the right: less noise, and the patterns meet.",
    "The error says how far the noise moves the answer.",
)

NOT_PRIVATE = "The errors are computed from the rows of the table without noise: they are not private."
SIMULATED = "The patients are simulated: data that differ from the settings above err otherwise."
REFERENCE = "Methods under 'No privacy' protect nobody. They are drawn to show what privacy costs the others."
NO_PRIVACY_IS = (
    "Best, no privacy: the least error of three methods, on rows divided by a bound or of length 1. "
    "Sparse ones are told how many features matter."
)


def features_lost(matter: int, kept: int) -> str:
    """Return a warning where a method keeps fewer features than those that matter; empty where it does not.

    matter, kept: the numbers of these features.
    """
    if kept >= matter:
        return ""
    return f"Of {matter} measurements that matter only {kept} are kept: the rest is lost at any privacy."


def starts_near(error: float) -> str:
    """Return the caution that DPS-PCA starts near the truth here, at this ||sin Theta||_F."""
    start = f"{METHODS[DPS_PCA].title} starts {text.number(error)} from the truth here"
    return f"{start}, which nobody has outside a simulation."


def why(experiment: ExplorerExperiment, epsilon: float, trust: str) -> str:
    """Return why the experiment's method is recommended under this trust.

    Where the visitor has chosen another method, the sentence says which is recommended. Where predictions are
    near a guess none is.
    """
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
    """Return the error of two-stage methods, and how often they find all true features, beside predictions.

    Before all runs at this epsilon are there, it only says what is being measured: a prediction simulates
    runs of its own, which a first view must not wait for.
    """
    # A two-stage method chooses features, which are rows of the answer, before it releases theirs.
    names = [name for name in results.live_methods if METHODS[name].chooses_rows and name in shown]
    if results.missing((name, epsilon, r) for name in names for r in range(results.repeats_of(name))):
        return MEASURING
    parts, failed_assumptions = [f"Two stages at ε = {text.number(epsilon)}."], ""
    for name in names:
        cells, bound = results.measured(name, epsilon), closed_form(results, name, epsilon)
        if not cells:
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


def of_scaling(results: Results, epsilon: float, trust: str) -> str:
    """Return how much of the recommended method's lead is due to rows of length 1; empty before its runs."""
    lead = trusts.lead(results, epsilon, trust)
    return "" if lead is None else lead.in_words


def try_this(experiment: ExplorerExperiment, settings: Settings) -> str:
    """Return what to try next: on a table more privacy loss, else more hospitals and then sealed sums."""
    trust, place = CHOICES["trust"].label, CHOICES["trust"].text("central")
    if settings["data"] != "synthetic":
        return (
            "move the privacy slider to the right until the answer leaves the random guess. Then set *"
            f"{trust}* to {place}. Few patients buy little privacy."
        )
    hospitals = CHOICES["providers"].label
    sealed = CHOICES["trust"].text("secure aggregation")
    grows = "with its square root" if experiment.method == DPS_PCA else "where noise causes it"
    return (
        f"raise *{hospitals}*. The error grows {grows}, because each hospital adds its own noise. Then set "
        f"*{trust}* to {sealed}: one noise serves all, and the extra error is gone."
    )
