"""Form the sentences of the page on a visitor's own table that belong to no single panel. No Streamlit here.

Among them are those on the unit of privacy: the guarantee is for one row, and a patient can have several.
`rows` is how many rows one patient can have at most, as the table's owner stated. `method` is a key of
METHODS, and a share is a part of the budget.
"""

from collections.abc import Callable, Iterable

import numpy as np

from dppca_core.accounting import closed_form
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.accounts.account import Balance
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.release import release_text
from dppca_core.release.private_release import Released
from dppca_core.release.request import STACKED_ROUNDS, TWO_STAGES, ReleaseRequest, Request, patient_epsilon
from pages.hospitals.your_data.charts import SURE
from pages.hospitals.your_data.release_job import ReleaseJob
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES, Settings

UNANSWERED = (
    "Answer this first. Noise hides one row of the table. If a patient has several, the guarantee for the "
    "patient is weaker, and this page says by how much."
)
CHANGED_TABLE_CAVEAT = (
    "A table with any change is unknown. You are asked whether its patients are of one of your accounts. If "
    "you say no, it begins an account with a full limit. Patients in two accounts lose what both cost."
)
OF_EXAMPLE = "Known of this example: each patient has one row."
IN_SESSION = "This release is in this session only, and gone with it: download it."
IN_BOOK = "It is kept with your accounts until you delete it."
DELETE = "What was released goes, and cannot be drawn again. Its payment stays on the account."
HOW_CHOSEN = "How were columns and k chosen? The answer is public."
HOW_CHOSEN_HELP = "It is in the release and on the account. Nothing checks it."
CHOSEN_BY_LOOKING = (
    "Looking at the patients costs privacy that the account does not count: the guarantee does not cover it."
)
ANSWER_HOW_CHOSEN = "Say first how columns and k were chosen."
NOT_COMPARED = (
    "How far this is from the answer without privacy is not said: that would be computed from the patients' "
    "rows."
)
RANGES_ARE_PUBLIC = (
    "Taken as known before anybody looked at a patient: ranges read off the patients are not public."
)
IN_THE_FILE = "One file that opens anywhere. Nothing that only you may see is in it."
IN_THE_BUNDLE = (
    "Components, dictionary, guarantee, payment, recipe, registry record, and short programs, in Python and "
    "R, that score new rows."
)
INTRODUCTION = (
    "Load your own table, protect it once, get its pattern, and see how much of your privacy budget is left."
)
STEPS = (
    "Load a table, and its dictionary if there is one.",
    "Say what is public, then rehearse on invented patients.",
    "Release once: the account shows how much privacy is left.",
)
TRY_THIS = (  # in the order of the steps: the first is shown whose step is not done
    "try it with the breast cancer table, and release its pattern.",
    "say how many rows one patient can have, from how the table was made.",
    "open its dictionary, or type the range of two columns from a code book.",
    "see what the rehearsal promises on the worst of its populations, find the privacy that it needs there, "
    "and only then release.",
    "alone at your screen, turn on *Show exact values*, and see how good the release is.",
    "bring the same table again under another name: its account is found by its content.",
)
TOO_MUCH = 1 / 3  # of a guess's error: beyond it a pattern is of little use
HARDLY_BETTER = 0.9  # of a guess's error, from which on an error is no better
COUNT_FOR = (
    "Public ranges: a measurement counts by how far it fills its range.",
    "Equal weight: each measurement counts the same.",
)
TARGETS = ("PCA of centred rows", "PCA of standardised measurements")
MOST_IN_ONE = 0.8  # share of the released eigenvalues' sum


def noise_would(share: float) -> str:
    return f"Noise would {'hide' if share > HARDLY_BETTER else 'cost much of'} the pattern"


def unit(rows: int) -> str:
    """Return what is counted, "patient" where each has one row and else "row"."""
    return "patient" if rows == 1 else "row"


def noun(rows: int) -> str:
    return f"{unit(rows)}s"


