"""Tables of the figures of a decision whether a hospital should join."""

import pandas as pd

from dppca_core.experiments.decision.decision import bars
from dppca_core.experiments.decision.hospitals import JoiningExperiment
from dppca_core.experiments.decision.outcomes import JoiningRuns


def shares(setting: JoiningExperiment, trust: str) -> pd.DataFrame:
    """Return the share recovered alone, together and together without privacy, in %.

    A row has the ends of the 99 % interval of the median, the median, and 10 and 90 % of the runs.
    """
    drawn = bars(JoiningRuns(setting), trust)
    return pd.DataFrame({name: bar._asdict() for name, bar in drawn.items()}).T
