"""Say what the lesson's five screens show, ask and explain, in words and with numbers of `frames`.

A screen is a dictionary that lesson.js reads:

    claim, story        a wrong answer to begin with, and what one has to know
    setup, draws        what its picture needs; for each draw the frames, and the outcome of each position
    predict, task       a question, and its outcomes: what is said to each answer, and whether it is right
    ways                what its slider can move, each with the words of its positions
    explain             three sentences; formula and terms stand behind a fold
"""

import math
from collections.abc import Sequence
from typing import Any

from pages.learn.classroom.lesson import frames

Screen = dict[str, Any]
Outcome = dict[str, Any]
RIGHT = True
MINUTES = 8  # for each screen
_LOSS = "Privacy loss ε: strict ↔ loose"
_BY_TRUST = {
    "untrusted server": "Together, trusting nobody",
    "secure aggregation": "Together, sealed sums",
    "central": "Together, trusting one place",
}


def screens() -> list[Screen]:
    return [_count(), _mean(), _points(), _angle(), _ways()]


def outcome(says: str, right: bool = False, **more: Any) -> Outcome:
    """Return what is said to an answer; more: the `label` of a choice, or which line an answer is near."""
    return {"says": says, "right": right, **more}


def between(says: str, right: bool = False, *, name: str, low: float, high: float) -> Outcome:
    return {"says": says, "right": right, "name": name, "from": low, "to": high}


def judged(screen: Screen, value: float) -> Outcome:
    """Return the outcome of a number, as lesson.js finds it."""
    return next(o for o in screen["predict"]["outcomes"] if o["from"] <= value <= o["to"])


def _way(name: str, label: str, values: Sequence[str], start: int = 0) -> dict[str, Any]:
    return {"name": name, "label": label, "values": list(values), "start": start}


def _rounded(values: Any, digits: int = 2) -> list[Any]:
    """Return an array as nested lists of rounded numbers."""
    return [_rounded(v, digits) if getattr(v, "ndim", 0) else round(float(v), digits) for v in values]


def _loss(epsilon: float) -> str:
    return "no noise" if math.isinf(epsilon) else f"{epsilon:g}"


