"""Test that a widget's move which Streamlit reports late, or of a widget that is gone, breaks no page."""

from streamlit.testing.v1 import AppTest


def moved_and_gone() -> None:
    import streamlit as st

    from pages.shared.settings import widget_keys, widgets

    bound = widgets.widget_arguments("view", "full")
    st.session_state[bound["key"]] = "plain"
    bound["on_change"]()
    del st.session_state[bound["key"]]
    bound["on_change"]()
    forgotten = widgets.widget_arguments("epsilon", 1.0)
    del st.session_state[widget_keys._SHOWN]["epsilon"]
    forgotten["on_change"]()


def changed_and_moved_before() -> None:
    import streamlit as st

    from pages.shared.settings import widgets

    before = widgets.widget_arguments("n", 1000)
    bound = widgets.widget_arguments("n", 100)
    now = bound["key"]
    st.session_state[before["key"]], st.session_state[now] = 1000, 100
    before["on_change"]()
    st.session_state["moved by the browser"] = widgets.has_pending_move()
    st.session_state[now] = 500
    bound["on_change"]()
    st.session_state["moved by hand"] = dict(st.session_state[widgets._MOVED])
    del st.session_state[widgets._MOVED]
    st.session_state["held"] = now == widgets.widget_arguments("n", 200)["key"], st.session_state[now]


def test_a_move_of_a_widget_that_streamlit_has_forgotten_is_left_out():
    app = AppTest.from_function(moved_and_gone).run()
    assert not app.exception
    assert app.session_state["settings moved since the last run"] == {"view": "plain"}


def test_what_a_widget_showed_before_we_changed_it_is_not_a_move_and_one_that_is_held_keeps_its_key():
    app = AppTest.from_function(changed_and_moved_before).run()
    assert not app.exception
    assert not app.session_state["moved by the browser"]
    assert app.session_state["moved by hand"] == {"n": 500}
    assert app.session_state["held"] == (True, 200)
