"""The providers page in plain view: each hospital alone, and all together under each trust.

Plain view is for those without statistics. Its bars show the share of the true pattern that is recovered. A
hospital alone is unprotected if it keeps the result in-house ("alone, none"), or protected in order to
publish it ("alone").
"""

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from dppca_core.datasets import PATIENTS
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.explorer import trusts
from pages.hospitals.providers import controls, gain_text, plain_text, view
from pages.shared import text
from pages.shared.background import cache
from pages.shared.charts import style
from pages.shared.charts.metric_axis import as_error
from pages.shared.plain import rows, screen
from pages.shared.settings import to_experiment, widgets
from pages.shared.settings.catalogue import Settings
from pages.shared.text.verdicts import A_BOARD_CARES, Gain, gain

# A hospital alone, by whether it protects its patients: the words of its bar, and the colour.
_ALONE = {
    "alone, none": (plain_text.IN_HOUSE, rows.OPEN),
    "alone": (plain_text.PUBLISHED, style.GUESS),
}


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
        experiment, self.epsilon = to_experiment.from_settings_with_method(settings)
        if settings["join.sizes"]:  # noise depends on the number of hospitals only: equal sizes will do
            sizes = {"n": self.recipe.n, "providers": len(self.recipe.sizes), "largest_share": 0.0}
            experiment = replace(experiment, **sizes)
        self.experiment, self.together = experiment, cache.results(experiment)
        self.alone = cache.collaboration_results(self.recipe)
        self.stores = (self.together, self.alone)
        self.methods = trusts.methods_shown(experiment, self.epsilon)

    def wanted(self) -> Iterator[screen.Cell]:
        """Return all runs, first repeats first; each is the index of its store, then its key there.

        By `stores` 0 is together and 1 is alone.
        """
        keys = [key for key in self.alone.live if PROTOCOLS[key].alone]
        for repeat in range(self.recipe.repeats):
            for name in self.methods:
                if repeat < self.together.repeats_of(name):
                    yield (0, name, self.epsilon, repeat)
            for key in keys:
                if repeat < self.alone.repeats_of(key):
                    yield from ((1, key, hospital, repeat) for hospital in self.alone.hospitals(key))

    def hospitals(self) -> list[tuple[rows.ShareRow, rows.ShareRow]]:
        """Return a pair of bars, in-house and to publish, for the largest hospital and for the smallest.

        Where all hospitals have one size there is one pair. A bar is of the best method, NaN before any run.
        """
        grouped = view.rows(self.alone, self.settings | {"join.trust": "all"})
        # `hospitals` begins with the largest and ends with the smallest, which may be the same.
        ends = list(dict.fromkeys((self.recipe.hospitals[0], self.recipe.hospitals[-1])))
        sizes = ["Each"] if len(ends) == 1 else ["Largest", "Smallest"]
        pairs = []
        for hospital, size in zip(ends, sizes, strict=True):
            who, pair = plain_text.label_start(size, self.recipe.sizes[hospital]), []
            for trust, (words, colour) in _ALONE.items():
                best = view.best(grouped, trust, hospital)
                spread = best.error if best else trusts.spread((), self.recipe.k)
                method = best.protocol.method if best else "pca"
                bar = rows.ShareRow(f"{who} {words}", spread, colour, stands_out=False, method=method)
                pair.append(bar)
            pairs.append((pair[0], pair[1]))
        return pairs

    def shares(self) -> rows.Shares:
        """Return all bars: hospitals alone, then together under each trust where there are several."""
        together = rows.shares(self.together, self.epsilon, self.trust)
        alone = tuple(row for pair in self.hospitals() for row in pair)
        joined = together.rows if len(self.recipe.sizes) > 1 else ()
        named = (row._replace(label=f"Together, {row.label[0].lower()}{row.label[1:]}") for row in joined)
        return together._replace(rows=(*alone, *named))


def _losses(row: rows.ShareRow) -> list[float]:
    """Return a bar's shares at 10, 50 and 90 % of the runs as losses, ascending, as `gain` compares them."""
    return sorted(as_error("share", float(share)) for share in row.spread)


def _verdict(joined: rows.ShareRow, alone: rows.ShareRow, guess: float) -> Gain:
    """Return whether joining errs less than staying alone; guess: the share that a guess recovers, in %.

    It is "level" for shares that differ too little to matter to a board.
    """
    # Shares are in %, and `A_BOARD_CARES` is a share of 1.
    if abs(joined.share - alone.share) < 100 * A_BOARD_CARES:
        return "level"
    return gain(_losses(joined), _losses(alone), as_error("share", guess))


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
    advice = [
        plain_text.advice(whose, [_verdict(joined, row, shares.guess) for row in pair], pair, joined)
        for whose, pair in zip(("In-house", "Smallest hospital in-house"), alone, strict=False)
    ]
    table = joining.experiment.table
    patients = text.count(joining.recipe.n, *(table.row_noun if table else PATIENTS))
    about = plain_text.about(hospitals, patients, joining.trust)
    below = [*advice[1:], about, plain_text.LEAVES[joining.trust]]
    return advice[0], " ".join([*below, plain_text.IN_HOUSE_MEANS])  # advice to the largest is the headline


def render() -> None:
    """Render the page in plain view."""
    joining = Joining(widgets.head(plain_text.TITLE, plain_text.QUESTION) | rows.ADVISED)
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