def _count() -> Screen:
    asked = frames.count(frames.DRAWS[0])[frames.COUNT_EPSILONS.index(frames.ASKED_EPSILON)]
    guess, most = f"{asked.guess:.0f}", f"{frames.largest_guess():.0f}"
    low, high = frames.by_chance()
    goal, tries = frames.count_goal(), 2 * frames.RELEASES

    def frame(epsilon: float, at: frames.CountFrame) -> dict[str, Any]:
        where = "No noise" if math.isinf(epsilon) else f"ε = {epsilon:g}"
        says = (
            f"{where}: the best attacker is right {at.guess:.0f} times in 100. In these {tries} results: "
            f"{at.right} times."
        )
        return {"having": _rounded(at.with_patient), "lacking": _rounded(at.with_another), "says": says}

    return {
        "key": "count",
        "title": "A number, and an attacker",
        "claim": "We publish one number and no names. Nobody can learn anything about a patient.",
        "story": [
            f"A ward with {frames.WARD} patients publishes how many of them have a certain disease.",
            "An attacker knows who of them has it, but for one. That one we call the patient.",
            f"The attacker counts {frames.WITH_PATIENT - 1} among the others. So if {frames.WITH_PATIENT} "
            "is published, the patient has the disease.",
            f"Another patient, without it, in the same bed would make it {frames.WITH_PATIENT - 1}.",
            "Noise protects: the ward adds a random number. The attacker then only guesses who it was.",
            "The privacy loss ε (epsilon) says how much: a small ε is strict, and has much noise.",
        ],
        "setup": {
            "limit": frames.WITH_PATIENT - 0.5,
            "axis": [20, 30, 40, 50, 60],
            "labels": [
                "The patient is in the data",
                "Another patient is in the data",
                "Number that is published",
            ],
        },
        "predict": {
            "kind": "number",
            "question": f"With ε = {frames.ASKED_EPSILON:g} the noise is typically {asked.std:.0f}. An "
            "attacker who tosses a coin is right 50 times in 100. How often is the best attacker right?",
            "label": "Right",
            "unit": "times in 100",
            "low": 0,
            "high": 100,
            "missing": "Give a number from 0 to 100.",
            "outcomes": [
                between(
                    f"It is {guess}. The noise is four times as large as what one patient changes.",
                    RIGHT,
                    name=f"about {guess}",
                    low=asked.guess - 3,
                    high=asked.guess + 3,
                ),
                between(
                    f"Noise hides much, but never all. It is {guess}.",
                    name="50, as a coin",
                    low=50,
                    high=asked.guess - 3,
                ),
                between(
                    f"A coin is right 50 times, and nobody does worse on purpose. It is {guess}.",
                    name="less than a coin",
                    low=0,
                    high=50,
                ),
                between(
                    f"{most} is the most that any method may allow at this ε. This noise allows {guess}.",
                    name=f"{most}, the most allowed",
                    low=round(float(most) - 2),
                    high=float(most) + 2,
                ),
                between(
                    f"That holds without noise. Noise of {asked.std:.0f} hides a difference of 1: it is "
                    f"{guess}.",
                    name="95 or more",
                    low=95,
                    high=100,
                ),
                between(
                    f"It is less, {guess}. The noise is four times as large as what one patient changes.",
                    name="too many",
                    low=50,
                    high=100,
                ),
            ],
        },
        "ways": [_way("ε", _LOSS, [_loss(e) for e in frames.COUNT_EPSILONS], len(frames.COUNT_EPSILONS) - 1)],
        "task": {
            "question": "Hollow dots are results at which the attacker is wrong. Find the loosest ε at "
            f"which the best attacker is right at most {frames.ALLOWED_GUESS:.0f} times in 100.",
            "button": "This ε",
            "outcomes": [
                outcome("That is strict enough, but a looser ε is too. It needs less noise."),
                outcome("Less noise than at this ε would tell the attacker too much.", RIGHT),
                outcome("That is too loose. The attacker is right more often."),
            ],
        },
        "explain": [
            "One patient changes this number by 1 at most, whoever it is.",
            f"Noise much larger than 1 makes both rows look alike: of {tries} guesses a coin has {low} to "
            f"{high} right.",
            "So privacy has degrees, and the privacy loss ε measures them.",
        ],
        "formula": "published = count + noise,   noise ~ N(0, σ²),   σ = z(ε, δ) · 1",
        "terms": "N(0, σ²) is the normal distribution. z is the least noise that keeps the promise. δ is "
        f"the chance that the promise fails, here {frames.delta(frames.WARD):f}. The best attacker is right "
        "with chance Φ(1 / 2σ), where Φ is the normal distribution function.",
        "draws": [
            {
                "frames": [
                    [
                        frame(epsilon, at)
                        for epsilon, at in zip(frames.COUNT_EPSILONS, frames.count(draw), strict=True)
                    ]
                ],
                "answers": [[_side(i, goal, goal) for i in range(len(frames.COUNT_EPSILONS))]],
            }
            for draw in frames.DRAWS
        ],
    }


def _side(position: int, low: int, high: int) -> int:
    return 0 if position < low else 1 if position <= high else 2


