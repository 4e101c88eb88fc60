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
from dppca_core.experiments.collaboration.joining import SiteCell
from dppca_core.experiments.explorer.results import quantiles
from dppca_core.experiments.verdicts import Gain
from pages.hospitals.differences import plain_text
from pages.hospitals.differences import text as page_text
from pages.hospitals.differences.view import SiteView, to_recipe
from pages.shared import text
from pages.shared.background import cache, failed_runs
from pages.shared.charts import style
from pages.shared.plain import phrases, rows, screen
from pages.shared.plain.rows import ShareRow, Shares
from pages.shared.settings import widgets
from pages.shared.settings.catalogue import RECOMMENDED, Settings

_NOT_STANDARDISED = "public"  # the kind that uses one public range for all


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
        self.trust = settings["trust"]
        self.views: dict[str, SiteView] = {}
        for trust in rows.LOOKS:
            # "own": each hospital is measured by the pattern of its own patients.
            changed = settings | {"sites.method": RECOMMENDED, "trust": trust, "sites.against": "own"}
            self.views[trust] = SiteView(cache.site_results(to_recipe(changed)), changed)
        self.chosen = self.views[self.trust]
        self.kind, self.strength = self.chosen.kind, self.chosen.strength
        self.stores = tuple(each.results for each in self.views.values())

    def wanted(self) -> Iterator[screen.Cell]:
        """Return all cells, first repeats first; each is the index of its store, then its key there.

        Those of the chosen trust come first in every repeat, and are asked for again with all others: a cell
        that is measured is skipped.
        """
        chosen_store = list(self.views).index(self.trust)
        for repeat in range(self.chosen.recipe.repeats):
            yield (chosen_store, "joined", self.strength, self.kind, repeat)
            yield (chosen_store, "alone", self.strength, self.kind, repeat)
            yield (chosen_store, "joined", self.strength, _NOT_STANDARDISED, repeat)
            yield from ((i, "joined", self.strength, self.kind, repeat) for i in range(len(self.views)))

    def shares(self) -> Shares:
        """Return the bars: alone, joined without standardising, and joined under each trust, standardised.

        Where nothing is standardised the second is left out, as the bars of the trusts are not either.
        """
        chosen, begin = self.chosen, f"{plain_text.STANDARDISED}, "
        cells, method = chosen.results.measured, chosen.recipe.method
        spread = _median_hospital(chosen, cells("alone", self.strength, self.kind))
        bars = [ShareRow(plain_text.ALONE, spread, style.PRIVATE, stands_out=False, method=method)]
        if self.kind == _NOT_STANDARDISED:
            begin = f"{plain_text.AS_MEASURED}, "
        else:
            spread = _median_hospital(chosen, cells("joined", self.strength, _NOT_STANDARDISED))
            label = plain_text.AS_MEASURED
            bars.append(ShareRow(label, spread, style.BRICK, stands_out=False, method=method))
        for trust, view in self.views.items():
            spread = _median_hospital(view, view.results.measured("joined", self.strength, self.kind))
            label = f"{begin}{phrases.ROWS[trust][0].lower()}{phrases.ROWS[trust][1:]}"
            colour, stands_out = rows.LOOKS[trust].colour, trust == self.trust
            bars.append(ShareRow(label, spread, colour, stands_out, view.recipe.method, trust))
        plain = [cell.plain for cell in cells("joined", self.strength, self.kind) if cell.plain]
        unprotected = float(_median_hospital(chosen, plain)[1])  # at 1 is the median over runs
        return Shares(tuple(bars), unprotected, guess=100 * chosen.recipe.k / chosen.recipe.d)

    def hospitals(self) -> tuple[pd.DataFrame, list[Gain]]:
        """Return a table with a row for each hospital, and its `SiteView.outcomes`; empty before any run."""
        alone, joined = self.chosen.spread("alone"), self.chosen.spread("joined")
        if alone is None or joined is None:
            return pd.DataFrame(), []
        site, alone_medians, joined_medians = self.chosen.recipe, alone[1], joined[1]
        outcomes = self.chosen.outcomes()
        table = {
            "hospital": list(site.hospitals),
            "patients": [f"{size:,}" for size in site.sizes],
            "alone": [phrases.share(float(share)) for share in alone_medians],
            "joined": [phrases.share(float(share)) for share in joined_medians],
            "joining is": [plain_text.OUTCOMES[outcome] for outcome in outcomes],
        }
        return pd.DataFrame(table), outcomes


def _median_hospital(view: SiteView, cells: Sequence[SiteCell]) -> Array:
    """Return the 10, 50 and 90 % quantiles over runs of the median over hospitals, (3,); NaN without a run.

    cells: the runs, in which `view` gives each hospital's share of the pattern recovered, in %.
    """
    return quantiles([float(np.median(view.values(c))) for c in cells]) if cells else np.full(3, math.nan)


def render() -> None:
    """Render the page in plain view."""
    settings = widgets.head(plain_text.TITLE, plain_text.QUESTION) | rows.ADVISED
    differing = Differing(settings)
    chosen, synthetic = differing.chosen, differing.chosen.recipe.synthetic
    widgets.show_control_row("sites.data", "sites.kind", *(("sites.strength",) if synthetic else ()))

    def panels() -> None:
        """Render the headline, the bars and the table of hospitals, with what has been measured so far."""
        shares, (table, outcomes) = differing.shares(), differing.hospitals()
        waiting = text.MEASURING if differing.next_missing() else failed_runs.NO_ANSWER
        headline = plain_text.headline(outcomes, differing.trust) if outcomes else waiting
        widgets.headline(headline, "epsilon", "n")  # on a telephone with these two sliders
        if outcomes:
            alone, joined = shares.rows[0].share, shares.row_of_trust(differing.trust).share
            as_measured = {row.label: row.share for row in shares.rows}.get(plain_text.AS_MEASURED)
            st.markdown(plain_text.below(alone, joined, as_measured, shares.unprotected))
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
