"""The story: eight steps whose numbers are the core's, in sentences that a newspaper's reader can read."""

import functools
import json
import math
import re

import numpy as np
import pytest

from dppca_core.experiments import draws, no_privacy
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import ALONE
from dppca_core.experiments.demonstrations import differencing
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.results import Results, quantiles
from dppca_core.mechanisms import symmetric_gaussian
from dppca_core.methods import METHODS
from dppca_core.numerics import subspace_metrics
from dppca_core.privacy import Budget
from pages.explore.explorer.model import PlainExplorer
from pages.hospitals.providers import settings as providers_settings
from pages.hospitals.providers.model import compared as providers
from pages.learn.story import controls as story_controls
from pages.learn.story import glossary, handout, units, view
from pages.learn.story import settings as page_settings
from pages.learn.story import slides as story_slides
from pages.learn.story import text as story_text
from pages.learn.story.settings import STEPS, step_controls
from pages.learn.story.slides import NOTES
from pages.shared import text
from pages.shared.charts.metric_axis import SPANS
from pages.shared.reports import number_tables
from pages.shared.settings import catalogue, to_experiment
from scripts.started import ROOT
from tests.pages.reading import grade, syllables

PAGE = "learn/story/page.py"
NEWSPAPER = 9.0
SETTINGS = {
    "defaults": {},
    "hopeless": {"epsilon": 0.01},
    "lavish": {"epsilon": 10.0},
    "everybody": {"n": 10**9},
    "nobody": {"n": 100, "providers": 100},
    "one hospital": {"providers": 1, "k": 1},
    "many": {"n": 10**6, "providers": 50, "largest_share": 0.5, "trust": "untrusted server"},
    "breast cancer": {"data": "breast_cancer", "providers": 3, "k": 2, "s_hat": 30},
    "digits": {
        "data": "digits",
        "s_hat": 64,
        "trust": "central",
        "neighbours": "add-remove",
    },
    "too few kept": {"data": "digits", "s_hat": 20, "providers": 2},
    "failing": {"delta": 0.1, "epsilon": 2.0},
}
# What a board need not know; with the titles of all methods it stands in the fold "For the statistician".
TERMS = re.compile(
    r"[†‡δσΘ]|(?<!loss )ε|\d[eE]-?\d|10\^|\bsin\b|\bseeds?\b|\brounds?\b|\berror", re.IGNORECASE
)
TITLES = {method.title for method in METHODS.values()}
EVERY = pytest.mark.parametrize("changed", SETTINGS.values(), ids=SETTINGS.keys())


def settings(**changed):
    possible, _ = catalogue.reconcile(catalogue.defaults_with({"repeats": 1} | changed))
    return possible


def slides(**changed):
    return _slides(tuple(changed.items()))


@functools.cache
def _slides(changed):
    """Return all steps at a setting, drawn once for all tests that only read them."""
    now = settings(**dict(changed))
    return [story_slides.slide(now | {"story.step": step}) for step in range(1, STEPS + 1)]


# --- on the screen --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    [
        {"eps": "0.01", "N": "1"},
        {"data": "breast_cancer", "k": "2", "shat": "30", "eps": "10", "view": "full"},
    ],
    ids=["private", "table"],
)
def test_every_step_shows_what_the_core_says(screen, link):
    page = screen(PAGE, **link)
    for step in range(1, STEPS + 1):
        slide = story_slides.slide(page.app.session_state["settings of the last run"])
        assert page.app.title[0].value == slide.title
        assert slide.text.finding in page.markdown and f"**Step {step} of 8.**" in page.markdown
        assert all(sentence in page.markdown for sentence in slide.text.more)
        shown = page.figure
        assert shown["data"] == json.loads(json.dumps(slide.figure["data"]))
        assert shown["says"] == slide.text.sentences
        keys = step_controls(step, page.app.session_state["settings of the last run"])
        on_screen = [widget.key for widget in (*page.app.select_slider, *page.app.selectbox)]
        assert sorted(on_screen) == sorted(keys)
        buttons = {button.key: button for button in page.app.button}
        assert buttons["story.step on"].disabled == (step == STEPS)
        if step < STEPS:
            buttons["story.step on"].click()
            page.run()
            assert page.link["story.step"] == str(step + 1)