def _mean() -> Screen:
    values, at = frames.blood_values(), dict(zip(frames.CAPS, frames.mean(frames.DRAWS[0]), strict=True))
    mean, largest = float(values.mean()), frames.CAPS[-1]
    low, high = frames.good_caps()
    near = min(frames.CAPS, key=lambda cap: abs(cap - mean))
    errors = [frame.error for frame in at.values()]

    def frame(cap: int, drawn: frames.MeanFrame) -> dict[str, Any]:
        says = (
            f"Cap {cap}: a published mean is typically {drawn.error:.0f} away from the exact one. Noise "
            f"{drawn.std:.0f}, cut {abs(drawn.shift):.0f}."
        )
        return {
            "cap": cap,
            "bars": [int(count) for count in drawn.bars],
            "means": _rounded(drawn.means),
            "says": says,
        }

    return {
        "key": "mean",
        "title": "A mean, and a cap",
        "claim": "A mean is only right if every value counts as it is.",
        "story": [
            f"Bars show the blood cholesterol of {len(values)} patients of one hospital, in mg/dl.",
            f"Their mean is {mean:.0f}. It is published with noise, as large as what one patient can change.",
            "A cap limits that: a higher value counts as the cap. Every value is above 0.",
            f"The promise is strict here: ε = {frames.MEAN_EPSILON:g}. Dots are {frames.RELEASES} means "
            "that could be published.",
        ],
        "setup": {
            "edges": list(frames.BARS),
            "most": max(int(drawn.bars.max()) for drawn in at.values() if drawn.cut < len(values) / 4),
            "truth": round(mean, 1),
            "ticks": list(range(frames.BARS[0], largest + 1, 100)),
            "labels": ["exact mean: no privacy", "cap", "Cholesterol, mg/dl"],
        },
        "predict": {
            "kind": "choice",
            "question": "Which cap brings published means nearest to the exact one?",
            "missing": "Choose one.",
            "outcomes": [
                outcome(
                    f"Then noise must hide a value of {largest}, and moves the mean by "
                    f"{at[largest].std:.0f}.",
                    label=f"{largest}: no value is cut",
                ),
                outcome(
                    f"Then {at[near].cut} patients are cut. Every mean comes out {-at[near].shift:.0f} too "
                    "low.",
                    label=f"{near}: about the mean",
                ),
                outcome(
                    f"A few values are cut and there is less noise: {min(errors):.0f} instead of "
                    f"{errors[-1]:.0f}.",
                    RIGHT,
                    label="between: a few high values are cut",
                ),
                outcome(
                    f"The cap decides the noise: the error goes from {min(errors):.0f} to {max(errors):.0f}.",
                    label="any: noise is noise",
                ),
            ],
        },
        "ways": [_way("cap", "Cap, mg/dl", [str(cap) for cap in frames.CAPS], len(frames.CAPS) - 1)],
        "task": {
            "question": "Find the cap with the smallest typical distance.",
            "button": "This cap",
            "outcomes": [
                outcome("Now the cut is the larger part. It moves every mean in the same direction."),
                outcome("Noise and cut together are about as small as they can be.", RIGHT),
                outcome("A lower cap needs less noise, and cuts few patients."),
            ],
        },
        "explain": [
            "The noise is as large as the cap needs, divided by the number of patients.",
            "A low cap needs less noise, but moves the mean downwards, however often one repeats it.",
            "The best cap lies between, and must come from public knowledge, not from these patients.",
        ],
        "formula": "published = (1/n) · Σ min(xᵢ, C) + noise,   σ = z(ε, δ) · C / n",
        "terms": "xᵢ is the value of patient i, n the number of patients, C the cap, z the least noise "
        "that keeps the promise for C = n = 1. Statisticians call the cap clipping. error² = cut² + σ².",
        "draws": [
            {
                "frames": [
                    [frame(cap, drawn) for cap, drawn in zip(frames.CAPS, frames.mean(draw), strict=True)]
                ],
                "answers": [[_side(i, low, high) for i in range(len(frames.CAPS))]],
            }
            for draw in frames.DRAWS
        ],
    }


