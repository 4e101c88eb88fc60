"""Test that the page to sign prints on one sheet, with its figure and without a network."""

import re

import pytest

from dppca_core.experiments.decision.rule import Answer
from pages.hospitals.providers.document import paper
from pages.shared.reports import sources
from tests.core.dossier.agreements import SETTINGS, TRUSTS, agreement

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("answer", [Answer.JOIN_IF, Answer.ASK_AGAIN])
def test_it_prints_on_one_page(tabs, tmp_path, trust, answer):
    patients = {"patients": 1_250_000} if answer == Answer.ASK_AGAIN else {}
    signed = agreement(SETTINGS["chosen"], trust, answer, **patients)
    file = tmp_path / "paper.html"
    file.write_text(paper.paper(signed, sources.made(0)).html(), encoding="utf-8")
    page, complaints = tabs.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(file.as_uri())
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    printed = page.pdf(prefer_css_page_size=True)
    page.emulate_media(media="print")
    sizes = page.evaluate(
        "[...document.querySelectorAll('.sheet td')].map((e) => getComputedStyle(e).fontSize)"
    )
    shown = page.inner_text("main").replace("_", "")
    page.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    assert {round(float(size.removesuffix("px")) * 0.75, 1) for size in sizes} == {10.0}  # points
    assert len(re.findall(r"\S*\w\S*", shown)) <= paper.MOST_WORDS
    assert not complaints
