"""Three hospitals and a server, each in processes of its own, find what their patients have in common.

    make federated-demo
    python -m examples.flower.demo --record data/runs/breast-cancer.jsonl
    python -m examples.flower.demo --mean

A SuperLink and three SuperNodes with their workers run on this machine's loopback, with TLS and authenticated
nodes, and are stopped at the end. The breast-cancer table, assigned at random, stands for the hospitals' own.
Its constants hold a usual value for each column: rows lie about 0, and a mean is paid for only with --mean.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from dppca_core import datasets
from dppca_core.accounting import closed_form
from dppca_core.federated import protocol
from dppca_core.federated import record as records
from dppca_core.federated.plan import Plan
from dppca_core.federated.record import Record
from dppca_core.mechanisms import paid_centre
from dppca_core.methods import METHODS
from dppca_core.numerics import linalg, moments, subspace_metrics
from dppca_core.privacy import Budget
from examples.flower import demo_hospitals, wire
from examples.flower.processes import Federation

SIZES = (190, 190, 189)
NAMES = ("Hospital 1", "Hospital 2", "Hospital 3")
ROUNDS = 4
S_HAT = 20
K = 2
SEED = 0
DELTA = 1e-3
WAIT_SECONDS = 60.0
POLL_SECONDS = 0.1


def plans(epsilon: float, *, mean: bool = False) -> list[Plan]:
    """Return DPS-PCA in four rounds, the two methods of one round, and two stages; mean: all pay for one."""
    d, budget = datasets.table(demo_hospitals.TABLE).d, Budget(epsilon, DELTA)
    first = Plan(
        run="breast-cancer",
        method="dps_pca",
        sizes=SIZES,
        d=d,
        k=K,
        budget=budget,
        options=(("iterations", ROUNDS),),
        names=NAMES,
        mean_share=paid_centre.share(budget, d=d, n=sum(SIZES)) if mean else 0.0,
    )
    return [
        first,
        replace(first, run="breast-cancer-moments", method="dpdis_pca", options=()),
        replace(first, run="breast-cancer-projectors", method="federated_projector", options=()),
        replace(
            first,
            run="breast-cancer-stages",
            method="two_stage_own_noise",
            options=(("iterations", ROUNDS), ("s_hat", S_HAT)),
        ),
    ]


def total_epsilon(agreed: Sequence[Plan]) -> float:
    events = (event for plan in agreed for event in protocol.events(plan))
    return closed_form.epsilon_of(events, agreed[0].budget.delta)


def wait_for_record(federation: Federation, path: Path, seconds: float) -> Record:
    """Return the record of a run, once it has its last line."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if path.exists() and '{"kind":"end"' in (text := path.read_text(encoding="utf-8")):
            return records.read(text)
        time.sleep(POLL_SECONDS)
    raise RuntimeError(f"the run did not end within {seconds:g} s:\n{federation.log('server')}")


def run(agreed: Sequence[Plan], folder: Path) -> Generator[tuple[Plan, Record, float, float], None, None]:
    """Yield every plan with its record, and bytes that a hospital sent and received meanwhile, on average."""
    limit = Budget(total_epsilon(agreed) * (1 + 1e-9), DELTA)  # a little more, for rounding
    hospitals = demo_hospitals.write_breast_cancer(folder, agreed, seed=SEED, limit=limit)
    with Federation(folder, hospitals) as federation:
        federation.submit(demo_hospitals.write_agenda(folder, agreed, seed=SEED))
        before = federation.bytes_passed()
        for plan in agreed:
            path = folder / "server" / f"{plan.run}.jsonl"
            record = wait_for_record(federation, path, WAIT_SECONDS * protocol.exchange_of(plan).rounds)
            now = federation.bytes_passed()
            yield plan, record, now[0] - before[0], now[1] - before[1]
            before = now


def report(plan: Plan, record: Record, up: float, down: float) -> str:
    """Return what is printed about a run. up, down: bytes that a hospital sent and received, on average."""
    title, rounds = METHODS[plan.method].title, len(record.rounds)
    if record.basis is None:
        return f"{title}: {record.ended}"
    rows = moments.clip_rows(datasets.rows(demo_hospitals.TABLE), datasets.table(demo_hospitals.TABLE).bound)
    if plan.mean_share:
        rows = paid_centre.centred(rows, rows.mean(axis=0))
    distance = subspace_metrics.sin_theta(linalg.top_eigenspace(rows.T @ rows, K), record.basis)
    numbers = max(wire.most_bytes(protocol.exchange_of(plan).reply_to(done.number)) for done in record.rounds)
    sent = max(
        answer.wire_bytes for finished_round in record.rounds for answer in finished_round.answers.values()
    )
    took = sum(finished_round.seconds for finished_round in record.rounds) / rounds
    return "\n".join(
        [
            f"{title}: {rounds} round{'s' if rounds > 1 else ''} of {took:.1f} s",
            f"  distance to the directions without privacy {distance:.3f}"
            f" (guessing {subspace_metrics.random_guess(plan.d, K):.3f})",
            f"  a hospital sends per round {numbers:,} bytes of numbers at most, {sent:,} as a message,"
            f" {up / rounds:,.0f} with all that Flower and TLS add; {down / rounds:,.0f} come back",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.flower.demo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--epsilon", type=float, default=8.0, help="of each run (default 8)")
    parser.add_argument("--record", type=Path, help="where to keep the record of DPS-PCA, as JSON lines")
    parser.add_argument("--mean", action="store_true", help="pay for the mean at which rows are centred")
    given = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as Ctrl-C does, so that nothing is left running
        signal.signal(number, signal.default_int_handler)
    try:
        agreed = plans(given.epsilon, mean=given.mean)
    except ValueError as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 2
    print(f"{sum(SIZES)} patients in {len(SIZES)} hospitals, d = {agreed[0].d}, k = {K}")
    print(
        f"each run at ε = {given.epsilon:g}, δ = {DELTA:g}; all together at ε = {total_epsilon(agreed):.3g}"
    )
    print("starting a SuperLink and three SuperNodes ...", flush=True)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="federated-") as folder,
            closing(run(agreed, Path(folder))) as runs,
        ):
            for plan, record, up, down in runs:
                print(report(plan, record, up, down), flush=True)
                if plan == agreed[0] and given.record:
                    given.record.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(Path(folder) / "server" / f"{plan.run}.jsonl", given.record)
    except RuntimeError as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    print("all processes are stopped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