def _points() -> Screen:
    clouds = [frames.cloud(draw) for draw in frames.DRAWS]
    within = frames.LINE_TOLERANCE
    return {
        "key": "points",
        "title": "A pattern among measurements",
        "claim": "The best line through points is the one that predicts one measurement from the other.",
        "story": [
            f"Each point is one of {frames.POINTS} patients with two measurements of a tumour: the size of "
            "its cell nuclei, and how irregular they are.",
            "Principal component analysis, PCA, looks for the line along which patients differ most.",
            "The direction of that line is a component: a pattern among the measurements.",
            "Thin lines show what a point loses if only its place along the line is kept.",
        ],
        "setup": {
            "labels": ["Size of nuclei", "Irregularity"],
            "reach": max(float(abs(cloud.points).max()) for cloud in clouds) + 0.3,
        },
        "says": {
            "line": "The dashed line is yours. Turn it.",
            "turned": "The component has #° and keeps # % of the differences between these patients.",
        },
        "predict": {
            "kind": "line",
            "question": "Turn the line to where the points spread most.",
            "label": "Turn",
            "unit": "",
            "low": 0,
            "high": 179,
            "missing": "Turn the line.",
            "outcomes": [
                outcome(
                    f"It is within {within} degrees of the component.",
                    RIGHT,
                    name="the component",
                    near="component",
                    within=within,
                ),
                outcome(
                    "That line predicts the second measurement from the first. PCA treats both alike, and "
                    "lies steeper.",
                    name="the regression line",
                    near="regression",
                    within=within,
                ),
                outcome(
                    "That is across: the direction in which the points differ least.",
                    name="the direction across",
                    near="across",
                    within=20,
                ),
                outcome(
                    "The solid line is the component: along it the points spread most.", name="elsewhere"
                ),
            ],
        },
        "ways": [],
        "task": {
            "question": f"Drag patients until the solid line turns by {frames.TURNED} degrees or more, with "
            "as few patients as you can. With keys: Tab to a point, then arrows.",
            "button": "It has turned",
            "degrees": frames.TURNED,
            "outcomes": [
                outcome(
                    f"It has turned by less than {frames.TURNED} degrees. Drag a point far to the other side."
                ),
                outcome("It has turned, but several patients moved. Put all back: fewer are enough."),
                outcome(f"One patient of {frames.POINTS} is enough.", RIGHT),
            ],
        },
        "explain": [
            "A component is the direction in which patients differ most.",
            "One number for each patient, the place along it, then tells most of what two numbers told.",
            "One unusual patient can turn a component, so a published one can give that patient away.",
        ],
        "formula": "component = the direction v of length 1 with the largest vᵀ S v",
        "terms": "S is the covariance matrix of the measurements: how they vary together. vᵀ S v is the "
        "variance of the places along v. The data are real: Breast Cancer Wisconsin (Diagnostic), UCI.",
        "draws": [
            {
                "setup": {"points": _rounded(cloud.points)},
                "points": _rounded(cloud.points),
                "component": round(cloud.component, 2),
                "regression": round(cloud.regression, 2),
                "across": round((cloud.component + 90) % 180, 2),
            }
            for cloud in clouds
        ],
    }


