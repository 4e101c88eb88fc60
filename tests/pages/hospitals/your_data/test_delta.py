"""Test that the failure chance follows the table's number of patients until it is set by hand."""

import pytest

from pages.shared.settings import catalogue
from tests.pages.hospitals.your_data.table_page import csv, patients, prepared

MANY = csv(patients(n=150_000))


def deltas(page):
    """Return the failure chance of the slider, of the limit's form and of what Release would make."""
    limit = next(box for box in page.app.selectbox if str(box.key).startswith("own limit delta"))
    return page.setting("own.delta"), limit.value, page.state.ready.n


def test_it_follows_the_patients_and_is_in_no_link_until_it_is_set():
    page = prepared(**{"own.k": "1", "own.delta_set": "false"})
    assert deltas(page) == (1e-6, 1e-6, 120)
    page.upload(MANY, "more.csv")
    page.answer()
    assert deltas(page) == (1e-8, 1e-8, 150_000)
    assert "own.delta" not in page.link
    page.move("own.epsilon", 1.0)
    assert page.setting("own.delta") == 1e-8
    page.move("own.delta", 1e-9)
    assert page.link["own.delta"] == "1e-09"
    page.upload(csv(patients()), "fewer.csv")
    page.answer()
    assert page.setting("own.delta") == 1e-9


@pytest.mark.parametrize(
    ("link", "by_hand", "delta"),
    [
        ({"own.k": "3"}, False, 1e-6),
        ({"own.k": "3", "own.delta": "1e-8"}, True, 1e-8),
        ({"own.k": "3", "own.delta_set": "false"}, False, 1e-6),
        ({"view": "plain"}, False, 1e-6),
    ],
)
def test_a_link_keeps_what_it_meant(link, by_hand, delta):
    opened, sentences = catalogue.open_link({"preset": "large-study"} | link)
    assert sentences == [] and (opened["own.delta_set"], opened["own.delta"]) == (by_hand, delta)
    assert catalogue.open_link(catalogue.to_link(opened)) == (opened, [])
