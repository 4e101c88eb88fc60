"""The plan of a joint study: what all hospitals agree on, in one file, with a digest that can be read aloud.

{"name": "Five clinics", "method": "own_noise_sparse", "rows": "centred", "k": 2,
 "hospitals": [{"name": "North", "patients": 900, "epsilon": 1.0, "delta": 1e-06}, ...],
 "dictionary": {"fields": [...], "bound": 2.1}}

Left out where they are as usual: s_hat (all measurements), rank (2k), neighbours ("replace-one"),
patient_column and counting (each row is a patient). "name" tells one plan from another of the same content.

Digest. SHA-256 of the plan's canonical JSON, made of what was read and not of the file's bytes: blanks and
the order of keys do not count, all else does. Its first 128 bits are 12 words of BIP-39's English list, which
was made for reading aloud: no two words have the same first four letters, and a part of the last word checks
the others. Whoever could make another plan with the same words needs 2^128 tries, or 2^64 for a pair of plans
of their own making.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from dppca_core import checks
from dppca_core.federated.plan import MOST_PATIENTS
from dppca_core.joint import strict_json
from dppca_core.mechanisms.paid_lengths import FittedBound, Layout
from dppca_core.privacy import Budget, Neighbours
from dppca_core.release import fitted_bound
from dppca_core.release.request import Request
from dppca_core.tables import Schema, limits
from dppca_core.tables.layout import layout_of
from dppca_core.tables.patients import AVERAGED, MERGED, Counting

METHODS_BY_MAIL = ("own_noise_sparse", "dpdis_pca", "federated_projector")
FITTED_ROWS = ("centred", "standardised")
ROWS = (*FITTED_ROWS, "public")
MOST_HOSPITALS = 200
_LONGEST_NAME = 60
_NEEDED = ("name", "method", "rows", "k", "hospitals", "dictionary")
_USUAL = {"s_hat": None, "rank": None, "neighbours": "replace-one", "patient_column": ""}
_USUAL |= {"counting": AVERAGED}


@dataclass(frozen=True)
class PlannedHospital:
    """Hold one hospital of a plan: its name, its stated number of patients, and its patients' guarantee.

    Raises ValueError for a field out of range. A name has 60 letters at most, none of them `/`, `\\` or the
    like, as it is part of a file's name.
    """

    name: str
    patients: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _check_name(self.name, "name of a hospital")
        checks.whole(2, MOST_PATIENTS, patients=self.patients)
        Budget(self.epsilon, self.delta)  # for what it raises
        object.__setattr__(self, "epsilon", float(self.epsilon))  # 1 and 1.0 are one plan
        object.__setattr__(self, "delta", float(self.delta))

    @property
    def file_name(self) -> str:
        """Return the name of its answer's file."""
        return f"answer-{self.name.replace(' ', '-')}.json"


