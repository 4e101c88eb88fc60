"""Test that any link opens the page at the nearest possible setting and says what it changed."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dppca_core.experiments import Axis
from dppca_core.experiments.explorer.experiment import ExplorerExperiment
from dppca_core.experiments.sweeps import of_experiment
from dppca_core.methods import METHODS
from dppca_core.populations.spiked import SpikedModel
from dppca_core.populations.stated import StatedCorrelations, StatedEigenvalues
from pages.explore.convergence.model import Convergence
from pages.shared.settings import catalogue, of_pages, to_experiment, widgets
from pages.shared.settings.catalogue import CHOICES, OF_PARAMETER
from tests.pages.visited import allowed

BAD = {
    "not a number": ({"eps": "abc"}, {"epsilon": 1.0}, "not a number"),
    "nothing": ({"n": ""}, {"n": 100_000}, "“Patients in total n” was not readable: we set it to 100,000."),
    "decimal comma": (
        {"eps": "1,3"},
        {"epsilon": 1.25},
        "“Privacy loss ε” was 1,3: we set it to 1.25, the nearest",
    ),
    "decimal comma below 1": ({"eps": "0,125"}, {"epsilon": 0.125}, ""),
    "commas between thousands": ({"n": "1,000,000"}, {"n": 10**6}, ""),
    "underscores": ({"eps": "1__0"}, {"epsilon": 1.0}, "not a number"),
    "nan": ({"delta": "nan"}, {"delta": 1e-7}, "not a number"),
    "zero": ({"eps": "0"}, {"epsilon": 0.01}, "set it to 0.01"),
    "negative": ({"n": "-5"}, {"n": 100}, "set it to 100"),
    "huge": ({"n": "1e40"}, {"n": 10**9}, "set it to 1,000,000,000"),
    "infinite": ({"d": "inf"}, {"d": 2000}, "set it to 2,000"),
    "between": ({"eps": "0.97"}, {"epsilon": 1.0}, "set it to 1"),
    "script": ({"view": "<script>alert(1)</script>"}, {"view": "full"}, "not a choice"),
    "k at s": ({"k": "10", "s": "10"}, {"k": 9}, "We lowered “Components k” to 9: it must stay below s = 10"),
    "k off the scale": (
        {"k": "50", "s": "10"},
        {"k": 9},
        "“Components k” was 50: we set it to 9, as it must stay below s = 10.",
    ),
    "rows beyond d": ({"shat": "500", "d": "100"}, {"s_hat": 100}, "cannot exceed d = 100"),
    "rows off the scale": (
        {"shat": "9999"},
        {"s_hat": 200},
        "ŝ” was 9999: we set it to 200, as it cannot exceed d",
    ),
    "a board's words": (
        {"k": "50", "view": "plain"},
        {"k": 9},
        "“Patterns to find” was 50: we set it to 9, as it must stay below 10 measurements that matter",
    ),
    "s beyond d": ({"s": "300", "d": "100"}, {"s": 100}, "cannot exceed d = 100"),
    "more hospitals than patients": ({"N": "200", "n": "100"}, {"providers": 100}, "there are 100 patients"),
    "unknown data": ({"data": "../../etc/passwd"}, {"data": "synthetic"}, "not a choice"),
    "no sizes": (
        {"join.sizes": "4-x-<2>"},
        {"join.sizes": ""},
        "“Hospitals' sizes” was “4-x-2”, which is not up to 200 sizes such as 400-300-100: we set it to "
        "those of the sliders.",
    ),
    "too many sizes": ({"join.sizes": "1-" * 200 + "1"}, {"join.sizes": ""}, "not up to 200 sizes"),
    "a size of nobody": ({"join.sizes": "5-0"}, {"join.sizes": ""}, "which is not up to 200 sizes"),
    "no numbers": (
        {"data": "stated", "stated": "<b>"},
        {"data": "stated", "stated": "100,60,35,20,12"},
        "“Eigenvalues or correlations” was not readable: we set it to 100, 60, 35, 20, 12.",
    ),
    "too long for a link": (
        {"data": "stated", "stated": "pasted"},
        {"data": "stated"},
        "was too long for a link, so paste it again: we set it to",
    ),
    "k within equal eigenvalues": (
        {"data": "stated", "stated": "5,5,5,2", "k": "2"},
        {"k": 3},
        "We raised “Components k” to 3: it must end where your next eigenvalue is smaller.",
    ),
    "a correlated bulk over the spikes": (
        {"spike": "20", "correlation": "0.9"},
        {"spike": 20.0, "correlation": 0.5},
        "to 0.5: the weakest spike must stay above the background",
    ),
    "spikes that fall into the bulk": (
        {"bulk": "50", "fall": "0.2"},
        {"bulk": 50.0, "fall": 1.0},
        "the weakest spike must stay above the background",
    ),
    "the largest row of heavy tails": (
        {"tails": "4", "scaling": "largest"},
        {"tails": "4", "scaling": "public"},
        "grows with n without end",
    ),
    "bulk over spike": ({"spike": "20", "bulk": "80"}, {"bulk": 15.0}, "must stay below 20"),
}


@pytest.mark.parametrize(("link", "lands", "says"), BAD.values(), ids=BAD.keys())
def test_a_bad_link_opens_nearby_and_says_so(link, lands, says):
    settings, notices = catalogue.open_link(link)
    assert lands.items() <= settings.items()
    assert says in "\n".join(notices) and "<" not in "\n".join(notices)


@pytest.mark.parametrize("name", ["script", "rows beyond d", "a board's words", "no sizes"])
def test_a_page_shows_what_a_bad_link_became(screen, name):
    link, lands, says = BAD[name]
    page = screen(**link)
    assert all(page.setting(key) == value for key, value in lands.items())
    assert says in page.notices and "<" not in page.notices


def test_one_setting_is_spoken_of_once(screen):
    page = screen(k="50", s="10", shat="9999")
    assert page.notices.count("Components k") == 1 and page.notices.count("Features kept") == 1


@pytest.mark.parametrize(
    ("link", "population"),
    [
        ({"fall": "0.2"}, SpikedModel(200, 3, 10, fall=0.2)),
        ({"correlation": "0.7"}, SpikedModel(200, 3, 10, correlation=0.7)),
        ({"tails": "4"}, SpikedModel(200, 3, 10, tails=4.0)),
        (
            {"data": "stated", "stated": "50,20,5,1", "k": "2", "s": "5"},
            StatedEigenvalues(200, 2, 5, (50.0, 20.0, 5.0, 1.0), (0.0, 1.0)),
        ),
        (
            {"data": "stated", "stated": "r0.5_-0.3,0.2", "k": "1", "shat": "2"},
            StatedCorrelations((0.5, -0.3, 0.2), 1),
        ),
    ],
)
def test_a_link_holds_a_population_that_is_not_kind(link, population):
    settings, notices = catalogue.open_link(link)
    assert notices == [] and to_experiment.from_settings(settings)[0].population == population
    assert catalogue.open_link(catalogue.to_link(settings))[0] == settings


def test_a_wide_table_is_not_in_the_link():
    value = "r" + "_".join(",".join(["0.123"] * i) for i in range(1, 30))
    settings = catalogue.defaults_with({"data": "stated", "stated": value})
    assert catalogue.to_link(settings)["stated"] == "pasted"
    assert to_experiment.from_settings(catalogue.reconcile(settings)[0])[0].d == 30


def test_the_control_that_moved_last_stays_and_the_spikes_rise():
    now = catalogue.defaults_with({"spike": 50.0})
    assert catalogue.reconcile(now | {"correlation": 0.9}, ("correlation",))[0]["spike"] == 100.0
    assert catalogue.reconcile(now | {"fall": 0.1}, ("fall",))[0]["spike"] == 200.0


def test_numbers_are_typed_refused_and_corrected(screen):
    page = screen(data="stated")
    field = page.app.sidebar.text_area[0]
    assert field.value == "100, 60, 35, 20, 12"
    field.set_value("9\n4\nx")
    page.run()
    assert "Row 3 holds something that is no number" in page.app.sidebar.error[0].value
    assert page.app.sidebar.text_area[0].value == "9\n4\nx" and page.setting("stated") == "100,60,35,20,12"
    page.app.sidebar.text_area[0].set_value("1 0.5 0.3\n0.5 1 0.2\n0.3 0.2 1")
    page.run()
    assert not page.app.sidebar.error and page.setting("stated") == "r0.5_0.3,0.2"
    assert page.link["stated"] == "r0.5_0.3,0.2" and page.setting("k") == 2


def test_what_a_table_fixes_is_not_spoken_of(screen):
    assert screen(data="digits", n="5", d="3").notices == ""


def test_a_link_restores_what_made_it(screen):
    """A link has its preset, what differs from it and nothing else; a corrected link has what it became."""
    link = {"preset": "large-study", "eps": "2", "accounting": "as-printed", "noise": "shared"}
    link |= {"view": "plain", "ghost": "true"}
    assert screen(**link).link == link | {"repeats": "2"}
    assert screen(eps="0", metric="PROJECTOR", d="200").link == {
        "preset": "large-study",
        "eps": "0.01",
        "metric": "projector",
        "repeats": "2",
    }


def test_links_keep_the_papers_letters():
    link = {"eps": "2", "N": "8", "T": "20", "shat": "30", "burn": "1", "noise": "shared", "share": "0.5"}
    link |= {"own.eps": "1", "own.N": "3", "own.shat": "12"}
    link |= {"family": "shat", "compare.over": "hospitals"}
    names = ("epsilon", "providers", "iterations", "s_hat", "burn_in", "provider_noise", "largest_share")
    opened, sentences = catalogue.open_link(link)
    assert sentences == [] and [opened[name] for name in names] == [2.0, 8, 20, 30, 1, "shared", 0.5]
    assert (opened["family"], opened["compare.over"]) == ("s_hat", "providers")
    assert catalogue.to_link(opened, named=False) == link


@pytest.mark.parametrize(
    ("link", "delta"),
    [
        ({}, 1e-7),
        ({"preset": "small-study"}, 1e-6),
        ({"n": "1e6", "delta": "1e-5"}, 1e-5),
        ({"n": "1e6"}, 1e-8),
        ({"n": "2e6"}, 1e-9),
        ({"n": "100"}, 1e-6),
        ({"n": "1e9"}, 1e-10),  # the least option
        ({"data": "breast_cancer", "n": "1e9"}, 1e-6),
        ({"preset": "ge-et-al-fig-3-a"}, 0.3),
        ({"preset": "ge-et-al-fig-3-a", "delta_set": "false"}, 1e-7),
    ],
)
def test_delta_is_what_the_link_says_or_follows_the_patients(link, delta):
    opened, sentences = catalogue.open_link(link)
    assert sentences == [] and opened["delta"] == delta
    assert catalogue.open_link(catalogue.to_link(opened)) == (opened, [])


def test_delta_moves_with_the_patients_until_it_is_set():
    for n in CHOICES["n"].options:
        least = min(CHOICES["delta"].options)
        assert catalogue.delta_for(n) <= max(min(1e-6, 1.001 / (100 * n)), least)
        assert min(1e-6, 1 / (100 * n)) < 10.001 * catalogue.delta_for(n)
    now, sentences = catalogue.reconcile(catalogue.defaults() | {"n": 10**7}, moved=("n",))
    assert now["delta"] == 1e-9 and sentences == [] and "delta" not in catalogue.to_link(now)
    now, _ = catalogue.reconcile(now | {"delta": 1e-4}, moved=("delta",))
    now, _ = catalogue.reconcile(now | {"n": 10**8}, moved=("n",))
    assert now["delta"] == 1e-4 and catalogue.to_link(now)["delta"] == "0.0001"


def test_settings_are_called_as_the_core_calls_them():
    methods = {use for method in METHODS.values() for use in method.uses}
    assert methods - CHOICES.keys() == {"batches"}  # no control moves it
    fields = {field.name for field in dataclasses.fields(ExplorerExperiment)} - {
        "population",
        "failure",
        "energy",
    }
    of_releases = {"start_error", "method", "rank", "clip", "choose_rows", "mean_share", "fitted"}
    assert fields - of_releases <= CHOICES.keys()


def test_rows_chosen_from_the_release_reach_two_stages_and_leave_others_all_rows():
    opened, sentences = catalogue.open_link({"shat": "released", "d": "50", "k": "4", "family": "shat"})
    assert sentences == [] and catalogue.to_link(opened)["shat"] == "released"
    experiment, epsilon = to_experiment.from_settings(opened)
    assert experiment.options("two_stage")["s_hat"] == "released"
    assert experiment.options("dps_pca")["s_hat"] == experiment.setting(epsilon, np.ones(50)).s_hat == 50
    recipe = of_experiment.recipe(experiment, 1.0, ["two_stage", "dps_pca"], Axis("d", (40, 50)))
    assert [dict(method.options) for method in recipe.methods] == [{"s_hat": "released"}, {}]
    assert recipe.s_hat is None
    assert Convergence(opened).key == "epsilon"  # a word has no values around it


@pytest.mark.parametrize("name", [min(catalogue.PRESETS), max(catalogue.PRESETS)])
def test_a_presets_link_is_its_name_and_what_differs(screen, name):
    page = screen(view="full", ghost="true")
    page.move("preset", name)
    assert all(page.setting(key) == value for key, value in catalogue.PRESETS[name].items())
    of_presets = {OF_PARAMETER[parameter].key for parameter in page.link} & catalogue.PRESETS[name].keys()
    assert page.link["preset"] == CHOICES["preset"].link(name) and not of_presets
    copied = screen(**({"repeats": "10"} | page.link))
    assert copied.settings == page.settings
    page.move("delta", 1e-7)
    assert page.shown("preset") is None  # the box no longer says that this is the preset
    assert page.link["preset"] == CHOICES["preset"].link(name) and page.link["delta"] == "1e-07"


def _slider_moves() -> st.SearchStrategy[tuple[str, object]]:
    return st.sampled_from(list(CHOICES)).flatmap(
        lambda key: st.tuples(st.just(key), st.sampled_from(CHOICES[key].options))
    )


class Parameters(dict):
    def to_dict(self):
        return dict(self)

    def from_dict(self, link):
        self.clear()
        self.update(link)


@pytest.fixture
def streamlit_session(monkeypatch):
    session = SimpleNamespace(session_state={}, query_params=Parameters())
    monkeypatch.setattr(widgets, "st", session)
    return session


OWN = {page: of_pages.panel(page).opens for page in ("", "convergence", "bounds", "providers", "story")}


def test_a_page_opens_at_its_own_preset_until_a_shared_setting_is_set_by_hand(streamlit_session):
    """Detail and a page's own settings make none one's own; a shared slider does, and then all travel."""
    assert len(set(OWN.values())) == 3
    for page, preset in [*OWN.items(), *OWN.items()]:
        now = widgets.update(OWN[page])
        assert now["preset"] == preset and now | catalogue.PRESETS[preset] == now, page
        assert streamlit_session.query_params.to_dict() == {}
    widgets.set_to("plan.target", 0.2)
    widgets.set_to("view", "plain")
    assert widgets.update("Large study")["n"] == 100_000
    assert widgets.update("Small study")["n"] == 2000
    assert streamlit_session.query_params.to_dict() == {"view": "plain", "plan.target": "0.2"}
    widgets.set_to("epsilon", 2.0)
    for preset in ("Small study", "Large study", "Rare disease"):
        now = widgets.update(preset)
        assert (now["n"], now["d"], now["epsilon"], now["view"]) == (2000, 50, 2.0, "plain")
        link = {"preset": "small-study", "eps": "2", "view": "plain", "plan.target": "0.2"}
        assert streamlit_session.query_params.to_dict() == link


def test_a_link_with_a_shared_setting_keeps_to_it_on_all_pages(streamlit_session):
    streamlit_session.query_params = Parameters({"eps": "2"})
    assert widgets.update("Small study")["epsilon"] == 2.0
    assert streamlit_session.query_params.to_dict() == {"preset": "small-study", "eps": "2"}
    assert widgets.update("Large study")["n"] == 2000


def _apart(settings):
    """Return settings without the flags, which say of delta that it was moved."""
    return {key: value for key, value in settings.items() if not key.endswith("_set")}


@given(st.lists(_slider_moves(), max_size=4), _slider_moves())
def test_a_move_and_its_return_change_nothing_else(moves, excursion):
    """So k to 20 and back leaves s and s_hat as they were, d to 2,000 and back leaves k."""
    wanted = widgets.Wanted(catalogue.defaults("Small study"))
    for key, value in moves:
        wanted = wanted.after({key: value})
    before = wanted.possible
    key, value = excursion
    if CHOICES[key].numeric or isinstance(CHOICES[key].default, bool):
        wanted = widgets.Wanted(before)  # as after a reload
        back = wanted.after({key: value}).after({key: before[key]})
        # A failure chance that was moved stays as it was set.
        kept = {key: value for key, value in _apart(back.possible).items() if key not in ("delta",)}
        assert kept == {key: value for key, value in _apart(before).items() if key not in ("delta",)}


def test_a_return_within_a_session_brings_back_what_gave_way():
    """A control that gave way earlier comes back as well, once nothing stands against what was asked."""
    wanted = widgets.Wanted(catalogue.defaults("Small study")).after({"k": 20})
    assert (wanted.possible["s"], wanted.possible["s_hat"]) == (21, 21)
    wanted = wanted.after({"d": 10})
    assert (wanted.possible["d"], wanted.possible["s"], wanted.possible["k"]) == (10, 10, 9)
    wanted = wanted.after({"d": 50}).after({"k": 3})
    assert wanted.possible == catalogue.defaults("Small study")


@given(
    st.dictionaries(
        st.sampled_from([*catalogue.OF_PARAMETER, "unknown"]),
        st.text(max_size=30) | st.floats().map(str) | st.integers().map(str) | st.sampled_from(["[]", "{}"]),
        max_size=8,
    )
)
def test_any_link_becomes_a_possible_scene(link):
    possible, _ = catalogue.open_link(link)
    again, sentences = catalogue.reconcile(possible)
    assert again == possible and sentences == []
    assert catalogue.open_link(catalogue.to_link(possible)) == (possible, [])
    assert all(allowed(choice, possible[key]) for key, choice in CHOICES.items())
    experiment, _ = to_experiment.from_settings(possible)
    assert 1 <= experiment.k < experiment.d and experiment.k < experiment.s_hat <= experiment.d


@given(st.lists(_slider_moves(), max_size=12))
def test_any_sequence_of_moves_stays_possible(moves):
    now = catalogue.defaults()
    for key, value in moves:
        now, _ = catalogue.reconcile(now | {key: value}, moved=(key,))
        assert now[key] == value or key in ("s", "k", "s_hat", "providers", "start", "d")
        to_experiment.from_settings(now)


@pytest.mark.parametrize(
    ("view", "why"),
    [("plain", "the method shown before needs another"), ("full", "DPdisPCA trusts nobody")],
)
def test_another_trust_lets_the_method_go_and_says_why(view, why):
    before = catalogue.defaults() | {"view": view, "method": "dpdis_pca", "trust": "untrusted server"}
    now, (sentence,) = catalogue.reconcile(before | {"trust": "central"}, moved=("trust",))
    assert now["method"] == catalogue.RECOMMENDED and sentence.endswith(f": {why}.")


def test_one_control_gives_way_at_the_end_of_the_scale():
    full = catalogue.defaults() | {"d": 10, "s": 10, "k": 10, "s_hat": 10}
    assert catalogue.reconcile(full, moved=("k",))[1] == [
        "We lowered “Components k” to 9: it must stay below s = 10."
    ]


def test_the_moved_control_stays_and_the_other_gives_way():
    now, sentences = catalogue.reconcile(catalogue.defaults() | {"k": 12}, moved=("k",))
    assert (now["k"], now["s"]) == (12, 13)
    assert sentences == ["We raised “Features that matter s” to 13: it must stay above k = 12."]


def test_a_control_reads_its_own_text_back():
    for key, choice in CHOICES.items():
        for option in choice.options:
            assert choice.read(choice.text(option)) == (option, None), key
            assert choice.read(choice.link(option)) == (option, None), key


def test_a_link_restores_each_control_at_both_ends():
    """So does the link of any page: what it shows follows from its settings alone."""
    for key, choice in CHOICES.items():
        for option in (choice.options[0], choice.options[-1]):
            now, _ = catalogue.reconcile(catalogue.defaults() | {key: option}, moved=(key,))
            assert catalogue.open_link(catalogue.to_link(now)) == (now, []), key


def test_a_control_that_gave_way_can_be_moved_to_what_was_asked_for_before(screen):
    page = screen(k="8")
    page.move("s", 5)
    assert page.setting("k") == 4
    page.move("k", 8)
    assert (page.setting("k"), page.setting("s")) == (8, 9)
