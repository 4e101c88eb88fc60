"""Six exercises for a class: each is a link, one move, what can be observed, and why. No Streamlit here.

Links are made from settings, so they stay valid; a browser test follows each and finds `observed` there.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from dppca_core.experiments.explorer.experiment import TRACED
from pages.shared.settings.catalogue import CHOICES, Settings, Value, changed, to_link

TITLE = "Ten minutes in front of a class: six things to try"


@dataclass(frozen=True)
class Exercise:
    """Hold a question, settings to start from that differ from the defaults, and one control to move.

    `numbers` are what the page shows, to the digits that hold from run to run, and fill `observed`.
    In both sentences a control in braces stands for its name on screen.
    """

    question: str
    page: str  # "" is the front page
    start: Settings
    key: str
    to: Value
    observed: str
    numbers: tuple[float, ...]
    why: str
    where: str = ""  # where the control is, when not among the sliders

    def settings(self, moved: bool) -> Settings:
        """Return every control before or after the move."""
        return changed(self.start | {self.key: self.to} if moved else self.start)

    def link(self, moved: bool) -> str:
        """Return the link, relative to the front page."""
        query = urlencode(to_link(self.settings(moved)))
        return f"{self.page or '.'}?{query}" if query else self.page or "."

    def text(self, base: str = "") -> str:
        """Return an entry of a numbered list in Markdown. base: the address before the links."""
        choice = CHOICES[self.key]
        was, now = (choice.text(self.settings(moved)[self.key]) for moved in (False, True))
        links = (self.link(moved) for moved in (False, True))
        here, there = (base + link.removeprefix(".") if base else link for link in links)
        names = {key: f"*{CHOICES[key].label}*" for key in CHOICES if "." not in key}
        observed = self.observed.format(*(f"{number:g}" for number in self.numbers), **names)
        lines = (
            f"**{self.question}**",
            f"[Open this]({here}) and move *{choice.label}*{self.where} from {was} to {now} "
            f"([or open it already moved]({there})).",
            f"*Observe:* {observed}",
            f"*Why:* {self.why.format(**names)}",
        )
        return "  \n   ".join(lines)


EXERCISES = (
    Exercise(
        "Can anybody tell whether one patient is in the data?",
        *("privacy", {}, "epsilon", 10.0),
        "look under *The attacker's best test*. The measured attack is right {0} % of the time, then {1} %. "
        "Without noise it is right every time.",
        (54, 84),
        "Noise hides what one patient changes. With less noise, the best attacker is right more often. "
        "Without noise he cannot be wrong.",
    ),
    Exercise(
        "How many patients make privacy free?",
        "bounds",
        {"d": 50, "providers": 1, "spike": 50.0, "bulk": 20.0, "epsilon": 2.0, "delta": 1e-8},
        *("n", 10**7),
        "the error falls from {0} to {1}. Under *Where privacy is free* the cross leaves “privacy costs” "
        "for “privacy is free here”.",
        (0.05, 0.0017),
        "A hundred times the patients divide the noise by a hundred. They divide the sampling error, which "
        "comes from who the patients are, by ten only. At the end the sampling error is larger than what "
        "privacy costs.",
    ),
    Exercise(
        "Should hospitals that measure differently join?",
        *("differences", {"n": 10**6, "delta": 1e-7, "sites.strength": 0.0}, "sites.strength", 1.0),
        "compare joining with staying alone and protected. Before the move, joining helps at least the "
        "five smaller hospitals and harms none. After it, joining harms all six. For the hospital that "
        "loses most, the error is {0} alone and {1} joined. Without privacy the joint error is no smaller.",
        (0.06, 0.34),
        "With so many patients each hospital finds its own directions alone. The joint answer is that of an "
        "average hospital, and no hospital is average.",
        " (on the page)",
    ),
    Exercise(
        "Does less privacy always buy accuracy?",
        "",
        {"d": 400, "n": 10**6, "s_hat": 12, "burn_in": 0, "epsilon": 0.1, "delta": 1e-7, "method": TRACED},
        *("epsilon", 1.0),
        "the error starts at {0}, falls at first, then jumps, and ends at {1}. That is no better than "
        "guessing, because most runs keep none of the features that matter. How many runs do so is luck: try "
        "another {seed}.",
        (0.18, 1.73),
        "DPS-PCA as printed keeps few features from the first step on, and that step is random. A start that "
        "keeps none of the right features learns nothing about them. Large noise brings other features in; "
        "small noise does not. Set {burn_in} (*More settings*) to 2, which costs no privacy. The error then "
        "falls with every step to the right.",
    ),
    Exercise(
        "Is the noise in the paper the noise that it takes?",
        *("", {"method": TRACED}, "accounting", "as-printed"),
        "the noise, third of the four figures, grows {0} times.",
        (6.5,),
        "Ge et al. count a patient's influence as 2, but it is the square root of 2. They divide the "
        "budget by ten rounds, and use a loose formula in each round. Exactly counted, ten rounds with this "
        "noise cost as much as one in which a patient has √10 times the influence. (We use the formula of "
        "their Lemma A.1, because Algorithm 1 is printed without its logarithm.)",
        " (*More settings*)",
    ),
    Exercise(
        "Do all papers measure the error in the same way?",
        *("", {"method": TRACED}, "metric", "projector"),
        "the error and the random guess both grow {0} times. The runs stay the same.",
        (1.41,),
        "Both measure the distance between the same two subspaces, and one is the square root of 2 times the "
        "other. Figure 3 of Ge et al. has the first. Their Figure 4(a) and Wang & Xu have the second.",
        " (*More settings*)",
    ),
)


def markdown(base: str = "") -> str:
    """Return all six as a numbered list. base: the address before the links, empty on the front page."""
    return "\n".join(f"{i}. {exercise.text(base)}" for i, exercise in enumerate(EXERCISES, 1))
