"""What happens if: sentences that say only what runs, the protocol's tests or the accounting show."""

from dppca_core.accounting import gaussian
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.joint import dishonest
from dppca_core.privacy import Budget
from pages.hospitals.providers.model.by_mail import is_advised
from pages.hospitals.providers.model.decision import Decided, JoiningBoard
from pages.hospitals.providers.sentences.decision import SIMULATED, headline, interval, points
from pages.hospitals.providers.settings import loss_text
from pages.shared import text
from pages.shared.plain import phrases, share_bars

TITLES = {
    "cautious": "The most cautious hospital halves its privacy loss",
    "leaves": "One hospital leaves",
    "breached": "One hospital is broken into",
    "cheats": "One hospital cheats",
    "colludes": "One hospital works with the server against the others",
    "withdraws": "A patient withdraws",
}
NOBODY_LEFT = "Then nobody is left to join."
# By the tests of the protocol (docs/federated.md), and by the accounting where a number stands.
BREACHED = (
    "Its own records are exposed: nothing on this page protects them there.",
    "It holds no other hospital's records. It got the questions of the server and the protected result.",
    "**Trusting nobody**: what the others sent stays protected by their own noise.",
    "**With sealed sums**: its part of the noise may become known. See below: it works with the server.",
    "**With one trusted place**: the others' sums lie there, not at the hospital.",
    "If the trusted place itself is broken into, every hospital's sums are exposed without noise.",
)
_CHEATS = (
    "False numbers spoil the common pattern. They show nothing of the other hospitals' patients.",
    "**Trusting nobody**: numbers that no patients can give are refused. The run ends or goes on without.",
    "False numbers that patients could give are not noticed.",
    "**With sealed sums**: nobody can look at one hospital's numbers. If it does not answer, the run ends.",
    "A server that cheats spoils the pattern too. It gets no second answer with fresh noise.",
)
_OWN_NOISE = "**Trusting nobody**: each message keeps its own noise, so the promise to the others holds."
_ONE_PLACE = "**With one trusted place**: the place sees every hospital's sums. Working with it exposes them."
WITHDRAWS = (
    "What was released stays: nobody can call it back.",
    "The promise holds for it all the same: it never rested on the patient's being left out.",
    "The hospital can leave the record out of every later release.",
    "A later release costs privacy again. What was paid before stays spent.",
)


def cheats(board: JoiningBoard) -> tuple[str, ...]:
    return (*_CHEATS, *_LIES) if is_advised(board) else _CHEATS


def _lies() -> tuple[str, ...]:
    """Return what a liar did to a study by mail, in the simulated example of docs/by-mail.md."""
    by_lie = {each.lie: each for each in dishonest.EXAMPLE}
    invented, largest = by_lie["invented"], by_lie["largest"]
    honest, harmed, lost = map(_share_of_example, (invented.honest, invented.lied, largest.lied))
    least, most = (f"{100 * share:.0f}" for share in (invented.noticed, largest.noticed))
    return (
        f"**By mail**, in a simulated example: five honest hospitals recover {honest} of the pattern. "
        f"One that invents its patients leaves {harmed}, the largest numbers that pass the checks {lost}.",
        f"The result says without which file it turns most: the liar's, in {least} to {most} of 100 runs. "
        "Anybody can leave that file out.",
    )


def _share_of_example(error: float) -> str:
    return phrases.percent(100 * (1 - error**2 / _COMPONENTS))


_COMPONENTS = 2  # of the example
_LIES = _lies()


def cautious(board: JoiningBoard, hospital: int, after: Decided) -> str:
    before, now = board.setting.hospitals[hospital], after.setting.hospitals[hospital]
    losses = f"{loss_text(now.epsilon)} in place of {loss_text(before.epsilon)}"
    return f"{board.names[hospital]} asks for a privacy loss of {losses}. All others stay as they are."


def leaves(board: JoiningBoard, hospital: int) -> str:
    size = text.count(board.setting.sizes[hospital], "patient", "patients")
    return f"{board.names[hospital]} leaves, the largest of the others, with {size}."


def then(decided: Decided) -> str:
    decision = decided.decision
    if decision is None:
        return headline(decided)
    gains = [
        f"- {phrases.ROWS[trust]}: a gain of {points(decision.evidence[trust].median)} points, "
        f"with 99 % certainty {interval(decision.evidence[trust])}."
        for trust in share_bars.LOOKS
    ]
    return "\n".join([f"**{headline(decided)}**\n", *gains])


def colludes(board: JoiningBoard) -> tuple[str, ...]:
    count, strict = len(board.setting.hospitals), loss_text(board.setting.strictest)
    lowered = text.short(board.colluding(1))
    parts = [f"**With sealed sums**: the noise of one is taken off. Privacy loss {strict} becomes {lowered}."]
    if count > 2:
        most = text.short(board.colluding(count - 1))
        parts.append(f"If all hospitals but one do so, it becomes {most} for that one.")
    mail = (curious(board),) if is_advised(board) else ()
    return _OWN_NOISE, *mail, *parts, _ONE_PLACE, SIMULATED


def curious(board: JoiningBoard) -> str:
    """Return what somebody learns of a patient of ours from our file, who knows all that is not in it."""
    multiplier = gaussian.noise_multiplier(Budget(board.ours.epsilon, board.setting.delta))
    right = text.at_most(TradeOff.gaussian(1 / multiplier).best_guess(), digits=1)
    return (
        "**By mail** each file has its whole noise. Whoever knows everything else tells two records of our "
        f"patient apart {right}. A random guess: 50."
    )
