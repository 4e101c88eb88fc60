"""Tables of the figures of hospitals that join: errors, bytes, rounds, messages, and sites that differ.

A protocol is named by its key in `PROTOCOLS`, a hospital by its index. Where sites differ, strength says by
how much, and kind is a kind of standardisation (`experiments.collaboration.joining`). 10, 50 and 90 % are
quantiles over runs.
"""

import numpy as np
import pandas as pd

from dppca_core.experiments import draws
from dppca_core.experiments.collaboration import transcript
from dppca_core.experiments.collaboration.experiment import CollaborationExperiment
from dppca_core.experiments.collaboration.joining import SiteResults
from dppca_core.experiments.collaboration.outcomes import CollaborationResults
from dppca_core.experiments.collaboration.protocols import PROTOCOLS
from dppca_core.experiments.collaboration.site_experiment import SiteExperiment
from dppca_core.federated import record
from dppca_core.paths import DATA
from dppca_core.populations import heart_disease


def gains(setting: CollaborationExperiment) -> pd.DataFrame:
    """Return 10, 50 and 90 % of sin Theta and captured energy, by protocol and hospital, or "all"."""
    results = CollaborationResults(setting)
    for cell in results.wanted():  # (protocol, hospital or all, repeat)
        results.try_cell(*cell)
    errors = results.table().groupby(["protocol", "hospital"])[["sin_theta", "captured_energy"]]
    return pd.DataFrame(errors.quantile(np.array([0.1, 0.5, 0.9])).unstack())


def sent(setting: CollaborationExperiment) -> pd.DataFrame:
    """Return the rounds of every protocol in which hospitals join, and the bytes of one hospital."""
    results, rows = CollaborationResults(setting), {}
    for key, protocol in PROTOCOLS.items():
        if not protocol.alone and key not in results.refused:
            traffic = setting.traffic(protocol)
            rows[key] = traffic.rounds, traffic.most_sent, traffic.total
    return pd.DataFrame(rows, index=["rounds", "sent in a round", "both ways, all rounds"]).T


def rounds(setting: CollaborationExperiment, protocol: str) -> pd.Series:
    """Return sin Theta by round of a protocol's first simulated run; round 0 is the start, if it has one."""
    run = transcript.simulate(setting, protocol)
    shown = [0] if run.record.start is not None else []
    shown += [done.number for done in run.record.rounds if done.basis is not None]
    return pd.Series(run.errors, shown, name="sin_theta")


def stored(name: str) -> pd.Series:
    """Return sin Theta by round of a run between processes, which is recorded in data/runs by this name."""
    runs = {path.stem: path for path in (DATA / "runs").glob("*.jsonl")}
    run = record.read(runs[name].read_text(encoding="utf-8"))
    truth = draws.truth(name.replace("-", "_"), (sum(run.plan.sizes),), run.plan.k, draws.PUBLIC, 0)
    return pd.Series(transcript.errors(run, truth.basis)[0], name="sin_theta")


def message(setting: CollaborationExperiment, protocol: str, hospital: int) -> pd.DataFrame:
    """Return what the server receives of a hospital, or of all for -1, in each round, and without noise."""
    run, entries = transcript.simulate(setting, protocol), {}
    for done, hidden in zip(run.record.rounds, run.noiseless, strict=False):
        received = transcript.message_matrix(done.answers[hospital].message.arrays, run.record.plan, hospital)
        exact = transcript.message_matrix(hidden[hospital], run.record.plan, hospital)
        both = {"received": received.ravel(), "without noise": exact.ravel()}
        entries[done.number] = pd.DataFrame(both)
    return pd.concat(entries, names=["round", "entry"])


def pair(setting: CollaborationExperiment, first: int, second: int) -> pd.DataFrame:
    """Return the difference of two hospitals' messages, and its value without noise, in each round.

    With shared noise both are equal, so that two who compare their messages see through it.
    """
    entries = {}
    for protocol in ("dps_pca shared", "dps_pca"):
        run = transcript.simulate(setting, protocol)
        for done in run.record.rounds:
            seen = transcript.difference(run, done.number, first, second)
            both = {"recovered": seen.observed.ravel(), "true": seen.exact.ravel()}
            entries[protocol, done.number] = pd.DataFrame(both)
    return pd.concat(entries, names=["protocol", "round", "entry"])


def standardising(recipe: SiteExperiment, strength: float, kind: str) -> pd.DataFrame:
    """Return 10, 50 and 90 % of the joint answer's errors by standardisation and strength."""
    results = SiteResults(recipe)
    for cell in results.wanted(strength, kind):  # (what, strength, standardised by, repeat)
        if cell[0] == "joined":
            results.try_cell(*cell)
    runs = results.table().query("answer == 'joined' and hospital == @recipe.hospitals[0]")
    errors = runs.groupby(["standardisation", "site_effect"], dropna=False)  # one joint answer for all
    both = ["sin_theta_common", "sin_theta_common_without_privacy"]
    return pd.DataFrame(errors[both].quantile(np.array([0.1, 0.5, 0.9])).unstack())


def joining(recipe: SiteExperiment, strength: float, kind: str) -> pd.DataFrame:
    """Return 10, 50 and 90 % of each hospital's errors and captured energy, joined and alone."""
    results = SiteResults(recipe)
    for repeat in range(recipe.repeats):
        for what in ("joined", "alone"):
            results.try_cell(what, strength, kind, repeat)
    errors = results.table().set_index(["answer", "hospital"]).filter(regex="sin_theta|energy")
    spread = errors.groupby(level=[0, 1]).quantile(np.array([0.1, 0.5, 0.9]))
    return pd.DataFrame(spread.unstack())


def missing() -> pd.DataFrame:
    """Return the share of each measurement that is missing in each hospital of the public heart table."""
    absent = heart_disease.absent()
    shares = {name: {key: each.share for key, each in rows.items()} for name, rows in absent.items()}
    return pd.DataFrame(shares)
