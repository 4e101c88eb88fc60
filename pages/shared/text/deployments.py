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


def title(published: Sequence[Deployment]) -> str:
    epsilons = [release.epsilon for release in published if release.health]
    return f"Health projects have used {min(epsilons):.1f} to {max(epsilons):.0f}"


def table(published: Sequence[Deployment], plain: bool) -> str:
    rows = [f"| {'privacy loss' if plain else 'ε'} | for | release |", "|---|---|---|"]
    for release in published:
        delta = f", δ = {number(release.delta)}" if release.delta and not plain else ""
        field = "" if release.health else ", not health"
        named = f"[{release.name}]({release.source}), {release.by} {release.year}{field}"
        cells = (f"{release.epsilon:g}{delta}", release.unit, named)
        rows.append("| " + " | ".join(cell if release.person else f":gray[{cell}]" for cell in cells) + " |")
    return "\n".join(rows)
