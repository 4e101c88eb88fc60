"""Draw the share of the pattern that hospitals recover, with a row for each protocol. No Streamlit here.

The rows of the three trusts are those of the method recommended under each: the same numbers on every page.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from dppca_core.arrays import Array
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.results import Results
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.verdicts import costs_nothing
from dppca_core.methods import METHODS
from pages.shared import text
from pages.shared.charts import Trace, axis, line, one_panel, rounded, style
from pages.shared.plain import phrases
from pages.shared.settings.catalogue import RECOMMENDED, Settings

# What a board neither sees nor moves: as we advise it, whatever a statistician's link says.
ADVISED: Settings = {
    "method": RECOMMENDED,
    "accounting": "exact",
    "scaling": "public",
    "start": "random",
    "provider_noise": "independent",
    "metric": "share",
    "scale": "linear",
    "first_panel": "picture",
    "all_methods": False,
    "slow": False,
    "ghost": False,
    "loadings": False,
}
LOOKS = {  # from the least trust to the most
    "untrusted server": style.Look(style.NOBODY, "triangle-up", "dash"),
    "secure aggregation": style.Look(style.SEALED_SUMS, "diamond", "longdash"),
    "central": style.Look(style.ONE_PLACE, "square", "solid"),
}
_QUIET = 0.4  # opacity of a row that does not stand out
_THICK, _HEIGHT = 24, 72  # pixels of a bar, and of its row
_MARK = 0.19  # half the height of a reference line across a bar, in rows
_BEGINNINGS = (0.0, 50.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.9)  # of the scale, in %
_BAR_AT, _ABOVE = 0.2, 0.22  # of a row: from its middle down to its bar, and from there up to its words


class ShareRow(NamedTuple):
    """Hold a row's label and how much of the pattern is recovered.

    spread: 10, 50 and 90 % over repeats, in %; NaN before a run. method: only a statistician sees its name.
    """

    label: str
    spread: Array
    colour: str
    stands_out: bool = True
    method: str = ""
    trust: str = ""

    @property
    def share(self) -> float:
        return float(self.spread[1])  # the median

    @property
    def measured(self) -> bool:
        return math.isfinite(self.share)

    @property
    def reach(self) -> str:
        low, high = (phrases.percent(float(value)) for value in self.spread[::2])  # 10 and 90 %
        same = low.removeprefix("over ") == high.removeprefix("over ")
        return "" if same else f" ({low.removesuffix(' %')} to {high})"


class Shares(NamedTuple):
    """Hold the rows, what no privacy and a guess recover in %, and if the chosen row costs nothing."""

    rows: tuple[ShareRow, ...]
    unprotected: float
    guess: float
    free: bool = False

    def row_of_trust(self, trust: str) -> ShareRow:
        return next(row for row in self.rows if row.trust == trust)


def shares(results: Results, epsilon: float, trust: str, names: Sequence[str] = ()) -> Shares:
    """Return the rows as measured so far, one for each trust in LOOKS.

    trust: the one that was chosen, whose row stands out. names: the methods, if not those recommended here.
    """
    experiment, names = results.experiment, names or trusts.methods_shown(results.experiment, epsilon)
    method_of = trusts.by_trust(names)
    rows = tuple(
        ShareRow(
            label=phrases.ROWS[row_trust],
            spread=trusts.share_recovered_quantiles(results, method_of[row_trust], epsilon),
            colour=look.colour,
            stands_out=row_trust == trust,
            method=method_of[row_trust],
            trust=row_trust,
        )
        for row_trust, look in LOOKS.items()
    )
    unprotected = trusts.share_recovered_quantiles(results, NO_PRIVACY, epsilon)
    free = any(row.stands_out and costs_nothing(row.share, unprotected) for row in rows)
    return Shares(rows, float(unprotected[1]), 100 * experiment.k / experiment.d, free)


def begins(rows: Sequence[ShareRow]) -> float:
    """Return the share in % at which the scale begins: not 0 where all bars would be nearly full."""
    low = min((float(row.spread[0]) for row in rows if row.measured), default=0.0)
    return max(share for share in _BEGINNINGS if low - share >= (100 - share) / 4 or share == 0)


def span(rows: Sequence[ShareRow]) -> list[float]:
    start = begins(rows)
    return [start, 100 + 0.03 * (100 - start)]


def patches(rows: Sequence[ShareRow]) -> list[Trace]:
    """Return what changes in `traces` with the setting: each row's bar, range and words, then all medians."""
    parts: list[Trace] = []
    start = begins(rows)
    for i, row in enumerate(rows):
        low, middle, high = rounded(row.spread)
        name, share = f"<b>{row.label}</b>" if row.stands_out else row.label, phrases.percent(row.share)
        label = f"{name}: {f'<b>{share}</b>' if row.stands_out else share}{row.reach}"
        bar_y, words_at = [i + _BAR_AT] * 2, {"x": [start], "y": [i + _BAR_AT - _ABOVE]}
        bar, reach = {"x": [0, middle], "y": bar_y}, {"x": [low, high], "y": bar_y}
        parts += [bar, reach, words_at | {"texttemplate": label}]
    return [*parts, {"x": rounded([row.share for row in rows]), "y": [i + _BAR_AT for i in range(len(rows))]}]


