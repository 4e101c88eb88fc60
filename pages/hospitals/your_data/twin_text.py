"""Form sentences on the synthetic twin: the rehearsal of a release on invented patients. No Streamlit here.

Errors are stated as shares of the error of a random guess.
"""

from collections.abc import Sequence
from typing import NamedTuple

from dppca_core.bounds.stated_spectra import paid_spikes
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.fitted_release import drawn
from dppca_core.methods import METHODS
from dppca_core.populations.dictionary_twin import DictionaryTwin
from dppca_core.release import discrete_gaussian
from dppca_core.release.request import Request
from dppca_core.release.spectrum import Spectrum
from pages.hospitals.your_data.charts import SURE
from pages.hospitals.your_data.text import HARDLY_BETTER, TOO_MUCH, is_unit, noun, shares, strengths
from pages.hospitals.your_data.upload_text import where_patients_are
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.text import refusal

PUBLIC = "choose fewer columns from the literature or a code book, not from these rows"
MEAN_KNOWN = "Their mean is known; what the error of a paid mean adds is not in this figure."
ALL_PAID = "Mean, scales and bound are paid for in each run, as a release pays."


class WaysOut(NamedTuple):
    """Hold the error of the best method that can take a table, and what would do, each of the three alone.

    The three are None where none was found, and where the error does already.
    """

    error_share: float  # of a random guess's error
    patients: int | None = None  # to a factor of two
    epsilon: float | None = None  # the least
    features: int | None = None  # to a factor of two


def rehearsed(request: Request, hospitals: int) -> str:
    what = f"**Rehearsed is what *Release* would make:** {METHODS[request.method].title}"
    where = f"{noun(request.rows_per_patient)} in {where_patients_are(hospitals)}"
    epsilon, delta = request.budget.epsilon, request.budget.delta
    given = [f"k = {request.k}"]
    given += [
        f"{'R' if name == 'rank' else text.symbols(name)} = {n}" for name, n in request.method_options.items()
    ]
    given += [f"ε = {text.number(epsilon)}", f"δ = {text.number(delta)}"]
    given += [f"of it {shares(request)}"] if request.prior_share else []
    return f"{what}, {', '.join(given)}, {where}."


def populations(errors: Sequence[tuple[str, float]], paid: bool, in_closed_form: bool) -> str:
    """Return which population is shown, the one with the largest error, and how large the errors of all are.

    errors: the title and the error of each population; the one that is shown comes first. paid: whether the
    patterns are as strong as eigenvalues that were paid for.
    """
    (worst, _), *_ = errors  # the title of the first
    shares = text.listed([f"{text.percent(min(share, 1.0))} ({title})" for title, share in errors])
    unknown = "how many measurements carry your pattern" if paid else "how strong your pattern is"
    how = "Predicted errors" if in_closed_form else "Errors"
    caution = (
        "" if paid else " Where your last direction is hardly stronger than the next, a release errs more."
    )
    return (
        f"Nobody knows yet {unknown}, so {len(errors)} populations are rehearsed. **The worst counts: its "
        f"pattern is {worst}.** {how}, as shares of a guess's: {shares}.{caution}"
    )


def chosen_trust(trust: str) -> str:
    return f"The number is that of the darker bar: {phrases.ROWS[trust].lower()}."


def only_predicted(d: int) -> str:
    return (
        f"So many measurements ({d:,}) are not rehearsed by runs: errors are closed forms of public numbers. "
        "No patient of yours has a part in this figure, so it costs nothing."
    )


