"""Test the providers page's comparison of joining with staying alone, and what each protocol sends."""

from dataclasses import replace

import numpy as np
import pytest

from dppca_core.experiments import verdicts
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.methods import METHODS
from pages.hospitals.providers.charts import protocols as charts
from pages.hospitals.providers.model import compared as model
from pages.hospitals.providers.sentences import compared, surroundings
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import style
from pages.shared.plain.share_bars import LOOKS
from pages.shared.settings import catalogue

PAGE = "hospitals/providers/page.py"
SMALL = {"d": "30", "n": "20000", "k": "2", "s": "6", "shat": "10"}


def opened(page, **link):
    return page(PAGE, **SMALL | link).settle()


def results_of(page):
    return cache.collaboration_results(model.to_setting(page.settings)[0])


def test_it_opens_with_few_protocols_and_has_all_at_a_press(page):
    shown = opened(page)
    assert compared.numbers(results_of(shown), shown.settings) in shown.markdown
    recommended = shown.figure["data"][1]["x"]
    assert 5 <= len(recommended) <= 7 and None not in recommended
    shown = opened(page, all="true")
    drawn = shown.figure["data"][1]["x"]
    assert len(drawn) == len(PROTOCOLS) and None not in drawn and set(recommended) <= set(drawn)
    assert "<b>Alone, with privacy: 4,000 patients</b>" in shown.figure["layout"]["yaxis"]["ticktext"]


@pytest.mark.parametrize("n", ["1000", "20000", "1000000"])
def test_both_views_have_one_decision_and_full_has_its_evidence(page, n):
    full, plain = opened(page, n=n), opened(page, n=n, view="plain")
    assert plain.headline == full.headline
    (evidence,) = full.tables
    at = model.to_experiment_of(full.settings)
    methods = [METHODS[trusts.recommended(*at, trust).method].title for trust in LOOKS]
    assert list(evidence["method"]) == methods
    assert set(evidence["runs"]) == {"40"} and results_of(full).recipe.repeats == 2


def test_hospitals_with_their_own_losses_are_compared_at_one(page):
    shown = opened(page, **{"join.losses": "1-0.5"})
    assert surroundings.one_epsilon(1.0) in shown.captions


def test_the_table_of_bytes_has_the_protocols_of_one_trust(page):
    shown = opened(page, **{"join.panel": "travel", "join.trust": "untrusted server"})
    table = shown.tables[0].set_index("protocol")
    assert table.loc["DPS-PCA", ["rounds", "sent a round"]].tolist() == [10, "480 B"]
    assert set(table["the server sees"]) == {"noisy messages"}
    results = results_of(shown)
    line = compared.bytes_line(model.rows(results, shown.settings), results.recipe)
    assert line in shown.markdown and "least with Two stages, own noise (480 B)" in line


def test_who_stays_alone_sends_nothing(page):
    shown = opened(page, **{"join.panel": "travel", "join.trust": "alone"})
    assert set(shown.tables[0]["both ways in all"]) == {"–"} and not shown.figures


def test_sizes_come_from_the_link_and_hold_the_sliders(screen):
    page = screen(PAGE, **SMALL | {"join.sizes": "9000-500-500"})
    assert results_of(page).recipe.sizes == (9000, 500, 500)
    assert page.link["join.sizes"] == "9000-500-500"
    held = {box.label: box.value for box in page.app.text_input}
    assert held["Patients in total n · set by the table"] == "10,000"
    assert held["Hospitals N · set by the table"] == "3"
    elsewhere = screen("explore/convergence/page.py", **{"join.sizes": "9000-500-500"})
    assert [box for box in elsewhere.app.select_slider if box.key == "providers"]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("50000,30000,20000", "50000-30000-20000"),
        ("50,000 30,000", "50000-30000"),
        ("50,000, 30,000", "50000-30000"),
        ("400; 300;100", "400-300-100"),
        ("400 - 300", "400-300"),
        ("1,000,000", "1000000"),
        ("50,30", "50-30"),
        ("400,300,100", ""),
        ("50 000", ""),
        ("50,000,30,000", ""),
        ("400;;300", ""),
    ],
)
def test_sizes_are_read_where_they_can_be_read_in_one_way_only(typed, read):
    value, refusal = catalogue.CHOICES["join.sizes"].read(typed)
    assert value == read
    assert refusal is None if read else "sizes such as 400-300-100" in refusal
    assert catalogue.CHOICES["join.sizes"].read(value) == (value, None)