def test_names_and_the_unit_stand_in_one_fold(screen):
    page = screen(PAGE, **{"story.step": "7"})
    shown = [box.value for kind in ("markdown", "caption", "info", "title") for box in page.app.get(kind)]
    labels = [widget.label for widget in (*page.app.select_slider, *page.app.selectbox, *page.app.checkbox)]
    words = " ".join((*shown, *labels))
    assert not TERMS.search(words) and not [title for title in TITLES if title in words]
    page.app.session_state["statistician"] = True
    page.run()
    chosen = view.measure_joined(page.settings).by_trust["secure aggregation"].method
    assert METHODS[chosen].title in page.markdown
    page.move("metric", "degrees")
    assert page.link["metric"] == "degrees" and "°" in page.markdown
    assert page.figure["layout"]["xaxis"]["title"]["text"] == text.METRIC_TITLES["degrees"]


def test_a_move_moves_the_chart_and_the_words(screen):
    page = screen(PAGE, **{"story.step": "5"})
    before = page.figure["data"], page.markdown
    page.move("epsilon", 0.1)
    assert page.figure["data"] != before[0] and page.markdown != before[1]
    page.move("d", 50)
    assert page.link["d"] == "50" and page.link["story.step"] == "5"


def test_notes_are_hidden_until_asked_for(screen):
    page = screen(PAGE)
    assert page.notices == ""
    page.app.checkbox(key="story.notes").check()
    page.run()
    assert page.link["story.notes"] == "true" and NOTES[0].answer in page.notices
    assert sum(note.seconds for note in NOTES) == 600


def test_quick_presses_count_from_the_last_one(monkeypatch):
    """A press interrupts the run of the one before, which would have read it."""
    state = {"settings of the last run": {"story.step": 3}, "story.step newest": 3}
    monkeypatch.setattr(story_controls.st, "session_state", state)
    for by, now in ((1, 4), (1, 5), (1, 6), (-1, 5)):
        story_controls._move_step(by)
        assert state["settings moved since the last run"]["story.step"] == now


# --- the numbers ----------------------------------------------------------------------------------------


@EVERY
def test_words_and_charts_stand_everywhere(changed):
    for slide in slides(**changed):
        sent = json.dumps(slide.figure, allow_nan=False, ensure_ascii=False)
        words = slide.text.sentences
        assert "nan" not in words and "inf" not in words and "None" not in words + sent
        assert not TERMS.search(f"{words} {slide.text.try_this}") and not re.search("[δσΘ]", sent)
        assert not [title for title in TITLES if title in words + sent]
        assert len(number_tables.frame(slide.figure)) > 0 and 2 <= len(slide.text.more) + 1 <= 4


SEALED = {"trust": "secure aggregation"}
RARE = SEALED | {
    "n": 200_000,
    "providers": 200,
    "d": 50,
    "spike": 20.0,
    "bulk": 15.0,
    "delta": 1e-6,
}
DIGITS = {"data": "digits", "s_hat": 64, "repeats": 2}


@pytest.mark.parametrize(
    "changed",
    [{"repeats": 3}, SETTINGS["breast cancer"], DIGITS, {"preset": catalogue.RARE_DISEASE, "repeats": 3}],
    ids=["usual", "few", "digits", "rare"],
)
def test_one_setting_has_one_number_on_every_page(changed):
    """Joined under each trust, the largest hospital alone, and without privacy: to the last digits."""
    preset = changed.get("preset", "")
    now = catalogue.defaults_with({key: value for key, value in changed.items() if key != "preset"}, preset)
    now = catalogue.reconcile(now)[0] | {"metric": "share"}
    joined = view.measure_joined(now)
    experiment, epsilon = to_experiment.from_settings(now)
    explorer = Results(experiment)
    page = PlainExplorer(now)
    page.results.try_cells((name, epsilon, r) for name in page.shown for r in range(experiment.repeats))
    together = {row.trust: row for row in page.shares().rows}
    for trust, each in joined.by_trust.items():
        method = trusts.recommended(experiment, epsilon, trust).method
        cells = [explorer.measure((method, epsilon, repeat)) for repeat in range(experiment.repeats)]
        assert each.method == method
        assert each.error.sines == pytest.approx(quantiles([cell.sin[-1] for cell in cells]), rel=1e-9)
        assert each.error.shares == pytest.approx(together[trust].spread, rel=1e-9)
    alone = CollaborationResults(providers.to_setting(now)[0])
    while (cell := providers.next_cell(alone, now)) is not None:
        alone.try_cell(*cell)
    grouped, largest = providers.rows(alone, now), alone.recipe.hospitals[0]
    published = providers.advised_alone(grouped, now, alone.recipe.sizes[largest], largest).row
    in_house = providers.without_privacy(grouped, largest)
    assert joined.in_house.shares == pytest.approx(in_house.shares, rel=1e-9)
    assert joined.published.error.shares == pytest.approx(published.shares, rel=1e-9)
    size, which = max(experiment.sizes), {"seed": now["seed"], "repeats": now["repeats"]}
    least = no_privacy.error(experiment.population, size, experiment.k, **which)
    assert joined.in_house.middle == pytest.approx(least, rel=1e-9)
    assert view.guess(joined.setting) == subspace_metrics.random_guess(joined.setting.d, joined.setting.k)


