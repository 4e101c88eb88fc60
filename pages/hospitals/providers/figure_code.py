"""Write the Python that gives the numbers of the figures of joining hospitals."""

from dppca_core.experiments.collaboration.setting import CollaborationSetting
from pages.shared.reports import python_code

_GAINS = """
from dppca_core.experiments.collaboration.outcomes import CollaborationResults

setting = $setting
results = CollaborationResults(setting)
for cell in results.wanted():  # (protocol, hospital or all, repeat)
    results.try_cell(*cell)
errors = results.table().set_index(["way", "hospital"])[["sin_theta", "captured_energy"]]
table = errors.groupby(level=[0, 1]).quantile([0.1, 0.5, 0.9]).unstack()
print(table)
"""
_BYTES = """
import pandas as pd
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS

setting = $setting
results = CollaborationResults(setting)
joined = {key: chosen for key, chosen in PROTOCOLS.items() if not chosen.alone}
sent = {key: setting.traffic(chosen) for key, chosen in joined.items()}
rows = {key: (one.rounds, one.up, one.total) for key, one in sent.items() if key not in results.refused}
table = pd.DataFrame(rows, index=["rounds", "sent in a round", "both ways, all rounds"]).T
print(table)
"""
_ROUNDS = """
import pandas as pd
from dppca_core.experiments.collaboration import transcript

setting = $setting
run = transcript.simulate(setting, $protocol)
rounds = [0] if run.record.start is not None else []
rounds += [done.number for done in run.record.rounds if done.basis is not None]
table = pd.Series(run.errors, rounds, name="sin_theta")
print(table)
"""
_STORED = """
import pandas as pd
from dppca_core.experiments import draws
from dppca_core.experiments.collaboration import transcript
from dppca_core.federated import record
from dppca_core.paths import DATA

name = $name
run = record.read((DATA / "runs" / f"{name}.jsonl").read_text(encoding="utf-8"))
truth = draws.truth(name.replace("-", "_"), (sum(run.plan.sizes),), run.plan.k, draws.PUBLIC, 0)
table = pd.Series(transcript.errors(run, truth.basis), name="sin_theta")
print(table)
"""
_MESSAGE = """
import pandas as pd
from dppca_core.experiments.collaboration import transcript

setting, hospital, rounds = $setting, $hospital, {}
run = transcript.simulate(setting, $protocol)
for done, hidden in zip(run.record.rounds, run.hidden):
    received = transcript.matrix(done.answers[hospital].message.arrays, run.record.plan, hospital)
    exact = transcript.matrix(hidden[hospital], run.record.plan, hospital)  # the same without noise
    rounds[done.number] = pd.DataFrame({"received": received.ravel(), "without noise": exact.ravel()})
table = pd.concat(rounds, names=["round", "entry"])
print(table.groupby("round").std())
"""
_PAIR = """
import pandas as pd
from dppca_core.experiments.collaboration import transcript

setting, rounds = $setting, {}
for protocol in ("dps_pca shared", "dps_pca"):
    run = transcript.simulate(setting, protocol)
    for done in run.record.rounds:
        seen = transcript.difference(run, done.number, $first, $second)
        entries = {"recovered": seen.observed.ravel(), "true": seen.exact.ravel()}
        rounds[protocol, done.number] = pd.DataFrame(entries)
table = pd.concat(rounds, names=["protocol", "round", "entry"])
print(table.groupby(["protocol", "round"]).corr())
"""


def gains(setting: CollaborationSetting) -> str:
    """Return the code of the errors of every protocol."""
    return python_code.program(_GAINS, setting=setting)


def sent(setting: CollaborationSetting) -> str:
    """Return the code of the bytes of every protocol."""
    return python_code.program(_BYTES, setting=setting)


def rounds(setting: CollaborationSetting, protocol: str, stored: str = "") -> str:
    """Return the code of the errors round by round, of a simulated run or of a stored one."""
    if stored:
        return python_code.program(_STORED, name=stored)
    return python_code.program(_ROUNDS, setting=setting, protocol=protocol)


def message(setting: CollaborationSetting, protocol: str, hospital: int) -> str:
    """Return the code of a hospital's messages with and without noise; -1 is the sum of all."""
    return python_code.program(_MESSAGE, setting=setting, protocol=protocol, hospital=hospital)


def pair(setting: CollaborationSetting, first: int, second: int) -> str:
    """Return the code of what two hospitals' messages give away together."""
    return python_code.program(_PAIR, setting=setting, first=first, second=second)
