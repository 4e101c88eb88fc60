"""The result of a joint study as plain JSON, and its files in one ZIP, as of any release.

Numbers that score new rows have the names that they have in `private_release`, so that the same programs
apply them (`release.applying`). Whoever has the same files gets the same bytes.
"""

import html
from typing import Any

from dppca_core.joint import in_words, strict_json
from dppca_core.joint.combine import JointResult
from dppca_core.methods import METHODS
from dppca_core.release import bundle
from dppca_core.release.code_version import code_version
from dppca_core.tables.export import safe_csv

NAME = "joint-study.zip"
_NOTES = {
    "report.md": "what was found, who took part, and what is promised to whom",
    "plan.json": "what the hospitals agreed on",
    "components.csv": "the components, a line for each feature; ± is twice the noise in a loading",
    "release.json": "all numbers of the result",
}


def document(result: JointResult) -> dict[str, Any]:
    """Return all of a result as plain JSON."""
    plan = result.plan
    return {
        "what": f"{METHODS[plan.method].title}, by mail",
        "method": plan.method,
        "joint plan": plan.digest,
        "words": " ".join(plan.words),
        "promise": METHODS[plan.method].guarantee,
        "hospitals": [
            {
                "name": hospital.name,
                "patients": n,
                "epsilon": hospital.epsilon,
                "delta": hospital.delta,
                "weight": weight,
            }
            for hospital, n, weight in zip(result.there, result.patients, result.shares.tolist(), strict=True)
        ],
        "missing": [hospital.name for hospital in result.missing],
        "turned without each": None if result.turned is None else result.turned.tolist(),
        "public": {"dictionary": plan.dictionary.published.model_dump()},
        "features": list(plan.dictionary.features),
        "components": result.components.T.tolist(),
        "noise of components": result.loading_std.T.tolist(),
        "eigenvalues": None if result.eigenvalues is None else result.eigenvalues.tolist(),
        "error of eigenvalues": result.eigenvalue_error,
        "mean": None if result.mean is None else result.mean.tolist(),
        "scales": None if result.divisors is None else result.divisors.tolist(),
        "length after scaling": None,
        # With a fitted bound rows are not divided by the dictionary's (`release.applying`).
        "fitted bound": {"rows": plan.rows} if plan.fitted else None,
        "code": dict(code_version()),
    }


def report(result: JointResult) -> str:
    """Return the report: result, plan, promise, in Markdown."""
    plan = result.plan
    lines = [f"# {plan.name}", ""]
    for title, sentences in (
        ("What was found", in_words.result(result)),
        ("What was agreed", [*in_words.plan(plan), *in_words.digest(plan)]),
        ("What is promised", _promises(result)),
        ("What is not covered", list(NOT_COVERED)),
    ):
        listed = (f"- {html.escape(sentence.strip(), quote=False)}" for sentence in sentences)
        lines += [f"## {title}", "", *listed, ""]
    return "\n".join(lines)


def files(result: JointResult) -> dict[str, str]:
    """Return the texts of the bundle's files by name, README.txt first."""
    made = document(result)
    texts = {
        "report.md": report(result),
        "plan.json": result.plan.to_json().decode(),
        "components.csv": safe_csv(bundle.loadings(made)),
        "release.json": strict_json.indented(made).decode(),
        **bundle.to_apply(made),
    }
    return bundle.listed(texts, _NOTES)


NOT_COVERED = (
    "A patient in two hospitals of the study is in two files, and loses what both cost together.",
    "Weights, sizes, names and the dictionary are public.",
    "A hospital that lies can spoil the result, and learns nothing more about another's patients.",
    "Intervals count the noise alone: neither who the patients happen to be, nor what shortening long rows "
    "and leaving patients out change.",
)


def _promises(result: JointResult) -> list[str]:
    each = [
        f"{hospital.name}: ε = {hospital.epsilon:g}, δ = {hospital.delta:g} for each of its patients, by its "
        "own noise."
        for hospital in result.there
    ]
    return [*each, "What was done with the files afterwards costs nothing, and can be repeated by anybody."]
