"""Draw the two figures of docs/report.md from what is stored: `make report`. SVG without scripts."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from scripts import report_numbers
from scripts.started import ROOT

FOLDER = ROOT / "docs" / "pictures"
_WIDTH, _HEIGHT = 700, 330
_MARGINS = 62, 20, 16, 44  # left, right, top, bottom
# For each curve: its words, the stored result, the label in it, its colour, and the dashes of its line.
_CURVES = (
    (
        "DPS-PCA, noise of its proof",
        report_numbers.PUBLIC,
        "DPS-PCA, noise of its proof, dense start",
        "#1F7FC0",
        "5 3",
    ),
    ("DPS-PCA, calibrated exactly", report_numbers.PUBLIC, "DPS-PCA exact", "#1F7FC0", ""),
    ("one moment, sparse step", report_numbers.PUBLIC, "one release + sparse step, exact", "#009E73", ""),
    ("two stages, five hospitals' own noise", report_numbers.TWO, report_numbers.OWN, "#C2407E", "5 3"),
    ("two stages, one place", report_numbers.TWO, report_numbers.ONE_PLACE, "#C2407E", ""),
    ("features known, no privacy", report_numbers.TWO, report_numbers.ORACLE, "#777", ""),
)
_PATIENTS, _ERRORS = (2500, 4e6), (0.003, 3.0)  # the ends of both axes
_KINDS = (("centred rows", False, "#1F7FC0"), ("standardised rows", True, "#C2407E"))
_RATIOS, _ROW, _NAMES = (0.2, 1.5), 19, 190


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, stroke: str = "#ddd") -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{stroke}"/>'


def _place(value: float, ends: tuple[float, float], begin: float, end: float) -> float:
    """Return where a value lies on a logarithmic axis that runs from `begin` to `end`."""
    low, high = (math.log(each) for each in ends)
    return begin + (end - begin) * (math.log(value) - low) / (high - low)


def errors() -> str:
    """Return the picture of median errors against the number of patients."""
    left, right, top, bottom = _MARGINS

    def x(n: float) -> float:
        return _place(n, _PATIENTS, left, _WIDTH - right)

    def y(error: float) -> float:
        return _place(error, _ERRORS, _HEIGHT - bottom, top)

    parts = []
    for n, words in ((3e3, "3,000"), (1e4, "10,000"), (1e5, "100,000"), (1e6, "1 million")):
        parts += [_line(x(n), top, x(n), _HEIGHT - bottom), _text(x(n), _HEIGHT - bottom + 16, words)]
    for error in (0.003, 0.01, 0.03, 0.1, 0.3, 1.0):
        parts += [_line(left, y(error), _WIDTH - right, y(error))]
        parts += [_text(left - 8, y(error) + 4, f"{error:g}", "end")]
    guess, target = report_numbers.random_guess(1000, 5), report_numbers.TARGET
    for level, words in ((guess, "a random guess"), (target, "an error of 0.2")):
        parts += [_line(left, y(level), _WIDTH - right, y(level), "#999")]
        parts += [_text(_WIDTH - right - 4, y(level) - 5, words, "end")]
    parts.append(_text((left + _WIDTH - right) / 2, _HEIGHT - 8, "patients"))
    middle = (top + _HEIGHT - bottom) / 2
    parts.append(
        f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        "median error ‖sin Θ‖</text>"
    )
    for words, name, label, colour, dashes in _CURVES:
        medians = report_numbers.medians(name)[label]
        points = " ".join(f"{x(n):.1f},{y(error):.1f}" for n, error in medians.items())
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"><title>{escape(words)}</title></polyline>'
        )
    return _svg(_WIDTH, _HEIGHT + 66, [*parts, *_legend()])


def _legend() -> Iterator[str]:
    for i, (words, _, _, colour, dashes) in enumerate(_CURVES):
        x, y = 70 + 310 * (i % 2), _HEIGHT + 14 + 20 * (i // 2)
        yield (
            f'<line x1="{x}" y1="{y}" x2="{x + 34}" y2="{y}" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>'
        )
        yield _text(x + 42, y + 4, words, "start")


def ratios() -> str:
    """Return the picture of each real table's error with a fitted bound, over the error without."""
    tables = {kind: report_numbers.comparisons(kind) for _, kind, _ in _KINDS}
    end = _WIDTH - 30
    bottom = 34 + _ROW * len(tables[False])

    def x(ratio: float) -> float:
        return _place(ratio, _RATIOS, _NAMES, end)

    parts = []
    for ratio in (0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4):
        stroke = "#666" if ratio == 1 else "#ddd"
        parts += [_line(x(ratio), 26, x(ratio), bottom, stroke), _text(x(ratio), bottom + 16, f"{ratio:g}")]
    for i, centred in enumerate(tables[False]):
        parts.append(_text(_NAMES - 12, 44 + _ROW * i, centred.name, "end"))
    for i, (words, kind, colour) in enumerate(_KINDS):
        start = _NAMES + 200 * i
        parts.append(_mark(start, 12, colour, hollow=kind))
        parts.append(_text(start + 10, 16, words, "start"))
        parts += [
            _mark(x(each.ratio), 40 + _ROW * row, colour, hollow=kind)
            for row, each in enumerate(tables[kind])
        ]
    parts.append(
        _text((_NAMES + end) / 2, bottom + 34, "error with a fitted bound, over that with the default bound")
    )
    return _svg(_WIDTH, bottom + 44, parts)


def _mark(x: float, y: float, colour: str, hollow: bool) -> str:
    fill = "#fff" if hollow else colour
    return f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'


def pictures() -> dict[Path, str]:
    return {FOLDER / "report-errors.svg": errors(), FOLDER / "report-ratios.svg": ratios()}
