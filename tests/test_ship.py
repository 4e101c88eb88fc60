"""Test what is shipped: the wheel of the core works alone, the container is closed, Firefox is asked for."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
STAGES = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SCREENS = {"streamlit", "websockets", "plotly", "segno", "jinja2", "latex2mathml"}
SCREENS |= {"markdown-it-py", "mdit-py-plugins"}


def required(text: str) -> set[str]:
    """Return the requirements of a file, without comments."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    return {line for line in lines if line and not line.startswith("-")}


def test_the_core_asks_for_what_the_dashboard_does_but_for_screens():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    everything = required((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    screens = {line for line in everything if re.split("[<>=]", line)[0] in SCREENS}
    assert len(screens) == len(SCREENS)
    assert set(project["dependencies"]) == everything - screens


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Install the wheel, built from what is here and unpacked where no checkout is near."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys, hatchling.build; print(hatchling.build.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", build, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("dppca_core-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


# Without the packages of screens, what README, a researcher's script and the command need.
ALONE = """
import json
import re
import sys

class NoScreens:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in SCREENS:
            raise ImportError(name + " is not installed")

SCREENS = {"pages", "app", *sys.argv[3].replace("-", "_").split()} | {"markdown_it", "mdit_py_plugins"}
sys.meta_path.insert(0, NoScreens())
import dppca_core
assert dppca_core.__file__.startswith(sys.argv[1]), dppca_core.__file__
(lines,) = re.findall("```python\\n(.*?)```", open(sys.argv[2], encoding="utf-8").read(), re.DOTALL)
exec(lines)
assert est.basis.shape == (1000, 5)

from dppca_core import datasets
from dppca_core.bounds import BOUNDS
from dppca_core.experiments import studies
from dppca_core.experiments.__main__ import main
from dppca_core.experiments.papers import results
from dppca_core.experiments.sweeps import recipe_file
from dppca_core.sklearn import PrivatePCA
from dppca_core.tables import examples
rows = datasets.rows("breast_cancer")
pca = PrivatePCA(2, epsilon=4.0, center=0, bound=10.0, random_state=0).fit(rows)
assert pca.components_.shape == (2, 30) and 0 < pca.guarantee_.mu < 4
study = studies.compare(SpikedModel(d=20, k=2, s=5), ("analyze_gauss", "pca"), budget, n=1000, repeats=1)
assert set(study.to_frame().index.get_level_values(0)) == {"analyze_gauss", "pca"}
assert len(METHODS) > 20 and BOUNDS and len(results.names()) > 40 and examples.names()
with open("recipe.json", "w", encoding="utf-8") as file:
    json.dump(recipe_file.to_dict(study.recipe), file)
assert main(["recipe.json", "--out", "runs.csv", "--executor", "serial"]) == 0
print("alone")
"""


def test_the_wheel_works_without_streamlit_or_a_checkout(installed, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(installed)}
    readme = str(ROOT / "README.md")
    command = [sys.executable, "-W", "ignore", "-c", ALONE, str(installed), readme, " ".join(SCREENS)]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.stdout.endswith("\nalone\n"), ran.stderr


def test_the_wheel_holds_the_core_and_its_data_only(installed):
    assert {path.name.split("-")[0] for path in installed.iterdir()} == {"dppca_core"}
    assert (installed / "dppca_core/data/breast_cancer.json").exists()


def test_the_image_is_built_in_stages_and_runs_as_nobody_in_particular():
    assert len(STAGES) == 2
    last = STAGES[-1]
    assert re.findall(r"^USER (\d+)$", last, re.MULTILINE) == ["10001"]
    assert last.index("USER") < last.index("CMD") and "HEALTHCHECK" in last
    assert "pip install" not in last and "COPY --from=build /venv /venv" in last


def test_what_the_image_copies_is_there_and_let_in():
    allowed = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert allowed[0] == "*"
    for source in re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE):
        assert list(ROOT.glob(source)), source
        assert any(line.startswith(f"!{source}") for line in allowed), source


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_containers_can_write_nothing_and_gain_nothing(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]


def test_only_this_machine_reaches_the_app_and_only_the_app_the_cluster():
    services = COMPOSE["services"]
    assert services["app"]["ports"] == ["127.0.0.1:8501:8501"]
    assert all("ports" not in service for name, service in services.items() if name != "app")
    assert COMPOSE["networks"]["cluster"]["internal"] is True
    assert services["scheduler"]["networks"] == services["worker"]["networks"] == ["cluster"]
    assert services["scheduler"]["profiles"] == services["worker"]["profiles"] == ["cluster"]


def test_firefox_is_asked_for_where_only_chromium_is(tmp_path):
    asked = tmp_path / "asked"
    stubs = {"chromium": "", "python": "", "id": "echo 0", "apt-get": f'echo "$@" >> "{asked}"'}
    for name, line in stubs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    for name in ("env", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    command = ["/bin/sh", str(ROOT / "scripts/install-chromium"), str(tmp_path / "python")]
    subprocess.run(command, env={"PATH": str(tmp_path)}, check=True, capture_output=True)
    assert asked.read_text(encoding="utf-8").splitlines()[-1].endswith("firefox-esr")
