"""Say the plan of a joint study by mail, in the same words on every page. No Streamlit here."""

import pandas as pd

from dppca_core.joint import in_words
from dppca_core.joint.forecast import Forecast
from dppca_core.joint.plan import JointPlan
from pages.shared.document.blocks import Blocks, Fold, Quote, Table, Text
from pages.shared.plain import phrases
from pages.shared.text import count, literal, one_in


def blocks(plan: JointPlan, predicted: Forecast) -> Blocks:
    """Yield what is looked for and by whom, what that should give, and the plan's 12 words."""
    who, k = count(len(plan.hospitals), "hospital", "hospitals"), count(plan.k, "pattern", "patterns")
    how = f"Each adds its own noise and sends one file. Nobody runs a server. {_share(plan, predicted)}"
    measured = len(plan.dictionary.columns)
    yield Text(f"**{literal(plan.name)}**: {who}, {measured:,} measurements, {k}. {how}")
    rows = [(literal(x.name), f"{x.patients:,}", f"{x.epsilon:g}", one_in(x.delta)) for x in plan.hospitals]
    yield Table(pd.DataFrame(rows, columns=["hospital", "patients", "privacy loss", "failure chance"]))
    yield Text("**Read these 12 words to the other hospitals.** They must have the same ones:")
    yield Quote(" ".join(plan.words))
    full = [*in_words.plan(plan), *in_words.prediction(plan, predicted)]
    yield Fold(phrases.FOLD, "plan in full", lambda: [Text("\n".join(f"- {literal(x)}" for x in full))])


def _share(plan: JointPlan, predicted: Forecast) -> str:
    if predicted.error is None:
        return "How much it recovers is not predicted."
    share, guess = (phrases.percent(100 - 100 * x**2 / plan.k) for x in (predicted.error, predicted.guess))
    most = f"at most {share}" if plan.rows == "standardised" else share
    return f"By a formula for noise alone it recovers {most} of the pattern; a random guess {guess}."