def _angle() -> Screen:
    first, base = frames.DRAWS[0], frames.BASE
    asked, more = (frames.angle_at(first, n) for n in (frames.ASKED_N, frames.TIMES * frames.ASKED_N))
    words = {"n": "{:,} patients", "epsilon": "ε = {:g}", "d": "{} measurements"}

    def frame(moved: str, value: float, at: frames.AngleFrame) -> dict[str, Any]:
        says = f"{words[moved].format(value)}: typically {at.median:.0f}° away from the true component."
        return {"angles": _rounded(at.angles, 1), "across": round(at.spread[1], 3), "says": says}

    def options(times: float) -> str:
        return f"about {asked / times:.0f}°"

    return {
        "key": "angle",
        "title": "A pattern with privacy",
        "claim": f"{frames.MOVED['n'][0]} patients are a large study. A little noise cannot hurt.",
        "story": [
            f"Now each patient has {base['d']} measurements, and {frames.MODEL.s} of them carry the "
            "pattern. The patients are simulated, so the true component is known.",
            "Before a component is computed, noise is added once. Then the answer has privacy.",
            f"Each thin line is such an answer, with other noise: {frames.RELEASES} in all. The angle "
            "between an answer and the true component is its error.",
            f"The picture is a slice through all measurements. The privacy loss is ε = {base['epsilon']:g}.",
        ],
        "setup": {
            "patients": _rounded(frames.patients()),
            "labels": ["true", "with privacy", "Patients in the plane of both lines"],
        },
        "predict": {
            "kind": "choice",
            "question": f"With {frames.ASKED_N:,} patients the angle is {asked:.0f}°. What is it with four "
            "times as many?",
            "missing": "Choose one.",
            "outcomes": [
                outcome(
                    f"Each patient counts for less among more, so noise does less: {more:.0f}°.",
                    label=f"the same, {asked:.0f}°",
                ),
                outcome(
                    "That is the rule for chance among patients, the square root. Noise falls faster: "
                    f"{more:.0f}°.",
                    label=f"a half, {options(math.sqrt(frames.TIMES))}",
                ),
                outcome(
                    f"It is {more:.0f}°. Four times the patients make the noise four times smaller.",
                    RIGHT,
                    label=f"a quarter, {options(frames.TIMES)}",
                ),
                outcome(
                    f"Noise falls with the number of patients, not with its square: {more:.0f}°.",
                    label=f"a sixteenth, {options(frames.TIMES**2)}",
                ),
            ],
        },
        "ways": [
            _way("patients", "Patients", [f"{n:,}" for n in frames.MOVED["n"]]),
            _way(
                "privacy loss ε",
                _LOSS,
                [_loss(e) for e in frames.MOVED["epsilon"]],
                frames.MOVED["epsilon"].index(base["epsilon"]),
            ),
            _way(
                "measurements",
                "Measurements",
                [str(d) for d in frames.MOVED["d"]],
                frames.MOVED["d"].index(base["d"]),
            ),
        ],
        "task": {
            "question": f"Find the fewest patients whose angle is at most {frames.GOAL_ANGLE:.0f}°. Then "
            f"see what ε and measurements do with {base['n']:,} patients.",
            "button": "So many patients",
            "outcomes": [
                outcome(f"Too few: the angle is above {frames.GOAL_ANGLE:.0f}°."),
                outcome(f"With fewer the angle would be above {frames.GOAL_ANGLE:.0f}°.", RIGHT),
                outcome("That is enough, but fewer patients are enough too."),
                outcome("The question is about patients: choose them above the slider."),
            ],
        },
        "explain": [
            "Noise on how measurements vary together protects every patient, and PCA needs no more.",
            "More patients make the noise smaller, each measurement more adds noise, and a strict ε does "
            "too.",
            "A pattern is published only if there are enough patients for it.",
        ],
        "formula": "component of S + N,   S = (1/n) Σ xᵢ xᵢᵀ,   N has entries of σ = z(ε, δ) · s / n",
        "terms": "xᵢ holds the measurements of patient i, cut to length 1. S changes by at most s/n when "
        "one patient is replaced, and s follows from that cap. N is symmetric noise, z the least that "
        "keeps the promise. This is the method Analyze Gauss (Dwork and others, 2014).",
        "draws": [
            {
                "frames": [
                    [
                        frame(moved, value, at)
                        for value, at in zip(values, frames.angles(draw, moved), strict=True)
                    ]
                    for moved, values in frames.MOVED.items()
                ],
                "answers": [
                    [
                        _side(i, frames.angle_goal(draw), frames.angle_goal(draw)) if moved == "n" else 3
                        for i in range(len(values))
                    ]
                    for moved, values in frames.MOVED.items()
                ],
            }
            for draw in frames.DRAWS
        ],
    }


def share(percent: float) -> str:
    return "over 99 %" if 99.5 <= percent < 100 else f"{percent:.0f} %"