@pytest.mark.parametrize("metric", ["sin", "share", "degrees"])
def test_figures_have_the_unit_that_is_chosen(metric):
    """The share of the pattern unless the angle is chosen, from the runs' own bases; the guess is marked."""
    now = settings(metric=metric, n=2000, repeats=3)
    sharing = view.measure_sharing(now)
    setting, trust = sharing.setting, "secure aggregation"
    method = view.advised(setting, trust).method
    bases = np.array([view.released_basis(setting, method, r) for r in range(3)])
    truth = setting.truth.basis
    shares = 100 * (1 - subspace_metrics.sin_thetas(bases, truth) ** 2 / 3)
    angles = subspace_metrics.largest_angles(bases, truth)
    spread = view.used(setting, trust).error
    expected = np.median(angles) if metric == "degrees" else np.median(shares)
    assert sharing.unit.values(spread)[1] == pytest.approx(expected)
    curve = story_slides.slide(now | {"story.step": 5}).figure
    guess = next(trace for trace in curve["data"] if trace["name"] == "random guess")
    assert guess["y"][0] == pytest.approx(89 if metric == "degrees" else 1.5, abs=3)
    assert curve["layout"]["yaxis"].get("type") != "log"
    assert curve["layout"]["yaxis"]["range"] == SPANS["degrees" if metric == "degrees" else "share"]


def test_the_curves_hold_the_setting_and_fall():
    by_privacy = view.curve_over_privacy(settings())
    by_patients = view.curve_over_patients(settings())
    assert by_privacy.now == by_patients.now == view.measure_decision(settings()).joined.chosen
    for curve in (by_privacy, by_patients):
        middles = [spread.middle for spread in curve.private]
        assert middles[0] > 30 * curve.now.middle > 0.9 * middles[-1]  # far above, and not below
    assert by_privacy.without == by_patients.without == view.measure_sharing(settings()).together


def test_a_tables_curve_ends_with_all_its_patients():
    curve = view.curve_over_patients(settings(data="breast_cancer", providers=3, k=2, s_hat=30))
    assert curve.values[-1] == 569 == curve.setting.n and curve.here == len(curve.values) - 1


@pytest.mark.parametrize("data", ["synthetic", "breast_cancer"])
def test_two_exact_totals_give_a_record_away_and_two_noisy_ones_do_not(data):
    experiment = view.to_setting(settings(data=data))
    pair = differencing.pair(experiment.population, 150, 3, experiment.scaling, 0)
    back = pair.bound * differencing.rebuilt(pair.with_, pair.without)
    row = differencing.with_positive_largest(pair.patient)
    np.testing.assert_allclose(back, row, atol=1e-9 * np.abs(row).max())
    assert 9 <= differencing.digits(row, back) <= 15
    rng = np.random.default_rng(0)
    std = symmetric_gaussian.sum_noise_std(Budget(1.0, 1e-5))
    noisy = [total + std * rng.standard_normal(total.shape) for total in (pair.with_, pair.without)]
    noisy = [(total + total.T) / 2 for total in noisy]
    assert differencing.digits(row, pair.bound * differencing.rebuilt(*noisy)) == 0


def test_a_rebuilt_table_row_is_a_row_of_the_table():
    """Every patient of a hospital of five is rebuilt as that row of the table and no other."""
    held = draws.cohort("breast_cancer", (5,), draws.PUBLIC, 0, 0)
    for who in range(5):
        pair = differencing.pair("breast_cancer", 5, who, draws.PUBLIC, 0)
        back = differencing.rebuilt(pair.with_, pair.without)
        near = [min(np.abs(back - row).max(), np.abs(back + row).max()) for row in held[0].moment.rows]
        assert int(np.argmin(near)) == who and min(near) < 1e-7


