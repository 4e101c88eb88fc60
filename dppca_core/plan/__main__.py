"""Write the plan of a joint study, which all hospitals then read, compare by its 12 words, and answer.

    python -m dppca_core.plan dictionary.json --name "Five clinics" --k 2 \\
        --hospital North:900:1:1e-6 --hospital South:1200:0.5:1e-6 --out plan.json

A hospital is NAME:PATIENTS:ε:δ. The dictionary is one that Your data saved, REDCap's data dictionary, or the
template for a spreadsheet. Without --method it is one moment of rows whose bound is fitted: the method of one
message that the recommendation knows.
Exit code 0 when the plan is written, 2 for a refusal.
"""

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from dppca_core.joint import command, in_words
from dppca_core.joint.plan import METHODS_BY_MAIL, ROWS, JointPlan, PlannedHospital
from dppca_core.privacy import NEIGHBOURS
from dppca_core.tables import dictionary_file
from dppca_core.tables.patients import AVERAGED, Counting


def main(arguments: list[str] | None = None) -> int:
    parser = command.parser("plan", __doc__)
    parser.add_argument("dictionary", type=Path, metavar="DICTIONARY")
    parser.add_argument("--hospital", action="append", default=[], metavar="NAME:PATIENTS:ε:δ")
    parser.add_argument("--name", default="Joint study")
    parser.add_argument("--k", type=int, default=2, help="components (default 2)")
    parser.add_argument("--s-hat", type=int, help="measurements that components may name; all where left out")
    parser.add_argument("--method", choices=METHODS_BY_MAIL, default=METHODS_BY_MAIL[0])
    parser.add_argument(
        "--rows", choices=ROWS, help="default: centred, or public where no bound can be fitted"
    )
    parser.add_argument("--rank", type=int, help="directions that a hospital sends, of dpdis_pca")
    parser.add_argument("--neighbours", choices=NEIGHBOURS, default=NEIGHBOURS[0])
    parser.add_argument(
        "--patients", default="", metavar="COLUMN", help="names the patients; default: as the dictionary says"
    )
    parser.add_argument("--counting", default=AVERAGED, metavar="averaged|merged|MOST")
    parser.add_argument("--out", type=Path, default=Path("plan.json"), metavar="PLAN.json")
    return command.run(partial(_write, parser.parse_args(arguments)))


def _write(given: Namespace) -> int:
    opened = dictionary_file.read(given.dictionary.read_bytes())
    counting: Counting = int(given.counting) if given.counting.isdigit() else given.counting
    patients = given.patients, counting
    if patients == ("", AVERAGED) and opened.patients is not None:
        patients = opened.patients
    usual = "centred" if given.method == METHODS_BY_MAIL[0] else "public"
    plan = JointPlan(
        name=given.name,
        dictionary=opened.schema.published,  # missing codes and synonyms may be cells of patients
        method=given.method,
        rows=given.rows or usual,
        k=given.k,
        hospitals=tuple(map(_hospital, given.hospital)),
        s_hat=given.s_hat,
        rank=given.rank,
        neighbours=given.neighbours,
        patient_column=patients[0],
        counting=patients[1],
    )
    command.say([*in_words.plan(plan), *in_words.prediction(plan), "", *in_words.digest(plan)])
    given.out.write_bytes(plan.to_json())
    print(f"{given.out}: send it to all hospitals.")
    return 0


def _hospital(text: str) -> PlannedHospital:
    name, *numbers = text.rsplit(":", 3)
    try:
        patients, epsilon, delta = int(numbers[0]), float(numbers[1]), float(numbers[2])
    except (IndexError, ValueError):
        raise ValueError(
            f"a hospital must be NAME:PATIENTS:ε:δ, as North:900:1:1e-6, got {text[:80]!r}"
        ) from None
    return PlannedHospital(name, patients, epsilon, delta)


if __name__ == "__main__":
    sys.exit(main())