def stated(rows: int) -> str:
    return "1" if rows == 1 else f"up to {rows:,}"


def left_out_as_blank(rows: int) -> str:
    what = text.count(rows, "blank row is", "blank rows are")
    return f"{what} left out: a row without any cell is no patient."


def loss(value: float) -> str:
    """Return an epsilon as a number, a large one without meaningless decimals."""
    return text.short(value) if value < 100 else f"{value:,.0f}"


def epsilon(value: float) -> str:
    return f"ε = {loss(value)}"


def odds(request: Request) -> str:
    """Return the guarantee as an attacker's odds, for a row and for a patient with all their rows.

    The bound for any method with this guarantee stands next to what this release's own noise allows.
    """
    budget, rows = request.budget, request.rows_per_patient
    if rows == 1:
        return f"{text.odds(budget.epsilon, budget.delta)} {own_odds(request)}"
    by_row, by_patient = (
        text.at_most(TradeOff.allowed(epsilon, budget.delta).best_guess())
        for epsilon in (budget.epsilon, request.patient_epsilon)
    )
    return (
        f"Even an attacker who knew all other rows could tell whether one row was used {by_row}. "
        f"A random guess: 50. Whether all {rows:,} rows of one patient were used: {by_patient}. "
        f"{own_odds(request)}"
    )


def own_odds(request: ReleaseRequest) -> str:
    """Return what a bound of `odds` is, and how often an attacker is right against this release's own noise.

    All that is offered has Gaussian noise alone, so that its trade-off is exact.
    """
    rows = request.rows_per_patient
    right = text.at_most(request.patient_trade_off.best_guess(), digits=1)
    return (
        "That is the bound for any method with this promise. Against this release's own noise the attacker "
        f"is right {right}{'' if rows == 1 else ', of all these rows'}."
    )


def as_gaussian(request: Request) -> str:
    return f"{release_text.as_gaussian(request)} ε follows from it at any δ."


def two_releases(request: Request) -> str:
    """Return what it costs a patient who is in two hospitals' tables if each makes such a release."""
    epsilon_of_both = closed_form.epsilon_of((*request.events, *request.events), request.budget.delta)
    return (
        "A patient who is in another hospital's table too is protected less: two releases of this size "
        f"together have {epsilon(epsilon_of_both)}."
    )


def patient_total(account: Balance, rows: int) -> str:
    """Return what all releases so far cost a patient with several rows, or "" where that is the total.

    Releases that counted patients cost a patient with several rows less than is said here.
    """
    if rows == 1 and any(payment.averaged for payment in account.payments):
        if all(payment.averaged for payment in account.payments):
            return ""
        return (
            "Some of these releases counted rows and not patients: a patient with several rows has lost more "
            "to them than the total says."
        )
    if rows == 1 or account.limit is None or not account.payments:
        return ""
    spent = account.spent_by_patient(rows)
    return (
        f"The limit counts per row. For a patient with {rows:,} rows, all releases so far have "
        f"{epsilon(spent)} together."
    )


def restated(released: Released, rows: int, words: Callable[[str, str, float], str]) -> str:
    """Return what an earlier release costs by the owner's answer now, or "" where it was the same then.

    words: `restated` of the present view.
    """
    then = int(released.document["rows per patient"])
    # Where patients were counted, then or now, no number of rows makes a difference to say.
    if then == rows or released.document["unit"] == "patient" or rows == 1:
        return ""
    budget = Budget(**released.document["parameters"]["budget"])
    cost = patient_epsilon(released.payment.events, budget, rows)
    return words(f"{stated(then)} row{'' if then == 1 else 's'}", stated(rows), cost)


def ended(job: ReleaseJob) -> str:
    return {
        "stopped": "Stopped: it is paid for, and nothing of it was shown. You can go on with it for nothing.",
        "refused": f"Nothing was released: {text.refusal(job.message)}",
        "unwritten": f"Nothing was released: the account could not be written ({job.message}). It says "
        "whether it was paid for.",
        "failed": f"Nothing was released: the program failed ({job.message}). The account says what is paid.",
    }[job.state]


