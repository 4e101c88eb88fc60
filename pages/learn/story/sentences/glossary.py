"""The story's terms in plain words, and the sentences of a step. No Streamlit here."""

from typing import NamedTuple

from pages.learn.story.model import ShownClaim

SERVER_SEES = {
    "untrusted server": "noisy numbers from each",
    "secure aggregation": "one noisy sum",
    "central": "all exact totals",
}

PATTERN = ("Pattern", "measurements that rise and fall together in many patients.")
SHARE = ("Share recovered", "how much of the true pattern we find. 100 % is all of it.")
GUESS = ("Guess", "a random pattern, made without data.")
TOTAL = ("Total", "one sum over all patients, for each pair of measurements.")
WEIGHT = ("Weight", "how much a measurement counts. 0 is not at all, 1 is in full.")
NOISE = ("Noise", "random numbers, added on purpose before anything leaves.")
ATTACKER = ("Attacker", "whoever knows all other patients and asks about this one.")
LOSS = ("Privacy loss ε", "how much one patient may change what leaves. Less is more private.")
SERVER = ("Server", "the computer that adds up what hospitals send.")
SEALED = ("Sealed sums", "each hospital encrypts its numbers so that only the total can be read.")
REPEAT = ("Repeat", "the whole study once more, with other patients or other noise.")
GLOSSARY = (PATTERN, SHARE, GUESS, TOTAL, WEIGHT, NOISE, ATTACKER, LOSS, SERVER, SEALED, REPEAT)


class StepText(NamedTuple):
    finding: str  # the answer to its question
    more: tuple[str, ...] = ()  # a line each
    glosses: tuple[tuple[str, str], ...] = ()  # terms in plain words
    try_this: str = ""
    claims: tuple[ShownClaim, ...] = ()  # what the sentences compare, as the runs show it
    chart: str = ""  # how to read it, in small type
    bars: bool = False  # whether it has bars, whose scale need not begin at 0

    @property
    def sentences(self) -> str:
        return " ".join((self.finding, *self.more))
