"""Take part in a joint study: make your hospital's one file, and pay for it once.

    python -m dppca_core.join plan.json table.csv --hospital North

The table is CSV, Excel or Parquet, as for Your data. First all is said: the plan, the promise, the price,
what leaves, and 12 words to compare by telephone. After a yes it pays in the book of accounts, draws the
noise and writes answer-North.json. Asked again it writes the same file, and pays nothing. A script answers
with --yes and the first two of the 12 words: --words "abandon ability".
Exit code 0 when the file is written, 1 for a no, 2 for a refusal, 130 when stopped.
"""

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from dppca_core.accounts.account import Limit
from dppca_core.accounts.book import Book, Payer, default_path
from dppca_core.joint import command, in_words, take_part
from dppca_core.joint.plan import JointPlan
from dppca_core.joint.take_part import TakingPart
from dppca_core.tables import QuestionError, Raw, Schema, read

WORDS = 2  # of the digest, that a script must know


def main(arguments: list[str] | None = None) -> int:
    parser = command.parser("join", __doc__)
    parser.add_argument("plan", type=Path, metavar="PLAN.json")
    parser.add_argument("table", type=Path, metavar="TABLE")
    parser.add_argument("--hospital", metavar="NAME", help="which hospital of the plan you are")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER", help="where the file goes")
    parser.add_argument("--dictionary", type=Path, help="your own saved dictionary, with more words of cells")
    parser.add_argument("--answer", action="append", default=[], metavar="KEY=ANSWER", help="about the file")
    parser.add_argument(
        "--limit", type=float, metavar="ε", help="what the account may spend, if it has no limit"
    )
    parser.add_argument("--account", type=int, metavar="NUMBER", help="the account of the same patients")
    parser.add_argument("--new-account", action="store_true", help="the patients are in no account yet")
    parser.add_argument("--yes", action="store_true", help="do not ask; needs --words")
    parser.add_argument("--words", default="", help="the first two of the plan's 12 words")
    return command.run(partial(_take_part, parser.parse_args(arguments)))


def _take_part(given: Namespace) -> int:
    plan = command.read_plan(given.plan)
    command.say([*in_words.plan(plan), *in_words.prediction(plan), "", *in_words.digest(plan), ""])
    if given.yes:
        _check_words(plan, given.words)
    part = take_part.prepare(plan, _named(plan, given.hospital), _read(given), _dictionary(given))
    payer = part.payer(Book(default_path()))
    _choose_account(payer, part, given)
    account, earlier = payer.balance(), part.earlier(payer)
    command.say([f"You are {part.hospital.name}, with {part.n:,} patients.", *in_words.guarantee(part)])
    command.say([*in_words.price(part, payer, earlier), *in_words.leaving(plan, part.hospital)])
    if earlier.payment is None and not given.yes:
        asked = f"Pay, draw the noise, and write {part.hospital.file_name}? Type yes: "
        if input(asked).strip().casefold() != "yes":
            print("Nothing was paid or written.")
            return 1
    path = take_part.write(given.out, plan, part.answer(payer, account))
    print(f"{path}: {path.stat().st_size:,} bytes. Send this file; it may be seen by anybody.")
    return 0


def _check_words(plan: JointPlan, words: str) -> None:
    if tuple(words.casefold().split())[:WORDS] != plan.words[:WORDS]:
        raise ValueError(f"--yes needs --words with the first {WORDS} of the plan's 12 words")


def _named(plan: JointPlan, name: str | None) -> str:
    if name is None and len(plan.hospitals) > 1:
        known = ", ".join(hospital.name for hospital in plan.hospitals)
        raise ValueError(f"say with --hospital which you are: {known}")
    return plan.hospitals[0].name if name is None else name


def _read(given: Namespace) -> Raw:
    answers = dict(answer.partition("=")[::2] for answer in given.answer)
    try:
        return read(given.table, given.table.name, answers)
    except QuestionError as question:
        options = ", ".join(f"--answer {question.key}={option!r}" for option in question.options)
        raise ValueError(f"{question} Answer with one of: {options}") from None


def _dictionary(given: Namespace) -> Schema | None:
    return None if given.dictionary is None else Schema.from_json(given.dictionary.read_bytes())


def _choose_account(payer: Payer, part: TakingPart, given: Namespace) -> None:
    """Find the account of the table's patients, or begin one, and set its limit where it has none.

    A table that is not known may be of patients whose privacy was spent before: only a person can tell.
    """
    accounts = Book(default_path()).accounts()
    if not payer.is_known() and accounts and not given.new_account:
        if given.account is None:
            listed = "; ".join(
                f"{each.number}: a table of {each.tables[0].rows:,} rows, {each.tables[0].at[:10]}"
                for each in accounts
                if each.tables
            )
            raise ValueError(
                f"are these patients of an account of yours ({listed})? Say --account NUMBER or --new-account"
            )
        payer.put_in(given.account)
    if payer.balance().limit is None:
        if given.limit is None:
            raise ValueError("this account has no limit yet: set with --limit what it may spend in all, as ε")
        payer.set_limit(Limit(given.limit, part.hospital.delta, part.plan.neighbours))


if __name__ == "__main__":
    sys.exit(main())
