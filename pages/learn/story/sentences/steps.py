"""The sentences of the story's steps, formed from their runs. No Streamlit here.

They are as plain as a newspaper's. For each step one function returns its `StepText`. What a sentence
compares is a claim that the runs show with 99 % certainty, within 2 points of the pattern; where they show
none, the numbers stand alone.
"""

from collections.abc import Sequence

from dppca_core.datasets import TABLES
from dppca_core.experiments.decision.hospitals import LEAST_REPEATS
from dppca_core.experiments.decision.rule import MARGIN, USEFUL
from pages.learn.story.model import ALONE, FREE, GUESS, TRUSTS, Point, ShownClaim, Story, Weights, under
from pages.learn.story.sentences import glossary
from pages.learn.story.sentences.glossary import StepText
from pages.learn.story.settings import step_controls
from pages.shared import text
from pages.shared.background import failed_runs
from pages.shared.plain import decisions, phrases

TITLE = "Story"
QUESTIONS = (
    "Why work together at all?",
    "Why not just share the totals?",
    "What is it that we want to share?",
    "How does noise protect a patient?",
    "What does noise cost?",
    "Can more patients make up for the noise?",
    "Who sees what?",
    "What would we release, and at what cost?",
)
FIRST_VISIT = (
    "Eight steps show why hospitals join, and what that takes.",
    "Next or an arrow key goes on; sliders change the numbers.",
    "The bold sentence answers the question above it.",
)
ALL_STEPS, NOTES = "All eight steps", "Speaker notes (HTML)"
VISIT = "Should we join? The whole answer, and one page to sign"
LOSSES_TYPED = (
    "Each hospital has its own privacy loss here, so no slider moves them. Type them in *Should we join?*"
)
_CERTAIN = "The thin line holds the median of {} repeats with 99 % certainty."
_NO_MORE_THAN_A_GUESS = "That is no more than a random guess."
_ENOUGH = f"9 of 10 repeats recover at least {USEFUL:g} %"


def begins(start: float) -> str:
    return f"The scale begins at {start:g} %. " if start else ""


def _shares(point: Point, quantity: str) -> str:
    return phrases.percent(point.median(quantity))


def _given(*claims: ShownClaim | None) -> tuple[ShownClaim, ...]:
    return tuple(claim for claim in claims if claim is not None)


def _says(claim: ShownClaim | None, **words: str) -> str:
    """Return the words for a claim's relation, "more", "less" or "as_good"; empty without either."""
    return "" if claim is None else words.get(claim.claim.relation.replace(" ", "_"), "")


def _used(claim: ShownClaim | None, said_of_it: str) -> tuple[ShownClaim, ...]:
    return (claim,) if claim is not None and said_of_it else ()


def a_guess(story: Story) -> str:
    return f"A random guess would score {_shares(story.here, GUESS)}."


def whose(story: Story) -> str:
    if story.setting.differing:
        ours = "Hospitals differ, so shares are those of our own pattern."
        return ours if story.simulated else f"{ours} It is what all our patients show."
    return "" if story.simulated else "The whole table counts as the truth here."


def sharing(story: Story) -> StepText:
    here, use = story.here, story.setting.use
    alone = decisions.alone(use, here.median(ALONE))
    terms = (glossary.PATTERN, glossary.SHARE, glossary.REPEAT, glossary.GUESS)
    chart = _CERTAIN.format(story.repeats)
    if story.count == 1:
        more = (decisions.NOBODY_TO_JOIN, whose(story), a_guess(story))
        return StepText(
            finding=alone, more=more, glosses=terms, try_this=_try_sharing(story), chart=chart, bars=True
        )
    together = f"All {story.count} together, with no privacy: {_shares(here, FREE)}."
    gains, beats = here.compared(FREE, ALONE), here.compared(FREE, GUESS)
    nothing = _says(beats, as_good=_NO_MORE_THAN_A_GUESS, less=_NO_MORE_THAN_A_GUESS)
    follows = nothing or _says(
        gains,
        more="Together they recover more.",
        less="Alone, our hospital recovers more.",
        as_good="Our hospital alone recovers as much.",
    )
    claims = _used(beats, nothing) or _used(gains, follows)
    more = (follows, whose(story), a_guess(story))
    return StepText(
        finding=f"{alone} {together}",
        more=more,
        glosses=terms,
        try_this=_try_sharing(story),
        claims=claims,
        chart=chart,
        bars=True,
    )


