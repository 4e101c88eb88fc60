"""Tables 1 and 2 of Wang & Xu (IJCAI 2019): six data sets against sparsity and epsilon.

Their numbers are known, but their data are not here: the checks are those of the trends in the text, on the
paper's own synthetic population.
"""

from dppca_core.experiments.papers.claims import moves
from dppca_core.experiments.papers.figure import Figure, PaperRun, Printed
from dppca_core.experiments.papers.wang_xu import DISTANCE, NOISE_HIGH, PAPER

_TABLES = (
    "The six data sets were not available, so the parameters are run on the paper's own synthetic "
    "population. How s enters for a table is not said: the algorithm has only the penalty lambda, not given."
)
_SETS = ("cancer RNA-Seq", "Leukemia", "Colon cancer", "isolet5", "lung", "NIPS")


def _tabulated(columns: tuple[float, ...], *rows: tuple[float, ...]) -> tuple[Printed, ...]:
    return tuple(
        Printed(name, x, value, "tabulated")
        for name, row in zip(_SETS, rows, strict=True)
        for x, value in zip(columns, row, strict=True)
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
_RISES_S = moves("the error rises with s", False)
_FALLS = moves("the error falls as epsilon grows", True)

FIGURES = (
    Figure(
        key="wang-xu-table-1",
        paper=PAPER,
        title="Table 1",
        shows="The error of sparse LDP-PCA against the sparsity s: k = 10, epsilon = 2.",
        claim="The error rises with s on each of six data sets.",
        metric="projector_distance",
        x="s",
        runs=(
            PaperRun(
                "2,000 patients, synthetic",
                (_RISES_S,),
                recipe="wang-xu-table-1-printed",
                because=NOISE_HIGH,
            ),
            PaperRun("10^11 patients, synthetic", (_RISES_S,), recipe="wang-xu-table-1-large"),
        ),
        printed=_TABLE_1,
        notes=(
            _TABLES,
            DISTANCE,
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
            PaperRun(
                "2,000 patients, synthetic", (_FALLS,), recipe="wang-xu-table-2-printed", because=NOISE_HIGH
            ),
            PaperRun("10^11 patients, synthetic", (_FALLS,), recipe="wang-xu-table-2-large"),
            PaperRun(
                "bundled digits",
                (_FALLS,),
                recipe="wang-xu-table-2-digits",
                because="1,797 images in the local model: the noise of the mean outweighs every eigenvalue.",
            ),
        ),
        printed=_TABLE_2,
        notes=(
            _TABLES,
            DISTANCE,
            "4.518 for Leukemia exceeds sqrt 20 = 4.472, the largest distance that two spaces of ten "
            "directions can have: it cannot be this distance.",
        ),
    ),
)
