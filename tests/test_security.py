"""Test the posture of docs/security.md on syntax trees, the configuration and what git knows."""

import ast
import os
import re
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = [
    ROOT / "app.py",
    *(
        path
        for folder in ("dppca_core", "pages", "examples")
        for path in sorted(ROOT.glob(f"{folder}/**/*.py"))
    ),
]

# Calls that turn data into code, or text into commands, by the last part of their name.
NEVER = {
    *("eval", "exec", "__import__", "run_module", "run_path"),
    *("system", "popen", "getstatusoutput", "check_output"),
    *("unsafe_load", "read_pickle", "to_pickle", "urlopen", "urlretrieve"),
}
MODULES_NEVER = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "code", "runpy"}
NETWORK = {"socket", "ssl", "http", "httpx", "requests", "aiohttp", "grpc", "ftplib", "smtplib", "telnetlib"}
# The files that open others by a path, and who chooses that path.
OPENS = {
    "app.py": "the chart library's own file",
    "dppca_core/paths.py": "data/, by names in the code",
    "dppca_core/populations/heart_disease.py": "data/",
    "dppca_core/combine/__main__.py": "the command line",
    "dppca_core/join/__main__.py": "the command line",
    "dppca_core/joint/command.py": "the command line",
    "dppca_core/joint/take_part.py": "a folder that a command or a script gives",
    "dppca_core/plan/__main__.py": "the command line",
    "dppca_core/release/journal.py": "a hospital's own folder",
    "dppca_core/accounts/book.py": "a folder of the user, or one that whoever starts the server chooses",
    "dppca_core/release/code_version.py": "its own checkout, and the folder of git that it names",
    "dppca_core/experiments/figure_tables/collaboration.py": "data/runs, by names that stand there",
    "dppca_core/experiments/figure_tables/own_table.py": "the command line",
    "dppca_core/experiments/figure_tables/sweeps.py": "data/peers.json",
    "dppca_core/experiments/papers/results.py": "data/, by names that stand there",
    "dppca_core/experiments/sweeps/recipe_file.py": "the command line",
    "dppca_core/experiments/sweeps/store.py": "the command line",
    "dppca_core/experiments/sweeps/executors.py": "a temporary file of its own",
    "dppca_core/tables/examples.py": "data/, by names that stand there",
    "dppca_core/tables/read.py": "an upload in memory, or a path that a script gives",
    "examples/by_mail/hospitals.py": "a new temporary folder",
    "examples/by_mail/study.py": "a new temporary folder, and the example's own",
    "examples/flower/demo.py": "a new temporary folder",
    "examples/flower/demo_hospitals.py": "a new temporary folder",
    "examples/flower/apps.py": "the folder of a hospital's or the server's own settings",
    "examples/flower/keys.py": "a new folder for keys",
    "examples/flower/processes.py": "the demo's folder",
    "examples/flower/worker.py": "a path that the hospital's own settings give",
    "examples/flower/hospital.py": "the hospital's own folder",
    "examples/flower/own_files.py": "a path that the hospital's own settings give",
    "pages/shared/background/memory.py": "what the system says of its memory",
    "pages/shared/document/file.py": "scripts and styles of pages",
    "pages/shared/figure/component.py": "scripts and style beside it",
    "pages/shared/figure/markup.py": "the markup beside it",
    "pages/shared/server/first_paint.py": "a style and a script of the pages",
    "pages/hospitals/your_data/lost_table.py": "a script beside it",
    "pages/explore/methods/model/packages.py": "data/peers.json",
    "pages/learn/story/page.py": "a script and a style beside it",
    "pages/learn/story/sentences/notes.py": "the notes beside it",
    "pages/learn/classroom/exercises.py": "the exercises beside it",
    "pages/learn/classroom/lesson_file.py": "the lesson beside it",
    "pages/learn/classroom/lesson/build.py": "what the lesson is made of, and the lesson",
    "pages/learn/classroom/lesson/paper.py": "the lesson on paper, beside it",
    "pages/shared/reports/take_along.py": "script and style beside it",
    "pages/hospitals/who_sees_what/model.py": "data/runs, by names in the code",
    "pages/explore/convergence/sentences/rates.py": "formulas in Markdown beside it",
    "pages/hospitals/planner/sentences/surroundings.py": "formulas in Markdown beside it",
    "pages/hospitals/providers/sentences/differing.py": "formulas in Markdown beside it",
    "pages/learn/privacy/sentences/attack.py": "formulas in Markdown beside it",
}
OPENERS = {
    *("open", "fdopen", "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "rmtree"),
    *(
        "read_csv",
        "read_parquet",
        "read_json",
        "read_excel",
        "ParquetFile",
        "fromfile",
        "loadtxt",
        "genfromtxt",
    ),
}


@cache
def nodes(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


def calls(source: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call with the last part of its name."""
    for node in nodes(source):
        if isinstance(node, ast.Call):
            called = node.func
            yield (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")), node


def imported(source: str) -> set[str]:
    """Return the packages and modules that a source imports, by their first name."""
    names = set()
    for node in nodes(source):
        names |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
        names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
    return {name.split(".")[0] for name in names}


def dangers(source: str) -> list[str]:
    """Return what could run code, or a command, that came with data."""
    dangerous = []
    for name, call in calls(source):
        keywords = {word.arg: ast.unparse(word.value) for word in call.keywords}
        whole = ast.unparse(call.func)
        if name in NEVER or whole == "compile" or keywords.get("shell") == "True":
            dangerous.append(ast.unparse(call))
        loads = whole in ("np.load", "numpy.load", "joblib.load", "yaml.load", "torch.load")
        if (loads and keywords.get("allow_pickle") != "False") or "unsafe_allow_javascript" in keywords:
            dangerous.append(ast.unparse(call))
    return dangerous + sorted(imported(source) & MODULES_NEVER)


def test_nothing_that_came_with_data_is_run():
    assert len(SHIPPED) > 200
    run = {
        str(path.relative_to(ROOT)): danger
        for path in SHIPPED
        if (danger := dangers(path.read_text(encoding="utf-8")))
    }
    assert run == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import pickle",
        "from cloudpickle import loads",
        "eval(text)",
        "builtins.exec(text)",
        "compile(text, 'x', 'exec')",
        "os.system('ls')",
        "subprocess.run(text, shell=True)",
        "np.load(file)",
        "np.load(file, allow_pickle=True)",
        "joblib.load(file)",
        "pd.read_pickle(file)",
        "urllib.request.urlopen(link)",
        "st.html(text, unsafe_allow_javascript=True)",
    ],
)
def test_planted_dangers_are_found(planted):
    assert dangers(planted)


def test_what_is_harmless_is_left_alone():
    assert dangers("re.compile('x'); subprocess.run(['ls']); np.load(file, allow_pickle=False)") == []


def test_only_hospitals_that_federate_speak_over_a_network():
    speaking = {path.parent for path in SHIPPED if imported(path.read_text(encoding="utf-8")) & NETWORK}
    assert speaking == {ROOT / "examples/flower"}


def test_only_these_open_files_and_by_no_path_from_outside():
    opening = {
        str(path.relative_to(ROOT))
        for path in SHIPPED
        if any(name in OPENERS for name, _ in calls(path.read_text(encoding="utf-8")))
    }
    assert opening == set(OPENS)


BESIDE = (
    r"Path\(__file__\)\.with_name\('\w+\.md'\)|\(?(_HERE|_FILE|STORED|_MEMINFO|_GROUP|plotly_bundle\.PATH)\b"
)


def test_pages_open_files_beside_them_and_in_data_only():
    for path in ROOT.glob("pages/**/*.py"):
        for name, call in calls(path.read_text(encoding="utf-8")):
            if name in OPENERS:
                assert re.match(BESIDE, ast.unparse(call.func)), ast.unparse(call)


def setting(section: str, name: str) -> object:
    """Return an option of the dashboard's configuration, as Streamlit reads it."""
    return tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))[section].get(name)


@pytest.mark.parametrize(
    ("section", "name", "wanted"),
    [
        ("browser", "gatherUsageStats", False),
        ("browser", "serverAddress", "127.0.0.1"),  # else Streamlit asks the internet for its own
        ("server", "address", "127.0.0.1"),
        ("server", "headless", True),
        ("server", "enableXsrfProtection", True),
        ("server", "enableCORS", True),
        ("server", "allowedHosts", ["127.0.0.1", "localhost", "::1"]),
        ("server", "fileWatcherType", "none"),
        ("client", "toolbarMode", "viewer"),
        ("client", "showErrorDetails", "none"),
        ("client", "showErrorLinks", False),
        ("theme", "font", "sans-serif"),  # no font is fetched
    ],
)
def test_the_configuration_is_closed(section, name, wanted):
    assert setting(section, name) == wanted


def tracked() -> list[Path]:
    """Return what is in the repository, or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


SECRET = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[baprs]-[A-Za-z0-9-]{10,}"
    rb"|(?i:(?:client_secret|cookie_secret|password|api_key)\s*[:=]\s*[\"'][^\"'<]{12,}[\"'])"
)


def test_no_secret_is_in_the_repository():
    assert [path for path in tracked() if SECRET.search(path.read_bytes())] == []
    assert ".streamlit/secrets.toml" in (ROOT / ".gitignore").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "planted",
    [
        b"-----BEGIN EC PRIVATE " + b"KEY-----",
        b"AKIA" + b"ABCDEFGHIJKLMNOP",
        b"cookie_secret = " + b'"9f8e7d6c5b4a3210"',
    ],
)
def test_a_planted_secret_is_found(planted):
    assert SECRET.search(planted)


@pytest.mark.skipif("OFFLINE" not in os.environ, reason="this machine makes no network namespace")
def test_loopback_is_all_there_is():
    with socket.socket() as outside, pytest.raises(OSError, match="unreachable"):
        outside.connect(("192.0.2.1", 443))  # an address for documentation, which nobody has
