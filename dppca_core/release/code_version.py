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
    try:  # a checkout's own file: another version may be installed beside it
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return str(project["version"])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return version("dppca-core")
    except PackageNotFoundError:
        return None


def commit(root: Path) -> str | None:
    """Return the commit of a checkout, read off its files: git itself could run what a repository names."""
    try:
        git = root / ".git"
        if git.is_file():  # a worktree: where its own files are
            git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        shared = git / "commondir"
        common = git / shared.read_text(encoding="utf-8").strip() if shared.exists() else git
        head = (git / "HEAD").read_text(encoding="utf-8").strip()
        name = head.removeprefix("ref:").strip()
        if name != head:
            head = next(
                (loose for folder in (git, common) if (loose := _loose(folder / name))),
                _packed(common / "packed-refs", name),
            )
    except (OSError, ValueError):
        return None
    return head if _COMMIT.fullmatch(head) else None


def _loose(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def _packed(path: Path, name: str) -> str:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), "")
