"""Time a round over Flower beside the same round in one process, at d = 1,000 and k = 5, and count bytes.

    python -m benchmarks.federated [--json FILE]

Three hospitals with 2,000 patients each, DPS-PCA in three rounds, in one run of this program. Flower's rounds
are those of `make federated-demo`: eight processes on loopback, TLS, authenticated nodes. The first round
reads the hospitals' files and is shown apart. In one process a round is the three hospitals' steps in turn.
"""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks import measure
from dppca_core import Budget, Cohort
from dppca_core.federated import in_process
from dppca_core.federated.plan import Plan
from dppca_core.federated.protocol import Noise, exchange_of
from dppca_core.numerics import block_power
from examples.flower import demo, demo_hospitals, wire
from examples.flower.processes import Federation

D, K, ROUNDS, PATIENTS = 1000, 5, 3, 2000
BUDGET = Budget(1.0, 1e-5)
PLAN = Plan(
    run="benchmark",
    method="dps_pca",
    sizes=(PATIENTS,) * 3,
    d=D,
    k=K,
    budget=BUDGET,
    options=(("iterations", ROUNDS),),
    names=demo.NAMES,
)
REPEATS = 20


def main() -> None:
    options = measure.options(__doc__).parse_args()
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((PATIENTS, D)) for _ in demo.NAMES]
    cohort = Cohort.from_rows(parts, 40.0)
    features = [{"name": f"x{i}", "centre": 0.0, "scale": 1.0} for i in range(D)]
    start = block_power.random_start(D, K, rng)
    alone = []
    for _ in range(2 if options.quick else REPEATS):
        local, _ = in_process.simulate(PLAN, cohort, [Noise()] * 3, start)
        alone += [completed.seconds for completed in local.rounds[1:]]  # without the first, as over Flower

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        constants = {"bound": 40.0, "features": features}
        hospitals = demo_hospitals.write_hospitals(folder, [PLAN], parts, constants, limit=BUDGET)
        with Federation(folder, hospitals) as federation:
            federation.submit(demo_hospitals.write_agenda(folder, [PLAN], seed=0))
            before = federation.bytes_passed()
            path = folder / "server" / f"{PLAN.run}.jsonl"
            record = demo.wait_for_record(federation, path, 200.0)
            after = federation.bytes_passed()
    if record.ended:
        raise SystemExit(record.ended)
    over = 1e3 * np.array([completed.seconds for completed in record.rounds[1:]])
    once = 1e3 * np.median(alone)
    floor = "one process"
    rows = [
        measure.row("a round in one process", 1e3 * np.array(alone)),
        measure.row("a round over Flower", over, floor, np.full(len(over), once)),
        measure.row("  its first round", 1e3 * np.array([record.rounds[0].seconds]), floor, np.array([once])),
    ]
    measure.show(f"DPS-PCA at d = {D:,}, k = {K}, three hospitals", rows)
    # Of the numbers in one hospital's answer; what is sent beyond them is encoding, encryption and protocol.
    payload = wire.most_bytes(exchange_of(PLAN).reply_to(1))
    sent = {
        "as a message": max(a.wire_bytes for a in record.rounds[0].answers.values()),
        "in all": (after[0] - before[0]) / ROUNDS,
    }
    for what, amount in sent.items():
        print(f"  a hospital sends {amount:,.0f} bytes {what}: {amount / payload:.2f} of its numbers")
    figures = {"rows": rows, "bytes of numbers": payload, "bytes sent": sent}
    measure.keep(options.json, "federated", figures)


if __name__ == "__main__":
    main()
