"""Tell which code made a release: its version, and its commit where it runs from a checkout."""

import re
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@cache
def code_version() -> dict[str, str | None]:
    """Return the version and the commit of the code when this was called first; None where not known.

    A commit says nothing of changes that were not committed. No path is in it.
    """
    return {"version": _version(_ROOT), "commit": commit(_ROOT)}


def _version(root: Path) -> str | None:
    """Return the version in a checkout's pyproject.toml, else that of the installed package, else None."""
    try:  # the checkout's own file first: another version may be installed beside it
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return str(project["version"])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return version("dppca-core")
    except PackageNotFoundError:
        return None


def commit(root: Path) -> str | None:
    """Return the hash of the commit that is checked out in a folder, None where there is none.

    It is read from the files in .git. Git itself is not run, since a repository's settings can name programs
    that git then starts.
    """
    try:
        git = root / ".git"
        if git.is_file():  # a worktree, whose .git names the folder with its own HEAD
            git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        shared = git / "commondir"  # names the folder with the branches, which all worktrees share
        common = git / shared.read_text(encoding="utf-8").strip() if shared.exists() else git
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        name = head.removeprefix("ref:").strip()
        if name != head:  # HEAD names a branch and not a hash: look the branch up
            head = next(
                (loose for folder in (git, common) if (loose := _hash_in_own_file(folder / name))),
                _hash_in_packed_refs(common / "packed-refs", name),
            )
    except (OSError, ValueError):
        return None
    return head if _COMMIT.fullmatch(head) else None


def _hash_in_own_file(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _hash_in_packed_refs(path: Path, name: str) -> str:
    """Return the hash of a branch in packed-refs, one file for many branches; "" where it is not in there."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
