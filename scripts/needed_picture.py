"""Draw how many patients an error of .2 takes, from the stored runs: docs/pictures/patients-needed.svg.

Only runs whose rows are divided by a public bound, or have length 1, count: a release can use no others. The
first bar is of no run: Algorithm 1 as its line 3 prints it, by the closed form, drawn open. An SVG without
scripts, written by `make pictures`.
"""

import math
from html import escape
from pathlib import Path

from dppca_core.experiments.papers import FIGURES, ge
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from pages.learn.papers import model as papers

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "patients-needed.svg"
TARGET = 0.2
_BLUE = "#1F7FC0"  # of DPS-PCA
_PUBLIC, _TWO = "needed-patients-public", "two-stage-patients"
# For each bar: its words, the stored run, the label in it, and the colour that the screens give the method.
_BARS = (
    ("DPS-PCA, noise of its proof", _PUBLIC, "DPS-PCA, noise of its proof, dense start", _BLUE),
    ("DPS-PCA, noise calibrated exactly", _PUBLIC, "DPS-PCA exact", _BLUE),
    ("one release and a sparse step, one place", _PUBLIC, "one release + sparse step, exact", "#009E73"),
    ("two stages, five hospitals' own noise", _TWO, "two stages, own noise", "#C2407E"),
    ("two stages, one place", _TWO, "two stages, one place", "#C2407E"),
)
_ALGORITHM_1 = "Algorithm 1 as printed, by a closed form"
_WIDTH, _LABELS, _ROW, _TOP = 780, 320, 30, 40
_DECADES = (3, 9)  # of the axis: thousand to a billion


def counts() -> dict[str, float]:
    """Return, by each bar's words, how many patients the method needs for a median error of TARGET."""
    needed = {_ALGORITHM_1: ge.algorithm_1_patients(TARGET)}
    recipes = {run.recipe: (key, i) for key, figure in FIGURES.items() for i, run in enumerate(figure.runs)}
    for words, recipe, label, _ in _BARS:
        source = papers.result(*recipes[recipe]).source
        assert source is not None  # these runs are stored
        table = patients_needed(source.table, TARGET, level=0.95)
        needed[words] = float(table.set_index("label").loc[label, "patients"])
    return needed


def svg() -> str:
    needed = counts()
    per_decade = (_WIDTH - _LABELS - 90) / (_DECADES[1] - _DECADES[0])
    height = _TOP + _ROW * len(needed) + 34
    parts = [
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="24" font-weight="bold">Patients that an error of {TARGET:g} takes: '
        "1,000 measurements, ε = 1</text>",
    ]
    ticks = {3: "1,000", 4: "10,000", 5: "100,000", 6: "1 million", 7: "", 8: "100 million"}
    for power, name in ticks.items():
        x = _LABELS + per_decade * (power - _DECADES[0])
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP}" y2="{height - 26}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{height - 10}" text-anchor="middle" font-size="12">{name}</text>')
    fills = {words: f'fill="{colour}"' for words, _, _, colour in _BARS}
    fills[_ALGORITHM_1] = f'fill="none" stroke="{_BLUE}" stroke-dasharray="4 3"'
    for i, (words, n) in enumerate(needed.items()):
        y = _TOP + _ROW * i
        length = per_decade * (math.log10(n) - _DECADES[0])
        digits = 2 if n < 1e5 or n > 1e8 else 3  # as README rounds them
        rounded = float(f"{n:.{digits}g}")
        shown = f"{rounded:,.0f}" if n < 1e6 else f"{rounded / 1e6:g} million"
        parts.append(f'<text x="{_LABELS - 10}" y="{y + 19}" text-anchor="end">{escape(words)}</text>')
        bar = f'<rect x="{_LABELS}" y="{y + 5}" width="{length:.1f}" height="{_ROW - 10}"'
        parts.append(f"{bar} {fills[words]}/>")
        parts.append(f'<text x="{_LABELS + length + 8:.1f}" y="{y + 19}">{shown}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="14" fill="#222">{"".join(parts)}</svg>\n'
    )


def write() -> None:
    PICTURE.write_text(svg(), encoding="utf-8")
