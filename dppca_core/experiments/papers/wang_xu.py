"""Figures and tables of Wang & Xu (IJCAI 2019), from their section 6: PCA in the local model.

The curves were not available: both captions are the same, and no number of any curve is in the text. The
tables' numbers are known, but their data are not here. The checks are those of the trends in the text: as
printed, where all is noise, and with as many patients as the trends need; those of the tables are on the
paper's own synthetic population.
"""

import math

from dppca_core.experiments.papers.claims import moves, ranked, slower, under
from dppca_core.experiments.papers.figure import Check, PaperRun, figures_of, printed
from dppca_core.numerics.subspace_metrics import random_guess

PAPER = "Wang & Xu, IJCAI 2019"
_NOISE = (
    "Nearly all of it is noise. With 10^5 patients, 40 features and epsilon = 0.5 the gap between "
    "eigenvalues is 0.0025, and the noise of the mean 0.35 (operator norm), inversely proportional to "
    "epsilon: errors are within 2 % of a random guess's, sqrt(2k(1 - k/p)), at every n and epsilon drawn."
)
_NOISE_HIGH = (
    "Nearly all of it is noise. With 2,000 patients, 400 features and epsilon = 2 the gap between "
    "eigenvalues is 0.00025, and each of the mean's entries carries noise of 0.05, inversely proportional "
    "to epsilon: errors are within 2 % of a random guess's."
)
_NOISE_P = (
    "It rises, but only as a random guess's error does, sqrt(2k(1 - k/p)), and is within 2 % of it: nearly "
    "all of it is noise. With 10^5 patients and epsilon = 0.5 the gap between eigenvalues is 0.1/p, and the "
    "noise of the mean 0.055 times the root of p (operator norm)."
)
_NOISE_P_HIGH = (
    "It rises slightly, but only as a random guess's error does, sqrt(2k(1 - k/p)), and is within 3 % of it: "
    "nearly all of it is noise. With 2,000 patients and epsilon = 2 the gap between eigenvalues is 0.1/p, "
    "and each of the mean's entries carries noise of 0.05."
)
_PROPORTIONAL = (
    "It rises about in proportion to p: the gap between eigenvalues of this population is 0.1/p, and the "
    "noise does not shrink with it. The bound of Theorem 4, from which the paper has its log p, stays as it "
    "is when all eigenvalues shrink together, as if the noise did too."
)
_CAPTIONS = (
    "Figures 1 and 2 have the same caption, of the high-dimensional case; the text assigns Figure 1 to the "
    "low-dimensional one."
)
_DISTANCE = "Errors are projector distances, sqrt 2 times the sine, and at most sqrt(2k)."
_FALLS_N = moves("the error falls as patients are added, for every k", True)
_FALLS_EPSILON = moves("the error falls as epsilon grows, for every k", True)
_RISES_K = ranked("the error is larger for 20 directions than for 5", ("k = 5", "k = 20"))
_FALLS_N_HIGH = moves("the error falls as patients are added, for every s", True)
_FALLS_EPSILON_HIGH = moves("the error falls as epsilon grows, for every s", True)
_RISES_P = moves("the error rises with the dimension p", False)
_SLIGHTLY = slower("it grows more slowly than sqrt(log p)", lambda p: math.sqrt(math.log(p)), "sqrt(log p)")


def _informed(k: int) -> Check:
    return under(
        "the error is below a random guess's, which rises with p as well",
        lambda p: math.sqrt(2) * random_guess(int(p), k),
        "a random guess's",
    )


_CHECKS_P = (_RISES_P, _informed(5))
_CHECKS_SLOW = (_RISES_P, _SLIGHTLY, _informed(10))
_DIMENSION = (
    "The captions give no values of p: these are assumed. Eigenvalues are those printed, 0.2/p and 0.1/p at "
    "lambda = 1; the directions lie on 20 of the features at every p."
)

_figure = figures_of(PAPER, _CAPTIONS, _DISTANCE, metric="projector_distance")


def _printed_and_large(
    name: str, checks: tuple[Check, ...], because: str, large: str, title: str = "as printed"
) -> tuple[PaperRun, PaperRun]:
    """Return the run as printed, and the run with as many patients as the trend needs."""
    return (
        PaperRun(title, checks, f"{name}-printed", because=because),
        PaperRun(large, checks, f"{name}-large"),
    )


_TABLES = (
    "The six data sets were not available, so the parameters are run on the paper's own synthetic "
    "population. How s enters for a table is not said: the algorithm has only the penalty lambda, not given."
)
_table = figures_of(PAPER, _TABLES, _DISTANCE, metric="projector_distance")
_TABLE_1 = printed(
    (10.0, 20.0, 40.0),
    {
        "cancer RNA-Seq": (3.162, 3.381, 3.668),
        "Leukemia": (3.162, 3.435, 3.701),
        "Colon cancer": (2.449, 3.058, 3.228),
        "isolet5": (1.441, 2.023, 2.508),
        "lung": (2.858, 3.464, 3.901),
        "NIPS": (3.643, 3.881, 4.472),
    },
)
_TABLE_2 = printed(
    (1.0, 0.5, 0.1),
    {
        "cancer RNA-Seq": (3.559, 3.790, 3.967),
        "Leukemia": (4.375, 4.403, 4.518),
        "Colon cancer": (3.013, 4.237, 4.310),
        "isolet5": (2.884, 3.405, 3.896),
        "lung": (4.042, 4.275, 4.362),
        "NIPS": (4.006, 4.052, 4.472),
    },
)
_DIGITS = "1,797 images in the local model: the noise of the mean outweighs every eigenvalue."
_RISES_S = moves("the error rises with s", False)
_FALLS = moves("the error falls as epsilon grows", True)


