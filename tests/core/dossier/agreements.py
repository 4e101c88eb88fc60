"""Agreements that tests of papers share: the verdict and its bars are made up, all else is computed."""

from typing import Any

from dppca_core import SpikedModel
from dppca_core.dossier.agreement import Agreement
from dppca_core.experiments.decision.decision import JoiningDecision, ShareBar
from dppca_core.experiments.decision.hospitals import JoiningExperiment
from dppca_core.experiments.decision.rule import Answer, Evidence
from tests.core.experiments.decision.settings import joining

TRUSTS = ("untrusted server", "secure aggregation", "central")
EVIDENCE = Evidence(lower=5.2, median=6.8, upper=13.1, tenth=98.6)
BARS = {
    "alone": ShareBar(86.0, 92.4, 93.8, 80.1, 95.2),
    "together": ShareBar(99.0, 99.1, 99.2, 98.6, 99.4),
    "together, no privacy": ShareBar(99.91, 99.93, 99.94, 99.9, 99.96),
}
# By what their hospitals would run: two stages, one moment, stacked rounds.
DENSE = SpikedModel(d=30, k=2, s=30, spike=20.0, bulk=(0.0, 10.0))
WEAK = SpikedModel(d=100, k=1, s=100, spike=30.0, bulk=(0.0, 10.0))
SETTINGS = {
    "stages": joining(200, 500, 300, s_hat=12),
    "chosen": joining(200, 500, 300),
    "moment": joining(200, 500, 300, population=DENSE),
    "rounds": joining(1000, 4000, 3000, population=WEAK, k=1),
}


def agreement(
    setting: JoiningExperiment,
    trust: str = "secure aggregation",
    answer: Answer = Answer.JOIN_IF,
    **fields: Any,
) -> Agreement:
    if answer is Answer.ASK_AGAIN:
        fields.setdefault("patients", 12_500)
    decision = JoiningDecision(setting.ours, answer, dict.fromkeys(TRUSTS, EVIDENCE), **fields)
    return Agreement(setting, decision, BARS, trust)
