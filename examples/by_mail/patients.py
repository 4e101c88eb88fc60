"""Invent the five tables of this study: 3,000 patients who do not exist, from a seed.

    python -m examples.by_mail.patients

Two things go together in them: weight, blood pressure, sugar and fats; and age with the kidneys. Some
hospitals have older or heavier patients. Nothing of it is taken from real patients.
"""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent
HOSPITALS = {"North": 700, "South": 600, "Harbour": 500, "Hill": 800, "University": 400}
# Column: mean, deviation, loadings on metabolism and on age, digits.
COLUMNS = {
    "age": (62.0, 11.0, 0.1, 0.9, 0),
    "bmi": (27.5, 4.0, 0.8, -0.1, 1),
    "systolic": (135.0, 16.0, 0.6, 0.5, 0),
    "diastolic": (80.0, 10.0, 0.6, -0.2, 0),
    "glucose": (6.2, 1.3, 0.8, 0.2, 1),
    "triglycerides": (1.8, 0.7, 0.8, 0.0, 2),
    "hdl": (1.35, 0.3, -0.7, 0.1, 2),
    "creatinine": (88.0, 20.0, 0.1, 0.8, 0),
    "urea": (6.0, 1.6, 0.1, 0.8, 1),
}


def tables(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return each hospital's table by its name."""
    generators = (np.random.default_rng([seed, place]) for place in range(len(HOSPITALS)))
    return {name: _table(n, rng) for (name, n), rng in zip(HOSPITALS.items(), generators, strict=True)}


def _table(n: int, rng: np.random.Generator) -> pd.DataFrame:
    metabolism, age = rng.standard_normal((2, n)) + 0.3 * rng.standard_normal((2, 1))
    columns = {}
    for name, (mean, deviation, first, second, digits) in COLUMNS.items():
        rest = np.sqrt(1 - first**2 - second**2)
        latent = first * metabolism + second * age + rest * rng.standard_normal(n)
        columns[name] = np.round(np.maximum(mean + deviation * latent, 0.1 * mean), digits)
    columns["sex"] = np.where(rng.random(n) < 0.5, "f", "m")
    columns["smoker"] = np.where(rng.random(n) < 0.2 + 0.1 * (metabolism > 0), "yes", "no")
    table = pd.DataFrame(columns)
    # Some cells are missing, as anywhere.
    return table.mask(rng.random(table.shape) < 0.01)


def main() -> None:
    for name, table in tables().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