_SYNTHETIC = ("10^11 patients, synthetic", "2,000 patients, synthetic")

FIGURES = (
    _figure(
        "wang-xu-1-n",
        *_printed_and_large("wang-xu-low-n", (_FALLS_N, _RISES_K), _NOISE, "10^8 to 10^11 patients"),
        title="Figure 1, against n",
        shows="The error of LDP-PCA against the number of patients: 40 features, epsilon = 0.5, delta = "
        "10^-4.",
        claim="The error falls as patients are added, and rises with the number of directions k.",
        x="n",
    ),
    _figure(
        "wang-xu-1-p",
        *_printed_and_large(
            "wang-xu-low-p", _CHECKS_P, _NOISE_P, "10^10 patients", "10^5 patients, as printed"
        ),
        _DIMENSION,
        title="Figure 1, against p",
        shows="The error of LDP-PCA against the number of features, p (d in the chart): k = 5, epsilon = "
        "0.5, delta = 10^-4.",
        claim="The error increases as the dimension p increases.",
        x="d",
    ),
    _figure(
        "wang-xu-1-epsilon",
        *_printed_and_large("wang-xu-low-epsilon", (_FALLS_EPSILON, _RISES_K), _NOISE, "10^10 patients"),
        PaperRun("bundled digits, in place of Covertype and Buzz", (_FALLS_EPSILON,), "wang-xu-real-digits"),
        "On the 1,797 digits the trend is there, but all errors stay within 4 % of a random guess's.",
        title="Figure 1, against epsilon",
        shows="The error of LDP-PCA against epsilon: 40 features, 10^5 patients, delta = 10^-4.",
        claim="The error falls as epsilon grows.",
        x="epsilon",
    ),
    _figure(
        "wang-xu-2-n",
        *_printed_and_large("wang-xu-high-n", (_FALLS_N_HIGH,), _NOISE_HIGH, "10^10 to 10^12 patients"),
        "The text says epsilon = 1, the captions 2; delta is that of the other figure.",
        title="Figure 2, against n",
        shows="The error of sparse LDP-PCA against the number of patients: 400 features, k = 10, epsilon = "
        "2.",
        claim="The error falls as patients are added.",
        x="n",
    ),
    _figure(
        "wang-xu-2-p",
        PaperRun("2,000 patients, as printed", _CHECKS_SLOW, "wang-xu-high-p-printed", because=_NOISE_P_HIGH),
        PaperRun("10^12 patients", _CHECKS_SLOW, "wang-xu-high-p-large", because=_PROPORTIONAL),
        PaperRun("10^12 patients, the same eigenvalues at every p", _CHECKS_SLOW, "wang-xu-high-p-fixed"),
        _DIMENSION,
        "The theorems bound squared errors: log p there is its square root here. The same eigenvalues at "
        "every p are those printed for p = 400.",
        title="Figure 2, against p",
        shows="The error of sparse LDP-PCA against the number of features, p (d in the chart): k = 10, s = "
        "20, epsilon = 2.",
        claim="The error slightly increases with p, as the bound depends on p only through log p.",
        x="d",
    ),
    _figure(
        "wang-xu-2-epsilon",
        *_printed_and_large("wang-xu-high-epsilon", (_FALLS_EPSILON_HIGH,), _NOISE_HIGH, "10^11 patients"),
        title="Figure 2, against epsilon",
        shows="The error of sparse LDP-PCA against epsilon: 400 features, k = 10, 2,000 patients.",
        claim="The error falls as epsilon grows.",
        x="epsilon",
    ),
    _table(
        "wang-xu-table-1",
        *_printed_and_large("wang-xu-table-1", (_RISES_S,), _NOISE_HIGH, *_SYNTHETIC),
        "4.472 for NIPS is sqrt 20, the largest distance there is: total failure.",
        title="Table 1",
        shows="The error of sparse LDP-PCA against the sparsity s: k = 10, epsilon = 2.",
        claim="The error rises with s on each of six data sets.",
        x="s",
        printed=_TABLE_1,
    ),
    _table(
        "wang-xu-table-2",
        *_printed_and_large("wang-xu-table-2", (_FALLS,), _NOISE_HIGH, *_SYNTHETIC),
        PaperRun("bundled digits", (_FALLS,), "wang-xu-table-2-digits", because=_DIGITS),
        "4.518 for Leukemia exceeds sqrt 20 = 4.472, the largest distance that two spaces of ten directions "
        "can have: it cannot be this distance.",
        title="Table 2",
        shows="The error of sparse LDP-PCA against epsilon: k = 10, s = 20.",
        claim="The error falls as epsilon grows on each of six data sets.",
        x="epsilon",
        printed=_TABLE_2,
    ),
)
