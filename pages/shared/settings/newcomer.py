"""Introduce a page: on a first visit in three steps, later in a sentence."""

from collections.abc import Sequence
from html import escape

import streamlit as st


def introduction(page: str, steps: Sequence[str], sentence: str = "", over: bool = False) -> None:
    """Show three steps with a button that closes them for good, and the sentence that then replaces them.

    Both are sent: the browser alone knows whether the steps of this page were closed (first_paint.js). They
    are on the next load too, and at once where the visitor has gone on, so that they are `over`.
    """
    items = "".join(f"<li>{escape(step)}</li>" for step in steps)
    mark = f'data-closes="{page}"{" data-over" * over}'
    close = f'<button type="button" {mark}>Close<span> these three steps</span></button>'
    with st.container(key=f"introduction-{page}"):
        st.html(
            f'<section class="steps" aria-label="This page in three steps"><ol>{items}</ol>{close}</section>'
        )
        if sentence:
            st.markdown(sentence)
