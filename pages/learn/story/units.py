"""Say an error as a board reads it: as the share of the pattern recovered, or as the largest angle."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.shared import text
from pages.shared.charts.metric_axis import in_unit, random_guess, value_text
from pages.shared.settings.catalogue import Settings

UNITS = ("share", "degrees")
_NEARLY_ALL = 95.0  # % from which on a chart of shares shows what is lost instead


class Spread(NamedTuple):
    """Hold 10, 50 and 90 % over runs of ||sin Theta||_F, of the share in %, and of the angle in degrees."""

    sines: tuple[float, float, float]
    shares: tuple[float, float, float]
    angles: tuple[float, float, float]

    @property
    def middle(self) -> float:
        """Return the median error."""
        return self.sines[1]

    @property
    def lost(self) -> float:
        """Return the share of the pattern, of 1, that the median run loses."""
        return 1 - self.shares[1] / 100


class Unit(NamedTuple):
    """Hold the unit of a setting's errors, one of UNITS."""

    metric: str
    d: int
    k: int

    @property
    def guess(self) -> float:
        """Return what a random guess has."""
        return random_guess({"metric": self.metric, "view": "plain"}, self.d, self.k)

    def values(self, spread: Spread) -> Array:
        """Return 10, 50 and 90 % over runs in this unit."""
        return np.array(spread.shares if self.metric == "share" else spread.angles)

    def at(self, sine: float) -> float:
        """Return what this ||sin Theta||_F is in this unit; nan for an angle among several."""
        return float(in_unit(self.metric, sine, self.k))

    def say(self, value: float) -> str:
        return value_text(self.metric, value)

    def value(self, spread: Spread) -> str:
        """Return the median: 98.8 % or 2.7°."""
        return self.say(self.values(spread)[1])

    def pattern(self, spread: Spread, only: str = "") -> str:
        """Return what is recovered, after the verb; only: that word, where it is little."""
        value, only = self.value(spread).removeprefix("below "), f"{only} ".lstrip()
        return (
            f"{only}{value} of the pattern" if self.metric == "share" else f"the pattern {only}within {value}"
        )

    def parts(self, spreads: Iterable[Spread]) -> int:
        """Return in how many parts of the pattern a chart counts what is lost; 0 where it need not.

        Where all bars would end near 100 % nobody could tell them apart. The largest loss is ten parts or
        more.
        """
        lost = 100 - min(float(self.values(spread).min()) for spread in spreads)
        if self.metric != "share" or lost > 100 - _NEARLY_ALL:
            return 0
        return next((10**p for p in range(3, 9) if 10**p * lost >= 1000), 10**9)


def unit(settings: Settings, setting: CollaborationSetting) -> Unit:
    """Return the unit that is chosen: the share, unless the angle is."""
    metric = settings["metric"] if settings["metric"] in UNITS else UNITS[0]
    return Unit(metric, setting.d, setting.k)


def lost_parts(share: float, parts: int) -> str:
    """Return what a share in % leaves out, in so many parts: 31 in 1 million lost."""
    return f"{float(f'{parts * (1 - share / 100):.2g}'):g} in {text.patients(parts)} lost"