def test_the_attacker_is_counted_and_promised_as_the_core_has_it():
    attack = view.attack(settings())
    mu, picture = attack.picture.mu, attack.picture
    right = sum(release.reading > mu / 2 for release in picture.with_patient)
    right += sum(release.reading <= mu / 2 for release in picture.without_patient)
    words = story_text.attack(attack).sentences
    assert text.odds(1.0, attack.budget.delta) in words and text.luck(right, 40) in words
    assert re.findall(r"(\d+) times in 100", words) == ["73"]  # one number for one thing
    assert math.e / (1 + math.e) == pytest.approx(0.73, abs=2e-3)  # what it stands for


# --- honest ---------------------------------------------------------------------------------------------


def test_a_hopeless_setting_is_not_recommended():
    words = [slide.text.sentences for slide in slides(epsilon=0.01, n=10_000)]
    assert "privacy costs too much" in words[4] and "no trust gives a useful answer" in words[6]
    assert "We would not release this: it recovers only" in words[7]


def test_a_promise_that_may_well_fail_is_owned_up_to():
    failing = settings(**SETTINGS["failing"])
    failure = story_text.failure(view.to_setting(failing))
    assert text.margin(0.1) in failure and "100,000" in failure
    assert failure in slides(**SETTINGS["failing"])[7].text.more
    assert story_text.failure(view.to_setting(settings())) not in slides()[7].text.more


def test_what_is_free_is_called_free():
    words = [slide.text.sentences for slide in slides(n=10**9, providers=1)]
    assert "almost free" in words[4] and "noise costs almost nothing" in words[5]
    assert "nobody is there to join" in words[0].lower() and "would not" not in words[7]


MOSTLY_ONE = {"n": 50_000, "largest_share": 0.9, "trust": "untrusted server", "providers": 20, "epsilon": 0.1}


@pytest.mark.parametrize(
    ("changed", "in_house", "public"),
    [
        ({}, "there is no difference", "there is no difference"),
        (SEALED | {"epsilon": 0.1, "n": 10_000}, "stay alone", "join: "),
        ({"largest_share": 0.9}, "there is no difference", "there is no difference"),
        (MOSTLY_ONE, "stay alone", "stay alone"),
        (RARE, "release", "release"),
        ({"epsilon": 0.03, "n": 2000}, "would not", "would not"),
    ],
)
def test_a_release_is_advised_only_where_no_hospital_does_better_alone(changed, in_house, public):
    """Both comparisons are computed from the runs: in-house without privacy, and published with it."""
    asked = settings(**{"repeats": 10} | changed)
    decision = view.measure_decision(asked)
    joined, lone = decision.joined.chosen, view.largest_alone(decision.joined.setting)
    unprotected = view.without_privacy(decision.joined.setting, alone=True)
    experiment, epsilon = to_experiment.from_settings(asked)
    method = trusts.recommended_alone(experiment, epsilon, max(lone.sizes)).method
    protected = view.spread(lone, ALONE[method].key)
    say = decision.joined.unit.value
    assert decision.weights.error == joined
    assert (decision.joined.in_house, decision.joined.published.error) == (unprotected, protected)
    matters = unprotected.lost - joined.lost >= 0.001
    better = matters and joined.sines[2] < unprotected.sines[0] and not protected.sines[2] < joined.sines[0]
    assert story_text.is_advised(decision.joined) == better == (in_house == "release")
    shown = story_text.decision(decision)
    assert ("We would release" in shown.sentences) == better
    if in_house not in ("release", "would not"):
        assert f"For our own use, {in_house}" in shown.finding and f"To publish, {public}" in shown.more[0]
        assert say(unprotected) in shown.finding and say(joined) in shown.finding
    page = handout.html(decision, asked, "https://example.org/story", "Today.")
    assert shown.finding in page and ("<h2>The release:" in page) == better


def test_the_guide_for_a_board_has_the_numbers_of_its_link():
    guide = (ROOT / "docs" / "board.md").read_text("utf-8")
    joined = view.measure_joined(catalogue.defaults(catalogue.RARE_DISEASE))
    alone = joined.unit.value(joined.in_house)
    nobody, sealed = (
        joined.unit.value(joined.by_trust[trust].error)
        for trust in ("untrusted server", "secure aggregation")
    )
    shown = f"a hospital recovers {alone} of the pattern alone. Together they recover {nobody} if they trust "
    assert f"{shown}nobody, and {sealed} with" in " ".join(guide.split())


