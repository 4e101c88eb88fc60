"""Name things on screen: metrics, trust, protocols. No Streamlit here."""

METRIC_TITLES = {
    "sin": "error ‖sin Θ‖<sub>F</sub>",
    "projector": "error ‖VVᵀ − WWᵀ‖<sub>F</sub>",
    "energy": "captured energy (share)",
    "share": "share of the pattern recovered (%)",
    "degrees": "largest angle (degrees)",
}

TRUST_TITLES = {
    "none": "No privacy",
    "central": "Trusted curator",
    "untrusted server": "Untrusted server",
    "secure aggregation": "Secure aggregation",
    "local": "No trust at all",
}

# Names of the protocols that share a method, whose title would be ambiguous.
JOIN_WAYS = {
    "pca": "PCA",
    "sparse_pca": "Sparse PCA",
    "dps_pca secure": "DPS-PCA, secure sums",
    "full": "Full noisy moments",
    "dpdis_pca": "DPdisPCA",
    "federated_projector": "Averaged projectors",
    "dps_pca": "DPS-PCA, own noise",
    "dps_pca shared": "DPS-PCA, shared noise",
    "two_stage_sealed": "Two stages, secure sums",
    "two_stage_own_noise": "Two stages, own noise",
    "alone open": "PCA",
    "alone open sparse": "Sparse PCA",
    "sparse_pca_shrunk": "Sparse PCA that shrinks",
    "alone open shrunk": "Sparse PCA that shrinks",
}

# Headings of the protocols by whom the hospitals trust.
JOIN_TITLES = {
    "none": "Joined, no privacy",
    "central": "Joined, trusted curator",
    "secure aggregation": "Joined, secure sums",
    "untrusted server": "Joined, untrusted server",
    "one message": "Undone by two messages",
    "alone": "Alone, protected",
    "alone, none": "Alone, unprotected",
}

RELATIONS = {
    "replace-one": "neighbouring data sets differ by replacing one patient's record",
    "add-remove": "neighbouring data sets differ by adding or removing one patient's record",
}


MEASURING = "Measuring …"