def _try_sharing(story: Story) -> str:
    if _moves(story, 1, "n"):
        gains = story.here.compared(FREE, ALONE)
        way = "right" if gains is not None and gains.claim.relation == "more" else "left"
        return f"move *Patients in total* to the {way}. Does joining still change anything?"
    return "choose another scene. Where does one hospital see the pattern alone?"


def _moves(story: Story, step: int, key: str) -> bool:
    return key in step_controls(step, story.settings)


def rebuilt(story: Story) -> StepText:
    record, size = story.record, story.ours.patients
    values = f"all {story.d} values of one patient, right to {min(record.digits, 12)} digits"
    totals = "One total has the patient, the other does not. All the others cancel out."
    crowd = f"So even {size:,} patients together hide nobody."
    crowd = crowd if size > 1 else "Here there is not even a crowd."
    finding = f"From two exact totals, an attacker works out {values}."
    return StepText(
        finding=finding,
        more=(totals, crowd, invented(story)),
        glosses=(glossary.TOTAL, glossary.ATTACKER),
        try_this="pick another patient. Is there one whom the crowd hides?",
    )


def invented(story: Story) -> str:
    if story.simulated:
        return "The patients are simulated, and the names of their measurements are invented."
    return "These are real patients, and real measurements."


def _named(weights: Weights, verb: str) -> str:
    count, agree = weights.counted, weights.agree
    share = "all" if agree == count else f"{agree}"
    if count < len(weights.shown):
        return f"Only {text.count(count, 'truly counts', 'truly count')}, and {verb} {share} of them."
    return f"Of the {count} measurements that truly weigh most, {verb} {share}."


def pattern(story: Story) -> StepText:
    here, weights = story.here, story.weights(FREE)
    finding = f"It names {text.listed(story.names(weights.shown[:3]))}, and no patient."
    seen = _named(weights, "we find")
    shown = f"We recover {_shares(here, FREE)} of the pattern. {a_guess(story)}"
    left = "move *Patients in total* to the left. Which bars go wrong first?"
    move = left if _moves(story, 3, "n") else "go on with *Next*. What if somebody asks for one patient?"
    return StepText(
        finding=finding,
        more=(f"{seen} Nothing is hidden yet.", shown),
        glosses=(glossary.PATTERN, glossary.WEIGHT, glossary.SHARE, glossary.GUESS),
        try_this=move,
    )


def attack(story: Story) -> StepText:
    picture = story.attack
    finding = text.luck(picture.right_guesses(), picture.tries)
    half = "The patient is in half of these results."
    move = "draw again, then move *Privacy loss ε* to the right."
    return StepText(
        finding=finding,
        more=(half, promise(story)),
        glosses=(glossary.NOISE, glossary.ATTACKER, glossary.LOSS),
        try_this=move if _moves(story, 4, "epsilon") else "draw again.",
    )


def promise(story: Story) -> str:
    return text.odds(story.budget.epsilon, story.budget.delta)


def failure(story: Story) -> str:
    delta = story.setting.delta
    return f"{text.margin(delta)} {phrases.delta_too_large(delta, story.setting.n)}".strip()


def _cost(story: Story) -> tuple[str, str, tuple[ShownClaim, ...]]:
    """Return what all recover, what that comes to, and what is claimed by it."""
    here, private = story.here, under(story.trust)
    recover = f"{text.JOINING[story.trust]}, we recover {_shares(here, private)} of the pattern."
    finding = f"{recover} No privacy: {_shares(here, FREE)}."
    beats, costs = here.compared(private, GUESS), here.compared(private, FREE)
    nothing = _says(beats, as_good=_NO_MORE_THAN_A_GUESS, less=_NO_MORE_THAN_A_GUESS)
    follows = nothing or _says(costs, less="Privacy has a cost here.", as_good=text.NO_COST)
    return finding, follows, _used(beats, nothing) or _used(costs, follows)


