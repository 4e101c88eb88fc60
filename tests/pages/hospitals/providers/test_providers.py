"""The providers page: joining beside staying alone, by sizes that a link or a table gives, and its words."""

import json
import re
import time

import numpy as np
import pytest

from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import TRUSTS, WAYS
from dppca_core.experiments.collaboration.setting import ALL
from dppca_core.experiments.explorer.quantiles import quantiles
from pages.hospitals.providers import controls, gain_charts, gain_text
from pages.hospitals.providers import text as page_text
from pages.hospitals.providers import view as joins
from pages.shared import text
from pages.shared.charts import style
from pages.shared.settings import catalogue
from pages.shared.text import verdicts

PAGE = "hospitals/providers/page.py"
SMALL = {"d": "30", "n": "20000", "k": "2", "s": "6", "shat": "10"}
SYMBOLS = ("ε", "δ", "Θ", "σ", "ŝ", " R ", " N ", " k ")


def opened(screen, **link):
    """The page once its runs are complete."""
    page = screen(PAGE, **SMALL | link)
    for _ in range(100):
        if "Measuring" not in page.markdown and "more coming" not in page.captions:
            return page
        time.sleep(0.1)
        page.run()
    raise AssertionError("the runs did not end")


def ticks(figure):
    return figure["layout"]["yaxis"]["ticktext"]


def test_it_opens_with_every_way_and_says_for_whom_joining_pays(screen):
    page = opened(screen)
    assert page.markdown.count("**") >= 2
    assert "Joined, 5 hospitals with 20,000 patients find the 2 directions with error" in page.markdown
    assert "One of them alone" in page.markdown and "oining a server that nobody trusts" in page.markdown
    assert "In-house, unprotected:" in page.markdown
    drawn = page.figure["data"][2]
    assert len(drawn["x"]) == len(WAYS) and None not in drawn["x"]
    assert "<b>Alone, protected: any (4,000)</b>" in ticks(page.figure)


def test_sizes_come_from_the_link_and_hold_the_sliders(screen):
    page = opened(screen, **{"join.sizes": "9000-500-500"})
    assert "3 hospitals with 10,000 patients" in page.markdown and ", the smallest" in page.markdown
    assert page.link["join.sizes"] == "9000-500-500"
    held = {box.label: box.value for box in page.app.text_input}
    assert held["Patients in total n · set by the sizes"] == "10,000"
    assert held["Hospitals N · set by the sizes"] == "3"
    elsewhere = screen("explore/convergence/page.py", **{"join.sizes": "9000-500-500"})
    assert [box for box in elsewhere.app.select_slider if box.key == "providers"]


def test_a_bad_size_is_one_sentence(screen):
    page = opened(screen, **{"join.sizes": "9-<b>"})
    assert page.notices.count("Hospitals' sizes was") == 1 and "<" not in page.notices
    table = opened(screen, data="breast_cancer", shat="30", **{"join.sizes": "400-300-100"})
    assert "add up to more than the table's 569 patients" in table.captions


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("50000,30000,20000", "50000-30000-20000"),
        ("50,000 30,000", "50000-30000"),
        ("50,000, 30,000", "50000-30000"),
        ("400; 300;100", "400-300-100"),
        ("400 - 300", "400-300"),
        ("400  300", "400-300"),
        ("1,000,000", "1000000"),
        ("50,30", "50-30"),
        ("400,300,100", ""),
        ("9,500", ""),
        ("50 000", ""),
        ("50,000,30,000", ""),
        ("400;;300", ""),
        ("4.5;3", ""),
        ("5; -3", ""),
    ],
)
def test_sizes_are_read_where_they_can_be_read_in_one_way_only(typed, read):
    value, was = catalogue.CHOICES["join.sizes"].read(typed)
    assert value == read
    assert was is None if read else "sizes such as 400-300-100" in was
    assert catalogue.CHOICES["join.sizes"].read(value) == (value, None)


