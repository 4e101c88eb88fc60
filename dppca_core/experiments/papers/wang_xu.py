"""Figures and tables of Wang & Xu (IJCAI 2019), from their section 6: PCA in the local model.

The curves were not available (both captions are the same and name no numbers), the tables were. What is
checked is what the text says of the trends: as printed, where all is noise, and with as many patients as the
trends need.
"""

from dppca_core.experiments.papers.claims import below, moves
from dppca_core.experiments.papers.figure import Figure, Printed, Run

PAPER = "Wang & Xu, IJCAI 2019"
_NOISE = (
    "All of it is noise. With 10^5 patients and 40 features the gap between eigenvalues is 0.0025, and the "
    "noise of "
    "the mean 0.35 (operator norm): errors are those of a random guess, sqrt(2k(1 - k/p)), whatever n or "
    "epsilon."
)
_NOISE_HIGH = (
    "All of it is noise. With 2,000 patients and 400 features the gap between eigenvalues is 0.00025, and "
    "each of "
    "the mean's entries carries noise of 0.05: errors are those of a random guess."
)
_CAPTIONS = (
    "Figures 1 and 2 have the same caption, of the high-dimensional case; the text assigns Figure 1 to the "
    "low-dimensional one. The panel over the number of features is left out."
)
_TABLES = (
    "The six data sets are not available offline, so the parameters are run on the paper's own synthetic "
    "population. How s enters for a table is not said: the algorithm has only the penalty lambda, not given."
)
_DISTANCE = "Errors are projector distances, sqrt 2 times the sine, and end at sqrt(2k)."
_SETS = ("cancer RNA-Seq", "Leukemia", "Colon cancer", "isolet5", "lung", "NIPS")


def _tabulated(places: tuple[float, ...], *rows: tuple[float, ...]) -> tuple[Printed, ...]:
    return tuple(
        Printed(name, place, value, "tabulated")
        for name, row in zip(_SETS, rows, strict=True)
        for place, value in zip(places, row, strict=True)
    )


_TABLE_1 = _tabulated(
    (10.0, 20.0, 40.0),
    (3.162, 3.381, 3.668),
    (3.162, 3.435, 3.701),
    (2.449, 3.058, 3.228),
    (1.441, 2.023, 2.508),
    (2.858, 3.464, 3.901),
    (3.643, 3.881, 4.472),
)
_TABLE_2 = _tabulated(
    (1.0, 0.5, 0.1),
    (3.559, 3.790, 3.967),
    (4.375, 4.403, 4.518),
    (3.013, 4.237, 4.310),
    (2.884, 3.405, 3.896),
    (4.042, 4.275, 4.362),
    (4.006, 4.052, 4.472),
)
_FALLS_N = moves("the error falls as patients are added, for every k", True)
_FALLS_EPSILON = moves("the error falls as epsilon grows, for every k", True)
_RISES_K = below("the error is larger for 20 directions than for 5", "k = 5", "k = 20")
_FALLS_N_HIGH = moves("the error falls as patients are added, for every s", True)
_FALLS_EPSILON_HIGH = moves("the error falls as epsilon grows, for every s", True)
_RISES_S = moves("the error rises with s", False)
_FALLS = moves("the error falls as epsilon grows", True)

