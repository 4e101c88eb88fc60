"""Name things on screen: metrics, trust. No Streamlit here."""

from pages.shared.text.numbers import duration, percent

METRIC_TITLES = {
    "sin": "error ‖sin Θ‖<sub>F</sub>",
    "projector": "error ‖VVᵀ − WWᵀ‖<sub>F</sub>",
    "energy": "captured energy (share)",
    "share": "share of the pattern recovered (%)",
    "degrees": "largest angle (degrees)",
}

# Whom the hospitals trust, in the same words on every page.
TRUST_TITLES = {
    "none": "No privacy",
    "central": "One place",
    "untrusted server": "Nobody",
    "secure aggregation": "Sealed sums",
    "local": "Not even the hospital",
}


def trust_heading(trust: str) -> str:
    title = TRUST_TITLES[trust]
    return title if trust == "none" else f"Trust: {title.lower()}"


def declared_signal(signal: float) -> str:
    """Say on what a recommendation rests; signal: the variance's share in the components."""
    return f"the declared share of variance in the components ({percent(signal)})"


NO_COST = "Privacy has no measurable cost here."
# How hospitals join, in the words of a sentence, by whom they trust.
JOINING = {
    "untrusted server": "Trusting nobody",
    "secure aggregation": "With sealed sums",
    "central": "With one trusted place",
}

RELATIONS = {
    "replace-one": "neighbouring data sets differ by replacing one patient's record",
    "add-remove": "neighbouring data sets differ by adding or removing one patient's record",
}

MEASURING = "Measuring …"


def first_answer_comes(seconds: float) -> str:
    return f"The first answer takes about {duration(seconds)}."


def first_answer_takes(seconds: float) -> str:
    return f"A first answer takes about {duration(seconds)} here. Nothing is measured until you ask for it."
