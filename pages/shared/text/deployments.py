"""Say what epsilon published releases used, whose units of privacy differ. No Streamlit here."""

from collections.abc import Sequence

from dppca_core.accounting.deployments import Deployment
from pages.shared.text.numbers import number

REGISTRY = "https://registry.opendp.org"
NOTE = (
    "Grey: another unit, whose privacy loss is not comparable with one for a patient. A guarantee for a day "
    "or an event grows weaker with each one. We know of no published release of health data that protects a "
    f"patient with all records. Figures: [OpenDP deployments registry]({REGISTRY}) and its sources."
)


def title(published: Sequence[Deployment], plain: bool) -> str:
    """Return the line that opens the table: the range of epsilon of the releases in health."""
    used = [each.epsilon for each in published if each.health]
    what = "Elsewhere" if plain else "ε elsewhere"
    return f"{what}: {min(used):.1f} to {max(used):.0f} in health"


def table(published: Sequence[Deployment], plain: bool) -> str:
    """Return the releases as a table, grey where another unit than a person is protected."""
    rows = [f"| {'privacy loss' if plain else 'ε'} | for | release |", "|---|---|---|"]
    for each in published:
        failing = f", δ = {number(each.delta)}" if each.delta and not plain else ""
        field = "" if each.health else ", not health"
        release = f"[{each.name}]({each.source}), {each.by} {each.year}{field}"
        cells = (f"{each.epsilon:g}{failing}", each.unit, release)
        rows.append("| " + " | ".join(cell if each.person else f":gray[{cell}]" for cell in cells) + " |")
    return "\n".join(rows)
