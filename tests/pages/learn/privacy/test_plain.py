"""Privacy in plain view: few short sentences, no terms of art outside one fold, and the core's numbers."""

import re

import pytest

from dppca_core import Budget
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.methods import METHODS
from pages.learn.privacy.sentences import accounting
from pages.learn.story.model import Story
from pages.learn.story.sentences import steps
from pages.shared import text
from pages.shared.charts import style
from pages.shared.document.blocks import Fold, Section
from pages.shared.plain import phrases
from pages.shared.settings import catalogue

PAGE = "learn/privacy/page.py"
PLAIN = {"view": "plain", "attack.draws": "1000"}
STORY = "learn/story/page.py"
TERMS = re.compile(r"[†‡*δσμΔαβ]|(?<!loss )ε|1e-|10\^|sin|\bseed|\bround|Gauss|PCA", re.IGNORECASE)


def sentences(page):
    shown = text.unmarked("\n".join([page.markdown, page.captions, page.notices]))
    return re.split(r"(?<=[.!?:])\s+", shown)


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
def test_no_term_of_art_stands_outside_the_fold_and_sentences_are_short(page, link):
    page = page(PAGE, **PLAIN, **link)
    words = sentences(page)
    assert not [each for each in words if TERMS.search(each)]
    assert not [title for title in (m.title for m in METHODS.values()) if title in " ".join(words)]
    assert max(len(each.split()) for each in words) <= 20
    assert not page.all(Section) and len(page.figures) == 1
    assert [fold.title for fold in page.all(Fold)] == [phrases.FOLD]


def test_its_one_number_is_the_promise_of_the_noise(page):
    """The odds of epsilon = 1, and as printed those of the epsilon that ten rounds truly give."""
    assert "took part at most 73 times in 100" in page(PAGE, **PLAIN).headline
    true = METHODS["dps_pca"].true_epsilon(
        Budget(1.0, 1e-7, accounting="as-printed"), d=200, k=3, s_hat=20, iterations=10
    )
    printed = page(PAGE, **PLAIN, accounting="as-printed").headline
    assert text.at_most(TradeOff.allowed(true, 1e-7).best_guess()) in printed
    assert "protects more than the setting asks" in printed


# --- one number for one thing ----------------------------------------------------------------------------


def results(page):
    """Return by colour what the first figure has the attacker read, and where the line stands."""
    figure = page.figure
    last = figure["frames"][-1]["traces"] if figure.get("frames") else {}
    traces = [trace | last.get(str(i), {}) for i, trace in enumerate(figure["data"])]
    sides = {
        colour: next(
            trace["x"]
            for trace in traces
            if trace.get("marker", {}).get("color") == colour and len(trace["x"]) == 20
        )
        for colour in (style.THE_PATIENT, style.ANOTHER_PATIENT)
    }
    line = next(trace["x"] for trace in traces if trace["name"] in {"the line", "guess “with” to the right"})
    return sides, line[0]


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"eps": "10", "seed": "3"},
        {"neighbours": "add-remove", "delta": "0.01", "n": "500"},
        {"preset": "large-study", "attack.alarms": "0.01"},
    ],
)
def test_full_plain_and_story_have_the_same_forty_results_one_line_and_one_count(page, screen, link):
    """The count is that of the marks on each side of the line, as they are drawn."""
    link = {"preset": "small-study", "attack.draws": "1000"} | link
    pages = [
        page(PAGE, **link),
        page(PAGE, **link, view="plain"),
        screen(STORY, **link, **{"story.step": "4"}),
    ]
    counts = [
        re.findall(r"The attacker is right (\d+) times in 40; chance gives 14 to 26\.", page.markdown)
        for page in pages
    ]
    (sides, line), *others = (results(page) for page in pages)
    assert all(other == (sides, line) for other in others)
    right = sum(read > line for read in sides[style.THE_PATIENT])
    right += sum(read <= line for read in sides[style.ANOTHER_PATIENT])
    assert counts == [[str(right)]] * 3
    odds = [re.findall(r"took part (.*?)\.", page.markdown)[0] for page in pages]
    assert len(set(odds)) == 1