def _curve_terms(story: Story) -> tuple[tuple[str, str], ...]:
    trusted = (glossary.SEALED,) if story.trust == "secure aggregation" else ()
    return (glossary.SHARE, glossary.NOISE, *trusted, glossary.REPEAT, glossary.GUESS)


def cost(story: Story) -> StepText:
    finding, follows, claims = _cost(story)
    control = (
        "*Privacy loss ε* to the left" if _moves(story, 5, "epsilon") else "*Whom do the hospitals trust?*"
    )
    move = f"move {control}. Where does the line cross the long dashes?"
    return StepText(
        finding=finding,
        more=(follows, _useful(story)),
        glosses=_curve_terms(story),
        try_this=move,
        claims=claims,
        chart=_chart(story),
    )


def _chart(story: Story) -> str:
    each = f"of {story.repeats} repeats at the ring, of {LEAST_REPEATS} elsewhere"
    return f"Bands hold the median with 99 % certainty: {each}."


def _useful(story: Story) -> str:
    points = story.drawn(5)
    losses = [text.number(point.setting.hospitals[story.setting.ours].epsilon) for point in points]
    useful = [point.useful(story.trust) for point in points]
    which = "of our hospital " if story.typed_losses else ""
    if not any(useful):
        return f"At no privacy loss drawn here do {_ENOUGH}."
    if all(useful):
        return f"At every privacy loss drawn here, {_ENOUGH}."
    first = useful.index(True)
    if all(useful[first:]):
        return f"From a privacy loss {which}of {losses[first]} on, {_ENOUGH}."
    listed = [loss for loss, enough in zip(losses, useful, strict=True) if enough]
    return f"At privacy losses {which}of {text.listed(listed)}, {_ENOUGH}."


def bought(story: Story) -> StepText:
    finding, follows, claims = _cost(story)
    since, more_claims = _since(story)
    points, here = story.drawn(6), story.drawn(6).index(story.here)
    far = next((point for point in points if point.setting.n >= 10 * story.setting.n), None)
    private = under(story.trust)
    if far is not None:
        there = f"With {text.patients(far.setting.n)} patients it would be {_shares(far, private)}."
        follows = f"{follows} {there}".strip()
    elif story.few and here > 0:
        there = f"With {points[0].setting.n:,} patients it would be {_shares(points[0], private)}."
        follows = f"{follows} {there}".strip()
    move = (
        "move *Patients in total*. Where do the lines meet?"
        if _moves(story, 6, "n")
        else ("move *Privacy loss ε* to the left. Do the lines part?")
    )
    return StepText(
        finding=finding,
        more=(follows, since),
        glosses=_curve_terms(story),
        try_this=move,
        claims=claims + more_claims,
        chart=_chart(story),
    )


def _since(story: Story) -> tuple[str, tuple[ShownClaim, ...]]:
    """Return from how many patients on privacy costs nothing, and the claims that this makes."""
    points, first, private = story.drawn(6), story.free_from, under(story.trust)
    if first is None:
        last = points[-1].compared(private, FREE) if points[-1] is not story.here else None
        words = f"Even with {text.patients(points[-1].setting.n)} patients, privacy has a cost."
        return (words, _given(last)) if last is not None and last.claim.relation == "less" else ("", ())
    claims = _given(*(point.compared(private, FREE) for point in points[points.index(first) :]))
    if first is points[0]:
        return "With every number of patients drawn here, privacy has no measurable cost.", claims
    return f"From {text.patients(first.setting.n)} patients on, privacy has no measurable cost.", claims


