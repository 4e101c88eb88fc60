"""The record of a release in the form of OpenDP's deployments registry, with its unit of privacy.

Fields and their allowed values are those of `deployments-schema.yaml`, of the repository
opendp/deployments-registry-data on GitHub (MIT). What the release knows is filled in; what only the hospital
knows (`BLANK`) is left for it. A record says nothing that the released document does not say.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from dppca_core.methods import METHODS
from dppca_core.release import how_chosen

BLANK = "To be filled in by the hospital"


class TrustInWords(NamedTuple):
    """Hold a `trust` of a method in the words of papers.

    trusted: whom the hospitals trust. model: the registry's deployment model, with its details. protection:
    what protects a message of a hospital.
    """

    trusted: str
    model: str
    model_details: str
    protection: str


IN_WORDS = {
    "central": TrustInWords(
        trusted="one place",
        model="Central",
        model_details="One place holds all rows and adds the noise.",
        protection="none on the way: the trusted place reads our sums, and adds the noise",
    ),
    "secure aggregation": TrustInWords(
        trusted="sealed sums",
        model="Federated",
        model_details="Hospitals add up their answers so that nobody sees a single one.",
        protection="a share of the common noise, and sealed: only the sum of all hospitals is read",
    ),
    "untrusted server": TrustInWords(
        trusted="nobody",
        model="Federated",
        model_details="Each hospital adds its own noise before anything leaves it.",
        protection="our own noise, added before it leaves",
    ),
}


def parameters(epsilon: float, delta: float, mu: float) -> dict[str, float]:
    """Return the registry's parameters of Gaussian noise: it has a field for rho of zCDP, and none for mu."""
    return {"epsilon": epsilon, "delta": delta, "rho": mu**2 / 2}


def about_mu(mu: float) -> str:
    """Return the mu of the registry's rho in a sentence."""
    return f"As Gaussian differential privacy mu = {mu:.6g}: rho = mu^2/2, and epsilon follows at any delta."


def record(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the registry's record of a release, as plain values."""
    budget = document["parameters"]["budget"]
    replaced = budget["neighbours"] == "replace-one"
    trust = IN_WORDS[METHODS[document["method"]].trust]
    rows = document["rows per patient"]
    unit = "Patient-level" if document["unit"] == "patient" or rows == 1 else "Row-level"
    details, mu = [document["guarantee"]], document["trade-off"]["mu"]
    public = document["public"]
    if document["unit"] == "patient":
        counting = f"all rows of a patient are {public.get('rows of a patient', 'averaged')}"
        if kept := public.get("rows kept of a patient"):
            counting = f"at most {kept:,} rows of each count"
        details.append(f"A patient can have several rows: {counting}.")
    elif rows > 1:
        cost = document["epsilon for a patient"]
        details.append(f"For a patient with {rows:,} rows epsilon is {cost:.4g} at the same delta.")
    stated = document[how_chosen.KEY]
    choice = BLANK if stated == how_chosen.NOT_STATED else stated
    counted, events = "patients" if unit == "Patient-level" else "rows", len(document["events"])
    return {
        "url_slug": "private-principal-components",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": BLANK,
                "data_curators": [BLANK],
                "intended_use": BLANK,
                "data_product_type": "Summary statistics",
                "data_product_region": BLANK,
                "description": f"{document['parameters']['k']} principal components of "
                f"{document['parameters']['d']} features of {sum(document['hospitals']):,} {counted}.",
                "publication_date": document["at"][:10],
                "data_product_sector": "Healthcare",
            },
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": "Tables with the columns of the public dictionary; each row is encoded by it "
                "and shortened to a public length.",
                "unprotected_quantities": "The dictionary (ranges, categories, length) and the number of "
                f"{counted} of each hospital{'' if replaced else ', empty ones included'}.",
            },
            "privacy_loss": {
                "privacy_unit": unit,
                "privacy_unit_details": " ".join(details),
                "privacy_parameters": parameters(budget["epsilon"], budget["delta"], mu),
                "privacy_parameters_details": about_mu(mu),
            },
            "deployment_model": {
                "model_name": trust.model,
                "model_name_details": trust.model_details,
                "release_type": "One release",
                "release_type_details": "Other releases of the same table are on its account and add up.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "All that follows the noise uses released numbers only: directions, "
                "their order and signs.",
                "composition": f"{events} event{'s' if events > 1 else ''}, composed adaptively. "
                f"Noise by {document['calibration']}.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": f"Rows are centred {document['centred']}. "
                f"How columns, ranges and the number of components were chosen: {choice}.",
                "mechanisms": f"{document['what']}. {document['noise']} "
                + ", ".join(f"{name} {version}" for name, version in document["versions"].items()),
                "justification": BLANK,
            },
            "administrative": {"sources": document["reference"], "registry_authors": [BLANK]},
        },
    }


def to_yaml(document: Mapping[str, Any]) -> str:
    text: str = yaml.safe_dump(record(document), sort_keys=False, allow_unicode=True, width=100)
    return text