def traces(shares: Shares, panel: int = 1, **more: Any) -> list[Trace]:
    """Return three traces a row, the medians as points, and lines of `references` with properties `more`."""
    rows, parts = shares.rows, patches(shares.rows)
    # A reference line crosses each bar; None leaves a gap to the next.
    line_y = [y for i in range(len(rows)) for y in (i + _BAR_AT - _MARK, i + _BAR_AT + _MARK, None)]
    no_hover: Trace = {"hoverinfo": "skip"}
    text_at: Trace = {"mode": "text", "textposition": "top right", "textfont": {"size": 13}}
    drawn: list[Trace] = []
    for i, row in enumerate(rows):
        bar, reach, words = parts[3 * i : 3 * i + 3]
        colour = row.colour if row.stands_out else style.faded(row.colour, _QUIET)
        drawn += [
            line(panel, "", colour) | bar | no_hover | {"line": {"color": colour, "width": _THICK}},
            # By this mark the page draws it in the colour of its text, on light or dark ground.
            line(panel, "", style.INK, meta="text-colour") | reach | no_hover,
            line(panel, "words", row.colour) | words | text_at | no_hover,
        ]
    medians = {"color": [row.colour for row in rows], "size": 6}
    share = line(panel, "share recovered, %", style.GUESS, mode="markers", marker=medians)
    return [
        *drawn,
        share | parts[-1] | {"hovertemplate": "%{x:.4~g} %<extra></extra>"},
        *(
            line(panel, name, colour, dash, x=rounded([value] * len(line_y)), y=line_y) | no_hover | more
            for name, colour, dash, value in references(shares)
        ),
    ]


def references(shares: Shares) -> list[tuple[str, str, str, float]]:
    """Return name, colour, dash and share in % of each line across all rows: no privacy, a random guess."""
    both = (
        ("no privacy", style.NOT_PRIVATE, "solid", shares.unprotected),
        ("a random guess", style.GUESS, "dot", shares.guess),
    )
    return [entry for entry in both if math.isfinite(entry[-1])]  # without privacy may not be measured yet


def axes(shares: Shares, panel: int = 1) -> dict[str, Trace]:
    """Return the axes of a panel: shares in %, and rows, whose hidden labels tables of its numbers use."""
    suffix, rows = "" if panel == 1 else str(panel), shares.rows
    names = {"tickvals": [i + _BAR_AT for i in range(len(rows))], "ticktext": [row.label for row in rows]}
    hidden: Trace = {"showticklabels": False, "ticks": "", "showgrid": False, "fixedrange": True}
    across = axis(text.METRIC_TITLES["share"], range=span(rows), anchor=f"y{suffix}", fixedrange=True)
    up = axis("", range=[len(rows) - 0.4, -0.6], anchor=f"x{suffix}", **hidden)
    return {f"xaxis{suffix}": across, f"yaxis{suffix}": up | names}


def figure(shares: Shares) -> dict[str, Any]:
    height = _HEIGHT * len(shares.rows) + 110  # room for margins, axis and legend
    drawn = traces(shares, showlegend=True)
    margin = {"l": 12, "r": 12, "t": 8, "b": 48}  # the panel is height - 56 high, the legend below it
    return one_panel(drawn, legend_at=-48 / (height - 56), height=height, margin=margin, **axes(shares))


def description(shares: Shares) -> str:
    rows = "; ".join(f"{row.label}: {phrases.percent(row.share)}" for row in shares.rows)
    return f"{rows}. {phrases.references(shares.unprotected, shares.guess, shares.free)}"


def table(shares: Shares, k: int) -> str:
    lines = ["| row | method | 10, 50, 90 % of runs | guarantee |", "|---|---|---|---|"]
    for row in shares.rows:
        method, spread = METHODS[row.method], ", ".join(text.recovered(float(v)) for v in row.spread)
        kind = text.guarantee(method.guarantee_at(k))
        lines.append(f"| {row.label} | {method.title} | {spread} | {kind} |")
    return "\n".join(lines)


def note(shares: Shares) -> str:
    start = begins(shares.rows)
    return f"{f'The scale begins at {start:g} %. ' if start else ''}{phrases.ROWS_NOTE}"
