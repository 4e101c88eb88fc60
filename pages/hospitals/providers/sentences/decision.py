"""The sentences of the decision whether our hospital should join, for a board.

A gain is the share of our pattern that is recovered together less that recovered alone, in points (%).
"""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from dppca_core.datasets import TABLES
from dppca_core.experiments.decision.cells import TRIAL
from dppca_core.experiments.decision.claims import Claim, compared
from dppca_core.experiments.decision.confirmation import MORE, PASSES
from dppca_core.experiments.decision.outcomes import TOGETHER
from dppca_core.experiments.decision.predictions import Reversal
from dppca_core.experiments.decision.rule import MARGIN, USEFUL, Answer, Evidence
from dppca_core.methods import METHODS
from dppca_core.populations import heart_disease
from pages.hospitals.providers.model.decision import AnswerGroup, Decided, JoiningBoard
from pages.hospitals.providers.settings import loss_text
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.plain import decisions, phrases, share_bars

TITLE = "Should we join?"
INTRODUCTION = "What our hospital finds alone, what all find together, and whether that is worth joining for."
BY_TRUST = "By whom we trust"
BY_HOSPITAL = "Which hospitals should join"
TURNS = "Where the verdict turns"
WHAT_IF = "What happens if"
TRY = "**Try this:** change the size of our hospital in the table. From which size on should it stay alone?"
TRY_SEVERAL = "**Try this:** add a hospital to the table. Then there is somebody to join."
TRY_OTHERS = "**Try this:** choose to publish, and mark another hospital as ours. Does the answer change?"
ONE_LAW = "Sealed sums and one trusted place need the same noise here, so they get the same verdict."
OWN_NOISE = "A strict hospital would make one noise for all too large, so each adds its own."
RULE = (
    f"A gain counts from {MARGIN:g} points of the pattern, with 99 % certainty. "
    f"Together, 9 of 10 repeats must also recover {USEFUL:g} %."
)
SIMULATED = "Sealed sums are simulated only: over a network this program refuses them today."
STILL_CLOSE = "Close so far: more repeats are being made …"
CONFIRMING = "More patients may help: repeats are being made to confirm how many …"
NOT_CONFIRMED = "More patients were predicted to help, but repeats with more did not confirm it."
TURNING = "Working out where the verdict turns …"
NO_TURN_OF_A_TABLE = "For a real table nobody can predict where the verdict turns."
NO_TURN_WHERE_THEY_DIFFER = "Where hospitals differ nobody can predict where the verdict turns."
PREDICTED = "A formula predicts these turns from the repeats above. No repeats were made there."
VERDICTS = {
    Answer.JOIN: "join",
    Answer.JOIN_IF: "join if sums are sealed or one place is trusted",
    Answer.STAY: "stay alone",
    Answer.ASK_AGAIN: "ask again with more patients",
    Answer.TOO_CLOSE: "too close to tell",
}
# What is said of two quantities that runs compare, by the trust of the page where it counts.
_OURS, _FREE, _GUESS = "together, {trust}", "together, no privacy", "a random guess"
SAYS = {
    (_OURS, "as good", _FREE): f"Privacy costs at most {MARGIN:g} points of the pattern here.",
    (_OURS, "less", _FREE): f"Privacy costs more than {MARGIN:g} points of the pattern here.",
    ("together, central", "more", "together, untrusted server"): (
        f"One trusted place gains more than {MARGIN:g} points over trusting nobody."
    ),
    ("together, central", "as good", "together, untrusted server"): (
        f"One trusted place gains at most {MARGIN:g} points over trusting nobody."
    ),
    ("alone", "as good", _GUESS): "Alone we find no more than a random guess.",
    ("alone", "less", _GUESS): "Alone we find less than a random guess.",
    (_OURS, "as good", _GUESS): "Together, with privacy, we find no more than a random guess.",
    (_OURS, "less", _GUESS): "Together, with privacy, we find less than a random guess.",
}
_PREDICTED = VERDICTS | {Answer.TOO_CLOSE: "no clear verdict"}
PAPERS = "To take to the board"
ABOUT_PAPERS = (
    "One page has the answer, what leaves, the promise, and lines to sign. The dossier has what reviewers of "
    "a hospital ask for, with blanks where only the hospital knows."
)
LEAVES = {
    "untrusted server": "No record leaves a hospital. Each adds noise to its sums before it sends them.",
    "secure aggregation": "No record leaves a hospital. Each encrypts its sums: only the total can be read.",
    "central": "No record leaves a hospital. The trusted place sees each hospital's sums.",
}
LIMITS = (
    "The verdict is about patients like these, and about this pattern alone.",
    "It leaves out what joining costs in money, time and contracts.",
    "It assumes that no patient is in two hospitals.",
)


