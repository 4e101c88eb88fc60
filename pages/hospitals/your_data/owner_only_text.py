"""Form sentences on what only the owner may see: computed from rows without any privacy, and not paid for.

No Streamlit here. `metric` is the unit in which errors are shown, a key of `_ERROR_OPENINGS`; k is the number
of components.
"""

from dppca_core.tables import limits
from dppca_core.tables.patients import Counting
from pages.hospitals.your_data.owner_only_diagnostics import ReleaseVerdict
from pages.hospitals.your_data.text import HARDLY_BETTER, TOO_MUCH, noun
from pages.shared import text
from pages.shared.charts.metric_axis import in_unit, value_text

NEARLY_THE_MEAN = 0.9  # |cos|: an angle of 26 degrees
PARTLY_THE_MEAN = 0.5  # 60 degrees
CLOSE = 0.5  # of a guess's error, below which less noise would change the release little
SCALED = "In all that follows your rows are divided by the scales that were released."
_ERROR_OPENINGS = {"sin": "‖sin Θ‖ =", "projector": "‖VVᵀ − WWᵀ‖ =", "share": "recovered", "degrees": "angle"}
NOT_PRIVATE = ":red-badge[not private] Only you may see this: it is computed from the patients' rows."
ON_NOISE = "No biplot: of the first two components one at least is mostly noise."
TOO_WIDE = (
    f"Beyond {limits.MOST_MATRIX_FEATURES:,} measurements there is no answer without privacy to compare with."
)


def usable(n: int, counted: int, rows: int, counting: Counting | None) -> str:
    """Return how many patients are usable, which must not be stated in public.

    n: all patients. counted: the usable ones. rows: how many one patient can have. counting: how
    those of one patient count; None where no column names the patients.
    """
    units = noun(rows)
    what = f"**{counted:,} of {n:,} {units} are usable:** nothing fills in the missing cells of the others."
    if isinstance(counting, int):
        what = f"**Usable rows make up {counted:,} of {n:,} {units}**, {counting:,} rows for each."
    return f"{what} Do not state a share above that was counted here: it would become public."


def rehearsed_for_usable(counted: int, share: float, pattern: str, rows: int) -> str:
    """Return the error of a release of so many usable patients, as a share of a guess's.

    pattern: the title of the worst one, on which it is.
    """
    end = " **That is of little use.**" if share > TOO_MUCH else ""
    return (
        f"Rehearsed for {counted:,} {noun(rows)}, a release has {text.percent(min(share, 1.0))} of a guess's "
        f"error where the pattern is {pattern}.{end}"
    )


def near_the_mean(cosine: float, rows: int) -> str:
    """Return whether the first released component is the patients' mean; cosine: |cos| of their angle."""
    mean = f"the mean of your {noun(rows)}"
    first = "The first released component"
    size = f"cosine {cosine:.3f}"
    if cosine < PARTLY_THE_MEAN:
        return f"{first} is not {mean} ({size})."
    result = f"nearly {mean}, not a pattern" if cosine >= NEARLY_THE_MEAN else f"partly {mean}"
    return f"**{first} is {result}** ({size}). The mean tells where they lie, not how they differ."


def verdict(centred: ReleaseVerdict, uncentred: ReleaseVerdict, k: int, cosine: float, metric: str) -> str:
    """Return how good a release is against the components of the covariance, and what would improve it.

    centred: that comparison. uncentred: the one with the second moment, which a release without a paid mean
    estimates. cosine: |cos| of the first component's angle with the mean.
    """
    against = "PCA without privacy, with your rows centred at their own mean"
    sentence = f"Against {against}: {_error_and_energy(centred, k, metric)}"
    if centred.error > HARDLY_BETTER * centred.guess:
        advice = "ask for fewer directions or measurements, or pay more"
        # Less noise only brings a release closer to what it estimates, which has the mean in it.
        if cosine >= PARTLY_THE_MEAN or uncentred.error < CLOSE * uncentred.guess:
            advice = "paying more does not help, because the mean takes the place of a pattern"
        sentence += f" **It is hardly better than a guess:** {advice}."
    return sentence


def verdict_uncentred(uncentred: ReleaseVerdict, k: int, metric: str) -> str:
    """Return how good a release without a paid mean is against the second moment, which it estimates."""
    against = "what the release estimates, rows centred in public"
    return f"Against {against}: {_error_and_energy(uncentred, k, metric)}"


def verdict_on_scaling(scaled: ReleaseVerdict, k: int, metric: str) -> str:
    """Return what scaling rows to length 1 changes on this table, without privacy."""
    return (
        "This method scales each row to length 1, which changes what it estimates. On your table, without "
        f"privacy, PCA of such rows differs from PCA of unscaled rows: {_error_and_energy(scaled, k, metric)}"
    )


def _error_and_energy(measured: ReleaseVerdict, k: int, metric: str) -> str:
    """Return the error in its unit beside that of a guess, and the share of energy that is captured."""
    metric = "sin" if metric == "degrees" and k > 1 else metric  # an error gives no angle there
    error, guess = (
        value_text(metric, float(in_unit(metric, value, k))) for value in (measured.error, measured.guess)
    )
    components = text.count(k, "direction", "directions")
    return (
        f"{_ERROR_OPENINGS[metric]} {error}, where a random guess has {guess}. It captures "
        f"{text.percent(measured.energy)} of what the best {components} {'holds' if k == 1 else 'hold'}."
    )
