"""Pack all of a release into one file: numbers, guarantee, payment, recipe, and code that applies it.

It is built from what is public alone: the release's document and the lines of its account. The same release
gives the same bytes.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from dppca_core.accounts.account import Balance, Payment, limit_line, payment_line, to_text
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from dppca_core.release import applying, how_chosen, registry_record
from dppca_core.release.request import Request
from dppca_core.tables import Schema
from dppca_core.tables.export import safe_csv

NAME = "private-release.zip"
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # a fixed date, the earliest in a ZIP: the same bytes whenever it is built
FILE_NOTES = {
    "README.txt": "this list",
    "components.csv": "the components, a line for each feature; ± is twice the noise in a loading",
    "dictionary.json": "the public dictionary: columns, ranges, categories, fills, the bound of rows",
    "release.json": "all that was released, and what is needed to check it",
    "guarantee.md": "what is promised, of whom, and what is not protected",
    "account.jsonl": "the account's limit, and the line that paid for this release",
    "recipe.json": "what was asked for; dppca_core.release.private_release.Request.from_plain reads it",
    "registry-record.yaml": "a record for OpenDP's deployments registry, with what only you know left open",
    "apply.py": "scores new rows: python apply.py new-rows.csv scores.csv. It needs dppca_core. "
    "Words that you mapped by hand are not in dictionary.json: replace them in new rows, or give your saved "
    "dictionary as a third file",
    "apply.R": "scores new rows of a CSV in R, without any package: Rscript apply.R new-rows.csv scores.csv. "
    "Words that you mapped by hand must be replaced before; the first line has the names",
    "apply.csv": "what apply.R reads: the dictionary and the components, a line for each feature. A % in a "
    "name is written as in a web address",
}
_OF_DICTIONARY = ("dictionary.json", "apply.py", "apply.R", "apply.csv")  # a release of an array has none


def recipe(document: Mapping[str, Any]) -> Request:
    """Return the request behind a release, rebuilt from the document that the release published."""
    known = {field.name for field in fields(Request)}
    try:
        asked = {**document["parameters"]}
        budget = Budget(**asked.pop("budget"))
        # A document writes "mean share" for the field mean_share.
        given = {name.replace(" ", "_"): value for name, value in asked.items()}
        return Request(
            method=document["method"],
            budget=budget,
            rows_per_patient=document["rows per patient"],
            averaged=document["unit"] == "patient",
            **{name: value for name, value in given.items() if name in known},
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("this is no document of a release") from error


def loadings(document: Mapping[str, Any]) -> pd.DataFrame:
    """Return the components as a table, a line for each feature, with a ± column beside each component.

    ± is two standard deviations of what the noise alone adds to a loading.
    """
    columns = {f"component {i}": values for i, values in enumerate(document["components"], 1)}
    noise = (np.multiply(2, values) for values in document["noise of components"])
    columns |= {f"± {name}": twice for name, twice in zip(columns, noise, strict=True)}
    return pd.DataFrame({"feature": document["features"], **columns})


def files(document: Mapping[str, Any], account: Balance, payment: Payment) -> dict[str, str]:
    """Return the texts of the bundle's files by file name, README.txt first.

    document: `private_release.Released.document`. payment: what paid for this release.
    account: the account as it stood right after that payment.
    """
    request = recipe(document)
    budget = document["parameters"]["budget"]
    json_value = {
        "method": METHODS[request.method].title,
        "request": asdict(request),
        "features": document["features"],
    }
    texts = {
        "components.csv": safe_csv(loadings(document)),
        "release.json": _to_json(document),
        "guarantee.md": _guarantee_text(document, budget, account, request),
        "account.jsonl": account_lines(account, payment),
        "recipe.json": _to_json(json_value),
        "registry-record.yaml": registry_record.to_yaml(document),
    }
    texts |= to_apply(document)
    names = [name for name in FILE_NOTES if name in texts]
    return listed({name: texts[name] for name in names})


def to_apply(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that score new rows by a release, by name; none for one without a dictionary."""
    if (dictionary := document["public"].get("dictionary")) is None:
        return {}
    schema = Schema.from_json(json.dumps(dictionary))
    texts = _to_json(dictionary), applying.PYTHON, applying.R, safe_csv(applying.table(document, schema))
    return dict(zip(_OF_DICTIONARY, texts, strict=True))


