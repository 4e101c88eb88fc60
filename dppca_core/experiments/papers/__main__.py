"""Remake stored results of the papers' figures: python -m dppca_core.experiments.papers [NAME ...]

Without a name, remake all of data/recipes but those whose table is not there. Each writes
data/results/NAME.csv and NAME.json. Those whose result is a time run one cell after the other. The exit code
is 2 for a name that cannot run, and 130 when stopped (Ctrl-C).
"""

import argparse
import sys
import time

from dppca_core.experiments import progress
from dppca_core.experiments.papers import FIGURES, results
from dppca_core.experiments.sweeps import executors

# Recipes whose seconds are the result: cells that run at the same time would slow each other down.
TIMED = {run.recipe for figure in FIGURES.values() if figure.metric == "seconds" for run in figure.runs}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dppca_core.experiments.papers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(results.names()))
    parser.add_argument(
        "--executor", metavar="serial|cores|ADDRESS", help=f"default: ${executors.ADDRESS}, else cores"
    )
    options = parser.parse_args(arguments)
    for name in options.names or results.names():
        started = time.monotonic()
        try:
            with executors.opened("serial" if name in TIMED else options.executor) as executor:
                path = results.remake(name, executor, name in TIMED)
        except (ValueError, OSError) as reason:
            print(f"error: {name}: {reason}", file=sys.stderr)
            if options.names:
                return 2
            continue  # without names, a recipe whose table is not installed is left out
        print(f"{path.name}: {time.monotonic() - started:,.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(progress.stoppable(main))
