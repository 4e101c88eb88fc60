"""Change the private steps a little, one change at a time, and print the changes that no test notices.

Usage, in an environment of requirements-mutants.txt: python -m scripts.mutants [PATTERN ...]. Mutmut changes
a copy of the files in git and runs the tests that [tool.mutmut] names. The command fails where fewer than
nine changes in ten are noticed. docs/mutants.md says why many of the others are harmless. A pattern limits
what is changed.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".mutants"

MUTMUT = Path(sys.executable).with_name("mutmut")
LEAST_NOTICED = 0.9
WHOLE = (
    "accounting.gaussian",
    "accounting.trade_off",
    "accounting.closed_form",
    "numerics.linalg",
    "numerics.moments",
)
# In other files only the steps that read private rows are changed; "x_" is mutmut's mark of a function.
STEPS = ("dppca_core.*x_release__*", "dppca_core.*x_with_noise__*")
SCOPE = (*(f"dppca_core.{name}.*" for name in WHOLE), *STEPS)
NOTICED = {"killed", "timeout", "segfault", "suspicious"}


def copy() -> None:
    """Copy the files in git into COPY, with caches below functions: mutmut leaves decorated ones alone."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, COPY / name)
    for name in WHOLE:
        file = COPY.joinpath("dppca_core", *name.split(".")).with_suffix(".py")
        text, cached = file.read_text(), re.compile(r"^@(lru_cache\(.*\))\ndef (\w+)", re.MULTILINE)
        after = (f"{name} = {cache}({name})\n" for cache, name in cached.findall(text))
        file.write_text(cached.sub(r"def \2", text) + "".join(after))


def mutmut(*words: str) -> list[str]:
    done = subprocess.run([MUTMUT, *words], cwd=COPY, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def statuses() -> dict[str, str]:
    pairs = (line.strip().rsplit(": ", 1) for line in mutmut("results", "--all", "true") if ": " in line)
    return {name: status for name, status in pairs if status != "not checked"}


def change(name: str) -> str:
    """Return the changed function's name and its lines before and after, as docs/mutants.md has them."""
    lines = mutmut("show", name)
    before, after = (
        " ".join(
            line[1:].strip() for line in lines if line.startswith(sign) and not line.startswith(3 * sign)
        )
        for sign in "-+"
    )
    where = re.sub(r"\.x_|\.xǁ|ǁ", ".", name.rpartition("__mutmut_")[0]).removeprefix("dppca_core.")
    return f"`{where}`: `{before}` → `{after}`"


def main(patterns: list[str]) -> int:
    copy()
    subprocess.run([MUTMUT, "run", *(patterns or SCOPE)], cwd=COPY, check=True)
    results = statuses()
    noticed = sum(status in NOTICED for status in results.values())
    share = f"{noticed} of {len(results)} changes noticed, {noticed / len(results):.1%}"
    print(f"{share}: {dict(Counter(results.values()))}")
    for name, status in results.items():
        if status not in NOTICED:
            print(f"- {change(name)}")
    return int(noticed < LEAST_NOTICED * len(results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
