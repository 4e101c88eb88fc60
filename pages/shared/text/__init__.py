"""Form text for screens: numbers, labels and phrases about privacy. No Streamlit here."""
# ruff: noqa: F401 -- this module gathers the names of the others

from pages.shared.text.labels import JOIN_TITLES, JOIN_WAYS, MEASURING, METRIC_TITLES, RELATIONS, TRUST_TITLES
from pages.shared.text.markdown import brief, sentence, symbols, unmarked
from pages.shared.text.numbers import count, duration, error, listed, number, patients, percent, short, size
from pages.shared.text.privacy_phrases import (
    GUARANTEE_MARKS,
    GUARANTEES,
    PLAIN_GUARANTEES,
    even_odds,
    guarantee,
    guarantee_notes,
    large_delta,
    margin,
    odds,
    one_in,
    printed_truth,
    sides,
)
