"""Run a recipe without a screen: python -m dppca_core.experiments RECIPE.json --out FILE.csv

The recipe is a sweep, or a figure of the dashboard. The file of a sweep grows while it runs. The same command
continues where it was stopped (Ctrl-C keeps what is finished).
Exit code 0 when complete, also where some cells failed; 1 when every cell failed; 130 when stopped; 2 for a
recipe, file or executor that cannot be used.
"""

import argparse
import signal
import sys
from threading import Event
from typing import Any

import pandas as pd

from dppca_core.experiments import progress
from dppca_core.experiments.figure_tables import figure_recipe
from dppca_core.experiments.sweeps import executors, recipe_file
from dppca_core.experiments.sweeps.recipe import Recipe
from dppca_core.experiments.sweeps.sweep import Progress, sweep


def report(step: Progress) -> None:
    """Print how many cells are done and the time left on standard error, where no terminal has a bar."""
    left = "" if step.seconds_left is None else f", about {step.seconds_left:,.0f} s left"
    print(f"{step.completed:,} of {step.total:,} cells{left}", file=sys.stderr, flush=True)


def _recipe_of_either_kind(json_value: Any) -> Recipe | figure_recipe.FigureRecipe:
    figure = isinstance(json_value, dict) and "figure" in json_value
    return figure_recipe.from_dict(json_value) if figure else recipe_file.from_dict(json_value)


def _swept(recipe: Recipe, executor_name: str | None, out: str, stop: Event) -> pd.DataFrame:
    """Return the table of a sweep until it is complete, or `stop` is set."""
    with executors.opened(executor_name) as executor, progress.bar("cells") as drawn:

        def show(step: Progress) -> None:
            if sys.stderr.isatty():
                drawn(step.completed, step.total)
            else:
                report(step)

        table = sweep(recipe, executor, progress=show, cancel=stop.is_set, out=out)
        if stop.is_set() and isinstance(executor, executors.Cores):
            executor.kill()  # else the interpreter waits for tasks that nobody will collect
    return table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m dppca_core.experiments", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "recipe", metavar="RECIPE", help="JSON, see dppca_core/experiments/sweeps/recipe_file.py"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="CSV to write, or to continue")
    parser.add_argument(
        "--executor", metavar="serial|cores|ADDRESS", help=f"default: ${executors.ADDRESS}, else cores"
    )
    options = parser.parse_args(arguments)
    stop = Event()
    try:
        recipe = recipe_file.parse(options.recipe, _recipe_of_either_kind)
        if isinstance(recipe, figure_recipe.FigureRecipe):
            recipe.table().to_csv(options.out, index=False)
            return 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())  # what is finished is kept, then the command ends
        table = _swept(recipe, options.executor, options.out, stop)
    except (ValueError, OSError) as reason:
        not_utf8 = isinstance(reason, UnicodeDecodeError)  # whose text speaks of bytes
        print(
            f"error: {'a file that the recipe names is not in UTF-8' if not_utf8 else reason}",
            file=sys.stderr,
        )
        return 2
    failed = int((table["failed"] != "").sum())
    if failed:
        print(f"{failed} cells failed; the column `failed` says why", file=sys.stderr)
    if len(table) < recipe.size:
        kept = f"{options.out} has {len(table):,} of {recipe.size:,} cells, and the same command goes on"
        print(f"stopped: {kept} from there", file=sys.stderr)
        return progress.STOPPED
    return 1 if failed == len(table) else 0


if __name__ == "__main__":
    sys.exit(progress.stoppable(main))