FIGURES = (
    Figure(
        key="wang-xu-1-n",
        paper=PAPER,
        title="Figure 1, against n",
        shows="The error of LDP-PCA against the number of patients: 40 features, epsilon = 0.5, delta = "
        "10^-4.",
        claim="The error falls as patients are added, and rises with the number of directions k.",
        metric="projector_distance",
        x="n",
        runs=(
            Run("as printed", (_FALLS_N, _RISES_K), recipe="wang-xu-low-n-printed", because=_NOISE),
            Run("10^8 to 10^11 patients", (_FALLS_N, _RISES_K), recipe="wang-xu-low-n-large"),
        ),
        notes=(_CAPTIONS, _DISTANCE),
    ),
    Figure(
        key="wang-xu-1-epsilon",
        paper=PAPER,
        title="Figure 1, against epsilon",
        shows="The error of LDP-PCA against epsilon: 40 features, 10^5 patients, delta = 10^-4.",
        claim="The error falls as epsilon grows.",
        metric="projector_distance",
        x="epsilon",
        runs=(
            Run(
                "as printed", (_FALLS_EPSILON, _RISES_K), recipe="wang-xu-low-epsilon-printed", because=_NOISE
            ),
            Run("10^10 patients", (_FALLS_EPSILON, _RISES_K), recipe="wang-xu-low-epsilon-large"),
            Run(
                "bundled digits, in place of Covertype and Buzz",
                (_FALLS_EPSILON,),
                recipe="wang-xu-real-digits",
            ),
        ),
        notes=(
            _CAPTIONS,
            _DISTANCE,
            "On the 1,797 digits the trend is there, but all errors stay close to a random guess's.",
        ),
    ),
    Figure(
        key="wang-xu-2-n",
        paper=PAPER,
        title="Figure 2, against n",
        shows="The error of sparse LDP-PCA against the number of patients: 400 features, k = 10, epsilon = "
        "2.",
        claim="The error falls as patients are added.",
        metric="projector_distance",
        x="n",
        runs=(
            Run("as printed", (_FALLS_N_HIGH,), recipe="wang-xu-high-n-printed", because=_NOISE_HIGH),
            Run("10^10 to 10^12 patients", (_FALLS_N_HIGH,), recipe="wang-xu-high-n-large"),
        ),
        notes=(
            _CAPTIONS,
            _DISTANCE,
            "The text says epsilon = 1, the captions 2; delta is that of the other figure.",
        ),
    ),
    Figure(
        key="wang-xu-2-epsilon",
        paper=PAPER,
        title="Figure 2, against epsilon",
        shows="The error of sparse LDP-PCA against epsilon: 400 features, k = 10, 2,000 patients.",
        claim="The error falls as epsilon grows.",
        metric="projector_distance",
        x="epsilon",
        runs=(
            Run(
                "as printed",
                (_FALLS_EPSILON_HIGH,),
                recipe="wang-xu-high-epsilon-printed",
                because=_NOISE_HIGH,
            ),
            Run("10^11 patients", (_FALLS_EPSILON_HIGH,), recipe="wang-xu-high-epsilon-large"),
        ),
        notes=(_CAPTIONS, _DISTANCE),
    ),
    Figure(
        key="wang-xu-table-1",
        paper=PAPER,
        title="Table 1",
        shows="The error of sparse LDP-PCA against the sparsity s: k = 10, epsilon = 2.",
        claim="The error rises with s on each of six data sets.",
        metric="projector_distance",
        x="s",
        runs=(
            Run(
                "2,000 patients, synthetic",
                (_RISES_S,),
                recipe="wang-xu-table-1-printed",
                because=_NOISE_HIGH,
            ),
            Run("10^11 patients, synthetic", (_RISES_S,), recipe="wang-xu-table-1-large"),
        ),
        printed=_TABLE_1,
        notes=(
            _TABLES,
            _DISTANCE,
            "4.472 for NIPS is sqrt 20, the largest distance there is: total failure.",
        ),
    ),
    Figure(
        key="wang-xu-table-2",
        paper=PAPER,
        title="Table 2",
        shows="The error of sparse LDP-PCA against epsilon: k = 10, s = 20.",
        claim="The error falls as epsilon grows on each of six data sets.",
        metric="projector_distance",
        x="epsilon",
        runs=(
            Run(
                "2,000 patients, synthetic", (_FALLS,), recipe="wang-xu-table-2-printed", because=_NOISE_HIGH
            ),
            Run("10^11 patients, synthetic", (_FALLS,), recipe="wang-xu-table-2-large"),
            Run(
                "bundled digits",
                (_FALLS,),
                recipe="wang-xu-table-2-digits",
                because="1,797 images in the local model: the noise of the mean outweighs every eigenvalue.",
            ),
        ),
        printed=_TABLE_2,
        notes=(
            _TABLES,
            _DISTANCE,
            "4.518 for Leukemia exceeds sqrt 20 = 4.472, the largest distance that two spaces of ten "
            "directions "
            "can have: it cannot be this distance.",
        ),
    ),
)