def apart(first, second):
    """Whether shares differ by five points at least, and each median lies beyond the other's 8 in 10 runs."""
    (low, middle, high), (other_low, other, other_high) = first.shares, second.shares
    return abs(middle - other) >= 5 and not other_low <= middle <= other_high and not low <= other <= high


def test_every_step_says_something_at_the_settings_at_which_the_story_opens():
    """What a step compares differs by 5 points, beyond both intervals; joining pays under some trusts."""
    assert page_settings.PANEL.opens == providers_settings.PANEL.opens == catalogue.RARE_DISEASE
    now = catalogue.defaults(catalogue.RARE_DISEASE)
    assert now["trust"] == catalogue.defaults()["trust"] == "untrusted server"  # one default for all pages
    steps = [story_slides.slide(now | {"story.step": step}).text for step in range(1, STEPS + 1)]
    sharing = view.measure_sharing(now)
    assert apart(sharing.alone, sharing.together) and "Together they recover more." in steps[0].more
    assert "right to" in steps[1].finding
    weights = view.measure_weights(now)
    assert 100 - weights.error.shares[1] < 1 < 100 * 3 / 50 and "we find all" in steps[2].more[0]
    for curve in (view.curve_over_privacy(now), view.curve_over_patients(now)):
        assert apart(curve.now, curve.without) and any(curve.useful) and not all(curve.useful)
    assert "hides the pattern" in steps[4].more[1] and "privacy is almost free" in steps[5].more[1]
    joined = view.measure_joined(now)
    nobody, sealed, place = (joined.by_trust[trust].error for trust in view.TRUSTS)
    assert apart(nobody, sealed) and place.middle <= sealed.middle
    assert apart(joined.in_house, nobody) and apart(joined.in_house, sealed)
    assert apart(joined.published.error, nobody) and apart(joined.published.error, joined.in_house)
    assert joined.unit.value(sealed) in steps[6].more[1] and "one hospital alone would do" in steps[6].more[1]
    assert "We would not release this" in steps[7].finding and joined.unit.value(sealed) in steps[7].more[0]
    assert not story_text.is_advised(joined)
    with_sums = now | {"trust": "secure aggregation", "story.step": STEPS}
    assert "We would release" in story_slides.slide(with_sums).text.finding


@pytest.mark.parametrize("changed", [{}, RARE], ids=["defaults", "rare"])
def test_the_speaker_reads_the_decision_out(monkeypatch, changed):
    shown = []
    monkeypatch.setattr(story_slides.st, "info", shown.append)
    last = slides(**changed)[7].text
    story_slides.notes(STEPS, last)
    assert last.finding in shown.pop()


def test_step_seven_has_a_hospital_alone_with_noise_and_without():
    """The bar of step 1 does not turn into another without a word."""
    changed = {"epsilon": 0.1, "n": 10_000}
    joined = view.measure_joined(settings(**changed))
    assert joined.in_house == view.measure_sharing(settings(**changed)).alone
    assert joined.published.error.middle > 2 * joined.in_house.middle
    better = f"one hospital alone would do better: {joined.unit.value(joined.in_house)}"
    assert better in slides(**changed)[6].text.sentences


def test_one_hospital_is_not_sent_to_a_server():
    """Where all measurements count, one hospital by itself keeps them all."""
    dense = slides(data="digits", providers=1, k=2, s_hat=40, epsilon=10.0)[7].text
    assert "To publish, do without a server" in dense.finding
    trusted = slides(providers=1, **{"trust": "central"})[7].text
    assert "To publish, we would release 3 patterns" in trusted.finding
    assert "For our own use, no noise is needed" in trusted.more[0]


def test_why_nothing_is_seen_is_the_true_reason():
    few, cut = slides(n=100, providers=20)[7].text.sentences, slides(**SETTINGS["too few kept"])
    assert "measurements here" not in few
    for step in (4, 5, 6, 7):
        words = cut[step].text.sentences
        assert "We keep only 20 of 64 measurements here" in words and "too few patients" not in words


