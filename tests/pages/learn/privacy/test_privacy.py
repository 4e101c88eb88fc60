"""The privacy page: what it says is what its own numbers say, at every detail and slider's end."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dppca_core import Budget
from dppca_core.accounting import compare, gaussian
from dppca_core.accounting.trade_off import TradeOff
from dppca_core.auditing.cases.planted import BUGS, METHODS_ATTACKED
from dppca_core.auditing.membership import Rates
from dppca_core.experiments.demonstrations.neighbours import picture
from dppca_core.experiments.figure_tables import privacy as tables
from dppca_core.methods import METHODS
from pages.learn.privacy.charts import accountings, attacker
from pages.learn.privacy.model import ROUNDS, Privacy, accounted
from pages.learn.privacy.sentences import accounting
from pages.learn.privacy.sentences import attack as sentences
from pages.shared import text
from pages.shared.document.blocks import Table
from pages.shared.settings import catalogue

PAGE = "learn/privacy/page.py"
FEW = {"attack.draws": "1000"}


def trace(figure, name):
    return next(trace for trace in figure["data"] if trace["name"] == name)


def model(**changed):
    return Privacy(catalogue.defaults() | {"attack.draws": 1000} | changed)


def refuted(page):
    bars = page.figures["audit figure"].payload["data"][0]
    shown = dict(zip(bars["y"], bars["x"], strict=True))
    audits = [shown[name] for name in ("audit shows at least", "with the mistake planted") if name in shown]
    return [epsilon > shown["promised"] for epsilon in audits]


def test_it_opens_with_the_odds_of_the_promise_and_of_the_noise(page):
    """e : 1 at epsilon = 1; Phi(1 / (2 x 4.6787)) = .543 for the Gaussian release calibrated to it.

    One number stands first; the three stand beside each other, in a fold, and nowhere else.
    """
    page, m = page(PAGE, **FEW), model()
    shown = m.attack
    assert page.headline == sentences.headline(m.draws)
    assert re.findall(r"\d+", page.headline) == ["73", "100", "50"]
    (three,) = (block.words for block in page.opened("three odds"))
    odds = re.findall(r"\| (?:at most )?([\d.]+)", three)
    assert odds == ["73.1", "54.3", f"{100 * shown.measured.right:.1f}"]
    assert sentences.measured(shown) in page.markdown
    assert shown.silent.right == 1 and shown.drawn == 1000
    of_the_sheet = pytest.approx(6.46, abs=0.005)
    assert accounted(replace(m.budget, delta=1e-5), 2**0.5, 10).ratio("printed") == of_the_sheet
    printed = accounted(m.budget, 2**0.5, 10).ratio("printed")
    assert f"{printed:.2f}" in page.all(Table)[0].frame.to_string()
    assert len(page.figures) == 7
    assert page.notices.strip() == ""


def test_the_curve_is_the_mechanisms_and_the_measured_point_lies_on_it(page):
    chart = page(PAGE, eps="2", delta="0.01").figures["errors figure"].payload
    mu = 1 / gaussian.noise_multiplier(Budget(2.0, 0.01))
    best = trace(chart, f"best tests, μ = {mu:.2g}")
    np.testing.assert_allclose(best["y"], TradeOff.gaussian(mu).misses(best["x"]), atol=1e-3)
    promise = trace(chart, "ruled out by (ε, δ)")
    np.testing.assert_allclose(promise["y"], TradeOff.allowed(2.0, 0.01).misses(promise["x"]), atol=2e-3)
    assert (np.array(best["y"]) >= np.array(promise["y"]) - 2e-3).all()
    point = trace(chart, "the chosen test")
    assert point["y"] == [pytest.approx(float(TradeOff.gaussian(mu).misses(0.2)), abs=1e-4)]
    measured = trace(chart, "measured, 95 % intervals")
    off = abs(measured["y"][0] - point["y"][0]) / measured["error_y"]["array"][0]
    assert off < 2  # half-widths of a 97.5 % interval: another stream fails in 1 of 100,000
    assert trace(chart, "measured without noise")["x"] == [0.0]


@pytest.mark.parametrize("method", METHODS_ATTACKED)
def test_every_method_can_be_attacked(page, method):
    page = page(PAGE, **FEW, **{"attack.method": method, "neighbours": "add-remove", "k": "1"})
    m = Privacy(page.settings)
    assert page.headline == sentences.headline(m.draws)
    assert sentences.measured(m.attack) in page.markdown


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_refuted_on_screen(page, bug):
    page = page(PAGE, **FEW, eps="4", delta="0.01", **{"audit.bug": bug})
    assert refuted(page) == [False, True]


def test_what_breaks_nothing_is_not_called_a_bug(page):
    page = page(PAGE, **FEW, neighbours="add-remove", **{"audit.bug": "sensitivity"})
    reason = Privacy(page.settings).why_no_bug
    assert reason and reason in page.notices
    assert refuted(page) == [False]


def test_the_printed_constant_is_refuted_without_a_bug(page):
    """theory.md section 6: claims 10, truly gives 20.1."""
    link = {"eps": "10", "delta": "0.01", "accounting": "as-printed", "attack.method": "analyze_gauss"}
    page = page(PAGE, **link)
    assert "does not keep its promise of 10: it truly gives 20.14" in page.headline
    assert text.odds(20.14, 0.01) in page.headline
    assert refuted(page) == [True]


def test_odds_are_those_of_what_the_printed_noise_truly_gives(page):
    """Not the 73 of 100 of the epsilon of 1 that is asked for: ten rounds as printed give 0.13."""
    page = page(PAGE, **FEW, accounting="as-printed")
    budget = Budget(1.0, 1e-7, accounting="as-printed")
    true = METHODS["dps_pca"].true_epsilon(budget, d=200, k=3, s_hat=20, iterations=10)
    assert true < 0.2
    assert text.odds(true, 1e-7) in page.markdown
    assert "73 times" not in page.markdown and f"truly gives {text.short(true)}" in page.markdown


def test_so_much_noise_that_a_bug_keeps_the_promise_is_noted():
    m = model(accounting="as-printed", **{"audit.bug": "half"})
    mu = m.draws.drawn("half").mu
    assert gaussian.epsilon_of(1 / mu, m.budget.delta) < m.budget.epsilon
    sentence = sentences.audited(m.honest, m.broken, "half", m.draws, 1000)
    assert "the noise is so large that even so the promise is kept" in sentence


@pytest.mark.parametrize(
    "link",
    [
        {"eps": "0.01", "delta": "0.5", "T": "1", "n": "100"},
        {
            "eps": "10",
            "delta": "1e-10",
            "T": "50",
            "n": "1e9",
            "view": "full",
            "attack.alarms": "0.001",
        },
        {"eps": "0.01", "delta": "1e-10", "accounting": "as-printed", "T": "50", "audit.bug": "unclipped"},
        {"eps": "10", "delta": "0.5", "accounting": "zcdp", "data": "breast_cancer", "attack.alarms": "0.99"},
    ],
    ids=["loose", "strict", "as printed", "table"],
)
def test_the_ends_of_the_sliders_stand(page, link):
    page = page(PAGE, **FEW, **link)
    for figure in page.figures.values():
        json.dumps(figure.payload, allow_nan=False)
    assert "nan" not in page.markdown and "inf" not in page.markdown.replace("influence", "")
    if "data" in link:
        assert accounting.failure(569, Budget(10.0, 0.5)) in page.markdown


def test_hospitals_and_features_are_folded_with_the_reason(screen):
    page = screen(PAGE, **FEW)
    unused = {"providers", "d", "s", "s_hat"}
    assert not unused & {slider.key for slider in page.app.select_slider}
    page.app.session_state["more"] = True
    page.run()
    greyed = {slider.key for slider in page.app.select_slider if slider.disabled}
    assert unused <= greyed and not {"epsilon", "delta", "n", "k"} & greyed


# --- words and charts, without a screen -------------------------------------------------------------------


def test_frames_count_what_the_attacker_gets_right():
    """Every frame's tally counts its dots, and the last one is that of the sentence above."""
    budget = Budget(2.0, 0.01)
    drawn = picture(budget)
    limit, shown = drawn.limit, attacker.releases(drawn)
    assert len(shown["frames"]) == len(shown["words"]) == 20
    so_far = 0
    for index, (frame, words) in enumerate(zip(shown["frames"], shown["words"], strict=True), 1):
        with_, without = (np.array(frame["traces"][i]["x"]) for i in ("6", "7"))
        assert len(with_) == index
        right = int((with_ > limit).sum() + (without <= limit).sum())
        here = ("wrong both times", "right once", "right both times")[right - so_far]
        assert words["notes"] == f"Result {index}: {here}. Right so far: {right} of {2 * index}."
        so_far = right
    assert right == drawn.right_guesses()
    assert text.luck(right, 40) in sentences.experiment(drawn, budget)


