"""The sentences of this page in plain view, from numbers: short, and without symbols. No Streamlit here.

`analyst_text` has the names of those that stand at the same places for analysts.
"""

from dppca_core.release.request import ReleaseRequest
from pages.hospitals.your_data.account_text import Spending, again
from pages.hospitals.your_data.rehearsal import StopSign
from pages.hospitals.your_data.text import loss, noise_would, noun, own_odds
from pages.shared import text
from pages.shared.plain import phrases

COMPONENT, LOADING = "pattern", "weight"
PUBLIC = (
    "A release makes public how many patients there are, and what you typed about the measurements. It never "
    "shows a patient."
)
REHEARSAL = "**This is a rehearsal.** It uses invented patients and costs nothing."
REHEARSED = "What a release would recover of invented patients' pattern"
WORST = "Nobody knows your pattern yet, so three kinds are tried. The worst counts."
NOT_REHEARSED = "These settings cannot be released, so nothing is rehearsed. The fold below says why."
UNCENTRED = "The first pattern may only show where your patients lie on average."
NO_RELEASE = "Nothing was released yet."
_SHARES = ((1.0, "all"), (0.75, "three quarters"), (0.5, "half"), (0.25, "a quarter"))


def part(share: float) -> str:
    """Return a share of the privacy budget in words: half, where it is that to 0.5 %, or 37 %."""
    return next((words for value, words in _SHARES if abs(share - value) < 0.005), text.percent(share))


def price(what: str, cost: float, spent: Spending, rows: int, of_patient: float) -> str:
    """Return which part of the privacy budget a release uses; `what` and `cost` are for analysts."""
    if spent.exceeds_limit:
        return f"{again(spent)} needs more than what is left of your privacy budget: ask for more protection."
    used = f"This uses {part((spent.after - spent.now) / spent.most)} of your privacy budget."
    if rows == 1:
        return used
    return f"{used} A patient with {rows:,} rows is protected less: their privacy loss is {loss(of_patient)}."


def left(spent: Spending) -> str:
    if spent.after <= 0:
        return "Nothing of your privacy budget is used"
    words = part(min(spent.after / spent.most, 1.0))
    return f"{words[0].upper()}{words[1:]} of your privacy budget is used"


def named(title: str, when: str, cost: float) -> str:
    return f"one on {when}, privacy loss {loss(cost)}"


def restated(then: str, now: str, cost: float) -> str:
    return f"This release was made for {then} per patient. With {now}, the privacy loss is {loss(cost)}."


def rehearsed(recovered: float, guess: float) -> str:
    return (
        f"**A release like this would recover {phrases.percent(recovered)} of the pattern.** "
        f"A random guess recovers {phrases.percent(guess)}."
    )


def cannot_know(rows: int) -> str:
    return (
        f"**We cannot know whether noise would spoil the answer.** {noun(rows).capitalize()} with a missing "
        "value are left out: state above how many stay."
    )


def stop(sign: StopSign) -> str:
    if not sign.is_noise:
        return "**Even with no privacy the answer would be poor.** A larger privacy loss would hardly help."
    begin = f"**{noise_would(sign.share)}.**"
    if sign.needed is None:
        return f"{begin} With so few patients no privacy loss here is large enough."
    return (
        f"{begin} A privacy loss of {text.number(sign.needed)} would do, or about "
        f"{text.patients(sign.patients)} patients."
    )


def promise(request: ReleaseRequest, n: int) -> str:
    delta = request.budget.delta
    bound = text.odds(request.patient_epsilon, delta)
    return f"{bound} {own_odds(request)} {phrases.delta_too_large(delta, n)}".strip()


def released(k: int, patients: str, component: str, day: str) -> str:
    what = text.count(k, f"{component} of", f"{component}s of")
    return f"**Released on {day}:** {what} {patients}. Anybody may see {'it' if k == 1 else 'them'}."


def apart(many: int, of_all: int, loading: str) -> str:
    sentence = f"{many:,} of {of_all:,} {loading}s stand out from the noise."
    return f"{sentence} Grey {loading}s may be noise. Do not read them."


def releases(many: int) -> str:
    return f"{text.count(many, 'release', 'releases')} so far." if many else NO_RELEASE


def usable(counted: int, recovered: float, guess: float, of_little_use: bool) -> str:
    end = " **That is of little use.**" if of_little_use else ""
    return (
        f"With your {counted:,} usable patients a release would recover {phrases.percent(recovered)} of the "
        f"pattern. A random guess recovers {phrases.percent(guess)}.{end}"
    )


def verdict(recovered: float, guess: float) -> str:
    end = " **That is no better than a guess.**" if phrases.no_answer(recovered, guess) else ""
    return (
        f"The release recovers {phrases.percent(recovered)} of your table's own pattern. "
        f"A random guess recovers {phrases.percent(guess)}.{end}"
    )
