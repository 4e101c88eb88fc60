"""Run every notebook of examples/notebooks from its folder, as a reader does, in a kernel of its own."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
ANSI = re.compile(r"\x1b\[[0-9;]*m")
EVERY = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def no_settings_of_whoever_runs_it(monkeypatch, tmp_path):
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))


def run(notebook: nbformat.NotebookNode) -> list[str]:
    """Run the cells in their order, and return what they write to stderr; a failure shows the cell."""
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    )
    try:
        client.execute()
    except CellExecutionError as error:
        pytest.fail(ANSI.sub("", str(error)), pytrace=False)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.text for output in outputs if output.get("name") == "stderr"]


@EVERY
def test_a_notebook_runs_without_a_warning(path):
    assert run(nbformat.read(path, as_version=4)) == []


@EVERY
def test_a_notebook_holds_no_output_and_links_to_what_is_there(path):
    """Outputs would go stale; whoever opens it runs it in some seconds."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "clear all outputs"
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)#]+)", prose)
    assert links and [link for link in links if not (FOLDER / link).exists()] == []


def test_a_failing_cell_is_shown_with_its_error():
    cells = [nbformat.v4.new_code_cell(source) for source in ("x = 1", "assert x == 2, 'x is not two'")]
    with pytest.raises(pytest.fail.Exception, match=r"(?s)assert x == 2.*AssertionError: x is not two"):
        run(nbformat.v4.new_notebook(cells=cells))
