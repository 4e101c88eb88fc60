"""Privacy in plain view: few short sentences, no terms of art outside one fold, and the core's numbers."""

import re

import pytest

from dppca_core import Budget
from dppca_core.auditing import tradeoff_curves
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.methods import METHODS
from pages.learn.privacy import plain_text
from pages.learn.privacy import text as page_text
from pages.learn.story import text as story_text
from pages.learn.story import view as story_view
from pages.shared import text
from pages.shared.plain import phrases
from pages.shared.settings import catalogue

PAGE = "learn/privacy/page.py"
PLAIN = {"view": "plain", "attack.draws": "1000"}
TERMS = re.compile(r"[†‡*εδσμΔαβ]|1e-|10\^|sin|\bseed|\bround|Gauss|PCA", re.IGNORECASE)


def sentences(page):
    """Return all sentences outside the fold, without Markdown's stars."""
    shown = [box.value for kind in ("markdown", "caption", "info", "header") for box in page.app.get(kind)]
    return re.split(r"(?<=[.!?:])\s+", text.unmarked("\n".join(shown)))


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"eps": "10"},
        {"delta": "0.5", "n": "100"},
        {"accounting": "as-printed"},
        {"neighbours": "add-remove"},
    ],
)
def test_no_term_of_art_stands_outside_the_fold_and_sentences_are_short(screen, link):
    page = screen(PAGE, **PLAIN, **link)
    words = sentences(page)
    assert not [each for each in words if TERMS.search(each)]
    assert not [title for title in (m.title for m in METHODS.values()) if title in " ".join(words)]
    assert max(len(each.split()) for each in words) <= 20
    assert not page.app.header and len(page.app.get("bidi_component")) == 1
    assert [fold.label for fold in page.app.expander if fold.label != "More settings"] == [phrases.FOLD]


def test_its_one_number_is_the_promise_of_the_noise(screen):
    """The odds of epsilon = 1, and as printed those of the epsilon that ten rounds truly give."""
    assert "right at most 73 times in 100" in screen(PAGE, **PLAIN).markdown
    true = METHODS["dps_pca"].true_epsilon(
        Budget(1.0, 1e-6, accounting="as-printed"), d=200, k=3, s_hat=20, iterations=10
    )
    printed = screen(PAGE, **PLAIN, accounting="as-printed").markdown
    assert text.right_at_most(tradeoff_curves.best_guess(true, 1e-6)) in printed
    assert "protects more than the setting asks" in printed


def test_the_replay_counts_the_best_guess_beside_a_coins_luck(screen):
    shown = picture(Budget(1.0, 1e-6))
    right = shown.right_guesses(shown.mu / 2)
    assert f"The attacker is right in {text.luck(right, 40)}" in screen(PAGE, **PLAIN).markdown


@pytest.mark.parametrize(
    ("n", "delta"), [(100_000, 1e-6), (100_000, 1e-5), (1_000_000, 1e-5), (100_000, 0.5), (10**9, 1e-10)]
)
def test_a_chance_of_failure_is_unsafe_on_this_page_where_it_is_on_the_others(n, delta):
    """In both views as in the story and in the note that all pages have: above one in the patients."""
    unsafe = bool(text.large_delta(delta, n))
    safer = text.one_in(catalogue.delta_for(n))
    words = " ".join(plain_text.failure(n, delta))
    assert ("not safe enough" in words and words.endswith(f"to {safer}.")) == unsafe
    assert ("no protection" in page_text.failure(n, Budget(1.0, delta))) == unsafe
    now = catalogue.defaults_with({"n": n, "delta": delta, "repeats": 1})
    assert ("not safe enough" in story_text.failure(story_view.to_setting(now))) == unsafe
    assert "1e" not in words


def test_the_fold_names_the_three_odds_and_opens_once(screen):
    page = screen(PAGE, **PLAIN)
    assert "Best possible" not in page.markdown
    page.app.session_state["origins"] = True
    page.run()
    mu = picture(Budget(1.0, 1e-6)).mu
    promised, best, measured = re.findall(r"\*\*\w[\w ]+\*\* \| (?:at most )?([\d.]+)", page.markdown)
    assert float(promised) == pytest.approx(100 * tradeoff_curves.best_guess(1.0, 1e-6), abs=0.05)
    assert float(best) == pytest.approx(100 * tradeoff_curves.gaussian_guess(mu), abs=0.05)
    assert float(measured) < float(promised) and METHODS["dps_pca"].title in page.markdown