@pytest.fixture(scope="module")
def measured():
    settings = catalogue.defaults() | {"d": 30, "n": 20_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    settings |= {"largest_share": 0.6, "metric": "projector", "all_methods": True}
    results = CollaborationResults(model.to_setting(settings)[0])
    while (cell := results.next_missing()) is not None:
        results.try_cell(*cell)
    return results, settings


def test_dots_are_medians_in_the_metric_sorted_within_their_group(measured):
    results, settings = measured
    grouped = model.rows(results, settings)
    assert list(grouped) == list(dict.fromkeys(protocol.trust for protocol in PROTOCOLS.values()))
    figure = charts.gains(results, grouped, settings)
    rows = [row for members in grouped.values() for row in members]
    for x, row in zip(figure["data"][1]["x"], rows, strict=True):
        sines, _, _ = results.values(row.protocol.key, row.hospital)
        assert x == pytest.approx(quantiles(np.sqrt(2) * sines)[1], rel=1e-3)
    for members in grouped.values():
        for hospital in {row.hospital for row in members}:
            middles = [row.middle for row in members if row.hospital == hospital]
            assert middles == sorted(middles)
    assert figure["layout"]["xaxis"]["title"]["text"] == "error ‖VVᵀ − WWᵀ‖<sub>F</sub>"
    looks = {charts.look(protocol) for protocol in PROTOCOLS.values() if not protocol.alone}
    assert len(looks) == len({look.symbol for look in looks}) == 18 and style._SPARE not in looks


def test_the_numbers_are_of_the_recommended_methods_and_none_near_a_guess(measured, monkeypatch):
    """Not the best that was measured: another method's error in the same runs changes nothing."""
    results, settings = measured
    grouped = model.rows(results, settings)
    experiment, epsilon = model.to_experiment_of(settings)
    for trust in text.JOINING:
        chosen = trusts.recommended(experiment, epsilon, trust)
        assert model.advised(grouped, settings, trust).row.protocol.method == chosen.method
    others = CollaborationResults(results.recipe)
    others.cells = {
        cell: run._replace(sin=1e-6) if cell[0] == "federated_projector" else run
        for cell, run in results.cells.items()
    }
    numbers = compared.numbers(others, settings)
    assert numbers == compared.numbers(results, settings)
    nobody = model.advised(grouped, settings, "untrusted server").row
    assert f"{nobody.text} ({compared.title(nobody.protocol, results.recipe)})" in numbers
    smallest = results.recipe.hospitals[-1]
    lone = model.advised_alone(grouped, settings, results.recipe.sizes[smallest], smallest).row
    assert f"the smallest {lone.text}" in numbers
    real = trusts.recommended

    def near(*at):
        return replace(real(*at), error=real(*at).guess)

    monkeypatch.setattr(trusts, "recommended", near)
    assert compared.numbers(results, settings).count("near a guess: no method is recommended") == 3


def test_no_dot_is_a_median_of_runs_before_the_first_run(measured):
    results, settings = measured
    assert compared.notes(results, settings, {}).startswith("Dots are medians of 3 runs")
    empty = CollaborationResults(results.recipe)
    assert compared.notes(empty, settings, {}).startswith("No run is measured yet")
    empty.try_cell(*next(empty.wanted()))
    assert compared.notes(empty, settings, {}).startswith("1 run measured, more coming")


def narrow(value):
    return value * (1 - 1e-4), value, value * (1 + 1e-4)


@pytest.mark.parametrize(
    ("joined", "alone", "gained"),
    [
        (narrow(0.097), narrow(0.1), "level"),  # 3 %, in however narrow a band
        (narrow(0.0906), narrow(0.1006), "level"),  # 9.9 %
        (narrow(0.089), narrow(0.1), "less"),
        (narrow(0.1), narrow(0.089), "more"),
        (narrow(1e-9), narrow(4e-8), "level"),  # both read 0
        (narrow(1.4), narrow(1.3), "neither"),
        ((0.5, 0.55, 0.6), (0.2, 0.3, 0.4), "more"),
        ((0.5, 0.55, 0.6), (0.7, 0.8, 0.9), "less"),
        ((0.3, 0.4, 0.8), (0.2, 0.3, 0.4), "level"),  # the bands overlap
    ],
)
def test_a_gain_takes_a_tenth_and_bands_apart(joined, alone, gained):
    shares = ([100 * (1 - error**2 / 2) for error in errors] for errors in (joined, alone))
    assert verdicts.gain(*shares, guess=2.0, k=2) == gained


def test_a_single_hospital_is_shown_how_to_add_others():
    settings = catalogue.defaults() | {"providers": 1, "join.sizes": "700"}
    assert surroundings.try_this(model.to_setting(settings)[0], settings).startswith("type the size")
