"""Describe charts of the providers page for those who do not see them. No Streamlit here."""

from collections.abc import Mapping

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.hospitals.providers import gain_text
from pages.hospitals.providers.view import GainScale, Row
from pages.shared import text
from pages.shared.text.labels import MEASURING


def gains(grouped: Mapping[str, list[Row]], recipe: CollaborationSetting, scale: GainScale) -> str:
    """Return, for each heading of the chart, the least error and its protocol; then a random guess."""
    parts = []
    for trust, rows in grouped.items():
        for hospital in dict.fromkeys(row.hospital for row in rows):
            members = [row for row in rows if row.hospital == hospital and row.error is not None]
            if members:
                best = min(members, key=lambda row: row.middle)
                where = gain_text.heading(trust, hospital, recipe)
                title = gain_text.title(best.protocol, recipe, scale.plain)
                parts.append(f"{where}: least error {text.error(best.middle)}, by {title}")
    return f"{'; '.join(parts)}. A random guess has {text.short(scale.guess)}." if parts else MEASURING
