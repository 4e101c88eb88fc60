"""Bad input: any link opens the page at the nearest possible setting and says what it changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.shared import choices, scenes
from pages.shared.choices import CHOICES

BAD = {
    "not a number": ({"eps": "abc"}, {"eps": 1.0}, "not a number"),
    "nothing": ({"n": ""}, {"n": 100_000}, "not a number"),
    "nan": ({"delta": "nan"}, {"delta": 1e-5}, "not a number"),
    "zero": ({"eps": "0"}, {"eps": 0.01}, "set to 0.01"),
    "negative": ({"n": "-5"}, {"n": 100}, "set to 100"),
    "huge": ({"n": "1e40"}, {"n": 10**9}, "set to 1,000,000,000"),
    "infinite": ({"d": "inf"}, {"d": 2000}, "set to 2,000"),
    "between": ({"eps": "0.97"}, {"eps": 1.0}, "set to 1"),
    "script": ({"view": "<script>alert(1)</script>"}, {"view": "analyst"}, "not a choice"),
    "k at s": ({"k": "10", "s": "10"}, {"k": 9}, "k lowered to 9: it must stay below s = 10"),
    "rows beyond d": ({"shat": "500", "d": "100"}, {"shat": 100}, "cannot exceed d = 100"),
    "s beyond d": ({"s": "300", "d": "100"}, {"s": 100}, "cannot exceed d = 100"),
    "more hospitals than patients": ({"N": "200", "n": "100"}, {"N": 100}, "there are 100 patients"),
    "unknown data": ({"data": "../../etc/passwd"}, {"data": "synthetic"}, "not a choice"),
    "bulk over spike": ({"spike": "20", "bulk": "80"}, {"bulk": 15.0}, "must stay below 20"),
}


@pytest.mark.parametrize(("link", "lands", "says"), BAD.values(), ids=BAD.keys())
def test_a_bad_link_opens_nearby_and_says_so(screen, link, lands, says):
    page = screen(**link)
    for key, value in lands.items():
        assert page.setting(key) == value
    assert says in page.notices
    assert "<" not in page.notices


def test_a_good_link_says_nothing(screen):
    page = screen(eps="0.5", n="1e6", d="100", k="2")
    assert page.notices == ""
    assert page.setting("n") == 1_000_000


@given(
    st.dictionaries(
        st.sampled_from([*CHOICES, "unknown"]),
        st.text(max_size=30) | st.floats().map(str) | st.integers().map(str) | st.sampled_from(["[]", "{}"]),
        max_size=8,
    )
)
@settings(max_examples=400, deadline=None)
def test_any_link_becomes_a_possible_scene(link):
    asked, _ = choices.read_link(link)
    possible, _ = choices.reconcile(choices.defaults() | asked)
    again, said = choices.reconcile(possible)
    assert again == possible and said == []
    assert all(possible[key] in choice.options for key, choice in CHOICES.items())
    scene, _ = scenes.of(possible)
    assert 1 <= scene.k < scene.d and scene.k < scene.s_hat <= scene.d


def _slider_moves() -> st.SearchStrategy[tuple[str, object]]:
    return st.sampled_from(list(CHOICES)).flatmap(
        lambda key: st.tuples(st.just(key), st.sampled_from(CHOICES[key].options))
    )


@given(st.lists(_slider_moves(), max_size=12))
@settings(max_examples=400, deadline=None)
def test_any_sequence_of_moves_stays_possible(moves):
    now = choices.defaults()
    for key, value in moves:
        now, _ = choices.reconcile(now | {key: value}, moved=key)
        assert now[key] == value or key in ("s", "k", "shat", "N", "bulk", "start", "d")
        scenes.of(now)


def test_the_moved_control_stays_and_the_other_gives_way():
    now, said = choices.reconcile(choices.defaults() | {"k": 12}, moved="k")
    assert (now["k"], now["s"]) == (12, 13)
    assert said == ["Rows that matter s raised to 13: it must stay above k = 12."]


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES.keys())
def test_a_control_reads_its_own_text_back(choice):
    for option in choice.options:
        assert choice.read(choice.text(option)) == (option, None)