def headline(decided: Decided) -> str:
    decision = decided.decision
    if decision is None:
        if decided.hopeless:
            return failed_runs.NO_ANSWER
        if decided.cells.confirming:
            return CONFIRMING
        return STILL_CLOSE if decided.repeats > decided.setting.repeats else text.MEASURING
    return decisions.headline(decision, len(decided.setting.hospitals))


def progress(decided: Decided) -> str:
    if decided.decision is not None or decided.hopeless or decided.cells.confirming:
        return ""
    return f"{decided.done} of {decided.repeats} repeats are done."


def numbers(decided: Decided) -> str:
    shares = decided.bars()
    if decided.decision is None or not all(row.measured for row in shares.rows):
        return ""
    alone, together, without = (row.share for row in shares.rows)
    use = decided.setting.use
    if len(decided.setting.hospitals) == 1:
        return f"{decisions.PURPOSES[use]} it recovers {phrases.percent(alone)} of the pattern alone."
    parts = [
        decisions.alone(use, alone),
        decisions.together(decided.trust, together, without),
        *_why_open(decided),
    ]
    return " ".join([*parts, LEAVES[decided.trust]])


def claims(decided: Decided) -> dict[Claim, str]:
    """Return the claims that the page states, with their sentences; none until all runs are there."""
    outcomes = decided.outcomes
    if outcomes is None:
        return {}
    stated = {}
    for pair in dict.fromkeys((left, right) for left, _, right in SAYS):
        left, right = (name.format(trust=decided.trust) for name in pair)
        claim = compared(outcomes, left, right)
        sentence = claim and SAYS.get((pair[0], claim.relation, pair[1]))
        if claim and sentence:
            stated[claim] = sentence
    return stated


def claimed(decided: Decided) -> str:
    return " ".join(claims(decided).values())


def _why_open(decided: Decided) -> Iterator[str]:
    decision = decided.decision
    if decision is None or decision.answer.decided:
        return
    best = max(decision.evidence.values(), key=lambda evidence: evidence.median)
    if best.lower > MARGIN:
        tenth = phrases.percent(best.tenth)
        yield f"Joining can gain enough, but in 1 of 10 repeats all recover only {tenth} or less."
    else:
        yield f"The gain may lie on either side of the {MARGIN:g} points that are worth joining for."
    if decision.answer is Answer.ASK_AGAIN:
        yield "Repeats with as many patients, in the same shares, confirm that number."
        yield f"{PASSES} verdicts in a row were to join, each from {decided.setting.repeats} new repeats."
    elif decided.cells.measured(TRIAL):
        yield NOT_CONFIRMED


def points(value: float) -> str:
    """Return a gain with its sign: +6.8, −19.1; 0.0 has none."""
    shown = f"{value:+.1f}" if math.isfinite(value) else "–"
    return "0.0" if shown in ("+0.0", "-0.0") else shown.replace("-", "−")


def interval(evidence: Evidence) -> str:
    return f"{points(evidence.lower)} to {points(evidence.upper)}"


def _evidence_by_trust(decided: Decided) -> list[tuple[str, Evidence]]:
    decision = decided.decision
    return [(trust, decision.evidence[trust]) for trust in share_bars.LOOKS] if decision else []


