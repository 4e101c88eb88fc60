"""Draw how many patients an error of .2 takes, from the stored runs: docs/pictures/patients-needed.svg.

Only runs whose rows are divided by a public bound, or have length 1, count: a release can use no others. An
SVG without scripts, written by `make pictures`.
"""

import math
from html import escape
from pathlib import Path

from dppca_core.experiments.papers import FIGURES
from dppca_core.experiments.sweeps.patients_needed import patients_needed
from pages.learn.papers import results

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "patients-needed.svg"
TARGET = 0.2
# For each bar: its words, the stored run, the label in it, and the colour that the screens give the method.
_BARS = (
    ("DPS-PCA, noise as printed", "needed-patients-public", "DPS-PCA as printed, dense start", "#1F7FC0"),
    ("DPS-PCA, noise calibrated exactly", "needed-patients-public", "DPS-PCA exact", "#1F7FC0"),
    (
        "one release and a sparse step, one place",
        "needed-patients-public",
        "one release + sparse step, exact",
        "#009E73",
    ),
    ("two stages, five hospitals' own noise", "two-stage-patients", "two stages, own noise", "#C2407E"),
    ("two stages, one place", "two-stage-patients", "two stages, one place", "#C2407E"),
)
_WIDTH, _LABELS, _ROW, _TOP = 780, 320, 30, 40
_DECADES = (3, 7)  # of the axis: thousand to ten million


def counts() -> dict[str, float]:
    """Return, by each bar's words, how many patients the method needs for a median error of TARGET."""
    recipes = {run.recipe: (key, i) for key, figure in FIGURES.items() for i, run in enumerate(figure.runs)}
    needed = {}
    for words, recipe, label, _ in _BARS:
        source = results.result(*recipes[recipe]).source
        assert source is not None  # these runs are stored
        table = patients_needed(source.table, TARGET, level=0.95)
        needed[words] = float(table.set_index("label").loc[label, "patients"])
    return needed


def svg() -> str:
    """Return the picture: a bar for each method, its length on a logarithmic axis of patients."""
    needed = counts()
    per_decade = (_WIDTH - _LABELS - 90) / (_DECADES[1] - _DECADES[0])
    height = _TOP + _ROW * len(needed) + 34
    parts = [
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="24" font-weight="bold">Patients that an error of {TARGET:g} takes: '
        "1,000 measurements, ε = 1</text>",
    ]
    for power in range(_DECADES[0], _DECADES[1]):
        x = _LABELS + per_decade * (power - _DECADES[0])
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP}" y2="{height - 26}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{height - 10}" text-anchor="middle">{10**power:,}</text>')
    for i, (words, _, _, colour) in enumerate(_BARS):
        y, n = _TOP + _ROW * i, needed[words]
        length = per_decade * (math.log10(n) - _DECADES[0])
        digits = 2 if n < 1e5 else 3  # as README rounds them
        shown = f"{float(f'{n:.{digits}g}'):,.0f}" if n < 1e6 else f"{n / 1e6:.2f} million"
        parts.append(f'<text x="{_LABELS - 10}" y="{y + 19}" text-anchor="end">{escape(words)}</text>')
        bar = f'<rect x="{_LABELS}" y="{y + 5}" width="{length:.1f}" height="{_ROW - 10}"'
        parts.append(f'{bar} fill="{colour}"/>')
        parts.append(f'<text x="{_LABELS + length + 8:.1f}" y="{y + 19}">{shown}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="14" fill="#222">{"".join(parts)}</svg>\n'
    )


def write() -> None:
    """Write the picture to PICTURE."""
    PICTURE.write_text(svg(), encoding="utf-8")
