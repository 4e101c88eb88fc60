"""Put the answers of a joint study together: anybody can, and gets the same from the same files.

    python -m dppca_core.combine plan.json answer-*.json --out joint-study.zip

It says who is missing, goes on with those that are there, and writes one ZIP with the report, the components
and programs that score new rows. A file of another plan, a hospital that is there twice, and a changed or
damaged file are refused in one sentence each.
Exit code 0 when the ZIP is written, 2 for a refusal.
"""

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from dppca_core.joint import combine, command, document, in_words
from dppca_core.release import bundle


def main(arguments: list[str] | None = None) -> int:
    parser = command.parser("combine", __doc__)
    parser.add_argument("plan", type=Path, metavar="PLAN.json")
    parser.add_argument("answers", type=Path, nargs="+", metavar="ANSWER.json")
    parser.add_argument("--out", type=Path, default=Path(document.NAME), metavar="FILE.zip")
    return command.run(partial(_combine, parser.parse_args(arguments)))


def _combine(given: Namespace) -> int:
    plan = command.read_plan(given.plan)
    # `*.json` names the plan as well.
    paths = [path for path in given.answers if not path.samefile(given.plan)]
    files = {str(path): path.read_bytes() for path in dict.fromkeys(paths)}
    result = combine.combine(plan, combine.read(plan, files))
    command.say([*in_words.digest(plan), "", *in_words.result(result)])
    given.out.write_bytes(bundle.pack(document.files(result)))
    print(f"{given.out}: the report, the components, and programs that score new rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