def listed(texts: Mapping[str, str], notes: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return files with README.txt before them, which lists all of them with their notes."""
    known = {**FILE_NOTES, **notes}
    return {"README.txt": "".join(f"{name}: {known[name]}.\n" for name in ("README.txt", *texts)), **texts}


def account_lines(account: Balance, payment: Payment) -> str:
    """Return an account's limit and the line of one paid release, as JSON lines that `Payer.merge` reads."""
    limit = [] if account.limit is None else [limit_line(account.limit, payment.at)]
    return to_text([*limit, payment_line(payment)])


def pack(texts: Mapping[str, str]) -> bytes:
    """Return texts as one ZIP, the same bytes for the same texts."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in texts.items():
            member = zipfile.ZipInfo(name, _ZIP_DATE)
            # Unix and its file mode, on whatever system it is built: the bytes must not depend on that.
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, text.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _guarantee_text(
    document: Mapping[str, Any], budget: Mapping[str, Any], account: Balance, request: Request
) -> str:
    """Return guarantee.md: what the release promises and of whom, what is public, and what was spent."""
    counted = "patient" if request.averaged or request.rows_per_patient == 1 else "row"
    n, delta = sum(document["hospitals"]), budget["delta"]
    delta_text = f"δ is below 1/n: δ n = {delta * n:.3g}"
    if delta * n >= 1:
        delta_text = (
            f"**δ is not below 1/n**: δ n = {delta * n:.3g}, so that it could publish some {counted}s in full"
        )
    of_row = f"- ε for a row: {budget['epsilon']:.4g}.\n" if counted == "row" else ""
    mu, of_patient = (document[name]["mu"] for name in ("trade-off", "trade-off for a patient"))
    more_mu = f", {of_patient:.4g} for a patient" if counted == "row" else ""
    choice, code = document[how_chosen.KEY], document["code"]
    described = "The dictionary (dictionary.json): names, ranges, categories, fills and the bound of rows."
    applied = """`apply.py` does this, and `apply.R` in R.
Words that the owner mapped by hand, as missing or to a category, are not in the published dictionary.
New rows must not hold them, or `apply.py` gets the owner's saved dictionary as its third file."""
    if "dictionary" not in document["public"]:  # it is of an array
        taken = "center, scale and bound" if "bound" in document["public"] else "center and scale"
        described = f"Names of columns; {taken} of rows (public in release.json)."
        applied = "`PrivatePCA.transform` does this."
    return f"""\
# What this release promises

{document["guarantee"]}

- Unit of privacy: a {counted}. {n:,} {counted}s count, and their number is public.
{of_row}- ε for a patient, with all their rows: {request.patient_epsilon:.4g}.
- μ of Gaussian differential privacy (Dong, Roth & Su 2022): {mu:.4g} for a {counted}{more_mu}.
  At any other δ, ε follows from it: δ = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ) (Balle & Wang 2018). Discrete
  Gaussian noise meets it up to terms below e^(-80,000), and meets ρ = μ²/2 of zCDP exactly. release.json
  has the trade-off: the least share of misses of any test with a given share of false alarms.
- δ = {delta:.3g}, and 1/n = {1 / n:.3g}. {delta_text}.
- Neighbours: {budget["neighbours"]}. Noise by {document["calibration"]}.
- {document["noise"]}

## What counts as public, and is not protected

- {described}
- How many {counted}s each hospital has (hospitals in release.json).
- How columns and k were chosen: {escape(choice, quote=False)}.
- What was asked for (recipe.json), and when: {document["at"]}.

## All releases on the same account

{_spent_sentence(account)}
A patient who is in another table, or on another account, loses more: add up what both cost.

## Scores of new rows

{document["scores"]} {applied}
Rows are not shortened for a score, neither to the bound nor to length 1; for the release they were.

## Code

Version {code.get("version") or "not known"}, commit {code.get("commit") or "not known"}.
"""


def _spent_sentence(account: Balance) -> str:
    if account.limit is None:
        return "No limit is known."
    releases = len(account.payments)
    # A limit is for one row; the patient with the most rows, as stated for any release, loses the most. A
    # release that states none is of patients with one row.
    most_rows = max((payment.rows_per_patient or 1 for payment in account.payments), default=1)
    spent, limit = f"{account.spent().epsilon:.4g}", f"{account.limit.epsilon:.4g}"
    by = f"by {releases:,} release{'' if releases == 1 else 's'}, at δ = {account.limit.delta:.3g}."
    if most_rows == 1:
        return f"With this release ε = {spent} of a limit of {limit} is spent, {by}"
    of_patient = f"{account.spent_by_patient(most_rows):.4g} for a patient with {most_rows:,} rows"
    of_row = f"With this release ε = {spent} for a row"
    return f"{of_row}, and {of_patient}, is spent, {by} The limit for a row is {limit}."


def _to_json(json_value: Any) -> str:
    return json.dumps(json_value, indent=1, ensure_ascii=False)
