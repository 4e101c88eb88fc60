"""The registry record of a planned release, as a draft, with the fields of `release.registry_record`."""

from typing import Any

import yaml

from dppca_core.dossier.agreement import Agreement, blank
from dppca_core.release.registry_record import IN_WORDS, about_mu, parameters


def record(agreement: Agreement) -> dict[str, Any]:
    """Return the record of a joint release, as plain values; what only the hospital knows is blank."""
    setting, method, budget = agreement.setting, agreement.method, agreement.budget
    trust = IN_WORDS[agreement.noise_by]
    d, events = setting.experiment.d, len(agreement.events)
    each = ", ".join(dict.fromkeys(f"{hospital.epsilon:g}" for hospital in setting.hospitals))
    return {
        "url_slug": "private-principal-components",
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": blank("name of the data product"),
                "data_curators": [blank("who publishes it")],
                "intended_use": blank("purpose"),
                "data_product_type": "Summary statistics",
                "data_product_region": blank("region, and whose laws apply"),
                "description": f"{setting.k} principal components of {d} features of {setting.n:,} patients "
                f"of {len(setting.hospitals):,} hospitals. Planned: nothing was released yet.",
                "publication_date": blank("date of the release, as YYYY-MM-DD"),
                "data_product_sector": "Healthcare",
            },
            "dp_variant": {
                "variant_name": "Approximate DP",
                "data_domain": "Tables with the columns of a public dictionary, one row a patient; each row "
                "is encoded by it and shortened or scaled to a public length.",
                "unprotected_quantities": "The dictionary (ranges, categories, length), the ranges that "
                "laboratories print, the number of hospitals, the number of patients of each, and the "
                "privacy loss that each asks for.",
            },
            "privacy_loss": {
                "privacy_unit": "Patient-level",
                "privacy_unit_details": "Neighbouring data sets differ by replacing one patient's record in "
                "one hospital. A patient with records in several hospitals is protected less.",
                "privacy_parameters": parameters(budget.epsilon, budget.delta, agreement.mu),
                "privacy_parameters_details": f"For the patients of {agreement.ours.name}. Hospitals ask for "
                f"epsilon = {each}. {about_mu(agreement.mu)}",
            },
            "deployment_model": {
                "model_name": trust.model,
                "model_name_details": trust.model_details,
                "actors": f"{len(setting.hospitals):,} hospitals, and a server. {blank('who runs it')}.",
                "release_type": "One release",
                "release_type_details": "Other releases about the same patients add up: see the account of "
                "five years.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "All that follows the noise uses released numbers only: directions, their "
                "order and signs.",
                "composition": f"{events} event{'s' if events > 1 else ''}, composed adaptively and exactly. "
                f"Noise multiplier of all together: {agreement.multiplier:.6g}.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "Numbers of the method follow from public "
                f"numbers, or from what was released. {blank('how columns and ranges were chosen')}.",
                "mechanisms": f"{method.title} ({method.reference}), Gaussian noise by exact calibration. "
                "Here it was simulated, with noise drawn in floating point.",
                "justification": blank("why these choices"),
            },
            "administrative": {
                "sources": blank("links to what describes the release"),
                "notes": "Written before any release, from simulated runs.",
                "registry_authors": [blank("authors of this record")],
            },
        },
    }


def to_yaml(agreement: Agreement) -> str:
    text: str = yaml.safe_dump(record(agreement), sort_keys=False, allow_unicode=True, width=100)
    return text