def _ways() -> Screen:
    asked = frames.ways(frames.DRAWS[0], frames.ASKED_SIZE)
    nobody, sealed = (share(asked.together[trust]) for trust in ("untrusted server", "secure aggregation"))
    alone = share(asked.alone)

    def frame(size: int, at: frames.Ways) -> dict[str, Any]:
        shares = [at.alone, at.alone_published, *(at.together[trust] for trust in _BY_TRUST)]
        published = [None, None, *(round(at.published[trust], 1) for trust in _BY_TRUST)]
        says = (
            f"{size:,} patients in each hospital: trusting nobody {share(shares[2])}, with sealed sums "
            f"{share(shares[3])}, alone {share(shares[0])}."
        )
        return {
            "shares": [round(value, 1) for value in shares],
            "texts": [share(value) for value in shares],
            "published": published,
            "says": says,
        }

    bars = [("Alone, for its own use: no privacy", "free"), ("Alone, to publish: with privacy", "private")]
    bars += list(zip(_BY_TRUST.values(), ("nobody", "sealed", "place"), strict=True))
    return {
        "key": "ways",
        "title": "Alone or together: whom to trust",
        "claim": f"{frames.HOSPITALS} hospitals always find more than one.",
        "story": [
            f"{frames.HOSPITALS} small hospitals look for the pattern of a rare disease. Bars show the "
            "share that each way recovers: 100 % is the true pattern.",
            "For its own use a hospital alone needs no noise. To publish, it does.",
            "Trusting nobody, each hospital adds all the noise itself, before it sends anything.",
            "Sealed sums: each hospital encrypts its numbers so that only the total can be read. The noise "
            "of all together is then enough.",
            "Trusting one place, a server sees the numbers, and adds noise once.",
            f"The privacy loss is ε = {frames.JOIN_EPSILON:g}. A diamond is a published method, DPS-PCA; a "
            "bar is the best one known here. Dotted: a random guess.",
        ],
        "setup": {
            "bars": [{"label": label, "look": look} for label, look in bars],
            "guess": round(frames.guess(), 1),
            "labels": ["Share of the pattern recovered, %"],
        },
        "predict": {
            "kind": "choice",
            "question": f"Each hospital has {frames.ASKED_SIZE} patients. Which way recovers most?",
            "missing": "Choose one.",
            "outcomes": [
                outcome(
                    f"Alone there is no noise, but there are few patients: {alone}. Sealed sums: {sealed}.",
                    label="alone, without noise",
                ),
                outcome(
                    f"{frames.HOSPITALS} noises add up: {nobody}. A hospital alone has {alone}, sealed sums "
                    f"{sealed}.",
                    label="together, trusting nobody",
                ),
                outcome(
                    f"{sealed}. All patients count, and the noise of one is enough for all.",
                    RIGHT,
                    label="together, sealed sums",
                ),
                outcome(
                    f"From {alone} alone, down to {nobody} where nobody is trusted, up to {sealed} with "
                    "sealed sums.",
                    label="it makes no difference",
                ),
            ],
        },
        "ways": [_way("size", "Patients in each hospital", [f"{size:,}" for size in frames.SIZES])],
        "task": {
            "question": f"Find the smallest hospitals that recover at least {frames.NEEDED_SHARE:.0f} % "
            "together, trusting nobody.",
            "button": "This size",
            "outcomes": [
                outcome("Too small: the noise of all hospitals together is too large."),
                outcome("Sealed sums need far fewer patients for the same.", RIGHT),
                outcome("That is enough, but smaller hospitals are enough too."),
            ],
        },
        "explain": [
            f"Where nobody is trusted, {frames.HOSPITALS} hospitals add {frames.HOSPITALS} noises, each as "
            "large as one that would do.",
            "With sealed sums the noise counts once, and nobody sees another hospital's numbers.",
            "The method counts too: some published methods need many times the patients of the best.",
        ],
        "formula": "noise of the sum: σ · √N trusting nobody,   σ with sealed sums or one place",
        "terms": "N is the number of hospitals, σ the least noise that keeps the promise for one sum. The "
        "share recovered is 1 − ‖sin Θ‖² / k, for k components: 100 % is the true pattern.",
        "draws": [
            {
                "frames": [[frame(size, frames.ways(draw, size)) for size in frames.SIZES]],
                "answers": [
                    [
                        _side(i, frames.ways_goal(draw), frames.ways_goal(draw))
                        for i in range(len(frames.SIZES))
                    ]
                ],
            }
            for draw in frames.DRAWS
        ],
    }