def by_trust(decided: Decided) -> pd.DataFrame:
    lines = []
    for trust, evidence in _evidence_by_trust(decided):
        lines.append(
            {
                "we trust": phrases.ROWS[trust],
                "together": phrases.percent(float(np.median(decided.cells.shares((TOGETHER, trust))))),
                "gain, points": points(evidence.median),
                "99 % certain": interval(evidence),
                "9 of 10 recover at least": phrases.percent(evidence.tenth),
                "worth joining": _worth(evidence),
            }
        )
    return pd.DataFrame(lines)


def _worth(evidence: Evidence) -> str:
    if evidence.passes:
        return "yes"
    if evidence.lower > MARGIN:
        return "not reliably"  # too often too little is recovered
    return "no" if evidence.upper < MARGIN else "not sure"


def reading(decided: Decided) -> str:
    laws = {trust: decided.cells.runs.plan(trust) for trust in share_bars.LOOKS}
    parts = [RULE]
    if laws["secure aggregation"] == laws["untrusted server"]:
        parts.append(OWN_NOISE)
    elif laws["secure aggregation"] == laws["central"]:
        parts.append(ONE_LAW)
    if decided.decision and decided.decision.answer is Answer.JOIN_IF:
        parts.append(SIMULATED)
    return " ".join([*parts, claimed(decided)]).strip()


def by_hospital(board: JoiningBoard, groups: list[AnswerGroup]) -> pd.DataFrame:
    each = board.setting.hospitals
    several = len({hospital.epsilon for hospital in each}) > 1
    lines = []
    for group in groups:
        sizes, losses = (
            sorted({getattr(each[i], what) for i in group.hospitals}) for what in ("patients", "epsilon")
        )
        line = {"hospital": _who(board, group.hospitals), "patients": _ends([f"{size:,}" for size in sizes])}
        if several:
            line["privacy loss"] = _ends([loss_text(loss) for loss in losses])
        lines.append(line | {"verdict": " or ".join(VERDICTS[answer] for answer in group.answers)})
    return pd.DataFrame(lines)


def _who(board: JoiningBoard, indices: tuple[int, ...]) -> str:
    ours_first = sorted(indices, key=lambda i: i != board.setting.ours)
    names = [board.names[i] for i in ours_first[: 2 if len(indices) < 4 else 1]]
    more = len(indices) - len(names)
    return ", ".join(names) + (f" and {text.count(more, 'other', 'others')}" if more else "")


def _ends(ordered: list[str]) -> str:
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def between(groups: list[AnswerGroup]) -> str:
    if all(len(group.answers) == 1 for group in groups):
        return ""
    return "Where two verdicts are listed, the next smaller and the next larger hospital differ."


def turns(decided: Decided) -> str:
    if decided.decision is None or len(decided.setting.hospitals) == 1:
        return ""
    if decided.setting.differing:
        return NO_TURN_WHERE_THEY_DIFFER
    if decided.setting.experiment.table is not None:
        return NO_TURN_OF_A_TABLE
    lines = [_turns_along(decided, "patients"), _turns_along(decided, "epsilon")]
    known = [line for line in lines if line is not None]
    if len(known) < len(lines) and not any(cell[0] == "turns" for cell in decided.cells.failed):
        known.append([TURNING])
    listed = "\n".join(f"- {words}" for line in known for words in line)
    return f"{listed}\n\n{PREDICTED}" if len(known) == len(lines) and TURNING not in known[-1] else listed


def _turns_along(decided: Decided, along: str) -> list[str] | None:
    turned = decided.turns("patients" if along == "patients" else "epsilon")
    if turned is None:
        return None
    if not turned:
        what = "number of patients" if along == "patients" else "privacy loss"
        return [f"No other {what} within a factor of 100 would change the verdict."]
    return [_turn(decided, turn) for turn in turned if not _tried(decided, turn)]


def _tried(decided: Decided, turn: Reversal) -> bool:
    """Return whether repeats took the place of this prediction: an open verdict says what they found."""
    decision = decided.decision
    is_open = decision is not None and not decision.answer.decided
    return is_open and turn.along == "patients" and turn.factor > 1 and turn.answer.joins


