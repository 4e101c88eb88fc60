"""Name the protocols of this page, and the groups of them. No Streamlit here."""

from dppca_core.experiments.no_privacy import NO_PRIVACY

# Names of the protocols that share a method, whose title would be ambiguous.
PROTOCOL_NAMES = {
    NO_PRIVACY: "Best without privacy",
    f"alone, {NO_PRIVACY}": "Best without privacy",
    "dps_pca secure": "DPS-PCA, sealed sums",
    "full": "Full noisy moments",
    "dpdis_pca": "DPdisPCA",
    "federated_projector": "Averaged projectors",
    "dps_pca": "DPS-PCA, own noise",
    "dps_pca shared": "DPS-PCA, shared noise",
    "two_stage_sealed": "Two stages, sealed sums",
    "two_stage_own_noise": "Two stages, own noise",
}

# Headings of the protocols by whom the hospitals trust.
JOIN_TITLES = {
    "none": "Joined, no privacy",
    "central": "Joined, trusting one place",
    "secure aggregation": "Joined, sealed sums",
    "untrusted server": "Joined, trusting nobody",
    "one message": "Two messages undo the noise",
    "alone": "Alone, protected",
    "alone, none": "Alone, unprotected",
}
