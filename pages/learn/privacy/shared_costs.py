"""What rounds cost, computed once for all visitors of the privacy page."""

import streamlit as st

from dppca_core.privacy import Budget
from pages.learn.privacy import view
from pages.learn.privacy.view import Accounted


@st.cache_resource(max_entries=64, show_spinner=False)
def accountings(budget: Budget, sensitivity: float, steps: int) -> Accounted:
    """What rounds cost by five accountings."""
    return view.accounted(budget, sensitivity, steps)
