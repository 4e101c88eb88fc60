"""Test the exercises to hand in: links that restore their screens, one text in two places, numbers of the "
"core."""

import math
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from dppca_core.accounting import gaussian
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.bounds import BOUNDS
from dppca_core.bounds.regimes import FREE, regime
from dppca_core.experiments.explorer.results import Results
from dppca_core.mechanisms import normalised_product
from dppca_core.privacy import Budget
from pages.learn.classroom import exercises
from pages.learn.classroom.exercises import EXERCISES
from pages.learn.classroom.lesson import frames
from pages.shared.settings import catalogue, to_experiment
from tests.pages.documents import Page

ROOT = Path(__file__).resolve().parents[4]
ON_PAGES = [exercise for exercise in EXERCISES if exercise.page is not None]
EVERY = pytest.mark.parametrize("exercise", ON_PAGES, ids=[exercise.title for exercise in ON_PAGES])


NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


def number(pattern: str, words: str) -> float:
    match = re.search(pattern, words)
    assert match, words
    return float(match[1])


def attack(before: Page, after: Page) -> float:
    was, now = (shown.markdown + shown.captions for shown in (before, after))
    assert all("Without noise the attacker is right in every test" in words for words in (was, now))
    assert number(rf"This attack was right \**{NUMBER}", was) == pytest.approx(53, abs=3)
    return number(rf"This attack was right \**{NUMBER}", now)


def free(before: Page, after: Page) -> float:
    was, now = (number(rf"has error {NUMBER}", shown.headline) for shown in (before, after))
    return was / now


def joining(before: Page, after: Page) -> float:
    was, now = (number(rf"all recover {NUMBER}\s% together", shown.markdown) for shown in (before, after))
    return was - now


def as_printed(before: Page, after: Page) -> float:
    was, now = (
        float(shown.words()["tiles"][shown.figure["tiles"].index("Noise σ per entry")][0])
        for shown in (before, after)
    )
    return now / was


READERS = {"privacy": attack, "bounds": free, "providers": joining, "": as_printed}


def multiplier(epsilon: float, n: int) -> float:
    return gaussian.noise_multiplier(Budget(epsilon, frames.delta(n)))


def differing_patients() -> float:
    """Return how far the exercise's pair of patients moves the sum, for a small a."""
    block, a = np.array([[1.0], [0.0]]), 1e-6
    pair = np.array([[a, math.sqrt(1 - a * a)], [a, -math.sqrt(1 - a * a)]])
    with_, instead = (row[:, None] @ (row @ block)[None] / np.linalg.norm(row @ block) for row in pair)
    return float(np.linalg.norm(with_ - instead))


def test_numbers_of_lesson_and_paper_are_the_cores():
    def noise(cap: int) -> float:
        return frames.mean(frames.DRAWS[0])[frames.CAPS.index(cap)].std

    count, mean, on_paper, *_, proof = EXERCISES
    assert 100 * TradeOff(multiplier(2.0, frames.WARD)).best_guess() == pytest.approx(
        count.answer, abs=count.tolerance
    )
    assert noise(600) / noise(300) == pytest.approx(mean.answer, abs=mean.tolerance)
    # With the rounding of the question, and without.
    for z in (4.2, multiplier(1.0, 400)):
        assert z * 100 / 400 == pytest.approx(on_paper.answer, abs=on_paper.tolerance)
    assert proof.answer == normalised_product.sensitivity(Budget(1.0, 1e-6))
    assert differing_patients() == pytest.approx(proof.answer, abs=1e-9)


@EVERY
@pytest.mark.usefixtures("patient")
def test_the_number_is_on_the_page(exercise):
    opened = []
    for moved in (False, True):
        place = next(ROOT.glob(f"pages/*/{exercise.page or 'explorer'}/page.py"))
        link = {"preset": "", "repeats": ""} | dict(parse_qsl(urlsplit(exercise.link(moved)).query))
        opened.append(Page(place.relative_to(ROOT / "pages").as_posix(), **link))
    assert READERS[exercise.page](*opened) == pytest.approx(exercise.answer, abs=exercise.tolerance)


def test_there_are_eight_and_four_are_on_pages():
    assert (len(EXERCISES), len(ON_PAGES)) == (8, 4)
    assert len({exercise.page for exercise in ON_PAGES}) == 4
    for exercise in EXERCISES:
        assert exercise.hint and exercise.why and 0 <= exercise.tolerance <= 0.15 * exercise.answer


@EVERY
@pytest.mark.parametrize("moved", [False, True])
def test_a_link_restores_its_settings_and_nothing_gives_way(exercise, moved):
    link = urlsplit(exercise.link(moved))
    now, notes = catalogue.open_link(dict(parse_qsl(link.query)))
    assert notes == []
    assert now == exercise.settings(moved)
    assert link.path == "." or list((ROOT / "pages").glob(f"*/{link.path}/page.py"))


@EVERY
def test_one_control_is_moved_and_its_name_and_values_are_written(exercise):
    before, after = exercise.settings(False), exercise.settings(True)
    assert [key for key in before if before[key] != after[key]] == [exercise.key]
    choice, words = catalogue.CHOICES[exercise.key], exercise.task(here=True)
    assert f"move *{choice.label}*" in words and f"to {choice.text(exercise.to)}." in words
    assert not re.search(
        r"\{\w*\}|https?:|127\.0", words + exercises.tasks(here=True) + exercises.solutions()
    )


def test_the_document_for_a_class_has_them_word_for_word():
    document = (ROOT / "docs" / "class.md").read_text(encoding="utf-8")
    assert exercises.tasks(here=False) in document and exercises.solutions() in document


def test_privacy_becomes_free_for_other_populations_too():
    exercise = next(exercise for exercise in EXERCISES if exercise.page == "bounds")
    for seed in range(5):
        regions = []
        for moved in (False, True):
            experiment, epsilon = to_experiment.from_settings(exercise.settings(moved) | {"seed": seed})
            regions.append(regime(BOUNDS["dps_prediction"], Results(experiment).setting(epsilon)))
        assert regions == ["privacy costs", FREE]