def test_edits_of_the_table_become_a_link():
    assert controls.edited((400, 300, 100), {"edited_rows": {"1": {"patients": 250}}}) == "400-250-100"
    assert controls.edited((400, 300), {"added_rows": [{"patients": 7}, {}]}) == "400-300-7"
    assert controls.edited((400, 300), {"deleted_rows": [0]}) == "300"
    assert controls.edited((4, 3), {"edited_rows": {"0": {"patients": None}}}) == "3"


def test_the_table_of_sizes_follows_the_sliders_and_goes_back_to_them(screen):
    page = opened(screen, **{"join.sizes": "9000-1000"})
    page.app.session_state["sizes drawer"] = True
    page.run()
    assert "2 hospitals, 10,000 patients." in page.markdown
    next(button for button in page.app.button if button.key == "sizes back").click()
    page.run()
    assert page.setting("join.sizes") == "" and "5 hospitals, 20,000 patients." in page.markdown


@pytest.mark.parametrize("panel", ["gain", "travel"])
def test_a_board_sees_no_symbols(screen, panel):
    page = opened(screen, view="board", share="0.6", **{"join.panel": panel, "join.rank": "1"})
    drawn = json.dumps(page.figure["layout"], ensure_ascii=False)
    said = page.markdown + page.captions + page.notices + drawn
    assert [symbol for symbol in SYMBOLS if symbol in said] == []
    assert "DPdisPCA sends 2 directions here: 1 is fewer than the 2 to find." in page.captions


def test_what_travels_is_told_with_its_bytes(screen):
    page = opened(screen, **{"join.panel": "travel", "join.trust": "untrusted server"})
    assert "In a round a hospital sends least with DPS-PCA, own noise (480 B)" in page.markdown
    table = page.app.dataframe[0].value.set_index("way")
    assert table.loc["DPS-PCA, own noise", "rounds"] == 10
    assert set(table["the server sees"]) == {"noisy messages"}
    alone = opened(screen, **{"join.panel": "travel", "join.trust": "alone"})
    assert "Nothing travels" in alone.markdown


def test_a_link_restores_the_screen(screen):
    link = {"join.panel": "travel", "join.trust": "none", "join.rank": "5", "join.sizes": "700-300"}
    page = opened(screen, **link)
    assert page.link.items() >= link.items()
    assert page.figure == opened(screen, **page.link).figure


@pytest.fixture(scope="module")
def measured():
    settings = catalogue.defaults() | {"d": 30, "n": 20_000, "k": 2, "s": 6, "s_hat": 10, "repeats": 3}
    settings |= {"largest_share": 0.6, "metric": "projector"}
    found = CollaborationResults(joins.recipe(settings)[0])
    while (cell := found.next_missing()) is not None:
        found.try_cell(*cell)
    return found, settings


def test_dots_are_medians_in_the_metric_sorted_within_their_group(measured):
    found, settings = measured
    grouped = joins.rows(found, settings)
    assert list(grouped) == list(TRUSTS)
    figure = gain_charts.gains(found, grouped, settings)
    rows = [row for own in grouped.values() for row in own]
    for x, energy, row in zip(figure["data"][2]["x"], figure["data"][3]["x"], rows, strict=True):
        errors = np.sqrt(2) * found.values(row.protocol.key, row.hospital, energy=False)
        assert x == pytest.approx(quantiles(errors)[1], rel=1e-3)
        assert energy == pytest.approx(
            np.median(found.values(row.protocol.key, row.hospital, True)), rel=1e-3
        )
    for own in grouped.values():
        for hospital in {row.hospital for row in own}:
            middles = [row.middle for row in own if row.hospital == hospital]
            assert middles == sorted(middles)
    assert figure["layout"]["xaxis"]["title"]["text"] == "error ‖VVᵀ − WWᵀ‖<sub>F</sub>"
    looks = {gain_charts.look(way) for way in WAYS.values() if not way.alone}
    assert len(looks) == len({look.symbol for look in looks}) == 11 and style._SPARE not in looks


