"""What the three commands share: files in, sentences out, and one sentence where something is refused."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from dppca_core.joint import strict_json
from dppca_core.joint.plan import JointPlan

REFUSED = 2  # exit code
STOPPED = 130


def parser(name: str, text: str | None) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"python -m dppca_core.{name}", description=text)
    made.formatter_class = argparse.RawDescriptionHelpFormatter
    return made


def run(work: Callable[[], int]) -> int:
    """Return the exit code of what a command does; a refusal is one sentence on standard error, and 2.

    A refusal quotes no cell, as none of the errors of tables and releases does.
    """
    try:
        return work()
    except EOFError:
        refuse("nobody is there to answer: give --yes, and --words")
    except KeyboardInterrupt:
        print("stopped: what was paid for is kept, and the same command goes on with it", file=sys.stderr)
        return STOPPED
    except OSError as reason:
        where = f" {reason.filename}" if isinstance(reason.filename, str) else ""
        refuse(f"{reason.strerror or reason}{where}")
    except ValueError as reason:
        refuse(strict_json.one_sentence(reason))
    return REFUSED


def refuse(sentence: str) -> None:
    print(f"error: {sentence}", file=sys.stderr)


def say(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print(sentence)


def read_plan(path: Path) -> JointPlan:
    return JointPlan.from_json(path.read_bytes())
