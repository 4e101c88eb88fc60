"""The providers page in plain view: each hospital alone, and all together under each trust.

Plain view is for those without statistics. Its bars show the share of the true pattern that is recovered. A
hospital alone is unprotected if it keeps the result in-house, or protected in order to publish it.
"""

from collections.abc import Iterator

import streamlit as st

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.collaboration.protocols import ALONE
from dppca_core.experiments.explorer import trusts
from dppca_core.experiments.no_privacy import NO_PRIVACY
from dppca_core.experiments.verdicts import gain
from pages.hospitals.providers import controls, gain_text, plain_text, view
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import style
from pages.shared.plain import rows, screen
from pages.shared.settings import to_experiment, widgets
from pages.shared.settings.catalogue import Settings


class Joining(screen.CombinedStore):
    """Hold what the page measures in two stores: the hospitals together, and each of them alone.

    Together are the runs of the front page, so that both pages show the same numbers.

    Args:
        settings: Of the page, with those that plain view fixes.

    Attributes:
        together: The store of the runs of all hospitals, by method.
        alone: The store of the runs of single hospitals, by protocol.
        methods: The methods recommended under each trust, and the name of runs without privacy.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.trust = settings, settings["trust"]
        self.recipe, self.adjustments = view.to_setting(settings)
        experiment, self.epsilon = view.to_experiment_of(settings)
        self.experiment, self.together = experiment, cache.results(experiment)
        self.alone = cache.collaboration_results(self.recipe)
        self.stores = (self.together, self.alone)
        self.methods = trusts.methods_shown(experiment, self.epsilon)

    def wanted(self) -> Iterator[screen.Cell]:
        """Return all runs, first repeats first; each is the index of its store, then its key there.

        By `stores` 0 is together and 1 is alone.
        """
        alone = (
            trusts.recommended_alone(self.experiment, self.epsilon, self.recipe.sizes[hospital]).method
            for hospital in self.recipe.hospitals
        )
        shown = {f"alone, {NO_PRIVACY}", *(ALONE[method].key for method in alone)}
        keys = [key for key in self.alone.live if key in shown]
        for repeat in range(self.recipe.repeats):
            for name in self.methods:
                if repeat < self.together.repeats_of(name):
                    yield (0, name, self.epsilon, repeat)
            for key in keys:
                if repeat < self.alone.repeats_of(key):
                    yield from ((1, key, hospital, repeat) for hospital in self.alone.hospitals(key))

    def hospitals(self) -> list[tuple[rows.ShareRow, rows.ShareRow]]:
        """Return a pair of bars, in-house and to publish, for the largest hospital and for the smallest.

        Where all hospitals have one size there is one pair. To publish, a bar is of the method recommended to
        one hospital of that size; in-house it is the best without privacy. It is NaN before any run.
        """
        grouped = view.rows(self.alone, self.settings | {"join.trust": "all"})
        # `hospitals` begins with the largest and ends with the smallest, which may be the same.
        ends = list(dict.fromkeys((self.recipe.hospitals[0], self.recipe.hospitals[-1])))
        sizes = ["Each"] if len(ends) == 1 else ["Largest", "Smallest"]
        pairs = []
        for hospital, size in zip(ends, sizes, strict=True):
            patients = self.recipe.sizes[hospital]
            who = plain_text.label_start(size, patients)
            published = view.advised_alone(grouped, self.settings, patients, hospital)
            pairs.append(
                (
                    self._bar(
                        f"{who} {plain_text.IN_HOUSE}",
                        view.without_privacy(grouped, hospital),
                        style.NOT_PRIVATE,
                    ),
                    self._bar(f"{who} {plain_text.PUBLISHED}", published and published.row, style.PRIVATE),
                )
            )
        return pairs

    def _bar(self, label: str, row: view.Row | None, colour: str) -> rows.ShareRow:
        """Return the bar of a hospital alone; row: None before its first run."""
        spread = row.shares if row else trusts.spread((), self.recipe.k)
        method = row.protocol.method if row else "pca"
        return rows.ShareRow(label, spread, colour, stands_out=False, method=method)

    def shares(self) -> rows.Shares:
        """Return all bars: hospitals alone, then together under each trust where there are several."""
        together = rows.shares(self.together, self.epsilon, self.trust)
        alone = tuple(row for pair in self.hospitals() for row in pair)
        joined = together.rows if len(self.recipe.sizes) > 1 else ()
        named = (row._replace(label=f"Together, {row.label[0].lower()}{row.label[1:]}") for row in joined)
        return together._replace(rows=(*alone, *named))


def sentences(joining: Joining, shares: rows.Shares) -> tuple[str, str]:
    """Return the headline and the text below it; while bars are missing, only that they are coming.

    shares: the bars of `joining.shares()`.
    """
    alone, hospitals = joining.hospitals(), len(joining.recipe.sizes)
    if not all(row.measured for row in shares.rows):
        return text.MEASURING if joining.next_missing() else plain_text.NO_ANSWER, ""
    if hospitals == 1:
        return plain_text.nobody_to_join(*alone[0]), ""
    joined = shares.row_of_trust(joining.trust)
    k = joining.experiment.k
    advice = [
        plain_text.advice(
            whose,
            [gain(joined.spread, row.spread, shares.guess, k) for row in pair],
            pair,
            joined,
        )
        for whose, pair in zip(plain_text.PURPOSES, alone, strict=False)
    ]
    table = joining.experiment.table
    patients = text.count(joining.recipe.n, *(table.row_noun if table else PATIENTS))
    about = plain_text.about(hospitals, patients, joining.trust)
    near = trusts.recommended(joining.experiment, joining.epsilon, joining.trust).near_guess
    no_advice = [plain_text.NEAR_GUESS] if near else []
    below = [*advice[1:], *no_advice, about, plain_text.LEAVES[joining.trust]]
    return advice[0], " ".join([*below, plain_text.IN_HOUSE_MEANS])  # advice to the largest is the headline


def render() -> None:
    """Render the page in plain view."""
    joining = Joining(widgets.head(plain_text.TITLE, plain_text.INTRODUCTION) | rows.ADVISED)
    experiment, epsilon, settings = joining.experiment, joining.epsilon, joining.settings

    def panels() -> None:
        """Render the headline and the bars, with what has been measured so far."""
        shares = joining.shares()
        headline, below = sentences(joining, shares)
        widgets.headline(headline, "epsilon", "providers")  # on a telephone with these two sliders
        st.markdown(below)
        screen.bars(
            *(shares, "joining", plain_text.TITLE, headline),
            table=joining.together.table,
            code=lambda: screen.code([(experiment, epsilon)], joining.methods),
            recipe=lambda: to_experiment.over_epsilon(experiment, epsilon, joining.methods),
        )

    joining.show(panels)
    controls.sizes(joining.recipe, settings)
    st.markdown(plain_text.TRY if len(joining.recipe.sizes) > 1 else plain_text.ALONE)
    about = (*joining.adjustments, gain_text.about(joining.recipe))
    screen.fold(settings, joining.shares, experiment.k, *about)
