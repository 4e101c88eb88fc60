"""Show the privacy page in plain view: a picture of two data sets, and what an attacker makes of it."""

from collections.abc import Iterator

import streamlit as st

from dppca_core.experiments.demonstrations import neighbours
from dppca_core.experiments.figure_tables.figure_recipe import FigureRecipe
from pages.learn.privacy import attack_charts, plain_text, text, view
from pages.shared.background import cache
from pages.shared.document import streamlit
from pages.shared.plain import phrases
from pages.shared.reports import sources, take_along
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings


def show(settings: Settings) -> None:
    """Show the promise, the picture with a few sentences, and a fold with all that is technical."""
    budget, draws = view.budget(settings), cache.attack_draws(view.attack_setting(settings))
    widgets.headline(plain_text.headline(draws), "epsilon", "delta")
    picture = neighbours.picture(budget, seed=settings["seed"])
    code = FigureRecipe("privacy.releases", {"budget": budget, "seed": settings["seed"]})
    take_along.show(
        attack_charts.releases(picture),
        # Its key, its files' name, and its title.
        *("releases figure", "dppca-releases", text.releases_title(budget)),
        code=lambda: code,
    )
    for sentences in (plain_text.releases(picture), plain_text.failure(budget.delta)):
        st.markdown("  \n".join(sentences))
    st.markdown(f"**Try this:** {plain_text.TRY_THIS}")

    def about() -> Iterator[str]:
        """Yield the fold's paragraphs; the attack is measured only once the fold is open."""
        attack = view.attack(draws, settings["attack.alarms"], settings["attack.draws"])
        yield f"The promise: {text.promise_text(budget)}."
        if attack is not None:
            yield text.three_odds(attack, draws)
        yield text.about(settings["attack.method"])
        yield text.PAPERS

    streamlit.show_block(sources.fold(settings, about, sources.LIMITS, phrases.FOLD))
