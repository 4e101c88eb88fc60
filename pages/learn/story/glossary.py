"""The story's terms: whom hospitals trust, a glossary, and shares in words. No Streamlit here."""

from typing import NamedTuple

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.learn.story.units import Spread, Unit
from pages.learn.story.view import TOO_MUCH, guess

SERVER_SEES = {
    "untrusted server": "noisy numbers from each",
    "secure aggregation": "one noisy sum",
    "central": "all exact totals",
}

PATTERN = ("Pattern", "measurements that rise and fall together in many patients.")
_SHARE = ("Share recovered", "how much of the true pattern we find. 100 % is all of it.")
_ANGLE = ("Angle", "how far we are off the true pattern. 0° is exact.")
GUESS = ("Guess", "a random pattern, made without data.")
TOTAL = ("Total", "one sum over all patients, for each pair of measurements.")
WEIGHT = ("Weight", "how much a measurement counts. 0 is not at all, 1 is in full.")
NOISE = ("Noise", "random numbers, added on purpose before anything leaves.")
ATTACKER = ("Attacker", "whoever knows all other patients and asks about this one.")
LOSS = ("Privacy loss ε", "how much one patient may change what leaves. Less is more private.")
SERVER = ("Server", "the computer that adds up what hospitals send.")
SEALED = ("Sealed sums", "each hospital encrypts its numbers so that only the total can be read.")
GLOSSARY = (PATTERN, _SHARE, _ANGLE, GUESS, TOTAL, WEIGHT, NOISE, ATTACKER, LOSS, SERVER, SEALED)
# What a step's controls are called, where the story has its own words.
CONTROLS = {"k": "Patterns to find"}


class StepText(NamedTuple):
    """Hold the sentences of a step: the finding, what follows, terms in plain words, and what to try."""

    finding: str
    more: tuple[str, ...]
    glosses: tuple[tuple[str, str], ...]
    try_this: str

    @property
    def sentences(self) -> str:
        """Return the finding and what follows, as one text for the report and for a screen reader."""
        return " ".join((self.finding, *self.more))


def recovered(unit: Unit) -> tuple[str, str]:
    """Return the glossary's term, with its meaning, for the unit of the charts."""
    return _SHARE if unit.metric == "share" else _ANGLE


def useless(spread: Spread, setting: CollaborationSetting) -> bool:
    """Return whether an error leaves a pattern of little use: its median is above `TOO_MUCH` of a guess's."""
    return spread.middle > TOO_MUCH * guess(setting)


def a_guess(unit: Unit) -> str:
    """Return the sentence on what a random guess recovers, for comparison, in the unit of the charts."""
    score = "score" if unit.metric == "share" else "be off by"
    return f"A random guess would {score} {unit.say(unit.guess)}."


def too_few_kept(setting: CollaborationSetting) -> bool:
    """Return whether fewer measurements are kept than count in the patterns; in a table all count."""
    population = setting.population
    # A table's name stands for its population; a simulated one has s measurements that count.
    return setting.s_hat < (setting.d if isinstance(population, str) else population.s)


def why_unseen(setting: CollaborationSetting) -> str:
    """Return why the pattern is not found, where noise is not the reason."""
    if too_few_kept(setting):
        return f"We keep only {setting.s_hat} of {setting.d} measurements here, and that is too few."
    return "There are too few patients for this, with or without privacy."
