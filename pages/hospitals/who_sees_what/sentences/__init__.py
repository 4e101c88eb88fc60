"""The sentences of the page on messages: what is shown, what to try, and what no run can say."""

import math

from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.protocols import PROTOCOLS, Protocol
from dppca_core.federated.plan import Plan
from dppca_core.methods import METHODS
from dppca_core.privacy import Budget
from pages.hospitals.who_sees_what.model import Messages
from pages.shared import text
from pages.shared.settings.catalogue import CHOICES

TITLE = "Who sees what"
STEPS = (
    "The server asks in rounds; arrows are its questions and the hospitals' answers.",
    "What the server sees sets one message beside what its noise hides.",
    "Two who compare messages shows why each hospital needs noise of its own.",
)
INTRODUCTION = "What leaves a hospital in each round, and what that tells the server and the others."
ABOUT = (
    "Messages are those of the program's own protocol, passed in one process; in a stored or given run, "
    "between processes. Second moments are drawn from their exact (Wishart) law."
)
_TRY = {
    "rounds": "press *Play*; then choose *DPS-PCA, sealed sums*: what does the server still see?",
    "sees": "move *{}* to the left, round by round: the more noise, the less of the pattern can be told.",
    "pair": "move *{}* to the left: with shared noise all points stay on the line, however much there is.",
}
SLIDERS_DO_NOT_MOVE_IT = "A run that took place has its own settings: the sliders do not move it."
CANNOT_BE_DRAWN = "This run cannot be drawn: numbers in its record are too large, or do not belong together."
UPLOAD_A_RECORD = "The record that the server wrote: it holds what the server saw, and nothing else."
SHARED_NOISE = "Shared noise protects one message alone, not against a server that receives them all."
AS_RECORDED = (
    "What was promised, and to how many patients, is as the record has it: nothing here can check that."
)
NONE_STORED = "No run is stored with this program."
NOBODY_TO_COMPARE = "One hospital has nobody to compare its messages with: raise the number of hospitals."


def try_this(m: Messages) -> str:
    panel = m.settings["sees.panel"]
    names = {key: CHOICES[key].label for key in ("providers", "d", "epsilon")}
    if panel == "pair" and len(m.recipe.sizes) == 1:
        tries = f"move *{names['providers']}* to 5: then hospitals have somebody to compare with."
    elif not m.simulated:
        tries = "press *Play*, then set *Run* to a simulated one, whose privacy and hospitals you can move."
    # What is too large cannot be simulated message by message.
    elif any(transcript.why_refused(m.recipe, PROTOCOLS[key]) for key in m.simulated):
        sliders = f"*{names['providers']}* or *{names['d']}*"
        tries = f"move {sliders} to the left: then every message is simulated here."
    else:
        tries = _TRY[panel].format(names["epsilon"])
    return f"**Try this:** {tries}"


def passing(recipe: CollaborationExperiment, protocol: Protocol) -> str:
    hospitals = text.count(len(recipe.sizes), "hospital", "hospitals")
    return (
        f"Passing the messages of {hospitals} with {recipe.n:,} patients and {recipe.d:,} measurements of "
        f"each: about {math.ceil(transcript.seconds(recipe, protocol))} s."
    )


def promise(budget: Budget) -> str:
    return (
        f"A whole run is asked, for each patient, for ε = {text.number(budget.epsilon)}, "
        f"δ = {text.number(budget.delta)}; {text.RELATIONS[budget.neighbours]}."
    )


def of_plan(plan: Plan) -> list[tuple[str, str]]:
    settings = {"epsilon": plan.budget.epsilon, "delta": plan.budget.delta, "n": sum(plan.sizes)}
    settings |= {"providers": plan.hospitals, "d": plan.d, "k": plan.k}
    words = [(CHOICES[key].label, text.number(value)) for key, value in settings.items()]
    return [("Method", METHODS[plan.method].title), *words]
