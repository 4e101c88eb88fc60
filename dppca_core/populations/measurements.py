"""The names of measurements, so that a pattern reads "systolic blood pressure, creatinine, age".

A real table has names of its own. Those of simulated patients come from the dictionary below. It is invented
and no hospital's: only names are taken from it, and no simulated value has the law of the measurement whose
name it has.
"""

from functools import lru_cache
from itertools import chain, zip_longest

import numpy as np

from dppca_core import datasets
from dppca_core.arrays import Indices
from dppca_core.populations import heart_disease
from dppca_core.populations.differing import DifferingHospitals
from dppca_core.populations.synthetic import Synthetic

# One group for each of `clinical.FACTORS`, in their order, as long as the factor has columns.
BY_FACTOR = (
    (
        "systolic blood pressure",
        "diastolic blood pressure",
        "mean arterial pressure",
        "pulse pressure",
        "pulse wave velocity",
        "left ventricular mass",
        "NT-proBNP",
        "troponin",
    ),
    ("creatinine", "urea", "cystatin C", "uric acid", "urine albumin", "phosphate", "potassium"),
    ("C-reactive protein", "sedimentation rate", "white blood cells", "fibrinogen", "ferritin"),
)
OTHERS = (
    *("age", "body mass index", "waist", "height", "pulse"),
    *("breathing rate", "body temperature", "oxygen saturation", "lung capacity", "grip strength"),
    *("fasting glucose", "HbA1c", "insulin", "total cholesterol", "LDL cholesterol"),
    *("HDL cholesterol", "triglycerides", "ALT", "AST", "bilirubin"),
    *("haemoglobin", "platelets", "sodium", "chloride", "calcium"),
    *("magnesium", "albumin", "TSH", "vitamin D", "vitamin B12"),
)
DICTIONARY = (*chain(*BY_FACTOR), *OTHERS)
# The same names in turn from each group, so that the first few are not all of one.
_MIXED = tuple(name for turn in zip_longest(*BY_FACTOR, OTHERS) for name in turn if name)


@lru_cache(maxsize=64)
def names(population: Synthetic | DifferingHospitals | str, d: int) -> tuple[str, ...]:
    """Return the names of a population's measurements.

    population: a model, hospitals that differ, or the name of a table. Of simulated patients, the columns
    that the pattern is made of have the first names. Where hospitals differ each factor has those of its
    group, and in a spiked model all groups take turns. From the 51st on, a name is a number.
    """
    if isinstance(population, str):
        return datasets.table(population).features
    if isinstance(population, Synthetic):
        return _given(np.flatnonzero(population.basis.any(axis=1)), d, _MIXED)
    if population.public_model is None:
        return heart_disease.TABLE.features
    return _given(np.concatenate(population.public_model.columns_by_factor()[:-1]), d, DICTIONARY)


def _given(first: Indices, d: int, dictionary: tuple[str, ...]) -> tuple[str, ...]:
    """Return a dictionary's names, (d,): those of the `first` columns in their order, then of the others."""
    order = np.concatenate([first, np.setdiff1d(np.arange(d), first)])
    in_order = (*dictionary, *(f"measurement {number + 1}" for number in range(len(dictionary), d)))
    return tuple(in_order[place] for place in np.argsort(order))