def test_one_hospital_that_sees_it_alone_is_owned_up_to():
    assert "Hospitals this large find the pattern alone" in slides(n=100_000, providers=5)[0].text.sentences
    assert "alone recovers only" in slides(n=100, providers=20, k=3)[0].text.sentences


@pytest.fixture(scope="module")
def made_up():
    """Return a function that makes a curve over privacy with given errors."""
    curve = view.curve_over_privacy(settings())

    def make(errors, here):
        at = tuple(0.01 * 2**i for i in range(len(errors)))
        spreads = [spread(error) for error in errors]
        return curve._replace(values=at, private=spreads, free=[spread(0.01)] * len(errors), here=here)

    def spread(error):
        share = 100 * (1 - error**2 / 3)
        return units.Spread((error,) * 3, (share,) * 3, (error,) * 3)

    return make


def test_noise_is_not_blamed_where_less_of_it_does_worse(made_up):
    shown = story_text.cost(made_up([1.7, 0.1, 0.05, 1.73], 3))
    assert "Noise alone is not why" in shown.sentences
    assert "lie between privacy losses of 0.02 and 0.04" in shown.sentences
    assert "too much" not in shown.sentences and "hides" not in shown.sentences
    assert "to the left until" in shown.try_this
    assert "Only a privacy loss of 0.02" in story_text.cost(made_up([1.7, 0.1, 1.73], 0)).sentences
    nearly = story_text.bought(made_up([1.7, 0.012, 0.3], 1)).sentences
    assert "almost free" in nearly and "do not make" not in nearly
    assert "Stricter than 0.02, noise hides" in story_text.cost(made_up([1.7, 0.1, 0.05], 2)).sentences


def test_what_has_no_weight_is_not_missed():
    weights = view.measure_weights(settings(n=10_000, providers=5, d=50, k=2, s=8, s_hat=16))
    assert weights.counted == weights.agree == 8 and len(weights.rows) == 10
    assert "Only 8 truly count, and we find all of them." in story_text.pattern(weights).sentences


def test_where_privacy_is_free_depends_on_no_grid(made_up):
    """It varies little over seeds, and is exact where noise loses a / n^2 of the pattern, on any points."""
    free = [view.curve_over_patients(settings(repeats=4, seed=seed, **SEALED)).relaxed for seed in (0, 7)]
    assert min(free) > 500 and max(free) < 5e3
    n = np.array([0.3, 1.0, 3.0, 10.0, 30.0])
    curve = made_up(list(np.sqrt(3 * (0.01**2 / 3 + 0.04 / n**2))), 0)._replace(values=tuple(n))
    assert curve.relaxed == pytest.approx(2.0, rel=1e-9)  # 0.04 / 2^2 is the 1 % from which on it is free
    assert (
        curve._replace(private=curve.private[:2], free=curve.free[:2], values=curve.values[:2]).relaxed
        is None
    )


def test_the_chart_marks_where_privacy_is_free():
    figure = story_slides.slide(settings() | {"story.step": 6}).figure["layout"]
    curve, few = view.curve_over_patients(settings()), view.curve_over_patients(settings(n=1000))
    unit = 10.0 ** math.floor(math.log10(few.relaxed))
    since = text.patients(math.ceil(few.relaxed / unit) * unit)
    assert f"From about {since} patients on, privacy" in story_text.bought(few).sentences
    assert figure["shapes"][0]["x0"] == pytest.approx(curve.relaxed)
    table = story_slides.slide(settings(**SETTINGS["breast cancer"]) | {"story.step": 6}).figure["layout"]
    assert "shapes" not in table


def test_too_few_rows_are_not_laid_on_privacy():
    words = [slide.text.sentences for slide in slides(**SETTINGS["too few kept"])]
    assert "More patients do not change that." in words[5]
    assert "do not make privacy free" not in words[5] and "costs too much" not in words[4]
    assert "No trust gives a useful answer" in words[6] and "privacy loss" not in words[6]


def test_what_to_try_can_be_done():
    few, lots, usual = (
        [slide.text.try_this for slide in slides(**SEALED, **changed)]
        for changed in ({"n": 200}, {"n": 10**9}, {"n": 2000})
    )
    assert "right until the ring" in few[4] and "until" not in lots[4] and "left until the ring" in usual[4]
    assert "until the lines" in lots[5] and "until the lines" in usual[5]
    table = [slide.text.try_this for slide in slides(data="breast_cancer")]
    assert "*Hospitals* up" in table[0] and "until" not in table[5]
    assert "rare disease" in NOTES[0].answer and "Move the patients" not in NOTES[0].answer


