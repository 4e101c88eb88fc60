"""The story's terms: ways of working, a glossary, and errors in words. No Streamlit here."""

from typing import NamedTuple

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.learn.story.settings import WAYS
from pages.learn.story.view import TOO_MUCH, guess
from pages.shared import text

WAY_TITLES = {way: words.capitalize() for way, words in WAYS.items()}
SERVER_SEES = {
    "own noise": "noisy numbers from each",
    "sealed sum": "one noisy sum",
    "one place": "all exact totals",
}

PATTERN = ("Pattern", "measurements that rise and fall together in many patients.")
ERROR = ("Error", "how far what we find is from the truth. 0 is exact.")
GUESS = ("Blind guess", "patterns drawn by lot, without a look at any patient.")
TOTAL = ("Total", "one sum over all patients, for each pair of measurements.")
WEIGHT = ("Weight", "how much a measurement counts. 0 is not at all, 1 is in full.")
NOISE = ("Noise", "random numbers, added on purpose before anything leaves.")
SPY = ("Spy", "someone who knows all other patients and asks about this one.")
SETTING = ("Privacy setting", "how much one patient may change what leaves. Less is more private.")
SERVER = ("Server", "the computer that adds up what hospitals send.")
SEALED = ("Sealed sum", "hospitals hide their numbers from all. Only the sum can be read.")
GLOSSARY = (PATTERN, ERROR, GUESS, TOTAL, WEIGHT, NOISE, SPY, SETTING, SERVER, SEALED)
# What a step's controls are called, where the story has its own words.
CONTROLS = {"k": "Patterns to find", "epsilon": "Privacy setting"}


class StepText(NamedTuple):
    """Hold the sentences of a step: the finding, what follows, terms in plain words, and what to try."""

    finding: str
    more: tuple[str, ...]
    glosses: tuple[tuple[str, str], ...]
    try_this: str

    @property
    def sentences(self) -> str:
        return " ".join((self.finding, *self.more))


def error(value: float) -> str:
    """Return an error as a reader says it."""
    return "below 0.001" if 1e-7 < value < 1e-3 else text.error(value)


def times(ratio: float) -> str:
    """Return a ratio in words: 2.3 times; 46 times."""
    return f"{ratio:.1f} times" if ratio < 10 else f"{text.patients(ratio)} times"


def useless(value: float, setting: CollaborationSetting) -> bool:
    """Return whether an error leaves a pattern of little use."""
    return value > TOO_MUCH * guess(setting)


def blind_guess(setting: CollaborationSetting) -> str:
    return f"A blind guess has {text.short(guess(setting))}."


def too_few_kept(setting: CollaborationSetting) -> bool:
    """Return whether measurements that count are dropped."""
    population = setting.population
    return setting.s_hat < (setting.d if isinstance(population, str) else population.s)


def why_unseen(setting: CollaborationSetting) -> str:
    """Return why not even all patients without noise show the pattern."""
    if too_few_kept(setting):
        return f"We keep only {setting.s_hat} of {setting.d} measurements here, and that is too few."
    return "There are too few patients for this, with or without privacy."


def share_of_guess(value: float, setting: CollaborationSetting) -> str:
    return f"{text.percent(min(value / guess(setting), 1.0))} of a blind guess"
