"""Name the protocols of this page, and the groups of them. No Streamlit here."""

from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.methods import METHODS

# A protocol has its method's title, except where two share a method.
PROTOCOL_NAMES = {key: METHODS[protocol.method].title for key, protocol in PROTOCOLS.items()} | {
    NO_PRIVACY: "Best, no privacy",
    f"alone, {NO_PRIVACY}": "Best, no privacy",
    "dps_pca secure": "DPS-PCA, sealed sums",
    "full": "Full noisy moments",
    "dps_pca shared": "DPS-PCA, shared noise",
}

# Headings of the protocols by whom the hospitals trust.
JOIN_TITLES = {
    "none": "Joined, no privacy",
    "central": "Joined, trusting one place",
    "secure aggregation": "Joined, sealed sums",
    "untrusted server": "Joined, trusting nobody",
    "one message": "Two messages undo the noise",
    "alone": "Alone, with privacy",
    "alone, none": "Alone, no privacy",
}
