"""Published releases with the epsilon that they used, as facts with their source: data/deployments.json.

The figures and units are those of the OpenDP deployments registry, whose records are not copied here. Where a
record names another unit than its source, the source's stands: a record of searches about vaccines says user,
its paper "every user's daily search activity".
"""

from dataclasses import dataclass
from functools import cache

from dppca_core.paths import stored_json


@dataclass(frozen=True)
class Deployment:
    """Hold one published release: its name, by whom, when, and its privacy.

    by: who published it. health: whether it is about health. delta: 0 where it is purely epsilon-private.
    unit: whom or what the guarantee protects. person: whether that is a person with all that was counted of
    them, as in this project; the epsilon of another unit is not comparable. source: the address of the text
    that states it.
    """

    name: str
    by: str
    year: int
    health: bool
    epsilon: float
    delta: float
    unit: str
    person: bool
    source: str


@cache
def deployments() -> tuple[Deployment, ...]:
    """Return the published releases: those about health first, each kind by rising epsilon."""
    records = (Deployment(**record) for record in stored_json("deployments.json"))
    return tuple(sorted(records, key=lambda d: (not d.health, d.epsilon)))