def test_from_even_odds_no_other_line_is_right_more_often():
    """The chance to be right with a line at each of 4,001 places, by the two normal laws."""
    drawn = picture(Budget(4.0, 1e-6))
    lines = np.linspace(-4, 4, 4001)
    right = (stats.norm.sf(lines, drawn.mu) + stats.norm.cdf(lines)) / 2
    assert lines[right.argmax()] == pytest.approx(drawn.limit, abs=0.002)
    assert right.max() == pytest.approx(TradeOff.gaussian(drawn.mu).best_guess(), abs=1e-6)
    shown = model(epsilon=4.0, delta=1e-6).attack
    words = sentences.chosen(shown, Budget(4.0, 1e-6))
    assert "a line half-way between is right most often" in words
    assert f"moves the line to {shown.limit:.2f}, for 20 % false alarms" in words


@pytest.mark.parametrize("n", [100, 2000, 100_000])
def test_the_failure_chance_that_follows_n_crosses_its_curve_within_the_chart(n):
    delta = catalogue.delta_for(n)
    shown = accountings.published(tables.failure(n, 1e-10, 0.5), n, delta)
    least, most = shown["layout"]["yaxis"]["range"]
    assert least <= np.log10(n * delta) <= most


def test_a_curve_off_the_intervals_is_owned_up_to():
    shown = model().attack
    on = Rates(0.2, shown.misses, (0.19, 0.21), (shown.misses - 0.01, shown.misses + 0.01))
    assert "passes through" in sentences.measured(shown._replace(measured=on))
    assert "misses these intervals" in sentences.measured(shown._replace(measured=on, mu=4.0))


