"""Figures and table of Ge, Wang, Wang & Liu (AISTATS 2018), from their section 5.

Numbers were read off the figures. Two choices are ours, since the paper leaves them open: rows are divided
by the largest of them (section 5 does not scale, but its theorem needs rows of length 1, and only this
scaling gives its curves), and the noise has the logarithm of Lemma A.1, which line 3 of the algorithm lacks.
"""

import math

import numpy as np
import pandas as pd

from dppca_core.bounds.ge_figure2 import DELTA, EPSILONS, OVERALL_AT_LEFT
from dppca_core.bounds.ge_figure2 import curves as figure_2_curves
from dppca_core.experiments.papers.claims import against, moves, near, ranked
from dppca_core.experiments.papers.figure import PaperRun, Printed, figures_of, printed
from dppca_core.experiments.papers.summary import COLUMNS
from dppca_core.numerics.subspace_metrics import random_guess

PAPER = "Ge, Wang, Wang & Liu, AISTATS 2018"
READ_WITHIN = 0.15  # what a number read off these figures, and their unknown number of runs, may be off by
_SCALED = (
    "The paper names no scaling of the rows; they are divided by the largest row here, the only way found "
    "that gives its curves. That looks at private rows: a real study needs a public bound."
)
_RUNS = "The paper does not say how many runs its curves are means of."
_LAST = 10.0

_FIGURE_3A = printed(
    (_LAST,),
    {"epsilon = 0.5": (2.22,), "epsilon = 1": (1.65,), "epsilon = 1.5": (0.99,), "epsilon = 2": (0.72,)},
)
_FIGURE_3B = (Printed("delta = 0.5", _LAST, 0.69),)
_FIGURE_4A = printed((0.8, 1.0, 1.2, 1.4, 1.6, 2.0), {"DPS-PCA": (3.1, 2.45, 1.87, 1.45, 1.30, 1.05)})
_FIGURE_4B = printed(
    (40.0, 60.0, 80.0, 100.0),
    {
        "DPS-PCA": (0.08, 0.11, 0.14, 0.15),
        "PPCA": (0.11, 0.16, 0.20, 0.23),
        "MOD-SULQ": (0.20, 0.44, 0.74, 1.13),
    },
)
_TABLE_1 = printed(
    (200.0, 400.0, 800.0),
    {"MOD-SULQ": (0.008, 0.021, 0.097), "PPCA": (9.82, 37.46, 173.78)},
)


def _figure_2() -> pd.DataFrame:
    """Return the fitted curves in the form of a summary; a formula has no repeats."""
    across = np.linspace(*EPSILONS, 37)
    labels = {"total": "overall", "stat": "sampling", "priv": "privacy", "opt": "optimisation"}
    curves = pd.DataFrame(figure_2_curves(across))[list(labels)].rename(columns=labels).assign(x=across)
    means = curves.melt("x", var_name="label", value_name="mean")
    return means.assign(method="dps_pca", low=means["mean"], high=means["mean"], runs=1)[COLUMNS]


_METHODS = ("DPS-PCA", "PPCA", "MOD-SULQ")
_ORDER = "DPS-PCA is below PPCA, and PPCA below MOD-SULQ, at every"
_ACROSS_EPSILON = tuple(point.label for point in _FIGURE_3A)
_ACROSS_DELTA = tuple(f"delta = {delta:g}" for delta in (0.5, 0.1, 0.05, 0.01))
_CHECKS_2 = (
    moves("the overall error falls with epsilon", True, ("overall",)),
    ranked("privacy costs less than sampling at every epsilon", ("privacy", "sampling")),
)
_CHECKS_3A = (
    near(f"final errors within {READ_WITHIN} of those read off", _FIGURE_3A, READ_WITHIN),
    ranked("a smaller epsilon ends at a larger error", _ACROSS_EPSILON[::-1], (_LAST,)),
    moves("the error falls over the rounds from epsilon = 1 on", True, _ACROSS_EPSILON[1:]),
)
_CHECKS_3B = (
    near(f"final error within {READ_WITHIN} of what is read off", _FIGURE_3B, READ_WITHIN),
    ranked("the smallest delta ends at a larger error than the largest", _ACROSS_DELTA[::3], (_LAST,)),
    moves("the error falls over the rounds", True, _ACROSS_DELTA),
)
_FAR_OFF = 0.99 * math.sqrt(2) * random_guess(1000, 5)
_CHECKS_4A = (
    ranked(f"{_ORDER} epsilon", _METHODS),
    against(
        "MOD-SULQ is as far off as a guess",
        ("MOD-SULQ",),
        _FAR_OFF,
        "99 % of a random guess's distance",
        above=True,
    ),
    near(f"errors of DPS-PCA within {READ_WITHIN} of those read off", _FIGURE_4A, READ_WITHIN),
)
_CHECKS_4B = (
    ranked(f"{_ORDER} d", _METHODS),
    near(f"errors within {READ_WITHIN} of what is read off", _FIGURE_4B, READ_WITHIN),
    moves("the error rises with d", False, _METHODS),
)
_CHECKS_TABLE_1 = (
    ranked("DPS-PCA is faster than MOD-SULQ, and MOD-SULQ than PPCA", ("DPS-PCA", "MOD-SULQ", "PPCA")),
    against("DPS-PCA takes less than a millisecond at every d", ("DPS-PCA",), 1e-3, "a millisecond"),
)