def joined(story: Story) -> StepText:
    here, trust, private = story.here, story.trust, under(story.trust)
    rows = f"Our patients' rows, {text.size(story.kept)}, stay at home."
    price = f"We recover {_shares(here, private)} of the pattern."
    claims: tuple[ShownClaim, ...] = ()
    sent = text.size(story.sent or 0)
    finding = f"The server sees {glossary.SERVER_SEES[trust]}. Our hospital sends {sent}."
    lines = [rows, price]
    if story.count > 1:
        other = TRUSTS[1] if trust != TRUSTS[1] else TRUSTS[2]
        against = here.compared(under(other), private)
        does = _says(against, more="That is more.", less="That is less.", as_good="That is as good.")
        lines[1] += f" {text.JOINING[other]}: {_shares(here, under(other))}. {does}".rstrip()
        lone = here.compared(ALONE, private)
        is_ = _says(
            lone,
            more="Together with privacy is less.",
            less="Together with privacy is more.",
            as_good="Together with privacy is as good.",
        )
        lines.append(f"{decisions.alone(story.setting.use, here.median(ALONE))} {is_}".rstrip())
        claims = _given(against, lone)
    return StepText(
        finding=finding,
        more=tuple(lines),
        glosses=(glossary.SERVER, glossary.SEALED, glossary.REPEAT),
        try_this="choose another trust. Whose noise is it then?",
        claims=claims,
        chart=_CERTAIN.format(story.repeats),
    )


def decision(story: Story) -> StepText:
    here, setting, decided = story.here, story.setting, story.decision
    if decided is None:
        return StepText(text.MEASURING)
    alone = decisions.alone(setting.use, here.median(ALONE))
    if story.count > 1:
        together = here.median(under(story.trust)), here.median(FREE)
        alone = f"{alone} {decisions.together(story.trust, *together)}"
    count = text.count(setting.k, "pattern", "patterns")
    what = f"A release has {count} in {story.d} measurements of {setting.n:,} patients, and nothing else."
    named = _named(story.weights(under(story.trust)), "it names")
    more = [alone, f"{what} {named}", promise(story)]
    if setting.delta > 1 / setting.n:
        more.append(failure(story))
    return StepText(
        finding=decisions.headline(decided, story.count),
        more=tuple(more),
        glosses=(glossary.SHARE, glossary.NOISE, glossary.SEALED, glossary.ATTACKER, glossary.GUESS),
        try_this="find the strictest promise at which the verdict stays. Then print the page to sign.",
    )


# In the order of `QUESTIONS`.
_STEPS = (sharing, rebuilt, pattern, attack, cost, bought, joined, decision)


def of_step(story: Story, step: int) -> StepText:
    """Return the sentences of a step; until its runs are there, that they are being measured."""
    if not story.measured(step):
        return StepText(failed_runs.NO_ANSWER if story.failed else text.MEASURING)
    made = _STEPS[step - 1](story)
    return made._replace(more=tuple(line for line in made.more if line))


def described(story: Story) -> str:
    return ", ".join(filter(None, _patients(story)))


def _patients(story: Story) -> tuple[str, str]:
    """Return whose patients these are, and which, if that is said."""
    if story.simulated:
        return "made-up patients", "drawn by the computer"
    table = TABLES.get(story.settings["data"])
    return (
        ("four real hospitals", "")
        if story.setting.differing or table is None
        else ("a real table", table.title)
    )


def opening(story: Story) -> str:
    return f"Sharing a pattern, not a patient, shown on {_patients(story)[0]}."


def limits(story: Story) -> Sequence[str]:
    return (
        f"All numbers are measured on {described(story)}. Real patients may differ.",
        "The promise covers this one release. Promises of several releases add up.",
        "Privacy is for each patient, not for a hospital or a family.",
        f"What is compared differs by {MARGIN:g} points or is as good within them, with 99 % certainty each.",
    )


ABOUT = (
    "Runs are those of *Should we join?*: 40, paired, with the patients and the noise of *Explorer*. Points "
    "of a curve other than the present one have 8. No privacy: the best of PCA and sparse PCA that is told "
    "how many measurements count.",
    "Share recovered: 1 − ‖sin Θ‖²/k, Θ the angles between the space that is released and the true one. "
    "Intervals of the median are those of order statistics, 99 %.",
    "Two totals: their difference is the outer product of one patient's row, whose leading eigenvector is "
    "that row, up to the sign of all its values at once.",
    "Odds: Kairouz, Oh & Viswanath (IEEE Trans. Inf. Theory 2017); Dong, Roth & Su (JRSS-B 2022). Noise: "
    "Balle & Wang (ICML 2018).",
    "Bytes: numbers of 64 bits, without what a network or the keys of a sealed sum add.",
)
