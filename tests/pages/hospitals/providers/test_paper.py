"""Test the page to sign: its length, its words, and that its numbers are those of the decision."""

import re
from html.parser import HTMLParser

import pytest

from dppca_core.experiments.decision.hospitals import changed
from dppca_core.experiments.decision.rule import Answer
from pages.hospitals.providers.document import paper
from pages.shared import text
from pages.shared.reports import sources
from tests.core.dossier.agreements import SETTINGS, TRUSTS, agreement
from tests.core.dossier.test_papers import FORBIDDEN
from tests.core.experiments.decision.settings import joining

MADE = sources.made(0)
PUBLISHED = joining(200, 500, 300, use="publish")
UNEQUAL = changed(joining(20_000, 500_000, 300_000, delta=1e-3), 1, epsilon=0.35)
TABLE = joining(100, 200, population="breast_cancer")
OTHERS = (SETTINGS["stages"], SETTINGS["moment"], SETTINGS["rounds"], PUBLISHED, UNEQUAL, TABLE)


class Seen(HTMLParser):
    """Read the words of a file that print."""

    HIDDEN = ("head", "script", "style", "details", "noscript")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.depth, self.text = 0, ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.depth += tag in self.HIDDEN

    def handle_endtag(self, tag):
        self.depth -= tag in self.HIDDEN
        self.text += " "

    def handle_data(self, data):
        self.text += "" if self.depth else data


def words(shown: str) -> list[str]:
    """Return the words of a text, of which rules to write on are none."""
    return [word for word in shown.split() if re.search(r"\w", word.replace("_", ""))]


@pytest.fixture(
    scope="module",
    params=[
        *((SETTINGS["chosen"], trust, answer) for trust in TRUSTS for answer in Answer),
        *((setting, "untrusted server", Answer.JOIN) for setting in OTHERS),
        *((setting, "secure aggregation", Answer.JOIN_IF) for setting in OTHERS),
    ],
    ids=str,
)
def signed(request):
    setting, trust, answer = request.param
    return agreement(setting, trust, answer)


@pytest.fixture(scope="module")
def shown(signed):
    return Seen(paper.paper(signed, MADE).html()).text


def test_it_is_short_enough_to_print_on_one_sheet(signed, shown):
    axes = 20  # the bars' names, their ends and the axis, which a browser draws
    assert len(words(shown)) + axes <= paper.MOST_WORDS
    for name, item in paper.items(signed):
        assert len(words(item)) <= paper.MOST_OF_AN_ITEM, name


def test_its_numbers_are_those_of_the_decision(signed, shown):
    for bar in signed.bars.values():
        assert f"{bar.median:.4g} %" in shown
    assert paper.answer(signed).lower().startswith(signed.decision.answer.value)
    assert (signed.decision.patients is None) or "12,500" in paper.answer(signed)
    epsilon, delta = signed.budget.epsilon, signed.budget.delta
    assert text.odds(epsilon, delta) in shown
    assert f"{epsilon:g}, for one patient" in shown
    assert (
        f"ε = {signed.over_years(1).epsilon:.2f}, four a year to {signed.over_years(4).epsilon:.2f}" in shown
    )
    assert f"1 in {signed.setting.n:,}" in shown
    assert ("Nothing, unless we join" in shown) != signed.joins


def test_it_claims_nothing_that_nobody_knows(signed, shown):
    assert not FORBIDDEN.search(shown)
    assert (paper.SEALED in shown) == (signed.noise_by == "secure aggregation")
    assert not re.search(r"\b(law|legal)", shown)


def test_health_releases_stand_with_their_units():
    assert paper.published() == (
        "Published health releases: 1.68 to 8 per user and day, 2 per event and 9.98 per birth; "
        "units differ, so not comparable."
    )


def test_a_failure_chance_above_one_in_n_is_too_large():
    items = dict(paper.items(agreement(UNEQUAL)))
    assert "too large" in items["Failure chance δ"]
    assert "divided by 1,000" in dict(paper.items(agreement(SETTINGS["stages"])))["Failure chance δ"]
