"""Introduce a page: on a first visit in three steps, later in a sentence."""

from collections.abc import Sequence
from html import escape

import streamlit as st


def introduction(page: str, steps: Sequence[str], sentence: str = "") -> None:
    """Show three steps with a button that closes them for good, and the sentence that then replaces them.

    Both are sent: the browser alone knows whether the steps of this page were closed (first_paint.js).
    """
    items = "".join(f"<li>{escape(step)}</li>" for step in steps)
    close = f'<button type="button" data-closes="{page}">Close<span> these three steps</span></button>'
    with st.container(key=f"introduction-{page}"):
        st.html(
            f'<section class="steps" aria-label="This page in three steps"><ol>{items}</ol>{close}</section>'
        )
        if sentence:
            st.markdown(sentence)