def invented(twin: ExplorerExperiment, rows: int, strength: str, bound: float, method: str, n: int) -> str:
    """Return what the twin has in common with the table, and in what it differs.

    strength: how the twin's pattern is, in words. bound: the length to which a release shortens rows. n: of
    all patients, of whom the twin has as many as are usable.
    """
    unit = is_unit(method, twin.fitted is not None)
    if isinstance(twin.population, DictionaryTwin):
        kind = (
            "They follow your dictionary: numbers stay in their ranges and spread evenly at most. "
            "Each category has one answer."
        )
        length = "scaled to length 1" if unit else "shortened to the bound"
        long_rows = f"Their rows are {length}, as a release does to yours."
        if (stand_in := drawn(twin.n, twin.d)) < twin.n and twin.fitted is not None:
            long_rows += f" {stand_in:,} of them are drawn; the noise is that for all."
    else:
        kind = "They are Gaussian: so large a twin follows neither ranges nor categories."
        if unit:
            long_rows = "Its rows are scaled to length 1, as a release scales yours."
        elif twin.clip is not None:
            long_rows = (
                "The twin's long rows are shortened as a release shortens yours, if your rows spread evenly "
                "over their ranges."
            )
        else:
            long_rows = (
                "So many rows are not drawn one by one: the twin shortens none, and its bound holds the "
                f"longest. A release shortens rows beyond {bound:.4g}, which usually needs less noise."
            )
    return (
        f"Invented {noun(rows)}, as many ({twin.n:,}) and with as many measurements ({twin.d:,}) as "
        f"{'yours' if twin.n == n else 'your usable ones'}, whose pattern is {strength}. No patient of yours "
        f"has a part in this figure, so it costs nothing. {kind} {centre(twin, rows)} {long_rows}"
    )


def can_take(d: int) -> str:
    return (
        f"**{d:,} measurements:** stacked rounds and two stages can take them. Methods that add up a whole "
        f"moment take at most {discrete_gaussian.MOST_FEATURES}."
    )


def not_possible(reason: str, d: int) -> str:
    why = f"These settings cannot be released: {refusal(reason)}"
    return f"{can_take(d)} {why} Choose another method, or {PUBLIC}."


def judged(request: Request, n: int, d: int, ways: WaysOut) -> str:
    share, patients, epsilon, features = ways
    units, budget = noun(request.rows_per_patient), request.budget
    error = f"{text.percent(min(share, 1.0))} of a guess's error"
    if patients is epsilon is features is None and share <= TOO_MUCH:
        return f"{can_take(d)} The better of them is predicted to have {error}."
    answer = "no answer" if share > HARDLY_BETTER else "hardly an answer"
    enough = [] if patients is None else [f"about {patients:,} {units}"]
    enough += [] if epsilon is None else [f"ε = {text.number(epsilon)}"]
    enough += [] if features is None else [f"about {features:,} measurements"]
    what = f"What would do: {' or '.join(enough)}. " if enough else ""
    return (
        f"{can_take(d)} **From {n:,} {units} at ε = {text.number(budget.epsilon)} and "
        f"δ = {text.number(budget.delta)} any method gets {answer}:** the best is predicted to have {error}. "
        f"{what}If in doubt, {PUBLIC}."
    )


def centre(twin: ExplorerExperiment, rows: int) -> str:
    if twin.fitted is not None:
        return ALL_PAID
    if twin.mean_share:
        return MEAN_KNOWN
    if isinstance(twin.population, DictionaryTwin) and twin.population.skewed:
        return (
            f"The invented {noun(rows)} lie about your usual values, half of the numbers on either side: the "
            "first component may be their mean, not a pattern."
        )
    return (
        f"The invented {noun(rows)} have mean zero. Yours may not: then the first component may "
        "be their mean, not a pattern."
    )


def spectrum(paid: Spectrum, k: int, centred: bool) -> str:
    """Return what paid eigenvalues state about the table's pattern; centred: as the release's rows.

    The first eigenvalue, which may be the mean of rows, is left out where these are centred.
    """
    # With centred rows one more, since the first may be the mean.
    error, first = SURE * paid.std, paid.eigenvalues[: k + centred]
    top = strengths(first, first <= error)
    sentence = f"**Eigenvalues that you paid for:** {top}, each give or take {text.short(error)}; "
    spikes = paid_spikes(paid.eigenvalues, paid.std, k, centred)
    if not spikes:
        return f"{sentence}the noise is as large, so this slice cannot tell a pattern."
    mean = " The first may be the mean, and is left out, as rows are centred." if centred else ""
    times = text.short(sum(spikes) / len(spikes))
    return f"{sentence}the pattern is at least about {times} times the background.{mean}"
