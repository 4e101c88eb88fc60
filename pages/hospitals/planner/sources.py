"""Say where the planner's numbers come from: closed form, simulation, seed, versions."""

import streamlit as st

from dppca_core.bounds import BOUNDS
from dppca_core.experiments.planning.planning import PLANNED_METHODS
from dppca_core.methods import METHODS
from pages.hospitals.planner import text as page_text
from pages.hospitals.planner import view
from pages.shared import text
from pages.shared.reports import sources
from pages.shared.settings.catalogue import Settings


def page(settings: Settings) -> None:
    """Render sources, seed and versions."""
    drawer = sources.drawer()
    if drawer is None:
        return
    with drawer:
        st.markdown(f"{page_text.CLOSED_FORM} {page_text.SIMULATION}")
        if settings["view"] == "researcher":
            st.markdown(page_text.FORMULA)
        lines = ["| method | source | whom it trusts | guarantee | closed form |", "|---|---|---|---|---|"]
        for planned in (PLANNED_METHODS[name] for name in view.listed(settings)):
            method, trust = METHODS[planned.method], text.TRUST_TITLES[planned.trust].lower()
            cells = (planned.title, method.reference, trust, method.guarantee_at(settings["k"]))
            lines.append(f"| {' | '.join(cells)} | {BOUNDS[planned.rule].title} |")
        st.markdown("\n".join(lines))
        st.caption(f"Seed {settings['seed']}; {sources.versions()}.")
