"""Tables 1 and 2 of Wang & Xu (IJCAI 2019): six data sets against sparsity and epsilon.

Their numbers are known, but their data are not here: the checks are those of the trends in the text, on the
paper's own synthetic population.
"""

from dppca_core.experiments.papers.claims import moves
from dppca_core.experiments.papers.figure import Check, PaperRun, printed
from dppca_core.experiments.papers.wang_xu import DISTANCE, NOISE_HIGH, printed_and_large, wang_xu_figure

_TABLES = (
    "The six data sets were not available, so the parameters are run on the paper's own synthetic "
    "population. How s enters for a table is not said: the algorithm has only the penalty lambda, not given."
)
_TABLE_1 = printed(
    "tabulated",
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
    "tabulated",
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
_RISES_S = moves("the error rises with s", False)
_FALLS = moves("the error falls as epsilon grows", True)


def _runs(name: str, check: Check) -> tuple[PaperRun, PaperRun]:
    large = "10^11 patients, synthetic"
    return printed_and_large(name, (check,), NOISE_HIGH, large, printed="2,000 patients, synthetic")


FIGURES = (
    wang_xu_figure(
        key="wang-xu-table-1",
        title="Table 1",
        shows="The error of sparse LDP-PCA against the sparsity s: k = 10, epsilon = 2.",
        claim="The error rises with s on each of six data sets.",
        x="s",
        runs=_runs("wang-xu-table-1", _RISES_S),
        printed=_TABLE_1,
        notes=(
            _TABLES,
            DISTANCE,
            "4.472 for NIPS is sqrt 20, the largest distance there is: total failure.",
        ),
    ),
    wang_xu_figure(
        key="wang-xu-table-2",
        title="Table 2",
        shows="The error of sparse LDP-PCA against epsilon: k = 10, s = 20.",
        claim="The error falls as epsilon grows on each of six data sets.",
        x="epsilon",
        runs=(
            *_runs("wang-xu-table-2", _FALLS),
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
