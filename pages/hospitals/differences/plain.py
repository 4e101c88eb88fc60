"""The differences page in plain view: alone and joined, standardised or not, under each trust.

Plain view is for those without statistics. Its bars show how much of the pattern of its own patients the
median hospital recovers, in %. A cell is one run: joined or alone, at a strength of the differences, with a
kind of standardisation.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dppca_core.arrays import Array
from dppca_core.bounds.recommendation import recommend
from dppca_core.experiments.collaboration.joining import SiteCell
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.mechanisms import two_stage
from pages.hospitals.differences import plain_text
from pages.hospitals.differences import text as page_text
from pages.hospitals.differences.view import SiteView, recipe
from pages.shared import text
from pages.shared.background import cache, failed_runs
from pages.shared.charts import style
from pages.shared.plain import phrases, rows, screen
from pages.shared.plain.rows import ShareRow, Shares
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import Settings
from pages.shared.text.verdicts import A_BOARD_CARES

_RAW = "public"  # one public range for all: nothing is standardised


class Differing(screen.CombinedStore):
    """Hold the same hospitals under each trust, by the method recommended for it.

    Args:
        settings: Of the page, with those that plain view fixes.

    Attributes:
        trust: The trust that is set for all pages.
        kind: The kind of standardisation that was chosen.
        strength: How much the hospitals differ.
        views: The comparison by each trust's method, by trust.
        chosen: That of the trust that is set.
        stores: The measured cells of all comparisons, in the order of `views`.
    """

    def __init__(self, settings: Settings) -> None:
        # Of this view only the hospitals, the budget and the kind are used, and not its method.
        self.trust, public = settings["trust"], SiteView(cache.site_results(recipe(settings)), settings)
        base, self.kind, self.strength = public.recipe, public.kind, public.strength
        self.views: dict[str, SiteView] = {}
        for trust in rows.LOOKS:
            sizes = {"n": sum(base.sizes), "d": base.d, "k": base.k, "providers": len(base.sizes)}
            best = recommend(
                trust, budget=base.left(self.kind), s_hat=base.s_hat, **sizes, rounds=two_stage.ROUNDS
            )
            changed = settings | {"sites.method": best.method, "sites.against": "own"}
            self.views[trust] = SiteView(cache.site_results(recipe(changed)), changed)
        self.chosen = self.views[self.trust]
        self.stores = tuple(each.results for each in self.views.values())

    def wanted(self) -> Iterator[screen.Cell]:
        """Return all cells, first repeats first; each is the index of its store, then its key there.

        Those of the chosen trust come first in every repeat, and are asked for again with all others: a cell
        that is measured is skipped.
        """
        here = list(self.views).index(self.trust)
        for repeat in range(self.chosen.recipe.repeats):
            yield (here, "joined", self.strength, self.kind, repeat)
            yield (here, "alone", self.strength, self.kind, repeat)
            yield (here, "joined", self.strength, _RAW, repeat)
            yield from ((i, "joined", self.strength, self.kind, repeat) for i in range(len(self.views)))

    def shares(self) -> Shares:
        """Return the bars: alone, joined without standardising, and joined under each trust, standardised.

        Where nothing is standardised the second is left out, as the others are that.
        """
        chosen, joined = self.chosen, f"{plain_text.STANDARDISED}, "
        cells, method = chosen.results.measured, chosen.recipe.method
        spread = _middle(chosen, cells("alone", self.strength, self.kind))
        every = [ShareRow(plain_text.ALONE, spread, style.GUESS, False, method)]
        if self.kind == _RAW:
            joined = f"{plain_text.AS_MEASURED}, "
        else:
            spread = _middle(chosen, cells("joined", self.strength, _RAW))
            every.append(ShareRow(plain_text.AS_MEASURED, spread, style.WITHOUT, False, method))
        for trust, each in self.views.items():
            spread = _middle(each, each.results.measured("joined", self.strength, self.kind))
            label = f"{joined}{phrases.ROWS[trust][0].lower()}{phrases.ROWS[trust][1:]}"
            look, out = rows.LOOKS[trust].colour, trust == self.trust
            every.append(ShareRow(label, spread, look, out, each.recipe.method, trust))
        plain = [cell.plain for cell in cells("joined", self.strength, self.kind) if cell.plain]
        return Shares(tuple(every), float(_middle(chosen, plain)[1]), 100 * chosen.recipe.k / chosen.recipe.d)

    def hospitals(self) -> tuple[pd.DataFrame, list[str]]:
        """Return a table with a row for each hospital, and its outcomes as `SiteView.outcome` names them.

        A difference too small to matter to a board counts as "same". Both are empty before any run.
        """
        alone, joined = self.chosen.spread("alone"), self.chosen.spread("joined")
        if alone is None or joined is None:
            return pd.DataFrame(), []
        site = self.chosen.recipe
        outcomes = [
            "same" if same and outcome != "nothing" else outcome
            for outcome, same in zip(
                self.chosen.outcomes(alone, joined),
                np.abs(joined[1] - alone[1]) < 100 * A_BOARD_CARES,
                strict=True,
            )
        ]
        table = {
            "hospital": list(site.hospitals),
            "patients": [f"{size:,}" for size in site.sizes],
            "alone": [phrases.share(float(share)) for share in alone[1]],
            "joined": [phrases.share(float(share)) for share in joined[1]],
            "joining is": [plain_text.OUTCOMES[outcome] for outcome in outcomes],
        }
        return pd.DataFrame(table), outcomes


def _middle(view: SiteView, cells: Sequence[SiteCell]) -> Array:
    """Return 10, 50 and 90 % over runs of the median over hospitals, (3,); NaN without a run."""
    return quantiles([float(np.median(view.values(c))) for c in cells]) if cells else np.full(3, math.nan)


def render() -> None:
    """Show the page."""
    settings = widgets.head(plain_text.TITLE, plain_text.QUESTION) | rows.ADVISED
    differing = Differing(settings)
    chosen, synthetic = differing.chosen, differing.chosen.recipe.synthetic
    widgets.choose_beside("sites.data", "sites.kind", *(("sites.strength",) if synthetic else ()))

    def panels() -> None:
        shares, (table, outcomes) = differing.shares(), differing.hospitals()
        waiting = text.MEASURING if differing.next_missing() else failed_runs.NO_ANSWER
        headline = plain_text.headline(outcomes, differing.trust) if outcomes else waiting
        widgets.headline(headline, "epsilon", "n")
        if outcomes:
            raw = next((row.share for row in shares.rows if row.label == plain_text.AS_MEASURED), None)
            joined = shares.under(differing.trust).share
            st.markdown(plain_text.below(shares.rows[0].share, joined, raw, shares.unprotected))
        screen.bars(
            *(shares, "joining", plain_text.TITLE, headline),
            f"{plain_text.ROWS_NOTE} {'' if synthetic else plain_text.NOT_PRIVATE}".strip(),
            table=chosen.results.table,
            code=lambda: chosen.code("joining"),
        )
        st.header(plain_text.HOSPITALS)
        st.table(table, hide_index=True, border="horizontal")

    differing.show(panels)
    st.markdown(plain_text.TRY if synthetic else plain_text.TRY_HEART)
    screen.fold(settings, differing.shares, chosen.recipe.k, page_text.about(chosen.recipe))
