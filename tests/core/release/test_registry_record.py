"""The registry's record of a release: its fields, and the unit that the release states."""

import math

import numpy as np
import pytest
import yaml

from dppca_core import Budget
from dppca_core.accounting import gaussian
from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book
from dppca_core.arrays import PatientRows
from dppca_core.release import private_release, registry_record
from dppca_core.release.request import Request
from tests.core.accounts.paying import TABLE

# The sections of the registry's schema and their fields: none other is allowed there.
FIELDS = {
    "basic": "name data_curators intended_use data_product_type data_product_region description "
    "publication_date data_product_sector",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name model_name_details actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors",
}
ENUMS = {
    ("dp_variant", "variant_name"): {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP"},
    ("deployment_model", "model_name"): {"Local", "Central", "Shuffle", "Federated"},
    ("deployment_model", "release_type"): {"One release", "Many releases"},
    ("deployment_model", "data_source_type"): {"Static", "Dynamic"},
    ("deployment_model", "access_type"): {"Interactive", "Non-interactive"},
}
ROWS = np.random.default_rng(0).uniform(-0.4, 0.4, (60, 4))


def read(rows, averaged=False, **options):
    payer = Book().payer(TABLE)
    payer.set_limit(Limit(9.0, 1e-6))
    request = Request(
        options.pop("method", "analyze_gauss"), 4, 2, Budget(2.0, 1e-6), averaged=averaged, **options
    )
    public = {"rows kept of a patient": 3} if averaged else {}
    result = private_release.make(request, rows, payer, features=list("abcd"), public=public)
    whole = yaml.safe_load(registry_record.to_yaml(result.document))
    assert set(whole) == {"url_slug", "status", "tier", "deployment"} and whole["tier"] == 3
    return whole["deployment"]


@pytest.mark.parametrize("method", ["analyze_gauss", "two_stage_own_noise", "sealed_sparse"])
def test_it_has_the_registrys_fields_and_words(method):
    deployment = read([ROWS[:30], ROWS[30:]], method=method)
    assert set(deployment) == set(FIELDS)
    for section, names in FIELDS.items():
        assert set(deployment[section]) <= set(names.split())
    for (section, name), allowed in ENUMS.items():
        assert deployment[section][name] in allowed
    rho = 0.5 / gaussian.noise_multiplier(Budget(2.0, 1e-6)) ** 2
    parameters = {"epsilon": 2.0, "delta": 1e-6, "rho": pytest.approx(rho)}
    assert deployment["privacy_loss"]["privacy_parameters"] == parameters
    assert f"mu = {math.sqrt(2 * rho):.6g}:" in deployment["privacy_loss"]["privacy_parameters_details"]
    assert deployment["deployment_model"]["model_name"] == (
        "Central" if method == "analyze_gauss" else "Federated"
    )


def test_the_unit_is_that_of_the_release():
    """A patient where each has one row or rows count once, a row where a patient can have several."""
    assert read([ROWS])["privacy_loss"]["privacy_unit"] == "Patient-level"
    several = read([ROWS], rows_per_patient=8)["privacy_loss"]
    assert several["privacy_unit"] == "Row-level" and "with 8 rows" in several["privacy_unit_details"]
    weights = np.full((60, 1), 0.57)
    once = read([PatientRows(ROWS, weights, 20)], averaged=True)["privacy_loss"]
    assert (
        once["privacy_unit"] == "Patient-level" and "at most 3 rows of each" in once["privacy_unit_details"]
    )
