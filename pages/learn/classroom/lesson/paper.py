"""Write the lesson on paper, from the same runs: a worksheet of two pages, and its key."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any, Literal

from pages.learn.classroom.lesson import frames

_HERE = Path(__file__).parent
_TITLE = "What privacy costs: a worksheet"
_HIDDEN_CAP, _HIDDEN_N = 300, frames.TIMES * frames.ASKED_N  # rows of tables that a student fills
_SHOWN_CAPS = (200, 240, 280, _HIDDEN_CAP, 320, 400, 600)
_SHOWN_N = (500, 1000, 2000, 4000, _HIDDEN_N)
_WAYS = ("Alone, no privacy", "Alone, published", "Nobody", "Sealed sums", "One place")


def stored(name: Literal["worksheet", "key"]) -> bytes:
    return (_HERE.parent / f"{name}.html").read_bytes()


def html(content: dict[str, Any], key: bool) -> str:
    """Return the worksheet; key: with its answers. content: what the lesson's file holds."""
    count, mean, points, angle, ways = content["screens"]
    title = f"{_TITLE}{': the key' if key else ''}"
    name = "" if key else '<p>Name: <span class="blank" style="min-width: 70mm"></span></p>'
    body = "\n".join(
        (
            f"<h1>{title}</h1>{name}",
            _task(count, _count(count, key)),
            _task(mean, _mean(key)),
            _task(points, _points(points, key)),
            _task(angle, _angle(key), ' style="break-before: page"'),
            _task(ways, _ways(ways, key)),
            _explanations(content["screens"]) if key else _own_words(),
            f'<p class="small">Made from the runs of the lesson, draw 1 (seed {frames.DRAWS[0]}).</p>',
        )
    )
    return Template((_HERE / "paper.html").read_text(encoding="utf-8")).substitute(title=title, body=body)


def _task(screen: dict[str, Any], inside: str, more: str = "") -> str:
    return (
        f'<section class="task"{more}><h2>{escape(screen["title"])}</h2>'
        f"<p>Somebody says: “{escape(screen['claim'])}”</p>{inside}</section>"
    )


def _blank(answer: str, key: bool) -> str:
    return (
        f'<span class="blank"><b>{escape(answer)}</b></span>' if key else '<span class="blank">&nbsp;</span>'
    )


def _sentences(*sentences: str) -> str:
    return "".join(f"<p>{sentence}</p>" for sentence in sentences)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<th>{cell}</th>" for cell in head)]
    lines += ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def _count(screen: dict[str, Any], key: bool) -> str:
    position = frames.COUNT_EPSILONS.index(frames.ASKED_EPSILON)
    frame = frames.count(frames.DRAWS[0])[position]
    limit, low, unit = screen["setup"]["limit"], 22, 9  # pixels of 1
    missed = sum(value <= limit for value in frame.with_patient)
    alarms = sum(value > limit for value in frame.with_another)
    marks = []
    for row, values in enumerate((frame.with_patient, frame.with_another)):
        marks.append(f'<text x="4" y="{14 + 66 * row}">{escape(screen["setup"]["labels"][row])}</text>')
        marks += [
            f'<circle cx="{unit * (value - low):.1f}" cy="{24 + 66 * row + 8 * (i % 5)}" r="3"/>'
            for i, value in enumerate(values)
        ]
    line = unit * (limit - low)
    axis = "".join(
        f'<text x="{unit * (tick - low) - 6}" y="148">{tick}</text>' for tick in (25, 30, 35, 40, 45, 50, 55)
    )
    picture = (
        f'<svg viewBox="0 0 360 152" role="img" aria-label="Forty results">{"".join(marks)}{axis}'
        f'<path d="M{line} 4V136M0 136H360" stroke="#111" fill="none"/></svg>'
    )
    words = _sentences(
        *map(escape, screen["story"][:4]),
        f"Dots are published numbers with noise, at ε = {frames.ASKED_EPSILON:g}. Right of the line the "
        "attacker says: the patient is in the data.",
        f"The attacker is wrong in the upper row {_blank(str(missed), key)} times, in the lower row "
        f"{_blank(str(alarms), key)} times, so right {_blank(str(frame.right), key)} times of "
        f"{2 * frames.RELEASES}.",
    )
    return f'<div class="two"><div>{words}</div>{picture}</div>'