@pytest.mark.parametrize(
    ("changed", "move"),
    [
        ({}, "to the left"),
        ({"n": 500, "providers": 100}, "to the right"),
        ({"n": 100, "providers": 100}, "right"),
    ],
)
def test_the_first_move_is_towards_what_changes(changed, move):
    setting = settings(**changed)
    assert move in story_text.sharing(view.measure_sharing(setting)).try_this


def test_small_words_are_right_too():
    lots, lavish, lone = (
        [slide.text.sentences for slide in slides(**changed)]
        for changed in ({"n": 10**9}, {"epsilon": 10.0}, {"providers": 1})
    )
    assert "Hospitals this large find the pattern alone." in lots[0] and "more clearly" not in lots[0]
    assert "almost free: we recover over 99.9999 %" in lots[4] and "with privacy or without" in lots[7]
    assert "protects nobody" in lavish[3] and "almost always" in lavish[7]
    assert "One hospital has nobody else to trust." in lone[6]
    wide = settings(d=2000, n=10**9) | {"story.step": 6}
    assert "2,000 values" in story_text.waiting(wide)
    assert story_text.waiting(settings()) == text.MEASURING


# --- plain ----------------------------------------------------------------------------------------------


@EVERY
def test_a_newspapers_reader_can_read_it(changed):
    for slide in slides(**changed):
        words = slide.text.sentences
        assert grade(words) <= NEWSPAPER, (grade(words), words)
        assert max(len(sentence.split()) for sentence in re.split(r"(?<=[.!?])\s", words)) <= 20


def test_glosses_and_notes_are_as_plain():
    for term, words in glossary.GLOSSARY:
        assert grade(f"{term} means {words}") <= NEWSPAPER + 1, (term, grade(f"{term} means {words}"))
    for note in NOTES:
        assert grade(f"{note.say} {note.question} {note.answer}") <= NEWSPAPER
        each = re.split(r"(?<=[.!?:])\s", f"{note.say} {note.question} {note.answer}")
        assert max(len(sentence.split()) for sentence in each) <= 20


def test_the_measure_of_reading_refuses_dense_prose():
    """The grade is far beyond a newspaper's; syllables are counted by hand."""
    dense = (
        "Differentially private sparse principal component analysis necessitates calibrating isotropic "
        "Gaussian perturbations to the Frobenius sensitivity of iteratively communicated covariance products."
    )
    assert grade(dense) > 2 * NEWSPAPER
    assert [syllables(word) for word in ("noise", "hospital", "patients", "table", "0.083")] == [
        1,
        3,
        2,
        2,
        1,
    ]


@EVERY
def test_every_hard_word_on_a_step_is_explained_there_or_before(changed):
    known = set()
    for slide in slides(**changed):
        known |= {term.lower() for term, _ in slide.text.glosses}
        words = slide.text.sentences.lower()
        used = {term.lower() for term, _ in glossary.GLOSSARY if re.search(rf"\b{term.lower()}s?\b", words)}
        assert used <= known, words


# --- on paper -------------------------------------------------------------------------------------------


@EVERY
def test_the_summary_has_the_sentences_of_the_step_and_needs_no_network(changed):
    asked = settings(**changed)
    decision = view.measure_decision(asked)
    page = handout.html(decision, asked, "https://example.org/story?eps=<1>", "Today.")
    shown = story_text.decision(decision)
    for sentence in (shown.finding, *shown.more):
        assert sentence in page.replace("&#x27;", "'")
    assert "Python" not in page and "Seed" not in page
    assert "<script" not in page and "<1>" not in page and "src=" not in page
    assert page.count("<rect") == len(decision.weights.rows) and len(page) < 20_000


def test_the_report_holds_all_eight_steps():
    full = handout.full(settings(), "https://example.org/story")
    assert [figure.title for figure in full.figures] == [slide.title for slide in slides()]
    assert full.sentence == slides()[7].text.finding and len(full.sentence.split()) <= 20
    assert "Python" not in full.made and "Seed" not in full.made and "Python" in full.sources[-1]
    assert [row[0] for row in full.tables[0].rows] == [term for term, _ in glossary.GLOSSARY]
    delta = settings()["delta"]
    assert text.odds(1.0, delta) in full.guarantee and text.margin(delta) in full.guarantee
