"""Say the plan of a joint study by mail, in the same words on every page. No Streamlit here."""

import pandas as pd

from dppca_core.joint import in_words
from dppca_core.joint.forecast import Forecast
from dppca_core.joint.plan import JointPlan
from pages.shared import text
from pages.shared.document.blocks import Blocks, Fold, Quote, Table, Text
from pages.shared.plain import phrases


def blocks(plan: JointPlan, predicted: Forecast) -> Blocks:
    """Yield the plan: what is looked for, by whom, what it should give, and its 12 words."""
    who, many = text.count(len(plan.hospitals), "hospital", "hospitals"), len(plan.dictionary.columns)
    how = f"Each adds its own noise and sends one file. Nobody runs a server. {_share(plan, predicted)}"
    yield Text(f"**{text.literal(plan.name)}**: {who}, {many:,} measurements. {how}")
    each = ((text.literal(h.name), f"{h.patients:,}", f"{h.epsilon:g}", h.delta) for h in plan.hospitals)
    rows = [(*cells, text.one_in(delta)) for *cells, delta in each]
    yield Table(pd.DataFrame(rows, columns=["hospital", "patients", "privacy loss", "failure chance"]))
    yield Text("**Read these 12 words to the other hospitals.** They must have the same ones:")
    yield Quote(" ".join(plan.words))
    full = [*in_words.plan(plan), *in_words.prediction(plan, predicted)]
    yield Fold(phrases.FOLD, "plan in full", lambda: [Text("\n".join(f"- {text.literal(x)}" for x in full))])


def _share(plan: JointPlan, predicted: Forecast) -> str:
    if predicted.error is None:
        return "How much it recovers is not predicted."
    share, guess = (phrases.percent(100 - 100 * x**2 / plan.k) for x in (predicted.error, predicted.guess))
    most = "at most " * (plan.rows == "standardised")
    return f"By a formula for noise alone it recovers {most}{share} of the pattern; a random guess {guess}."
