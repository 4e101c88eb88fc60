"""Check that every code block of the Markdown files runs, parses, or says that it is text."""

import contextlib
import io
import json
import re
import shutil
import subprocess
import time
import tomllib

import pytest
import yaml

from dppca_core import METHODS
from dppca_core.numerics.subspace_metrics import random_guess
from scripts import method_pages, needed_picture
from tests import markdown

FILES = markdown.files()
BLOCKS = [block for path in FILES for block in markdown.blocks(path)]
SECONDS = 5.0  # of processor time, for all blocks of a file
LANGUAGES = {"python", "sh", "json", "toml", "yaml", "dockerfile", "math", "text"}


def blocks(language: str) -> list[markdown.Block]:
    return [block for block in BLOCKS if block.language == language]


def where(block: markdown.Block) -> str:
    return f"{block.path.relative_to(markdown.ROOT)}:{block.line}"


def named(path) -> str:
    return str(path.relative_to(markdown.ROOT))


WITH_PYTHON = [path for path in FILES if any(block.language == "python" for block in markdown.blocks(path))]


def run(path) -> str:
    """Return what the Python blocks of a file print, run one after the other in one namespace."""
    namespace: dict[str, object] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            for block in markdown.blocks(path):
                if block.language == "python":
                    exec(compile(block.text, where(block), "exec"), namespace)
    finally:
        METHODS.added.clear()
    return output.getvalue()


@pytest.mark.parametrize("path", WITH_PYTHON, ids=named)
def test_python_runs_in_the_order_of_the_file(path):
    started = time.process_time()
    output = run(path)
    assert time.process_time() - started < SECONDS
    if path.parent == method_pages.FOLDER:  # the number that the example promises
        assert 0 <= float(output) < 1.1 * random_guess(40, 2)


def test_readme_shows_an_error_below_a_guess():
    output = run(markdown.ROOT / "README.md")
    assert 0 < float(output.split()[0]) < 0.9 * random_guess(1000, 5)


def missing(command: str) -> list[str]:
    """Return the files, modules and targets of make that a command names and the repository lacks."""
    command = re.sub(r" #.*|--(?:out|record|json) \S+", "", command)
    files = re.findall(
        r"(?:^|\s)((?:data|docs|examples|pages|scripts|tests)/[\w./-]+|requirements[\w-]*\.txt)", command
    )
    modules = re.findall(r"python -m ((?:benchmarks|dppca_core|examples|scripts|tests)[\w.]*)", command)
    makefile = (markdown.ROOT / "Makefile").read_text("utf-8")
    targets = [
        name for words in re.findall(r"^make (.+)", command) for name in words.split() if "=" not in name
    ]
    return [
        *(name for name in files if not (markdown.ROOT / name).exists()),
        *(name for name in modules if not list(markdown.ROOT.glob(f"{name.replace('.', '/')}*"))),
        *(name for name in targets if f"\n{name}:" not in makefile),
    ]


def test_the_picture_of_patients_needed_is_of_the_stored_runs():
    """And the headline says its numbers."""
    assert needed_picture.PICTURE.read_text(encoding="utf-8") == needed_picture.svg()
    readme = (markdown.ROOT / "README.md").read_text(encoding="utf-8")
    for shown in ("191,000", "3,300", "8,700", "540 million"):
        assert shown in readme.partition("```")[0] and f">{shown}<" in needed_picture.svg()


@pytest.mark.parametrize("block", blocks("sh"), ids=where)
def test_every_command_names_what_is_there(block):
    subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
    assert [name for line in block.text.splitlines() for name in missing(line)] == []


@pytest.mark.parametrize(
    "command", ["make runs", "python -m benchmarks.none", "pip install -r requirements-none.txt"]
)
def test_a_command_that_names_what_is_not_there_is_seen(command):
    assert len(missing(command)) == 1


PARSERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


@pytest.mark.parametrize("block", [block for kind in PARSERS for block in blocks(kind)], ids=where)
def test_settings_parse(block):
    assert PARSERS[block.language](block.text)


def test_every_block_says_what_it_is():
    assert [where(block) for block in BLOCKS if block.language not in LANGUAGES] == []
    assert {named(path): blocks for path in FILES if (blocks := markdown.indented(path))} == {}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_certificate_that_the_docs_make_is_good_for_its_name(tmp_path):
    (block,) = (block for block in blocks("sh") if block.text.startswith("openssl"))
    subprocess.run(["bash", "-e"], input=block.text, text=True, cwd=tmp_path, check=True, capture_output=True)
    verify = ["openssl", "verify", "-verify_hostname", "pca.example.org", "-CAfile", "ca.crt", "server.crt"]
    subprocess.run(verify, cwd=tmp_path, check=True, capture_output=True)
