"""A round over Flower beside the same round in one process: seconds and bytes, at d = 1,000 and k = 5.

    python -m benchmarks.federated [--json FILE]

Three hospitals with 2,000 patients each, DPS-PCA in three rounds, in one run of this program. Flower's rounds
are those of `make federated-demo`: eight processes on loopback, TLS, authenticated nodes. The first round
reads the hospitals' files and is shown apart. In one process a round is the three hospitals' steps in turn.
"""

import argparse
import json
import statistics
import tempfile
from pathlib import Path

import numpy as np

from dppca_core import Budget, Cohort, power
from dppca_core.federated import demo, demo_hospitals, in_process, message
from dppca_core.federated.flower_processes import Federation
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise, exchange_of

D, K, ROUNDS, PATIENTS = 1000, 5, 3, 2000
BUDGET = Budget(1.0, 1e-5)
PLAN = Plan(
    *("benchmark", "dps_pca", (PATIENTS,) * 3, D, K, BUDGET),
    options=(("iterations", ROUNDS),),
    names=demo.NAMES,
)
REPEATS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((PATIENTS, D)) for _ in demo.NAMES]
    cohort = Cohort.from_rows(parts, 40.0)
    features = [{"name": f"x{i}", "centre": 0.0, "scale": 1.0} for i in range(D)]
    start = power.random_start(D, K, rng)
    alone = []
    for _ in range(REPEATS):
        record, _ = in_process.simulate(PLAN, cohort, [Noise()] * 3, start)
        alone += [one.seconds for one in record.rounds[1:]]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        constants = {"bound": 40.0, "features": features}
        hospitals = demo_hospitals.write(folder, [PLAN], parts, constants, limit=BUDGET)
        with Federation(folder, hospitals) as federation:
            federation.submit(demo_hospitals.agenda(folder, [PLAN], seed=0))
            before = federation.bytes_passed()
            path = folder / "server" / f"{PLAN.run}.jsonl"
            found = demo.finished(federation, path, 200.0)
            after = federation.bytes_passed()
    if found.ended:
        raise SystemExit(found.ended)
    over = statistics.median(one.seconds for one in found.rounds[1:])
    once = statistics.median(alone)
    payload = message.most_bytes(exchange_of(PLAN).reply)
    figures = {
        "seconds of a round over Flower": over,
        "seconds of its first round": found.rounds[0].seconds,
        "seconds of a round in one process": once,
        "ratio": over / once,
        "bytes of numbers a hospital sends": payload,
        "bytes it sends as a message": max(a.wire_bytes for a in found.rounds[0].answers.values()),
        "bytes it sends in all": (after[0] - before[0]) / ROUNDS,
        "bytes it receives in all": (after[1] - before[1]) / ROUNDS,
    }
    print(f"DPS-PCA at d = {D:,}, k = {K}, three hospitals; per round (and hospital)")
    for what, value in figures.items():
        print(f"{what:40s} {value:14,.4g}" if value < 1000 else f"{what:40s} {value:14,.0f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
