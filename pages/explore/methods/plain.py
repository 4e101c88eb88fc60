"""The methods page in plain view: the share that hospitals recover, and how much each trust needs for it.

Each point is the front page at that setting: the same results, and so the same numbers. A row is the answer
of the method recommended under one trust: the share of the pattern that it recovers, in %.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import streamlit as st

from dppca_core.datasets import TABLES
from dppca_core.experiments import Axis, Recipe
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.experiment import EPSILONS
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from dppca_core.experiments.no_privacy import NO_PRIVACY, UNPROTECTED
from dppca_core.experiments.sweeps.patients_needed import last_fall
from pages.explore.methods import plain_text, sweeps
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import SPANS, Trace, axis, band, line, marked_line, one_panel, rounded, style, traces
from pages.shared.plain import phrases, rows, screen
from pages.shared.reports import sources, take_along
from pages.shared.settings import catalogue, to_experiment, widgets
from pages.shared.settings.catalogue import Settings

_PATIENTS = (*(m * 10**p for p in range(2, 6) for m in (1, 3)), 10**6)
_LOSSES = EPSILONS[::5]
_FEW = 3  # runs that each point has before any has more


class Curves(screen.CombinedStore):
    """Hold the settings along which the rows are measured.

    They are numbers of patients; of a table, whose patients are fixed, privacy losses. It is one store of
    cells over the stores of all points: a cell is (index of its point, method, epsilon, repeat).

    Attributes:
        key: What varies, "n" or "epsilon".
        values: Its values, ascending; `here` is the index of the current one.
        points: The experiment and the epsilon at each value.
        stores: The results at each value.

    Args:
        settings: All settings of the page, with what plain view hides as we advise it.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.trust = settings, settings["trust"]
        self.key = "epsilon" if settings["data"] in TABLES else "n"
        grid = {"epsilon": _LOSSES, "n": _PATIENTS}[self.key]
        least = settings["providers"] if self.key == "n" else 0  # each hospital has at least one patient
        self.values = sorted({settings[self.key], *(value for value in grid if value >= least)})
        # At another value other settings may be impossible: they are changed to the nearest possible ones.
        along = [catalogue.reconcile(settings | {self.key: value}, (self.key,))[0] for value in self.values]
        self.points = [to_experiment.from_settings_with_method(each) for each in along]
        self.stores = [cache.results(experiment) for experiment, _ in self.points]
        self.here = self.values.index(settings[self.key])

    @property
    def methods(self) -> list[str]:
        """Return the methods recommended at any of the points, and the name of runs without privacy."""
        return list(dict.fromkeys(name for point in self.points for name in trusts.methods_shown(*point)))

    def wanted(self) -> Iterator[tuple[Any, ...]]:
        """Return all cells in the order in which to measure them.

        Every point gets one run before any gets `_FEW`, and these before all repeats; the points nearest to
        the current setting come first each time.
        """
        order = sorted(range(len(self.points)), key=lambda i: abs(i - self.here))
        for repeats in (1, _FEW, self.settings["repeats"]):
            for i in order:
                experiment, epsilon = self.points[i]
                for name in trusts.methods_shown(experiment, epsilon):
                    few = min(repeats, self.stores[i].repeats_of(name))
                    yield from ((i, name, epsilon, r) for r in range(few))

    def shares(self, i: int) -> rows.Shares:
        """Return the shares recovered at point i under each trust, with no privacy, and by a guess."""
        return rows.shares(self.stores[i], self.points[i][1], self.trust)

    def needed(self, each: list[rows.Shares]) -> dict[str, float]:
        """Return for each trust how much of what varies recovers the share wanted, `plain_text.WANTED`.

        It is infinite where the largest value is too little, and NaN before the first runs. Shares are turned
        into errors, sqrt(k (1 - share)), in which `last_fall` interpolates as on other pages.

        each: the shares at all points, in their order.
        """
        k, result = self.points[0][0].k, {}  # the same k at all points
        for trust in rows.LOOKS:
            errors = np.sqrt([k * max(1 - shares.row_of_trust(trust).share / 100, 0) for shares in each])
            target = math.sqrt(k * (1 - plain_text.WANTED / 100))
            measured = bool(np.isfinite(errors).any())
            values = np.array(self.values, dtype=float)
            # `last_fall` takes several rows of errors: here a single one.
            result[trust] = float(last_fall(values, errors[None], target)[0]) if measured else math.nan
        return result

    def recipe(self) -> Recipe:
        """Return a sweep of the same methods over all values, for the page's menu to hand out as a file.

        It has the methods among which the best without privacy is found.
        """
        experiment, epsilon = self.points[self.here]
        over = Axis(self.key, tuple(self.values))
        names = [*(name for name in self.methods if name != NO_PRIVACY), *UNPROTECTED]
        return sweeps.recipe(experiment, epsilon, names, over, experiment.repeats)

    def code(self) -> FigureRecipe:
        """Return the recipe of the figure's numbers, from which the page's menu makes Python code."""
        return screen.code(self.points, self.methods)