@pytest.mark.parametrize("steps", [1, 10, 30])
def test_rounds_say_what_the_core_computes(steps):
    budget = Budget(1.0, 1e-5)
    costs = accounted(budget, 2**0.5, steps)
    sentence = accounting.rounds(costs, budget)
    for name in compare.ACCOUNTINGS:
        ratio = compare.noise(name, budget, 2**0.5, steps) / compare.noise("exact", budget, 2**0.5, steps)
        assert costs.ratio(name) == pytest.approx(ratio)
        assert name == "exact" or f"{ratio:.2f}" in sentence
    better = next(t for t in ROUNDS if costs.noise["advanced"][t] < costs.noise["basic"][t])
    assert f"needs less than basic composition from {better} rounds on" in sentence
    charged = costs.charged.loc[steps]
    assert charged["exact"] == pytest.approx(1.0, rel=1e-6) and charged.min() == charged["exact"]


def test_the_evidence_beyond_epsilon_is_as_likely_as_written():
    """Of 200,000 readings with the patient, those with likelihood ratio above e^eps; 5 standard errors."""
    m = model(epsilon=1.0, delta=0.01)
    shown, sentence = m.attack, accounting.beyond(m.attack, m.budget)
    chance = float(re.search(r"with a chance of ([\d.e-]+)", sentence)[1])
    drawn = shown.mu + np.random.default_rng(0).standard_normal(200_000)
    share = (shown.mu * drawn - shown.mu**2 / 2 > 1.0).mean()
    assert chance == pytest.approx(share, abs=5 * (share / 200_000) ** 0.5 + 0.05 * chance)