_figure = figures_of(PAPER)

FIGURES = (
    _figure(
        "ge-2",
        PaperRun("fitted to the printed curve", _CHECKS_2, formula=_figure_2),
        "The paper gives none of d, n, k, s, T or the eigenvalues. We fitted gamma and alpha to the shape, "
        "and its height at the left end fixes the sampling term.",
        "For k = 5, as in Figure 3, the largest possible error is sqrt 5. All of the bound lies above it. "
        "Assumption B.3 fails for every k.",
        title="Figure 2",
        shows=f"The error bound of Theorem 4.3 and its three parts against epsilon, at delta = {DELTA}.",
        claim="The overall error falls with epsilon; what privacy adds stays below what sampling costs.",
        metric="bound",
        x="epsilon",
        printed=(Printed("overall", EPSILONS[0], OVERALL_AT_LEFT),),
    ),
    _figure(
        "ge-3a",
        PaperRun("as printed", _CHECKS_3A, "ge-3a"),
        _SCALED,
        _RUNS,
        "The theorem is void here: it would need about 10^8 patients.",
        title="Figure 3(a)",
        shows="The error of DPS-PCA after each of ten rounds, for four values of epsilon, at delta = 0.3.",
        claim="More privacy makes convergence slower and the final error larger.",
        metric="sin_theta",
        x="round",
        printed=_FIGURE_3A,
    ),
    _figure(
        "ge-3b",
        PaperRun("epsilon = 2, as in the caption", _CHECKS_3B, "ge-3b-caption"),
        PaperRun(
            "epsilon = 1, as in the text",
            _CHECKS_3B,
            "ge-3b-text",
            because="The text says epsilon = 1 and the caption 2. The curves are those of 2: the caption is "
            "right.",
        ),
        _SCALED,
        _RUNS,
        title="Figure 3(b)",
        shows="The error of DPS-PCA after each of ten rounds, for four values of delta.",
        claim="More privacy makes convergence slower and the final error larger.",
        metric="sin_theta",
        x="round",
        printed=_FIGURE_3B,
    ),
    _figure(
        "ge-4a",
        PaperRun(
            "as printed",
            _CHECKS_4A,
            "ge-4a",
            because="Ours are lower at epsilon = 0.8, where 3.1 is printed, and higher at 1.4, where 1.45 "
            "is. Why is unknown: the paper gives neither the number of runs nor the scaling.",
        ),
        _SCALED,
        _RUNS,
        "The figure is in projector distance, sqrt 2 times the error of Figure 3: its ceiling is sqrt 10.",
        "PPCA ignores delta and promises pure epsilon for its exact law only; its sampler here mixes in a "
        "few scans, where the paper could not tell.",
        title="Figure 4(a)",
        shows="The errors of three methods against epsilon, with 1,000 features and delta = 0.3.",
        claim="DPS-PCA is the most accurate; MOD-SULQ finds nothing at this dimension.",
        metric="projector_distance",
        x="epsilon",
        printed=_FIGURE_4A,
    ),
    _figure(
        "ge-4b",
        PaperRun("each row divided by its own length", _CHECKS_4B, "ge-4b-unit"),
        PaperRun(
            "rows divided by the largest",
            _CHECKS_4B,
            "ge-4b-largest",
            because="Dividing by the largest row, which fits the other figures, shrinks the signal: DPS-PCA "
            "and PPCA become alike in few dimensions, and every method is further off than in the figure.",
        ),
        "The paper does not say how rows were scaled. Rows of length one come nearest to this figure, rows "
        "divided by the largest to the others; it cannot be determined further.",
        "The text goes to d = 140, the caption to 160. Features kept are 40 here, as the 50 of the other "
        "figures do not exist at d = 40.",
        _RUNS,
        title="Figure 4(b)",
        shows="The errors of three methods against the number of features, at epsilon = 1 and delta = 0.1.",
        claim="DPS-PCA is the most accurate in low dimension as well.",
        metric="projector_distance",
        x="d",
        printed=_FIGURE_4B,
    ),
    _figure(
        "ge-table-1",
        PaperRun(
            "as printed",
            _CHECKS_TABLE_1,
            "ge-table-1",
            because="Seconds are of the computer and the program: the order is the finding. Here DPS-PCA "
            "takes less than a millisecond at 200 and 400 features, and more at 800, where the noise of ten "
            "rounds alone is 40,000 random numbers.",
        ),
        "Our times are of one core, noise included, and of another sampler for PPCA, whose exact column "
        "draws replace the coordinate sweeps of the paper's.",
        "The text speaks of 10^3 to 10^4 scans for PPCA, the caption of 10^4 to 10^5; 100 were timed.",
        title="Table 1",
        shows="The seconds of one run of three methods at 200, 400 and 800 features.",
        claim="DPS-PCA takes less than a millisecond, MOD-SULQ 8 to 97 milliseconds, PPCA with 100 scans 10 "
        "to 174 seconds.",
        metric="seconds",
        x="d",
        printed=_TABLE_1,
    ),
)