def adjusted(key: str, settings: Settings, value: int) -> str:
    return f"{CHOICES[key].label} {'lowered' if value < settings[key] else 'raised'} to {value} here."


def promise(released: Released) -> str:
    """Return the guarantee of a release in a sentence, with its delta written as elsewhere on screen."""
    guarantee: str = released.document["guarantee"]
    delta: float = released.document["parameters"]["budget"]["delta"]
    return guarantee.replace(f"{delta:g}", text.number(delta))


def strongest(listed: int, features: int) -> str:
    return f"Listed: the {listed:,} strongest of {features:,} measurements. The files have all."


def apart_from_zero(released: Released) -> tuple[int, int]:
    """Return how many released loadings are at least twice their noise's std from 0, and of how many.

    Loadings of exactly 0, of features that the method leaves out, do not count.
    """
    is_used = np.abs(released.basis) > 0
    is_apart = np.abs(released.basis) >= SURE * released.loading_std
    return int(is_apart[is_used].sum()), int(is_used.sum())


def told_from_zero(released: Released) -> str:
    apart, many = apart_from_zero(released)
    # What two stages leave out is no noise.
    other_chance = " or in which measurements were kept" if released.document["method"] in TWO_STAGES else ""
    return (
        f"{apart:,} of {many:,} loadings can be told from 0, as they are more than twice the noise "
        f"away. The others are grey. This counts the noise, not chance in who the patients are{other_chance}."
    )


def strengths(values: Iterable[float], may_be_noise: Iterable[bool]) -> str:
    """List eigenvalues; those that may be noise are grey and say so."""
    shown = (text.short(max(value, 0.0)) for value in values)
    pairs = zip(shown, may_be_noise, strict=True)
    return ", ".join(f":gray[{value} (may be noise)]" if noise else value for value, noise in pairs)


def eigenvalues(released: Released) -> str:
    """Return the released eigenvalues, of which rows they are, and how far noise moves them; "" without any.

    Those of components that are grey are grey too.
    """
    values, error = released.eigenvalues, released.eigenvalue_error
    if values is None or error is None:
        return ""
    method = released.document["method"]
    length = "b²" if is_fitted(released) else "B²"
    scaled = (
        "rows of length 1"
        if is_unit(method, is_fitted(released))
        else f"the shortened rows (shares of {length})"
    )
    if released.document["stages"] is not None:
        scaled += ", of the features kept alone"
    return (
        f"Private eigenvalues of {scaled}: {strengths(values, released.is_noise)}. "
        f"Noise moves each by {text.short(error)} at most, in 95 of 100 draws."
    )


def centring(released: Released) -> str:
    """Return how rows were centred and scaled, and that the first component may be the mean.

    All of it follows from the release alone, and so is public. The patients' mean is private, so how near the
    first component is to it is for the owner alone (`owner_only_document.advice`). A first eigenvalue that
    holds most of the released ones is what a large mean gives, and a strong pattern may give it too.
    """
    parameters = released.document["parameters"]
    sentences = [_centring(released, float(parameters.get("mean share", 0.0)))]
    if parameters.get("standardised"):
        sentences.append("Each measurement is divided by its scale: components are of correlations.")
    if is_fitted(released):
        length = text.short(released.document["length after scaling"])
        squares, tails = (text.percent(parameters.get(f"{name} share", 0.0)) for name in ("squares", "tails"))
        sentences.append(
            f"The bound is fitted: no row counts for more than a length of b = {length}, which was chosen by "
            f"mean squares ({squares} of the budget) and by how many rows are long ({tails})."
        )
    return " ".join(sentences)