@dataclass(frozen=True)
class JointPlan:
    """Hold what hospitals agree on for one study by mail. Raises ValueError for a field out of its range.

    Attributes:
        name: The study's, which tells it from others.
        dictionary: By which every hospital encodes its table. It is public, all of it.
        method: One of METHODS_BY_MAIL.
        rows: "centred" or "standardised": rows about their mean, whose bound is fitted to their lengths, for
            `own_noise_sparse` alone. "public": rows about the public middles, shortened to the dictionary's
            bound; by `own_noise_sparse` to length 1.
        k: Components.
        hospitals: At least one, of different names.
        s_hat: Measurements that the sparse step keeps; None keeps all.
        rank: R of DPdisPCA, the directions that a hospital sends; None for min(2k, d).
        neighbours: As for `Budget`, of all hospitals.
        patient_column: Names the patients, where one may have several rows; "" where each row is a patient.
        counting: How the rows of one patient count (`tables.encode.prepare`).
    """

    name: str
    dictionary: Schema
    method: str
    rows: str
    k: int
    hospitals: tuple[PlannedHospital, ...]
    s_hat: int | None = None
    rank: int | None = None
    neighbours: Neighbours = "replace-one"
    patient_column: str = ""
    counting: Counting = AVERAGED

    def __post_init__(self) -> None:
        _check_name(self.name, "name of the plan")
        checks.instance(Schema, dictionary=self.dictionary)
        checks.one_of(METHODS_BY_MAIL, method=self.method)
        checks.one_of(ROWS, rows=self.rows)
        if self.fitted and self.method != "own_noise_sparse":
            raise ValueError(f"rows must be public for {self.method}, which has no fitted bound")
        if self.rank is not None and self.method != "dpdis_pca":
            raise ValueError("rank is stated for dpdis_pca alone")
        if self.s_hat is not None and self.method != "own_noise_sparse":
            raise ValueError("s_hat is stated for own_noise_sparse alone")
        checks.whole(1, MOST_HOSPITALS, hospitals=len(self.hospitals))
        files = [hospital.file_name.casefold() for hospital in self.hospitals]
        if len(set(files)) < len(files):
            raise ValueError("hospitals must have different names")
        column = self.patient_column
        if not isinstance(column, str) or not column.isprintable() or len(column) > limits.MOST_NAME:
            raise ValueError(f"patient_column must be a name of at most {limits.MOST_NAME} letters")
        if isinstance(self.counting, str):
            checks.one_of((AVERAGED, MERGED), counting=self.counting)
        else:
            checks.whole(1, counting=self.counting)
        if not self.patient_column and self.counting != AVERAGED:
            raise ValueError("counting is stated where a patient_column is")
        if self.neighbours == "add-remove" and self.layout.complete:
            raise ValueError(
                "neighbours must be replace-one: the dictionary fills every missing cell, so that no "
                "patient's row can be empty"
            )
        if self.fitted:
            checks.whole(1, self.layout.rank - 1, k=self.k)
            if self.counting not in (AVERAGED, MERGED, 1):
                raise ValueError("counting must be averaged or merged where a bound is fitted to the rows")
        for hospital in self.hospitals:
            # It checks d, k, s_hat, rank and the budget.
            self.request(hospital, hospital.patients)

    @property
    def d(self) -> int:
        return self.dictionary.d

    @property
    def fitted(self) -> bool:
        """Return whether the bound of rows is fitted to their lengths, which are paid for."""
        return self.rows in FITTED_ROWS

    @property
    def averaged(self) -> bool:
        """Return whether a column names the patients, whose rows together count as one."""
        return bool(self.patient_column)

    @cached_property
    def layout(self) -> Layout:
        return layout_of(self.dictionary)

    def hospital(self, name: str) -> PlannedHospital:
        """Return the hospital of this name. Raises ValueError, with the names that there are, for another."""
        for hospital in self.hospitals:
            if hospital.name.casefold() == name.strip().casefold():
                return hospital
        known = ", ".join(hospital.name for hospital in self.hospitals)
        raise ValueError(f"the plan has no hospital {name.strip()[:_LONGEST_NAME]!r}: it has {known}")

    def budget(self, hospital: PlannedHospital) -> Budget:
        return Budget(hospital.epsilon, hospital.delta, self.neighbours)

    def request(self, hospital: PlannedHospital, n: int) -> Request:
        """Return what a hospital with n patients releases, for its own table alone.

        Raises ValueError for what cannot be released.
        """
        # A projector has a path of its own; its moment is checked as DPdisPCA's is.
        method = "dpdis_pca" if self.method == "federated_projector" else self.method
        asked = Request(
            method,
            self.d,
            self.k,
            self.budget(hospital),
            s_hat=self.s_hat,
            rank=self.rank,
            averaged=self.averaged,
        )
        if not self.fitted:
            return asked
        return fitted_bound.requested(asked, self.layout, n, standardised=self.rows == "standardised")

    def rule(self, hospital: PlannedHospital, n: int) -> FittedBound:
        """Return by what rules a hospital with n patients fits its bound. They are public."""
        return fitted_bound.rule_of(self.request(hospital, n), self.layout, n, hospitals=1)

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as plain JSON, without what is as usual."""
        optional = {name: getattr(self, name) for name in _USUAL}
        return {
            "name": self.name,
            "method": self.method,
            "rows": self.rows,
            "k": self.k,
            **{name: value for name, value in optional.items() if value != _USUAL[name]},
            "hospitals": [asdict(hospital) for hospital in self.hospitals],
            "dictionary": self.dictionary.model_dump(),
        }

    @staticmethod
    def from_plain(json_value: object) -> "JointPlan":
        """Return the plan of an object from JSON. Raises ValueError, one sentence, for anything else."""
        given = strict_json.check_keys("the plan", json_value, _NEEDED, _USUAL)
        dictionary = Schema.from_json(strict_json.canonical(given["dictionary"]))
        if not isinstance(given["hospitals"], list):
            raise ValueError("hospitals must be a list")
        optional: Mapping[str, Any] = {name: given[name] for name in _USUAL if name in given}
        return JointPlan(
            name=given["name"],
            dictionary=dictionary,
            method=given["method"],
            rows=given["rows"],
            k=given["k"],
            hospitals=tuple(map(_planned_hospital, given["hospitals"])),
            **optional,
        )

    def to_json(self) -> bytes:
        """Return the file of the plan."""
        return strict_json.indented(self.to_plain())

    @staticmethod
    def from_json(data: bytes) -> "JointPlan":
        """Return the plan of a file. Raises ValueError, one sentence, for anything else."""
        return JointPlan.from_plain(strict_json.parse(data, "the plan"))

    @cached_property
    def digest(self) -> str:
        """Return SHA-256 of the plan, in hexadecimal digits."""
        return strict_json.digest(self.to_plain())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Return the digest as 12 words, by the module's text."""
        from mnemonic import Mnemonic  # here: it reads a list of words

        return tuple(Mnemonic("english").to_mnemonic(bytes.fromhex(self.digest)[:16]).split())


def _planned_hospital(json_value: object) -> PlannedHospital:
    names = ("name", "patients", "epsilon", "delta")
    return PlannedHospital(**strict_json.check_keys("a hospital of the plan", json_value, names))


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or not 1 <= len(name) <= _LONGEST_NAME:
        raise ValueError(f"{what} must have 1 to {_LONGEST_NAME} letters")
    if name != name.strip() or not all(letter.isalnum() or letter in " .,'()&+-_" for letter in name):
        raise ValueError(f"{what} must be of letters, digits, blanks and .,'()&+-_ alone")
    if name.startswith("."):
        raise ValueError(f"{what} must not begin with a dot")
