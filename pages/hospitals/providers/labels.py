"""Name the groups of protocols. No Streamlit here."""

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
