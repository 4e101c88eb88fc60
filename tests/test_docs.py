"""Every code block of the Markdown files runs, parses, or says by its language that it is text."""

import contextlib
import io
import json
import shutil
import subprocess
import time
import tomllib

import pytest
import yaml

from dppca_core.numerics.subspace_metrics import random_guess
from scripts import method_pages
from tests import markdown, shell

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
    """What the Python blocks of a file print, one after the other in one namespace."""
    namespace: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as output:
        for block in markdown.blocks(path):
            if block.language == "python":
                exec(compile(block.text, where(block), "exec"), namespace)
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


@pytest.mark.parametrize("block", blocks("sh"), ids=where)
def test_every_command_is_one_that_its_program_takes(block):
    subprocess.run(["bash", "-n"], input=block.text, text=True, check=True)
    for words in shell.commands(block.text):
        shell.check(words)


@pytest.mark.parametrize(
    "command",
    [
        *("make runs", "python -m dppca_core.experiments", "python -m dppca_core.datasets adult"),
        *("python -m dppca_core.experiments data/recipes/none.json --out x.csv", "flwr fly"),
        *("python -m dppca_core.experiments.papers ge-9z", "pip install -r requirements-none.txt"),
        *("flower-supernode --superlink a:1 --no-such-option", "frobnicate docs", "flwr run --no-such"),
        *("python scripts/heart_disease.py", "python -m benchmarks.federated --fast"),
    ],
)
def test_a_wrong_command_is_refused(command):
    with pytest.raises(AssertionError):
        shell.check(command.split())


PARSERS = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}


@pytest.mark.parametrize("block", [block for kind in PARSERS for block in blocks(kind)], ids=where)
def test_settings_parse(block):
    assert PARSERS[block.language](block.text)


@pytest.mark.parametrize("path", FILES, ids=named)
def test_every_block_says_what_it_is(path):
    assert {block.language for block in markdown.blocks(path)} <= LANGUAGES
    assert markdown.indented(path) == []


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_the_certificate_that_the_docs_make_is_good_for_its_name(tmp_path):
    (block,) = (block for block in blocks("sh") if block.text.startswith("openssl"))
    subprocess.run(["bash", "-e"], input=block.text, text=True, cwd=tmp_path, check=True, capture_output=True)
    verify = ["openssl", "verify", "-verify_hostname", "pca.example.org", "-CAfile", "ca.crt", "server.crt"]
    subprocess.run(verify, cwd=tmp_path, check=True, capture_output=True)
