"""Say an error as a board reads it: as the share of the pattern recovered, or as the largest angle.

With k components, the share is 1 - ||sin Theta||_F^2 / k, in %; the angle is the largest principal angle.
"""

from typing import NamedTuple

import numpy as np

from dppca_core.arrays import Array
from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.shared.charts.metric_axis import in_unit, random_guess, value_text
from pages.shared.settings.catalogue import Settings

UNITS = ("share", "degrees")


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
    """Hold the unit of a setting's errors, `metric`, one of UNITS; d and k are the setting's sizes."""

    metric: str
    d: int
    k: int

    @property
    def guess(self) -> float:
        """Return the value of a random guess in this unit."""
        # It reads the unit from a page's settings: in plain view "share" and "degrees" stay as they are.
        return random_guess({"metric": self.metric, "view": "plain"}, self.d, self.k)

    def values(self, spread: Spread) -> Array:
        """Return 10, 50 and 90 % over runs in this unit, (3,), ascending."""
        return np.array(spread.shares if self.metric == "share" else spread.angles)

    def at(self, sine: float) -> float:
        """Return what this ||sin Theta||_F is in this unit; nan for an angle among several."""
        return float(in_unit(self.metric, sine, self.k))

    def say(self, value: float) -> str:
        """Return a value that is in this unit as text, such as 98.8 % or 2.7°."""
        return value_text(self.metric, value)

    def value(self, spread: Spread) -> str:
        """Return the median: 98.8 % or 2.7°."""
        return self.say(self.values(spread)[1])

    def pattern(self, spread: Spread, only: str = "") -> str:
        """Return the words after "we recover": "98.8 % of the pattern", or "the pattern within 2.7°".

        only: a word to stand before the value, such as "only" where it is little.
        """
        # An angle may read "below 0.01°", which "within" says already. A word in `only` gets a space.
        value, only = self.value(spread).removeprefix("below "), f"{only} ".lstrip()
        return (
            f"{only}{value} of the pattern" if self.metric == "share" else f"the pattern {only}within {value}"
        )


def unit(settings: Settings, setting: CollaborationSetting) -> Unit:
    """Return the unit of a chart's errors: the share, unless the visitor has chosen the angle."""
    metric = settings["metric"] if settings["metric"] in UNITS else UNITS[0]
    return Unit(metric, setting.d, setting.k)
