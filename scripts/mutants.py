"""Changes the private steps a little, one change at a time, and finds those that no test notices.

Usage, in an environment of requirements-mutants.txt: python -m scripts.mutants [PATTERN ...]. Mutmut changes
a copy of the files in git and runs the tests that [tool.mutmut] names. Fails where fewer than nine changes in
ten are noticed, or one that is not has no argument in docs/mutants.md. A pattern limits what is changed.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / ".mutants"
ARGUED = ROOT / "docs" / "mutants.md"
MUTMUT = Path(sys.executable).with_name("mutmut")
LEAST_NOTICED = 0.9
WHOLE = ("accounting.gaussian", "accounting.closed_form", "numerics.linalg", "numerics.moments")
# Of other files the steps that read private rows.
STEPS = ("dppca_core.*x_release__*", "dppca_core.*x_with_noise__*")
SCOPE = (*(f"dppca_core.{name}.*" for name in WHOLE), *STEPS)
NOTICED = {"killed", "timeout", "segfault", "suspicious"}


def copy() -> None:
    """The files in git as they are here; caches not as decorators, since what is decorated is not changed."""
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
    """What a command of mutmut says."""
    done = subprocess.run([MUTMUT, *words], cwd=COPY, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def statuses() -> dict[str, str]:
    """What became of every change that was tried."""
    pairs = (line.strip().rsplit(": ", 1) for line in mutmut("results", "--all", "true") if ": " in line)
    return {name: status for name, status in pairs if status != "not checked"}


def change(name: str) -> str:
    """A change as `docs/mutants.md` names it: the function, the lines before, and the lines after."""
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
    """The share that was noticed, and what was not."""
    copy()
    subprocess.run([MUTMUT, "run", *(patterns or SCOPE)], cwd=COPY, check=True)
    results = statuses()
    noticed = sum(status in NOTICED for status in results.values())
    share = f"{noticed} of {len(results)} changes noticed, {noticed / len(results):.1%}"
    print(f"{share}: {dict(Counter(results.values()))}")
    argued = set(ARGUED.read_text(encoding="utf-8").splitlines())
    missed = [f"- {change(name)}" for name, status in results.items() if status not in NOTICED]
    new = [line for line in missed if line not in argued]
    print("\n".join(["Without an argument:", *new] if new else ["Each of the others has its argument."]))
    return int(bool(new) or noticed < LEAST_NOTICED * len(results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