def test_the_headline_compares_alike_promises_only(measured):
    """Averaged projectors err least without trust, but promise less: they are not called the best."""
    found, settings = measured
    grouped = joins.rows(found, settings)
    best = joins.best(grouped, "untrusted server")
    assert best.protocol.key != "federated_projector"
    smallest = joins.best(grouped, "alone", found.recipe.hospitals[-1])
    said = gain_text.headline(found, settings)
    assert f"the smallest {smallest.middle:.2g}" in said or f"the smallest {smallest.middle:.2f}" in said


@pytest.mark.parametrize(
    ("view", "promise"),
    [("analyst", "private on a good event of the data only"), ("board", "protected only where the data")],
)
def test_what_errs_less_but_promises_less_is_named_only_where_it_does(measured, view, promise):
    found, settings = measured
    shown = settings | {"view": view}
    mark = f"; Averaged projectors †, {promise}"
    cells = dict(found.cells)
    for error in (1e-3, 1.4):
        for cell in [cell for cell in cells if cell[0] == "federated_projector"]:
            cells[cell] = cells[cell]._replace(sin=error)
        changed = CollaborationResults(found.recipe)
        changed.cells = cells
        said = gain_text.headline(changed, shown)
        assert (mark in said) == (error < 1)
        assert (said.endswith(f"would have error {text.error(np.sqrt(2) * error)}.")) == (error < 1)


def test_no_dot_is_a_median_of_runs_before_the_first_run(measured):
    found, settings = measured
    assert gain_text.notes(found, settings).startswith("Dots are medians of 3 runs")
    empty = CollaborationResults(found.recipe)
    assert gain_text.notes(empty, settings).startswith("No run is measured yet")
    empty.try_cell(*next(empty.wanted()))
    assert gain_text.notes(empty, settings).startswith("1 run measured, more coming")


def test_the_verdict_follows_the_bands():
    def row(low, middle, high, hospital=ALL):
        return joins.Row(WAYS["full"], hospital, np.array([low, middle, high]), None)

    scale = type("Scale", (), {"guess": 1.4, "plain": False})()
    alone = [row(0.2, 0.3, 0.4, 0), row(0.7, 0.8, 0.9, 1)]
    said = gain_text.verdict(row(0.5, 0.55, 0.6), alone, scale)
    assert re.search("does not pay for the largest hospital.*and pays for the smallest hospital", said)
    said = gain_text.verdict(row(0.3, 0.4, 0.8), alone, scale)
    assert said == "changes little for the largest hospital and the smallest alike"
    guess = [row(1.3, 1.35, 1.4, 0), row(1.3, 1.35, 1.4, 1)]
    assert "nor does staying alone" in gain_text.verdict(row(1.3, 1.38, 1.4), guess, scale)
    hopeful, protected = [row(0.3, 0.34, 0.37, 0)], [row(1.5, 1.6, 1.7, 0)]
    scale.guess = 1.68
    publish = gain_text.advice(row(0.38, 0.4, 0.42), hopeful, protected, scale)
    assert publish == (
        "For use in-house, joining a server that nobody trusts does not pay: each of them errs less alone. "
        "To publish, it errs less than each of them alone and protected."
    )
    two = [row(0.5, 0.6, 0.7, hospital) for hospital in (0, 1)]
    publish = gain_text.advice(row(0.38, 0.4, 0.42), hopeful * 2, two, scale)
    assert publish.endswith("it errs less than the largest hospital and the smallest alone and protected.")
    assert "and the smallest alike, which err less alone" in publish and "pays" not in publish
    both = gain_text.advice(row(0.1, 0.11, 0.12), hopeful, protected, scale)
    assert both == "Joining a server that nobody trusts pays for each of them."