def _centring(released: Released, share: float) -> str:
    """Return how rows were centred; share: of the budget, which paid for their mean, 0 without one."""
    if share:
        return (
            f"Rows are centred at their mean, for which {text.percent(share)} of the budget paid. Its noise "
            "is known, and small beside theirs where the rehearsal promises an answer."
        )
    columns = released.document["public"].get("dictionary", {}).get("fields", [{}])
    at = public_centre(all("usual" in column for column in columns))
    risk = (
        f"Rows are centred at {at}, not at their mean. The first component may be the mean and not a pattern."
    )
    if released.eigenvalues is None or len(released.eigenvalues) < 2:
        return risk
    values = np.maximum(released.eigenvalues, 0.0)
    first_share = 0.0 if released.is_noise[0] else float(values[0] / values.sum())
    if first_share < MOST_IN_ONE:
        return risk
    return f"{risk} It holds {text.percent(first_share)} of the released strength, as a large mean would."


def is_fitted(released: Released) -> bool:
    return released.document["fitted bound"] is not None


def is_unit(method: str, is_fitted: bool) -> bool:
    """Return whether the method scales every row to length 1, which it does not with a fitted bound."""
    return METHODS[method].scaling == "unit" and not is_fitted


def estimates(method: str, is_fitted: bool) -> str:
    """Return what a method estimates that scales rows to length 1; "" where rows keep their length."""
    if not is_unit(method, is_fitted):
        return ""
    return (
        "It has another target: the directions of rows that are each scaled to length 1. These are those of "
        "PCA only where what is left over is symmetric. The rehearsed error includes how far the two targets "
        "are apart."
    )


def several(method: str, hospitals: int) -> str:
    """Return what a method for several hospitals does on this page, which holds all their rows."""
    # alone: hospitals trust nobody, so that each adds all the noise that protects its own patients.
    title, alone = METHODS[method].title, METHODS[method].trust == "untrusted server"
    if hospitals == 1:
        return (
            f"{title} is made for several hospitals. Here all patients are in one place: that place adds all "
            "the noise, and nobody else sees a row."
        )
    noise = "the noise that each hospital would" if alone else "the noise that hospitals would add together"
    needs = "" if alone else " Between hospitals it needs a protocol that seals sums."
    return f"This page holds the rows of all {hospitals:,} hospitals, and adds {noise}.{needs}"


def public_centre(usual: bool) -> str:
    return "the usual values that the dictionary gives" if usual else "the middle of their public ranges"


def centre(share: float, usual: bool) -> str:
    """Return where rows will be centred, and what that costs or risks; share: paid for the mean, or 0."""
    if share:
        return (
            f"Rows are centred at their mean, for which {text.percent(share)} of the budget pays. Both parts "
            "together cost what is asked for."
        )
    return (
        f"Rows are centred at {public_centre(usual)}. Where most rows lie elsewhere, the first "
        "component is their mean and not a pattern, and no budget changes that."
    )


def shares(request: Request) -> str:
    names = {
        "squares share": "mean squares",
        "mean share": "the mean",
        "tails share": "the lengths of rows",
    }
    paid = {what: request.shares[name] for name, what in names.items() if request.shares[name]}
    return text.listed([f"{text.percent(share)} for {what}" for what, share in paid.items()])


def fitted(request: Request) -> str:
    return (
        f"The bound is fitted: a part of the budget ({shares(request)}) pays for how long rows are, so that "
        f"noise is no larger than they need. It estimates {TARGETS[request.standardised]}."
    )


def recommended(request: Request) -> str:
    title = METHODS[request.method].title
    if request.fitted:
        return f"Recommended is {title}: one noisy moment of all rows."
    return (
        f"So many measurements have no noisy moment. Of methods that can take them, {title} is predicted, "
        "for Gaussian rows, to err least on the worst pattern where nothing is known."
    )


def how_noise_is_drawn(method: str) -> str:
    strengths = "No strength comes" if method in STACKED_ROUNDS else "Strengths come"
    return f"Its noise is exact: OpenDP draws it on whole numbers. {strengths} with the directions."
