"""Define the settings of the planner. No Streamlit here."""

from dppca_core.experiments.planning.planning import PLANNED_METHODS
from pages.shared import text
from pages.shared.settings.of_pages import Panel
from pages.shared.settings.setting import Choice, among, switch

ASKED = {"patients": "How many patients", "epsilon": "How much privacy", "hospitals": "How many hospitals"}
ERRORS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
SHARES = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999)
COMPARED = {"any": "all methods"} | {
    trust: text.TRUST_TITLES[trust].lower()
    for trust in ("untrusted server", "secure aggregation", "central", "local")
}
TUNED = {"published": "as published", "tuned": "tuned from public numbers"}


def settings(shared: dict[str, Choice]) -> list[Choice]:
    measures = {"error": "error", "energy": "captured energy"}
    shares = {share: f"{100 * share:g} %" for share in SHARES}
    # The trust stands before the method's name, so that a list of methods shows it first.
    planned = PLANNED_METHODS.items()
    recommended = shared["method"].default
    titles = {recommended: shared["method"].text(recommended)} | {
        name: f"{text.TRUST_TITLES[each.trust]} · {each.title}" for name, each in planned
    }
    # By the factor by which the most cautious hospital's epsilon is smaller.
    cautious = {2: "half the privacy loss", 5: "a fifth", 10: "a tenth"}
    # 10, 20, 50, 100 and so on up to a million.
    sizes = (*(m * 10**p for p in range(1, 6) for m in (1, 2, 5)), 10**6)
    return [
        among("plan.asked", "Asked", ASKED),
        among("plan.of", "Target", measures),
        Choice("plan.target", "Error at most", "Error at most", ERRORS, 0.1),
        among("plan.share", "Captured at least", shares, default=0.95),
        among("plan.trust", "Compared with", COMPARED),
        among("plan.way", "Method", titles),
        among(
            "plan.tuned",
            "Rounds and clip bound",
            TUNED,
            plain="Rounds and cap",
            help="Tuned: the rounds by each method's own rule, and rows of length 1 where these need less. "
            "That is the limit of ever lower clip bounds. Public numbers decide, never the data.",
        ),
        Choice("plan.size", "Patients of each hospital", "Patients of each hospital", sizes, 20_000),
        among("plan.cautious", "The most cautious hospital asks for", cautious),
        switch("plan.simulate", "Confirm by simulation"),
    ]


_DECIDED = {"provider_noise": "follows whom you trust", "start": "always random here"}
PANEL = Panel(decided=_DECIDED)