def figure(curves: Curves, each: list[rows.Shares]) -> dict[str, Any]:
    """Draw a line for each trust, the answer with no privacy, and a guess; each: the points' shares."""
    x = [float(value) for value in curves.values]
    drawn: list[Trace] = []
    for trust, look in rows.LOOKS.items():
        spreads = np.array([shares.row_of_trust(trust).spread for shares in each]).T
        low, middle, high = map(rounded, spreads)
        drawn.append(marked_line(phrases.ROWS[trust], look, x, middle, hovertemplate="%{x:,}: %{y:.4~g} %"))
        if trust == curves.trust:  # stands out: it has a thicker line and the only band, behind all lines
            drawn[-1]["line"]["width"] = 4
            drawn[:0] = band(1, phrases.ROWS[trust], look.colour, x, low, high)
    unprotected, guesses = rounded([s.unprotected for s in each]), rounded([s.guess for s in each])
    drawn += [
        line(1, "no privacy", style.NOT_PRIVATE, x=x, y=unprotected, showlegend=True),
        line(1, "a random guess", style.GUESS, "dot", x=x, y=guesses, showlegend=True),
        traces.this_setting(1, [x[curves.here]] * 2, [0, 100]),
    ]
    up = axis(text.METRIC_TITLES["share"], range=SPANS["share"], fixedrange=True)
    across, legend = _across(curves.key, x), {"traceorder": "normal"}
    return one_panel(drawn, xaxis=across, yaxis=up, legend=legend, height=430)


def _across(key: str, x: list[float]) -> Trace:
    """Return the horizontal axis, logarithmic; key: "epsilon" or "n"; x: its values, ascending."""
    ends = {"type": "log", "range": [math.log10(x[0]) - 0.05, math.log10(x[-1]) + 0.05], "fixedrange": True}
    if key == "epsilon":
        return axis("privacy loss", **ends) | traces.EPSILON_TICKS
    ticks = [10.0**p for p in range(2, 10)]
    return axis("patients in total", tickvals=ticks, ticktext=[text.patients(v) for v in ticks], **ends)


def render() -> None:
    """Show the methods page in plain view: the curves, the rows at the current setting, and the fold."""
    settings = widgets.head(plain_text.TITLE, plain_text.QUESTION) | rows.ADVISED
    curves, table = Curves(settings), TABLES.get(settings["data"])
    experiment, epsilon = curves.points[curves.here]
    if table:
        st.caption(plain_text.FIXED)

    def panels() -> None:
        """Show the headline, the curves, and the rows at the current setting, as measured so far."""
        each = [curves.shares(i) for i in range(len(curves.points))]
        needed, ends = curves.needed(each), (curves.values[0], curves.values[-1])
        headline = plain_text.headline(needed, curves.trust, curves.key, ends)
        widgets.headline(headline, "epsilon", "n")
        st.markdown(plain_text.others(needed, curves.trust, curves.key, ends))
        take_along.show(
            *(figure(curves, each), "curves figure", "dppca-trusts", plain_text.TITLE),  # key, files, title
            says=headline,
            code=curves.code,
            recipe=curves.recipe,
        )
        st.caption(plain_text.CURVES)
        st.header(plain_text.here(experiment.n, epsilon, table.title if table else ""))
        shares = each[curves.here]
        screen.bars(
            *(shares, "rows", phrases.TITLE),
            table=curves.stores[curves.here].table,
            code=lambda: screen.code([(experiment, epsilon)], trusts.methods_shown(experiment, epsilon)),
        )

    curves.show(panels)
    st.markdown(plain_text.TRY_TABLE if table else plain_text.TRY)
    measured = sources.how_measured(curves.stores[curves.here])
    screen.fold(settings, lambda: curves.shares(curves.here), experiment.k, measured)
