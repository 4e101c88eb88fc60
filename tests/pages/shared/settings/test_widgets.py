"""Test that a widget's move which Streamlit reports late, or of a widget that is gone, breaks no page."""

from streamlit.testing.v1 import AppTest


def moved_and_gone() -> None:
    import streamlit as st

    from pages.shared.settings import widgets

    st.session_state["view"] = "plain"
    widgets.remember("view")
    del st.session_state["view"]
    widgets.remember("view")
    widgets.remember("epsilon")
    st.write(st.session_state[widgets._MOVED])


def test_a_move_of_a_widget_that_streamlit_has_forgotten_is_left_out():
    app = AppTest.from_function(moved_and_gone).run()
    assert not app.exception
    assert app.session_state["settings moved since the last run"] == {"view": "plain"}