def _turn(decided: Decided, turn: Reversal) -> str:
    verdict, less = _PREDICTED[turn.answer], turn.factor < 1
    if turn.along == "patients":
        patients = text.patients(turn.setting.n)
        return f"From {patients} patients in all or {'fewer' if less else 'more'}: {verdict}."
    side = "less" if less else "more"
    if len({hospital.epsilon for hospital in turn.setting.hospitals}) > 1:
        return f"If all privacy losses were {text.short(turn.factor)} times as large or {side}: {verdict}."
    return f"At a privacy loss of {text.short(turn.setting.strictest)} or {side}: {verdict}."


def hospitals_in_words(board: JoiningBoard) -> str:
    each, parts = board.setting.hospitals, []
    ours = each[board.setting.ours]
    parts.append(f"ours: {text.count(ours.patients, 'patient', 'patients')} at {loss_text(ours.epsilon)}")
    others = [hospital for i, hospital in enumerate(each) if i != board.setting.ours]
    if others:
        sizes = sorted({hospital.patients for hospital in others})
        losses = sorted({hospital.epsilon for hospital in others})
        who = text.count(len(others), "other", "others")
        parts.append(f"{who}: {_ends([f'{size:,}' for size in sizes])} patients each")
        parts[-1] += f" at {_ends([loss_text(loss) for loss in losses])}"
    return "; ".join(parts)


def evidence(decided: Decided) -> pd.DataFrame:
    lines = []
    for trust, known in _evidence_by_trust(decided):
        plan = decided.cells.runs.plan(trust)
        lines.append(
            {
                "trust": text.TRUST_TITLES[trust].lower(),
                "method": METHODS[plan.method].title,
                "noise for ε": float(plan.budget.epsilon),
                "weights": "by patients" if plan.weights is None else "by precision",
                "gain": known.median,
                "99 % from": known.lower,
                "99 % to": known.upper,
                "together, 10 %": known.tenth,
                "runs": str(decided.repeats),
            }
        )
    return pd.DataFrame(lines)


def evidence_list(decided: Decided) -> str:
    table = evidence(decided)
    cells = [
        [f"{cell:.3g}" if isinstance(cell, float) else cell for cell in line] for line in table.to_numpy()
    ]
    lines = [list(table.columns), ["---"] * len(table.columns), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def how_decided(decided: Decided) -> str:
    setting = decided.setting
    alone = (
        "the best method with no privacy" if setting.use == "in-house" else "its own release, with its own ε"
    )
    where = "patients of a real table" if setting.experiment.table else "patients drawn anew in each run"
    if setting.differing and not setting.differing.simulated:
        where = "the same real patients in each run"
    return (
        f"**The decision**: {setting.repeats} runs, or {MORE * setting.repeats} where these leave it open; "
        f"{where}, paired: alone and together have the same patients. Alone is {alone}. The interval of the "
        f"median gain is that of order statistics, 99 %. The margin is {MARGIN:g} points, and the 10 % "
        f"quantile together must be at least {USEFUL:g} %. A number to ask again with is confirmed by "
        f"{PASSES} verdicts in a row, each from {setting.repeats} fresh runs. Other pages have ten runs, or "
        "as many as are set there, so that their medians differ a little. Exact accounting, one patient "
        "replaced."
    )


def guess(decided: Decided) -> str:
    return f"A random guess would score {phrases.percent(decided.cells.runs.guess)}."


def large_delta(decided: Decided) -> str:
    return phrases.delta_too_large(decided.setting.delta, decided.setting.n)


def try_this(decided: Decided) -> str:
    if decided.setting.differing:
        return TRY_OTHERS
    return TRY if len(decided.setting.hospitals) > 1 else TRY_SEVERAL


def likeness(decided: Decided) -> str:
    differing = decided.setting.differing
    if differing and not differing.simulated:
        return f"Patients are those of this table: {heart_disease.TABLE.title}."
    table = TABLES.get(str(decided.setting.population))
    return f"Patients are those of this table: {table.title}." if table else "The patients are simulated."
