"""The sentences of the convergence page, whatever the method; rates and stages have those of each kind."""

from dppca_core.experiments import Progress
from dppca_core.methods import METHODS
from pages.explore.convergence.model import Convergence
from pages.shared import text
from pages.shared.settings import catalogue, swept
from pages.shared.settings.catalogue import CHOICES, Settings

TITLE = "Convergence"
STEPS = (
    "Each point is the error after one more round.",
    "Move a slider: all curves are measured again.",
    "Where a curve is flat, more rounds do not help.",
)
INTRODUCTION = (
    "**How fast does it converge?** The error after every round: what a round gains, and where noise and "
    "sampling stop it."
)


def notes(m: Convergence) -> list[str]:
    """Return a sentence for each way in which the chart departs from what the controls ask for."""
    settings, asked = m.settings, m.settings["family"]
    sentences = []
    if m.key != asked:
        # Of several reasons the last that applies is given.
        method = METHODS[settings["traced"]].title
        by_table = asked in catalogue.fixed(settings)
        data = "your numbers" if settings["data"] == catalogue.STATED else "the table"
        reason = f"is fixed by {data}" if by_table else f"makes no difference to “{method}”"
        if asked == "iterations":
            reason = f"{reason}, which sets its number of rounds itself"
        if isinstance(settings[asked], str):
            reason = "is not a number here"
        shown = CHOICES[m.key].label.lower()
        sentences.append(f"{CHOICES[asked].label} {reason}: shown over {shown} instead.")
    sentences += swept.left_out(m.key, m.left_out)
    if settings["start"] == "near":
        sentences.append(
            "Trajectories here start at random: the start near the truth is for the other pages."
        )
    if settings["metric"] == "energy":
        sentences.append("Captured energy is not kept round by round: ‖sin Θ‖ is shown instead.")
    return sentences


def measured(m: Convergence) -> str:
    runs = m.job.progress.total
    fit = " The thin dotted line is the fit." if m.has_rate else ""
    return f"Lines are medians of {runs:,} runs in all; bands hold 10-90 % of them.{fit}"


def incomplete(progress: Progress) -> str:
    done, total = progress.completed, progress.total
    return "" if done == total else f"Made when {done:,} of {total:,} runs were measured."


def runs(settings: Settings) -> str:
    return f"{text.count(settings['repeats'], 'run', 'runs')} at each value, each with its own noise"