def _mean(key: bool) -> str:
    drawn = dict(zip(frames.CAPS, frames.mean(frames.DRAWS[0]), strict=True))
    rows = [
        (
            str(cap),
            f"{drawn[cap].std:.0f}",
            f"{abs(drawn[cap].shift):.0f}",
            _blank(f"{drawn[cap].error:.0f}", key) if cap == _HIDDEN_CAP else f"{drawn[cap].error:.0f}",
        )
        for cap in _SHOWN_CAPS
    ]
    best = min(_SHOWN_CAPS, key=lambda cap: drawn[cap].error)
    words = _sentences(
        f"The mean cholesterol of {len(frames.blood_values())} patients is published with noise. A value "
        "above the cap counts as the cap.",
        "Typical error = √(noise² + cut²). Fill the empty field.",
        f"The best cap here is {_blank(str(best), key)}. A lower one is worse because "
        f"{_blank('the cut moves the mean', key)}, a higher one because "
        f"{_blank('there is more noise', key)}.",
    )
    return f'<div class="two"><div>{words}</div>{_table(("Cap", "Noise", "Cut", "Error"), rows)}</div>'


def _points(screen: dict[str, Any], key: bool) -> str:
    cloud, unit, middle = frames.cloud(frames.DRAWS[0]), 42, (180, 100)
    centre = cloud.points.mean(axis=0)
    places = [(middle[0] + unit * x, middle[1] - unit * y) for x, y in cloud.points - centre]
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in places)
    turn = f"rotate({-cloud.component:.1f} {middle[0]} {middle[1]})"
    line = f'<path d="M60 100H300" stroke="#111" stroke-width="2" transform="{turn}"/>' if key else ""
    cross = f'<path d="M176 100H184M180 96V104" stroke="#111" transform="{turn}"/>'
    labels = [escape(label) for label in screen["setup"]["labels"]]
    picture = (
        f'<svg viewBox="0 0 360 204" role="img" aria-label="Twelve points">{dots}{cross}{line}'
        f'<text x="150" y="200">{labels[0]}</text><text x="4" y="14">{labels[1]}</text></svg>'
    )
    words = _sentences(
        *map(escape, screen["story"][:3]),
        "Draw the component with a ruler through the cross. Its angle to the horizontal is "
        f"{_blank(f'{cloud.component:.0f}°', key)} (right within {frames.LINE_TOLERANCE}°).",
        "Mark one point and where you would move it to turn the line most.",
    )
    return f'<div class="two"><div>{words}</div>{picture}</div>'


def _angle(key: bool) -> str:
    drawn = {n: frames.angle_at(frames.DRAWS[0], n) for n in _SHOWN_N}
    rows = [
        (f"{n:,}", _blank(f"{drawn[n]:.0f}°", key) if n == _HIDDEN_N else f"{drawn[n]:.0f}°")
        for n in _SHOWN_N
    ]
    words = _sentences(
        f"Each patient has {frames.BASE['d']} measurements, and noise is added before a component is "
        f"computed (ε = {frames.BASE['epsilon']:g}). The table has the angle to the true component.",
        "Fill the empty field: what do four times the patients do?",
        f"From 2,000 to 4,000 patients the angle falls {_blank(f'{drawn[2000] / drawn[4000]:.1f}', key)} "
        "times.",
    )
    return f'<div class="two"><div>{words}</div>{_table(("Patients", "Angle"), rows)}</div>'


def _ways(screen: dict[str, Any], key: bool) -> str:
    rows = [
        (f"{size:,}", *frame["texts"])
        for size, frame in zip(frames.SIZES, screen["draws"][0]["frames"][0], strict=True)
    ]
    at = screen["draws"][0]["frames"][0][frames.SIZES.index(frames.ASKED_SIZE)]["texts"]
    best = f"{frames.SIZES[frames.ways_goal(frames.DRAWS[0])]:,}"
    words = _sentences(
        f"{frames.HOSPITALS} small hospitals look for the pattern of a rare disease. The table has the "
        "share of the pattern that each way recovers.",
        *map(escape, screen["story"][2:5]),
        f"With {frames.ASKED_SIZE} patients each, joining without trust recovers {_blank(at[2], key)}, "
        f"staying alone {_blank(at[0], key)}.",
        f"Trusting nobody, hospitals need {_blank(best, key)} patients each for {frames.NEEDED_SHARE:.0f} % "
        "of the pattern.",
    )
    return f"{words}{_table(('Patients each', *_WAYS), rows)}"


def _own_words() -> str:
    line = '<p><span class="blank" style="width: 100%">&nbsp;</span></p>'
    asked = (
        "What does noise hide, and from whom?",
        "Why does a cap help?",
        "What would you ask before your hospital joins?",
    )
    return (
        "<section><h2>In your own words</h2>"
        + "".join(f"<p>{q}</p>{line}{line}" for q in asked)
        + "</section>"
    )


def _explanations(shown: Sequence[dict[str, Any]]) -> str:
    items = "".join(f"<li>{escape(' '.join(screen['explain']))}</li>" for screen in shown)
    return f"<section><h2>What to expect in their own words</h2><ol>{items}</ol></section>"
