"""Commands of a shell block, each held against what it calls, without running it."""

import argparse
import importlib
import inspect
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import entry_points
from unittest.mock import patch

from tests.markdown import ROOT

Words = list[str]
OURS = re.compile(r"(benchmarks|data|docs|dppca_core|pages|scripts|tests|requirements[\w-]*\.txt)(/|$)")
WRITTEN = ("--out", "--record", "--json")  # what follows need not be there yet
ELSEWHERE = {"chmod", "curl", "docker", "openssl", "printf", "ssh-keygen"}  # not ours, and not run


class ParsedError(Exception):
    """Thrown in place of running a program, once its parser has taken the arguments."""


def commands(block: str) -> list[Words]:
    """The commands of a block by their words; comments, joins by && and redirections are gone."""
    joined = block.replace("\\\n", " ")
    found = []
    for line in joined.split("\n"):
        for part in re.split(r" && ", line):
            if words := shlex.split(part, comments=True):
                cut = words.index(">") if ">" in words else len(words)
                found.append(words[:cut])
    return found


def check(words: Words) -> None:
    """Raises AssertionError, with what is wrong, for a command that could not run."""
    while re.fullmatch(r"[A-Z_]+=\S*", words[0]):
        words = words[1:]
    name, *rest = words
    missing = [
        word
        for before, word in zip(words, rest, strict=False)
        if OURS.match(word) and before not in WRITTEN and not (ROOT / word).exists()
    ]
    assert not missing, f"not in the repository: {missing}"
    if name in CHECKS:
        with warnings.catch_warnings(action="ignore"):  # of what Flower imports
            CHECKS[name](rest)
    else:
        assert name in ELSEWHERE, (
            f"nothing checks {name}: say how in tests/shell.py, or mark the block as text"
        )


def _make(words: Words) -> None:
    targets = [word for word in words if "=" not in word]
    said = subprocess.run(["make", "-n", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0 and targets, said.stderr


def _python(words: Words) -> None:
    if words[0] == "-m" and words[1] == "streamlit":
        _click("streamlit", words[2:])
    elif words[0] == "-m":
        _called(importlib.import_module(_runnable(words[1])).main, words[2:])
    else:
        module = words[0].removesuffix(".py").replace("/", ".")
        _called(importlib.import_module(module).main, words[1:])


def _runnable(name: str) -> str:
    package = (ROOT / name.replace(".", "/")).is_dir()
    return f"{name}.__main__" if package else name


def _called(main: Callable[..., object], words: Words) -> None:
    """By the parser that `main` makes; one that makes none is bound to the words."""
    made = "ArgumentParser" in inspect.getsource(main) or "options(" in inspect.getsource(main)
    if not made:
        taken = [one for one in inspect.signature(main).parameters.values() if one.default is one.empty]
        assert not taken or len(taken) == len(words), f"it takes {taken}, not {words}"
        return
    given = _parsed(main, words)
    if names := getattr(given, "names", None):  # the papers' figures: any word would be taken
        from dppca_core.experiments.papers import results

        assert set(names) <= set(results.names())


def _parsed(main: Callable[..., object], words: Words) -> argparse.Namespace:
    """What the parser of a program makes of these words. Raises AssertionError where it refuses."""
    taken: list[argparse.Namespace] = []
    parse = argparse.ArgumentParser.parse_args

    def only_parse(
        self: argparse.ArgumentParser, args: Words | None = None, namespace: None = None
    ) -> argparse.Namespace:
        taken.append(parse(self, args, namespace))
        raise ParsedError

    with (
        patch.object(argparse.ArgumentParser, "parse_args", only_parse),
        patch.object(sys, "argv", ["program", *words]),
    ):
        try:
            main()
        except ParsedError:
            return taken[0]
        except SystemExit:
            raise AssertionError(f"its parser refuses {words}") from None
    raise AssertionError(f"{main} parsed nothing")


def _pip(words: Words) -> None:
    assert words[0] in ("install", "download")


def _export(words: Words) -> None:
    assert all(re.fullmatch(r"[A-Z_]+=\S+", word) for word in words)


def _click(name: str, words: Words) -> None:
    """A program that a package installs, by the parser that click makes of it."""
    import click
    import typer

    (entry,) = entry_points(group="console_scripts", name=name)
    main = entry.load()
    if isinstance(main, typer.Typer):
        main = typer.main.get_command(main)
    while hasattr(main, "commands") and words:
        assert words[0] in main.commands, f"{name} has no {words[0]}"
        main, words = main.commands[words[0]], words[1:]
    try:
        main.make_context(name, list(words))
    except click.ClickException as reason:
        raise AssertionError(reason.format_message()) from None


def _flower(name: str, words: Words) -> None:
    """A process of Flower, by what it parses with: as a whole it would ask for updates first."""
    part = name.removeprefix("flower-")
    module = importlib.import_module(f"flwr.{part}.cli.flower_{part}")
    _parsed(getattr(module, f"_parse_{part}_lifespan_config"), words)


CHECKS: dict[str, Callable[[Words], None]] = {
    "make": _make,
    "python": _python,
    "pip": _pip,
    "export": _export,
    **{name: partial(_click, name) for name in ("flwr", "streamlit")},
    **{name: partial(_flower, name) for name in ("flower-superlink", "flower-supernode")},
}
