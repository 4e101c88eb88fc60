"""Test the page to sign: its length, its words, and that its numbers are those of the decision."""

import re
from html.parser import HTMLParser

import pytest

from dppca_core.dossier.papers import dossier, protocol
from dppca_core.experiments.decision.hospitals import changed
from dppca_core.experiments.decision.rule import Answer
from pages.hospitals.providers.document import paper
from pages.hospitals.providers.model.decision import JoiningBoard
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.reports import sources
from pages.shared.settings import catalogue, scenes
from pages.shared.settings.scenes import FOUR_REAL, SCENES
from tests.core.dossier.agreements import SETTINGS, TRUSTS, agreement
from tests.core.dossier.test_papers import FORBIDDEN
from tests.core.experiments.decision.settings import joining

PAGE = "hospitals/providers/page.py"
MADE = sources.made(0)
AXES = 20  # words: the bars' names, their ends and the axis, which a browser draws
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
    assert len(words(shown)) + AXES <= paper.MOST_WORDS
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


@pytest.mark.parametrize("use", ["in-house", "publish"])
@pytest.mark.parametrize("name", SCENES)
def test_the_paper_of_a_scene_has_the_figures_of_its_page(page, name, use):
    preset = catalogue.CHOICES["preset"].link(name)
    at = page(PAGE, view="plain", preset=preset, **{"join.use": use}).settle()
    board = JoiningBoard(at.settings)
    signed = board.agreement
    seen = Seen(paper.paper(signed, MADE).html()).text
    assert len(words(seen)) + AXES <= paper.MOST_WORDS
    assert all(len(words(item)) <= paper.MOST_OF_AN_ITEM for _, item in paper.items(signed))
    shown = f"{at.markdown} {at.tables[0].to_string()}"  # the table has what each trust recovers
    for each in signed.bars.values():
        share = phrases.percent(each.median)
        assert share in seen and share in shown
    worth = [evidence.passes for evidence in signed.decision.evidence.values()]
    assert signed.decision.evidence[signed.trust].passes or not any(worth)
    assert paper.answer(signed).lower().startswith(signed.decision.answer.value)
    assert text.odds(signed.budget.epsilon, signed.budget.delta) in seen
    assert f"{signed.ours.patients:,} of {signed.setting.n:,} patients" in seen
    whose = "public records of real hospitals" if name == FOUR_REAL else "simulated patients"
    assert f"all shares are of {'the ' * (name == FOUR_REAL)}{whose}" in seen
    assert ("our own pattern" in seen) == scenes.differ(at.settings)
    assert signed.patients in protocol(signed) and "DifferingHospitals" not in "".join(
        dossier(signed).values()
    )