@pytest.mark.parametrize(
    ("joined", "alone", "gained"),
    [
        (0.097, 0.1, "level"),  # 3 %, in however narrow a band
        (0.1, 0.097, "level"),
        (0.0906, 0.1006, "level"),  # 9.9 %
        (0.089, 0.1, "less"),
        (0.1, 0.089, "more"),
        (1e-9, 4e-8, "level"),  # both read 0
        (0.0, 0.0, "level"),
        (1.4, 1.3, "neither"),
    ],
)
def test_less_than_a_tenth_is_no_gain_even_where_the_runs_are_apart(joined, alone, gained):
    narrow = [[value * (1 - 1e-4), value, value * (1 + 1e-4)] for value in (joined, alone)]
    assert verdicts.gain(*narrow, 1.4) == gained


@pytest.mark.parametrize("repeats", [2, 4])
def test_at_the_defaults_joining_is_not_said_to_pay_where_each_errs_less_in_house(repeats):
    settings, _ = catalogue.reconcile(catalogue.defaults() | {"repeats": repeats})
    outcomes = CollaborationResults(joins.recipe(settings)[0])
    for key in (key for key, way in WAYS.items() if not way.own_moments or way.full):
        for hospital in outcomes.places(key):
            for repeat in range(repeats):
                outcomes.try_cell(key, hospital, repeat)
    headline = gain_text.headline(outcomes, settings)
    assert (
        "does not pay: each of them errs less alone. To publish, it changes little for any of them"
        in headline
    )
    assert "pays for" not in headline


RARE = {"n": 200_000, "providers": 200, "d": 50, "spike": 20.0, "bulk": 15.0, "delta": 1e-6}


@pytest.mark.parametrize(
    ("own", "pays"),
    [
        (RARE, False),  # 0.34 alone in-house, as good as joined; 1.6 alone if it publishes
        (RARE | {"n": 50_000, "providers": 50, "epsilon": 10.0}, True),
    ],
)
def test_joining_pays_only_where_staying_alone_unprotected_errs_more(own, pays):
    """Against the cells themselves: the largest error joined below the least alone, either way."""
    settings, _ = catalogue.reconcile(catalogue.defaults() | {"repeats": 4} | own)
    found = CollaborationResults(joins.recipe(settings)[0])
    keys = [key for key, way in WAYS.items() if not way.own_moments or way.full]
    for key in keys:
        for hospital in found.places(key):
            for repeat in range(4):
                found.try_cell(key, hospital, repeat)
    joined = min((np.median(found.values(key, ALL, False)), key) for key in ("full", "dps_pca"))[1]
    alone = min(found.values(key, 0, False).min() for key in ("alone open", "alone open sparse"))
    assert (found.values(joined, ALL, False).max() < alone) == pays
    said = gain_text.headline(found, settings)
    assert ("nobody trusts pays for each of them" in said) == pays
    assert ("For use in-house" in said) != pays
    assert ("To publish, it errs less than each of them alone and protected" in said) != pays
    assert said.count("pays for") == pays


@pytest.mark.parametrize("sizes", ["", "700"])
def test_one_hospital_is_told_what_it_can_try(sizes):
    now = catalogue.defaults() | {"providers": 1, "join.sizes": sizes}
    of = joins.recipe(now)[0]
    for panel in ("gain", "travel", "pair"):
        said = page_text.try_this(of, now | {"join.panel": panel})
        assert ("type the size of a second hospital" if sizes else "move *Hospitals N* to 5") in said
        assert "share" not in said and "line" not in said


def test_nobody_is_told_to_watch_what_is_not_simulated():
    now = catalogue.defaults() | {"d": 2000, "n": 10**6, "providers": 200, "join.panel": "pair"}
    assert "line" not in page_text.try_this(joins.recipe(now)[0], now)
    now |= {"d": 200, "providers": 5}
    assert "points stay on the line" in page_text.try_this(joins.recipe(now)[0], now)
