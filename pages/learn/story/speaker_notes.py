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
        "Start with why we are here. Each bar is an error, so short is good. Compare one hospital with all "
        "of them. Nothing on this slide is private yet. If one hospital already sees the pattern, say so.",
        "Why not let the largest hospital do it alone?",
        "It can, where its bar is short enough. Make hospitals smaller, as with a rare disease, and look "
        "again.",
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
        "what we find, the mark on it is the truth. The truth is known here as we made the patients, or hold "
        "the table.",
        "Can such a list say nothing about a patient?",
        "An exact list can. That is why the next step adds noise.",
    ),
    Note(
        90,
        "Two hills: what a spy reads when the patient is in, and when not. They overlap, so the spy can only "
        "guess. Draw again a few times: some draws favour the spy, by luck. The promise holds for every "
        "patient.",
        "What if the spy has a better computer?",
        "It does not help. The promise holds against any computer and any knowledge about the others.",
    ),
    Note(
        75,
        "Noise is not free. Move to the left and the error climbs. Above the long dashes a third of a blind "
        "guess is reached, and we call the answer of little use. Be frank where that happens.",
        "Which setting do others use?",
        "Published uses go from below 1 to above 10. Judge by the odds on the last slide, not by a custom.",
    ),
    Note(
        75,
        "The noise does not grow with the number of patients, so a larger crowd drowns it. The "
        "line without noise falls too, but more slowly. The mark shows where privacy is almost free. Where "
        "there is no mark, say so.",
        "Can we just ask our patients twice?",
        "No. Only other patients help. The same data asked again spend more privacy.",
    ),
    Note(
        90,
        "No way here moves a patient's row. The ways differ in who must be trusted. With its own noise, a "
        "hospital trusts nobody, and pays for it. A sealed sum needs a protocol, but then one noise serves "
        "all.",
        "Who guards the server?",
        "With own noise or a sealed sum nobody needs to, as long as hospitals keep to the rules. The server "
        "then has nothing to lose.",
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