def test_at_the_defaults_the_attacker_is_hardly_better_than_chance_and_at_ten_clearly(page):
    """As the plain view's exercise says, from the preset at which the page opens."""
    link = {"view": "plain", "preset": "small-study"}
    now, moved = (page(PAGE, **link | more).markdown for more in ({}, {"eps": "10"}))
    assert "The attacker is right 17 times in 40; chance gives 14 to 26." in now
    right = int(re.search(r"right (\d+) times in 40", moved)[1])
    assert right > 26


@pytest.mark.parametrize(
    ("neighbours", "title", "second"),
    [
        ("replace-one", "One patient replaced by another", "With another patient"),
        ("add-remove", "One patient more or less", "Without the patient"),
    ],
)
def test_heading_picture_and_story_follow_the_neighbours(page, screen, neighbours, title, second):
    link = {"preset": "small-study", "neighbours": neighbours, "attack.draws": "1000"}
    full, plain = page(PAGE, **link), page(PAGE, **link, view="plain")
    assert full.all(Section)[0].title == title
    heads = [[note["text"] for note in each.figure["layout"]["annotations"]] for each in (full, plain)]
    assert heads == [["<b>With the patient</b>", f"<b>{second}</b>", "<b>What the attacker reads</b>"]] * 2
    legend = {trace["name"] for trace in full.figures["readings figure"].payload["data"]}
    assert {"with the patient", second.lower()} <= legend
    story = screen(STORY, **link, **{"story.step": "4"}).figure["data"]
    assert {"With the patient", second} <= {trace["name"] for trace in story}


def test_the_picture_opens_with_all_forty_results(page):
    figure = page(PAGE, **PLAIN).figure
    shown = figure["frames"][figure["active"]]["traces"]
    assert [len(shown[name]["x"]) for name in ("6", "7")] == [20, 20]
    assert {shown[name]["marker"]["opacity"] for name in ("6", "7")} == {1}


@pytest.mark.parametrize("view", ["plain", "full"])
def test_both_views_say_that_no_record_is_published(page, view):
    page = page(PAGE, **PLAIN | {"view": view, "preset": "small-study"})
    assert text.NEVER_PUBLISHED in page.markdown


# --- failure chance --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "delta"), [(100_000, 1e-6), (100_000, 1e-5), (1_000_000, 1e-5), (100_000, 0.5), (10**9, 1e-10)]
)
def test_a_chance_of_failure_is_unsafe_on_this_page_where_it_is_on_the_others(n, delta):
    """In both views as in the story and in the note that all pages have: above one in the patients."""
    unsafe = bool(text.large_delta(delta, n))
    words = phrases.delta_too_large(delta, n)
    assert words.endswith(f"Choose {text.one_in(catalogue.delta_for(n))}.") == unsafe == bool(words)
    assert ("no protection" in accounting.failure(n, Budget(1.0, delta))) == unsafe
    now = catalogue.defaults_with({"n": n, "delta": delta, "repeats": 1})
    assert steps.failure(Story(now, (8,))) == f"{text.margin(delta)} {words}".strip()
    assert "1e" not in words


def test_a_failure_chance_that_is_too_large_is_owned_up_to_in_plain_view(screen):
    page = screen(PAGE, **PLAIN, delta="0.5", n="100")
    assert page.captions.count(phrases.delta_too_large(0.5, 100)) == 1


def test_the_fold_names_the_three_odds_and_opens_once(page):
    page = page(PAGE, **PLAIN)
    assert "Best possible" not in page.markdown
    opened = "\n".join(block.words for block in page.opened("origins"))
    mu = picture(Budget(1.0, 1e-7)).mu
    promised, best, measured = re.findall(r"\*\*\w[\w ]+\*\* \| (?:at most )?([\d.]+)", opened)
    assert float(promised) == pytest.approx(100 * TradeOff.allowed(1.0, 1e-7).best_guess(), abs=0.05)
    assert float(best) == pytest.approx(100 * TradeOff.gaussian(mu).best_guess(), abs=0.05)
    assert float(measured) < float(promised) and METHODS["dps_pca"].title in opened
