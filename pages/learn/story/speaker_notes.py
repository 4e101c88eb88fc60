"""Hold a speaker's notes for each step, true at any setting: the numbers are on the slide."""

from typing import NamedTuple


class Note(NamedTuple):
    """Hold the seconds of a step, what to say, a likely question and its answer."""

    seconds: int
    say: str
    question: str
    answer: str


NOTES = (
    Note(
        75,
        "Start with why we are here. Read the axis first: bars show what we recover. Where that is nearly "
        "all, they show what we miss, and shorter is better. Nothing on this slide is private yet. If one "
        "hospital sees the pattern, say so.",
        "Why not let the largest hospital do it alone?",
        "It can, where it recovers enough by itself. Make hospitals smaller, as with a rare disease, and "
        "look again.",
    ),
    Note(
        75,
        "People think a total is safe, since it mixes everybody. Circles are what the patient has, crosses "
        "what a spy works out from two totals. Ask somebody in the room to pick a patient.",
        "Who would ever have two such totals?",
        "Anybody who reads this month's and last month's report. A spy may also know all patients but one.",
    ),
    Note(
        60,
        "This is all that we want to share: which measurements move together, and how strongly. A bar is "
        "what we find, the mark on it is the truth. We know the truth here: we made the patients, or hold "
        "the table.",
        "Can such a list say nothing about a patient?",
        "An exact list can. That is why the next step adds noise.",
    ),
    Note(
        90,
        "Two hills: what a spy reads when the patient is in, and when not. They overlap, so the spy can only "
        "guess. Draw again a few times: luck favours the spy in some draws, and not in others. The promise "
        "holds for every patient.",
        "What if the spy has a better computer?",
        "It does not help. The promise holds against any computer and any knowledge about the others.",
    ),
    Note(
        75,
        "Noise is not free. Move to the left and the answer gets worse. Beyond the long dashes we call it "
        "of little use. Be frank where that happens.",
        "Which setting do others use?",
        "Published uses go from below 1 to above 10. Judge by the odds on the last slide, not by a custom.",
    ),
    Note(
        75,
        "The noise does not grow with the number of patients, so a larger crowd drowns it. The mark shows "
        "where privacy is almost free: noise costs less than 1 % of the pattern. If there is no mark, say "
        "so.",
        "Can we just ask our patients twice?",
        "No. Only other patients help. The same data asked again spend more privacy.",
    ),
    Note(
        90,
        "No patient's row leaves a hospital. The bars differ in who must be trusted. A hospital that trusts "
        "nobody adds its own noise, and pays for it. With sealed sums, one noise serves all.",
        "Who guards the server?",
        "If nobody is trusted, or with sealed sums, nobody needs to, as long as hospitals keep to the rules. "
        "The server then has nothing to lose.",
    ),
    Note(
        60,
        "This is the whole release, beside the truth that only this demonstration knows. Read the promise "
        "aloud. If the answer is of little use, the honest decision is not to release it. If one hospital "
        "does better alone, say so. Hand out the summary. Decide what the slide says:",
        "Can we release again next year?",
        "Yes, but promises add up. Plan the budget for all years before the first release.",
    ),
)
